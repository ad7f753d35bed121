//! Taps of one group: all of them are in the history of their tag, in any order.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::entropy::{Entropy as _, SeededEntropy};
use tapdesk_service::id::{InteractionId, TagId};
use tapdesk_service::inlay::counter::{Acceptance, CounterState, MirrorState};
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::InteractionFilter;

use super::Postgres;
use crate::storage::backend::{DAY, Database, Tap};

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

const RECORD_TAPS: &str =
    include_str!("../../../service/migrations/postgres/functions/record_taps.sql");

/// PostgreSQL returns written rows in any order that it likes, for example the opposite one.
#[tokio::test]
async fn taps_follow_the_former_ones_of_their_tags_in_whatever_order_visits_return() {
    let db = Database::<Postgres>::create().await;
    let client = db.backend().look_into().await;
    let turned = RECORD_TAPS.replace(
        "FROM visit\n        ON CONFLICT",
        "FROM visit ORDER BY tag_id DESC, visitor DESC\n        ON CONFLICT",
    );
    assert_ne!(turned, RECORD_TAPS);
    client.batch_execute(&turned).await.unwrap();

    let often = db.tag(json!({})).await;
    let once = db.tag(json!({"slug": "once"})).await;
    let reserve = "SELECT reserve_interactions()";
    let first: i64 = client.query_one(reserve, &[]).await.unwrap().get(0);
    // The visitor of `record` comes to one of the tags only.
    record(&db, often, &[first]).await;
    let group: Vec<_> = (first + 1..=first + 4).collect();
    let tags = [once, often, once, often].map(TagId::get).to_vec();
    let sql = "WITH n AS (SELECT $3::INTEGER[] AS size)
        SELECT taps.interaction, taps.came_today
        FROM n, LATERAL record_taps(false, 1::SMALLINT, $1, $2,
            array_fill(NULL::BIGINT, size), array_fill(NULL::INTEGER, size), array_fill(NULL::BIGINT, size),
            array_fill(false, size), array_fill('static'::TEXT, size), array_fill(NULL::BIGINT, size),
            array_fill(NULL::BYTEA, size), array_fill('u'::TEXT, size), array_fill(NULL::BIGINT, size),
            array_fill(NULL::INTEGER, size), $4,
            array_fill('CH'::TEXT, size), array_fill(NULL::BYTEA, size), array_fill(NULL::BYTEA, size),
            array_fill(false, size), array_fill(0::BIGINT, size), array_fill(NULL::TEXT, size),
            array_fill(NULL::BYTEA, size), array_fill(NULL::TEXT, size), array_fill(NULL::TEXT, size),
            array_fill(NULL::INTEGER, size), array_fill(NULL::BIGINT, size)) AS taps
        ORDER BY 1";
    let visitors = [1, 1, 2, 2].map(|number: u8| vec![number; 16]).to_vec();
    let rows = client
        .query(sql, &[&group, &tags, &vec![4_i32], &visitors])
        .await
        .unwrap();
    let came: Vec<(i64, bool)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let expected = [false, true, false, false];
    assert_eq!(
        came,
        group.iter().copied().zip(expected).collect::<Vec<_>>()
    );

    let chain = "SELECT id, previous FROM interactions WHERE id > $1 ORDER BY id";
    let rows = client.query(chain, &[&first]).await.unwrap();
    let chain: Vec<(i64, Option<i64>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let expected = [None, Some(first), Some(first + 1), Some(first + 2)];
    assert_eq!(
        chain,
        group.iter().copied().zip(expected).collect::<Vec<_>>()
    );
}

/// An inlay's counter, as the rules for one tap leave it.
enum Counter {
    Proof(CounterState),
    Mirror(MirrorState),
}

impl Counter {
    const fn last(&self) -> u32 {
        match self {
            Self::Proof(state) => state.last,
            Self::Mirror(state) => state.last,
        }
    }

    /// The reason of the next tap, and the last counter before it.
    fn decide(&mut self, counter: u32, day: i64) -> (&'static str, u32) {
        match self {
            Self::Proof(state) => match state.accept(counter) {
                Acceptance::Accepted {
                    state: next,
                    previous,
                } => {
                    *state = next;
                    ("verified", previous)
                }
                Acceptance::Replayed { last } => ("replayed", last),
                Acceptance::OutOfOrder { last } => ("out_of_order", last),
            },
            Self::Mirror(state) => {
                let last = state.last;
                let reason = if state.jumps(counter, day) {
                    "jumped"
                } else {
                    "no_mac"
                };
                *state = state.show(counter, day).unwrap_or(*state);
                (reason, last)
            }
        }
    }
}

/// Records a group of codes of inlays that belong to no tag.
const CODES: &str = "WITH n AS (SELECT $2::INTEGER[] AS size)
    SELECT taps.interaction, taps.why, taps.accepted
    FROM n, LATERAL record_taps(false, 1::SMALLINT, $1, array_fill(0::BIGINT, size), $3,
        array_fill(1, size), $4, $5, array_fill(NULL::TEXT, size), array_fill(NULL::BIGINT, size),
        array_fill(NULL::BYTEA, size), array_fill('n'::TEXT, size), array_fill(NULL::BIGINT, size),
        array_fill(NULL::INTEGER, size), array_fill('\\x01010101010101010101010101010101'::BYTEA, size),
        array_fill('CH'::TEXT, size), array_fill(NULL::BYTEA, size), array_fill(NULL::BYTEA, size),
        array_fill(false, size), array_fill(0::BIGINT, size), array_fill(NULL::TEXT, size),
        array_fill(NULL::BYTEA, size), array_fill(NULL::TEXT, size), array_fill(NULL::TEXT, size),
        array_fill(NULL::INTEGER, size), array_fill(NULL::BIGINT, size)) AS taps";

/// Inlays with one tap in a group are decided by another statement than those with several.
#[tokio::test]
async fn a_group_decides_each_code_as_if_it_came_after_those_before_it() {
    const GROUPS: u32 = 60;
    let db = Database::<Postgres>::create().await;
    let client = db.backend().look_into().await;
    let inlays = "INSERT INTO counters (inlay_id, key_version, last, seen)
        SELECT n, 1, 0, 0 FROM generate_series(1, 6) AS n";
    client.batch_execute(inlays).await.unwrap();
    let mut counters: Vec<_> = (1..=6)
        .map(|inlay| {
            if inlay % 3 == 0 {
                Counter::Mirror(MirrorState::default())
            } else {
                Counter::Proof(CounterState::default())
            }
        })
        .collect();
    let today = db.now().millis().div_euclid(DAY);
    let dice = SeededEntropy::new(1);
    let roll = |below: u32| {
        let mut bytes = [0; 4];
        dice.fill(&mut bytes);
        u32::from_le_bytes(bytes) % below
    };
    let reserve = "SELECT reserve_interactions()";
    for group in 0..GROUPS {
        // A reservation has 256 ids.
        let first: i64 = client.query_one(reserve, &[]).await.unwrap().get(0);
        let ids: Vec<_> = (first..=first + i64::from(roll(8))).collect();
        let (mut taps, mut codes, mut mirrors) = (Vec::new(), Vec::new(), Vec::new());
        let mut expected = HashMap::new();
        for id in &ids {
            let place = roll(6);
            let counter = &mut counters[place as usize];
            let code = match roll(8) {
                0..=3 => counter.last() + 1 + roll(3),
                4 => counter.last() + 50 + roll(30),
                5 => counter.last() + 1_000 - roll(2),
                _ => counter.last().saturating_sub(roll(90)),
            };
            taps.push(i64::from(place) + 1);
            codes.push(i64::from(code));
            mirrors.push(matches!(counter, Counter::Mirror(_)));
            let (reason, last) = counter.decide(code, today);
            expected.insert(*id, (reason.to_owned(), i64::from(last)));
        }
        let size = i32::try_from(ids.len()).unwrap();
        let rows = client
            .query(CODES, &[&ids, &vec![size], &taps, &codes, &mirrors])
            .await
            .unwrap();
        let decided: HashMap<i64, (String, i64)> = rows
            .iter()
            .map(|row| (row.get(0), (row.get(1), row.get(2))))
            .collect();
        assert_eq!(decided, expected, "{group}: {taps:?} {codes:?}");
    }
    let lasts = "SELECT last FROM counters ORDER BY inlay_id";
    let lasts = client.query(lasts, &[]).await.unwrap();
    let lasts: Vec<i64> = lasts.iter().map(|row| row.get(0)).collect();
    let expected: Vec<_> = counters
        .iter()
        .map(|counter| i64::from(counter.last()))
        .collect();
    assert_eq!(lasts, expected);
}
