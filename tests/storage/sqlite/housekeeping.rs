//! Rows that housekeeping deletes, and that no operation shows.

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::clock::Millis;
use tapdesk_service::storage::Updated;

use super::Sqlite;
use crate::storage::backend::{Backend as _, DAY, Database, LIFETIME, MINUTE, START, Tap};

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
    db.advance(1);
    db.tap(Tap::of(tag).by(2)).await;
    while db.backend().fold().await {}
    assert_eq!(rows(&db, "visits"), 3, "two visitors, and everyone");
    for (passed, left) in [(30 * DAY - 1, 3), (1, 2), (1, 1)] {
        db.advance(passed);
        db.sweep(START).await.unwrap();
        assert_eq!(rows(&db, "visits"), left, "after {passed} ms more");
    }
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 2);
}

/// Folded data may be in memory, too.
#[tokio::test]
async fn a_visitor_who_went_is_new_again_and_one_who_came_since_is_not() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    for client in [1, 2] {
        db.tap(Tap::of(tag).by(client)).await;
    }
    while db.backend().fold().await {}
    db.advance(30 * DAY + 1);
    db.tap(Tap::of(tag).by(2)).await;
    db.sweep(START).await.unwrap();
    assert_eq!(rows(&db, "visits"), 1, "both rows are old");
    assert!(!db.tap(Tap::of(tag).by(1)).await.recorded.returning.month);
    assert!(db.tap(Tap::of(tag).by(2)).await.recorded.returning.day);
    while db.backend().fold().await {}
    let file = db.backend().look_into();
    let mut scans = file
        .prepare("SELECT scans FROM visits WHERE client <> x'' ORDER BY client")
        .unwrap();
    let scans = scans.query_map([], |row| row.get(0)).unwrap();
    let scans: Vec<i64> = scans.map(Result::unwrap).collect();
    assert_eq!(scans, [1, 3]);
}

#[tokio::test]
async fn what_is_told_of_an_interaction_goes_with_it_even_with_the_last() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    db.note_payload_read(tapped.id, db.now());
    db.sweep(START).await.unwrap();
    assert_eq!(rows(&db, "payload_reads"), 1);

    db.advance(400 * DAY);
    db.sweep(db.now()).await.unwrap();
    for table in ["interactions", "payload_reads"] {
        assert_eq!(rows(&db, table), 0, "{table}");
    }
}

#[tokio::test]
async fn an_interaction_goes_at_the_given_moment() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let older = db.tap(Tap::of(tag)).await;
    db.advance(1);
    let newer = db.tap(Tap::of(tag)).await;
    db.sweep(START.plus(Millis::new(1))).await.unwrap();
    assert!(db.interaction(older.id).await.unwrap().is_none());
    assert!(db.interaction(newer.id).await.unwrap().is_some());
}

#[tokio::test]
async fn traces_that_are_due_go_whatever_stands_in_front_of_them() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.registrable("bottle", json!({})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    for _ in 0..5 {
        join_all((0..420).map(|_| db.tap(Tap::of(twin).simulated(800 * DAY)))).await;
    }
    let tapped = db.tap(Tap::of(tag)).await;
    db.update_variables(tapped.update("yes")).await.unwrap();
    db.note_payload_read(tapped.id, db.now());
    db.advance(400 * DAY);
    while db.sweep(db.now()).await.unwrap().more {}
    for (table, left) in [
        ("interactions", 2_100),
        ("updates", 0),
        ("payload_reads", 0),
    ] {
        assert_eq!(rows(&db, table), left, "{table}");
    }
}

/// Housekeeping runs every few seconds. A key that it saw as expired stays expired, whatever clock
/// the next start has.
#[tokio::test]
async fn a_key_that_was_seen_to_expire_never_comes_back() {
    let mut db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let old = db.tap(Tap::of(tag)).await;
    db.advance(2 * MINUTE);
    let young = db.tap(Tap::of(tag)).await;
    db.advance(LIFETIME - MINUTE);
    assert!(
        db.issued_key(old.id).await.unwrap().is_some(),
        "nobody looked yet"
    );
    db.sweep(START).await.unwrap();
    assert!(db.issued_key(old.id).await.unwrap().is_none());
    // The newest interaction is not later than this, so no other rule expires a key.
    db.reopen_at(START.plus(Millis::new(2 * MINUTE))).await;
    assert!(db.issued_key(old.id).await.unwrap().is_none());
    assert!(db.issued_key(young.id).await.unwrap().is_some());
    // Once more with another key, which housekeeping checks again.
    let new = db.tap(Tap::of(tag)).await;
    db.advance(LIFETIME);
    db.sweep(START).await.unwrap();
    db.reopen_at(START.plus(Millis::new(2 * MINUTE))).await;
    for id in [young.id, new.id] {
        assert!(db.issued_key(id).await.unwrap().is_none());
    }
}

/// The hash stays with the interaction: to expire a key, only one mark is written.
#[tokio::test]
async fn a_tap_is_one_row_that_stays_as_it_is() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    let row = || -> (Vec<u8>, Vec<u8>) {
        let file = db.backend().look_into();
        let sql = "SELECT key_hash, url_digest FROM interactions WHERE id = ?1";
        let row = file.query_row(sql, [tapped.id.get()], |row| Ok((row.get(0)?, row.get(1)?)));
        row.unwrap()
    };
    let before = row();
    assert_eq!(before, (tapped.hash.0.to_vec(), vec![7; 8]));
    db.advance(LIFETIME);
    db.sweep(START).await.unwrap();
    assert_eq!(row(), before);
    assert_eq!(rows(&db, "expired_keys"), 1);
}

/// Otherwise each update of a commit would touch another page: the keys of an hour are on
/// thousands.
#[tokio::test]
async fn updates_lie_in_the_order_in_which_they_come_whatever_that_of_their_keys() {
    let db = Database::<Sqlite>::create().await;
    let tag = db.registrable("bottle", json!({})).await;
    let mut tapped = join_all((0..20).map(|_| db.tap(Tap::of(tag)))).await;
    tapped.sort_by_key(|tapped| (tapped.id.get() % 3, -tapped.id.get()));
    let mut came = Vec::new();
    for tapped in &tapped {
        let updated = db.update_variables(tapped.update("yes")).await.unwrap();
        assert!(matches!(updated, Updated::Done(_)), "{updated:?}");
        came.push(tapped.id.get());
    }
    let file = db.backend().look_into();
    let mut rows = file
        .prepare("SELECT interaction_id FROM updates ORDER BY _rowid_")
        .unwrap();
    let lie = rows.query_map([], |row| row.get(0)).unwrap();
    assert_eq!(lie.collect::<Result<Vec<i64>, _>>().unwrap(), came);
}

/// A round is one command of the writer, and taps wait for it.
#[tokio::test]
async fn a_round_removes_a_bounded_number_of_rows() {
    const MOST: i64 = 2_000;
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    for _ in 0..10 {
        join_all((0..500).map(|_| db.tap(Tap::of(tag)))).await;
    }
    db.advance(400 * DAY);
    let (mut left, mut more) = (5_000, true);
    while more {
        more = db.sweep(db.now()).await.unwrap().more;
        assert_eq!(rows(&db, "interactions"), (left - MOST).max(0));
        left -= MOST;
    }
    assert!(left <= 0, "it goes on until nothing is left");
}
