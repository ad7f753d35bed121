//! What housekeeping removes and no operation shows.

use futures_util::future::join_all;
use serde_json::json;

use tapdesk_service::rolling_key::LIFETIME_MILLIS;

use super::Sqlite;
use crate::storage::backend::{Backend as _, DAY, Database, START, Tap};

fn rows(db: &Database<Sqlite>, table: &str) -> i64 {
    let count = format!("SELECT count(*) FROM {table}");
    let connection = db.backend().look_into();
    connection.query_row(&count, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_visitor_goes_after_30_days_and_the_count_of_all_stays() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    db.tap(Tap::of(tag).by(1)).await;
    db.clock.advance(1);
    db.tap(Tap::of(tag).by(2)).await;
    while db.backend().fold().await {}
    assert_eq!(rows(&db, "visits"), 3, "two visitors, and everyone");
    for (passed, left) in [(30 * DAY - 1, 3), (1, 2), (1, 1)] {
        db.clock.advance(passed);
        db.sweep(START).await.unwrap();
        assert_eq!(rows(&db, "visits"), left, "after {passed} ms more");
    }
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 2);
}

#[tokio::test]
async fn what_is_told_of_an_interaction_goes_with_it_even_with_the_last() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    db.note_payload_read(tapped.id, db.now());
    db.sweep(START).await.unwrap();
    assert_eq!(rows(&db, "payload_reads"), 1);

    db.clock.advance(400 * DAY);
    db.sweep(db.now()).await.unwrap();
    for table in ["interactions", "rolling_keys", "payload_reads"] {
        assert_eq!(rows(&db, table), 0, "{table}");
    }
}

#[tokio::test]
async fn an_interaction_goes_at_the_given_moment() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let older = db.tap(Tap::of(tag)).await;
    db.clock.advance(1);
    let newer = db.tap(Tap::of(tag)).await;
    db.sweep(START.plus_millis(1)).await.unwrap();
    assert!(db.interaction(older.id).await.unwrap().is_none());
    assert!(db.interaction(newer.id).await.unwrap().is_some());
}

#[tokio::test]
async fn keys_and_traces_that_are_due_go_whatever_stands_in_front_of_them() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.registrable("bottle", json!({})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    for _ in 0..5 {
        join_all((0..420).map(|_| db.tap(Tap::of(twin).simulated(800 * DAY)))).await;
    }
    let tapped = db.tap(Tap::of(tag)).await;
    db.update_variables(tapped.update("yes")).await.unwrap();
    db.note_payload_read(tapped.id, db.now());
    db.clock.advance(400 * DAY);
    while db.sweep(db.now()).await.unwrap().more {}
    for (table, left) in [
        ("interactions", 2_100),
        ("rolling_keys", 2_100),
        ("updates", 0),
        ("payload_reads", 0),
    ] {
        assert_eq!(rows(&db, table), left, "{table}");
    }
}

#[tokio::test]
async fn a_key_that_is_dead_in_simulated_time_goes_though_it_is_dated_ahead() {
    let mut db = Database::<Sqlite>::create().await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    let ahead = db.advance_simulated(3_000_000_000).await.unwrap();
    let tapped = db.tap(Tap::of(twin).simulated(ahead)).await;
    db.reopen().await;
    assert_eq!(db.simulated_offset(), ahead, "it survives a restart");
    assert!(db.issued_key(tapped.id).await.unwrap().is_some());
    db.clock.advance(LIFETIME_MILLIS - 1);
    db.sweep(START).await.unwrap();
    assert_eq!(rows(&db, "rolling_keys"), 1);
    db.clock.advance(1);
    db.sweep(START).await.unwrap();
    assert_eq!(rows(&db, "rolling_keys"), 0);
}

/// A round is one command of the writer: taps wait for it.
#[tokio::test]
async fn a_round_removes_a_bounded_number_of_rows() {
    const MOST: i64 = 2_000;
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    for _ in 0..10 {
        join_all((0..500).map(|_| db.tap(Tap::of(tag)))).await;
    }
    db.clock.advance(400 * DAY);
    let (mut left, mut more) = (5_000, true);
    while more {
        more = db.sweep(db.now()).await.unwrap().more;
        for table in ["interactions", "rolling_keys"] {
            assert_eq!(rows(&db, table), (left - MOST).max(0), "{table}");
        }
        left -= MOST;
    }
    assert!(left <= 0, "it goes on until nothing is left");
}
