//! Several nodes on one database.

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::clock::Millis;
use tapdesk_service::entropy::{OsEntropy, bytes};
use tapdesk_service::id::TagId;
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::postgres::Time;
use tapdesk_service::storage::{Access, CachedPart, TagChange, Updated};
use tapdesk_service::storage::{Event, SharedEvent};
use tapdesk_service::tag::{PropertyClass, PropertyKey, Status};
use tapdesk_tests::{PATIENCE, TestDatabase, eventually};
use tokio::sync::broadcast::Receiver;
use tokio_postgres::Client;

use super::open;
use crate::storage::backend::{Opened, Tap, Tapped, tag_fields};

async fn two() -> (TestDatabase, [Opened; 2]) {
    let database = TestDatabase::create().await;
    let nodes = [
        open(&database, Time::Movable).await,
        open(&database, Time::Movable).await,
    ];
    (database, nodes)
}

async fn tag(node: &Access) -> TagId {
    tag_of(node, "bottle").await
}

async fn tag_of(node: &Access, slug: &str) -> TagId {
    let fields = tag_fields(json!({"slug": slug, "variables": {"registered": "no"}}));
    let tags = node.insert_tags(vec![fields], false).await.unwrap();
    *tags[0].as_ref().unwrap()
}

async fn tap(node: &Access, tap: Tap) -> Tapped {
    let hash = KeyHash(bytes(&OsEntropy));
    let recorded = node.record_tap(tap.interaction(hash)).await.unwrap();
    Tapped {
        id: recorded.id,
        hash,
        recorded,
    }
}

async fn next(events: &mut Receiver<SharedEvent>) -> SharedEvent {
    let next = tokio::time::timeout(PATIENCE, events.recv());
    next.await.expect("it is told").unwrap()
}

#[tokio::test]
async fn what_happens_on_one_node_is_told_on_the_other_once() {
    let (database, [one, other]) = two().await;
    let tag = tag(&one).await;
    let experience = "INSERT INTO experiences (name, folded, kind, draft, created_at, updated_at)
        VALUES ('', '', 'redirect', '{}', 0, 0); UPDATE tags SET experience_id = 1";
    let client = database.look_into().await;
    client.batch_execute(experience).await.unwrap();
    let (mut here, mut there) = (one.events(), other.events());
    // The other node gets no notifications before it listens.
    until_both_looked(&client).await;

    let tapped = tap(&one, Tap::of(tag)).await;
    one.update_variables(tapped.update("yes")).await.unwrap();
    for events in [&mut here, &mut there] {
        let Event::Interaction {
            interaction_id, at, ..
        } = *next(events).await
        else {
            panic!("the tap comes first");
        };
        assert_eq!((interaction_id, at), (tapped.id, tapped.recorded.at));
        let received = next(events).await;
        let Event::Update {
            interaction_id,
            changes,
            ..
        } = &*received
        else {
            panic!("the update comes second");
        };
        assert_eq!(*interaction_id, tapped.id);
        assert_eq!(
            (changes[0].old.as_deref(), changes[0].new.as_str()),
            (Some("no"), "yes")
        );
    }
    let second = tap(&other, Tap::of(tag)).await;
    for events in [&mut here, &mut there] {
        let Event::Interaction { interaction_id, .. } = *next(events).await else {
            panic!("a tap");
        };
        assert_eq!(interaction_id, second.id, "nothing was told twice");
    }
}

#[tokio::test]
async fn a_change_of_configuration_on_one_node_is_known_on_the_other() {
    let (_database, [one, other]) = two().await;
    let tag = tag(&one).await;
    let before = other.configuration_epoch();
    one.change_tags(vec![tag], TagChange::Delete).await.unwrap();
    let changed = one.configuration_epoch();
    assert!(changed > before);
    eventually("the other node knows", || async {
        (other.configuration_epoch() == changed).then_some(())
    })
    .await;
}

/// Waits until the node knows that this part did not change since `epoch`.
async fn is_current(node: &Access, part: CachedPart, epoch: u64) {
    eventually(&format!("{part:?} is current"), || async {
        node.is_current(part, epoch).then_some(())
    })
    .await;
}

/// The epoch, once both nodes know it.
async fn known_to_both(one: &Access, other: &Access) -> u64 {
    eventually("both nodes know", || async {
        let newest = one.configuration_epoch()?;
        (other.configuration_epoch() == Some(newest)).then_some(newest)
    })
    .await
}

/// Each node keeps the other tags in its cache, and a tag of which only properties changed, too.
#[tokio::test]
async fn a_change_invalidates_only_its_part_of_the_caches_of_all_nodes() {
    let (database, [one, other]) = two().await;
    let (changed, kept) = (tag(&one).await, tag_of(&one, "other-bottle").await);
    // The other node gets no notifications before it listens.
    until_both_looked(&database.look_into().await).await;
    let before = known_to_both(&one, &other).await;

    let key = PropertyKey::parse("lot").unwrap();
    one.put_property(changed, PropertyClass::Attribute, key, "A".to_owned())
        .await
        .unwrap();
    let attribute = known_to_both(&one, &other).await;
    assert!(attribute > before, "counts of attributes are kept");
    for node in [&one, &other] {
        for tag in [changed, kept] {
            // No cache holds attributes.
            is_current(node, CachedPart::Tag(tag), before).await;
        }
    }

    let archive = TagChange::Status(Status::Archived);
    one.change_tags(vec![changed], archive).await.unwrap();
    let newest = known_to_both(&one, &other).await;
    for node in [&one, &other] {
        is_current(node, CachedPart::Tag(changed), newest).await;
        assert!(!node.is_current(CachedPart::Tag(changed), newest - 1));
        for part in [CachedPart::Tag(kept), CachedPart::Phones] {
            is_current(node, part, before).await;
        }
    }
}

