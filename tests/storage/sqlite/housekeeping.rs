//! What housekeeping removes and no operation shows.

use serde_json::json;

use super::Sqlite;
use crate::storage::backend::{DAY, Database, START, Tap};

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
