//! Taps of one group: all of them are in the history of their tag, in any order.

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::id::{InteractionId, TagId};
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::InteractionFilter;

use super::Postgres;
use crate::storage::backend::{Database, Tap};

/// Records taps of one tag as one group, with these ids in this order.
async fn record(db: &Database<Postgres>, tag: TagId, ids: &[i64]) {
    let client = db.backend().look_into().await;
    let count = i32::try_from(ids.len()).unwrap();
    let sql = "WITH n AS (SELECT $3::INTEGER[] AS size)
         SELECT record_taps(false, 1::SMALLINT, $1, array_fill($2::BIGINT, size),
             array_fill(NULL::BIGINT, size), array_fill(NULL::INTEGER, size), array_fill(NULL::BIGINT, size),
             array_fill(false, size), array_fill('static'::TEXT, size), array_fill(NULL::BIGINT, size),
             array_fill(NULL::BYTEA, size), array_fill('u'::TEXT, size), array_fill(NULL::BIGINT, size),
             array_fill(NULL::INTEGER, size), array_fill('\\x01010101010101010101010101010101'::BYTEA, size),
             array_fill('CH'::TEXT, size), array_fill(NULL::BYTEA, size), array_fill(NULL::BYTEA, size),
             array_fill(false, size), array_fill(0::BIGINT, size), array_fill(NULL::TEXT, size),
             array_fill(NULL::BYTEA, size), array_fill(NULL::TEXT, size), array_fill(NULL::TEXT, size),
             array_fill(NULL::INTEGER, size), array_fill(NULL::BIGINT, size))
         FROM n";
    client
        .query(sql, &[&ids, &tag.get(), &vec![count]])
        .await
        .unwrap();
}

async fn history(db: &Database<Postgres>, tag: TagId) -> Vec<i64> {
    let of_tag = InteractionFilter {
        tag_id: Some(tag),
        ..InteractionFilter::default()
    };
    let page = db.interactions(of_tag, None, 500).await.unwrap();
    let found = page.found.into_iter();
    found.map(|(interaction, _)| interaction.id.get()).collect()
}

async fn erase_history(db: &Database<Postgres>, tag: TagId) {
    let mut from: Option<InteractionId> = None;
    loop {
        from = db.erase_history(Some(tag), from).await.unwrap();
        if from.is_none() {
            return;
        }
    }
}

#[tokio::test]
async fn a_group_whose_ids_are_in_any_order_is_all_in_the_history_of_its_tag() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let first = db.tap(Tap::of(tag)).await.id.get();
    // Ids that the node has reserved, and does not use in this test.
    record(&db, tag, &[first + 3, first + 2, first + 1]).await;
    record(&db, tag, &[first + 5, first + 4, first + 6]).await;
    let all: Vec<_> = (first..=first + 6).rev().collect();
    assert_eq!(history(&db, tag).await, all);

    erase_history(&db, tag).await;
    let client = db.backend().look_into().await;
    let left = "SELECT count(*) FROM interactions WHERE client IS NOT NULL OR country <> ''";
    let left: i64 = client.query_one(left, &[]).await.unwrap().get(0);
    assert_eq!(left, 0, "nothing of a visitor is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_taps_at_once_none_is_missing_in_the_history_of_their_tag() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let taps = (0..200_u8).map(|number| {
        let storage = (*db).clone();
        let tap = Tap::of(tag)
            .by(u16::from(number % 7))
            .interaction(KeyHash([number; 16]));
        tokio::spawn(async move { storage.record_tap(tap).await.unwrap().id.get() })
    });
    let mut ids: Vec<_> = join_all(taps)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    ids.sort_unstable();
    let mut found = history(&db, tag).await;
    found.sort_unstable();
    assert_eq!(found, ids);
}