#[tokio::test]
async fn time_is_moved_for_all_nodes() {
    let (_database, [one, other]) = two().await;
    let before = other.now().await.unwrap();
    let moved = one.advance(Millis::days(1)).await.unwrap().unwrap();
    assert!(moved.since(before) >= Millis::days(1));
    assert!(other.now().await.unwrap() >= moved);

    let moved = one.advance_simulated(Millis::seconds(5)).await;
    assert_eq!(moved.unwrap(), Millis::seconds(5));
    let moved = other.advance_simulated(Millis::seconds(2)).await;
    assert_eq!(moved.unwrap(), Millis::seconds(7));
    eventually("both know", || async {
        (one.simulated_offset() == Millis::seconds(7)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn nodes_agree_on_who_was_first() {
    let (database, nodes) = two().await;
    let tag = tag(&nodes[0]).await;
    database
        .look_into()
        .await
        .batch_execute(
            "INSERT INTO counters (inlay_id, key_version, last, seen) VALUES (1, 1, 0, 0)",
        )
        .await
        .unwrap();
    let inlay = tapdesk_service::id::InlayId::new(1);
    let racers = (0..200).map(|racer| tap(&nodes[racer % 2], Tap::code(tag, inlay, 7)));
    let taps = join_all(racers).await;
    assert_eq!(taps.iter().filter(|tap| tap.verified()).count(), 1);
    let mut ids: Vec<_> = taps.iter().map(|tap| tap.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), taps.len(), "no id is given twice");
    let tag = nodes[0].tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 200);
    // Each interaction names the previous one, so the chain shows that none is missing.
    let of_tag = tapdesk_service::storage::InteractionFilter {
        tag_id: Some(tag.id),
        ..Default::default()
    };
    let history = nodes[1].interactions(of_tag, None, 500).await.unwrap();
    assert_eq!(history.found.len(), 200);
}

#[tokio::test]
async fn ids_are_not_used_before_their_week_is_there() {
    let (database, [node, _other]) = two().await;
    let tag = tag(&node).await;
    // Another node reserves the very first ids, and has not committed yet.
    let client = database.look_into().await;
    let reserve = "BEGIN; SELECT reserve_interactions()";
    client.batch_execute(reserve).await.unwrap();
    let committed = async {
        let waiting = "SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'advisory'";
        eventually("the tap waits for it", || async {
            let waiting = client.query(waiting, &[]).await.unwrap();
            (!waiting.is_empty()).then_some(())
        })
        .await;
        client.batch_execute("COMMIT").await.unwrap();
    };
    let (tapped, ()) = tokio::join!(tap(&node, Tap::of(tag)), committed);
    let found = node.interaction(tapped.id).await.unwrap();
    assert!(found.is_some());
}

#[tokio::test]
async fn nodes_agree_on_who_used_a_key() {
    let (database, nodes) = two().await;
    let tag = tag(&nodes[0]).await;
    let experience = "INSERT INTO experiences (name, folded, kind, draft, created_at, updated_at)
        VALUES ('', '', 'redirect', '{}', 0, 0); UPDATE tags SET experience_id = 1";
    let client = database.look_into().await;
    client.batch_execute(experience).await.unwrap();
    let tapped = tap(&nodes[0], Tap::of(tag)).await;
    let values: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let racers = values.iter().enumerate().map(|(number, value)| {
        let node = &nodes[number % 2];
        async move { node.update_variables(tapped.update(value)).await.unwrap() }
    });
    let outcomes = join_all(racers).await;
    let done = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Updated::Done(_)));
    assert_eq!(done.count(), 1);
}

#[tokio::test]
async fn keys_do_not_come_back_when_the_databases_clock_goes_back() {
    let (database, [node, _other]) = two().await;
    let tag = tag(&node).await;
    let before = tap(&node, Tap::of(tag)).await;
    node.advance(Millis::seconds(5)).await.unwrap();
    let client = database.look_into().await;
    until_both_looked(&client).await;
    client
        .batch_execute("UPDATE clock SET ahead = ahead - 600000")
        .await
        .unwrap();
    until_both_looked(&client).await;
    eventually("the key is gone", || async {
        let key = node.issued_key(before.id).await.unwrap();
        key.is_none().then_some(())
    })
    .await;
    until_both_looked(&client).await;
    let after = tap(&node, Tap::of(tag)).await;
    until_both_looked(&client).await;
    assert!(node.issued_key(after.id).await.unwrap().is_some());
    assert!(after.id > before.id);
}

/// Waits until both nodes have read epoch and time once more.
async fn until_both_looked(client: &Client) {
    let now = client
        .query_one("SELECT clock_timestamp()::TEXT", &[])
        .await;
    let now: String = now.unwrap().get(0);
    let looks = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'SELECT epoch, present()%' AND state = 'idle'
            AND query_start > $1::TEXT::TIMESTAMPTZ";
    eventually("both nodes look", || async {
        let looked: i64 = client.query_one(looks, &[&now]).await.unwrap().get(0);
        (looked == 2).then_some(())
    })
    .await;
}
