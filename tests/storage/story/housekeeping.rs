//! What is removed from time to time, and what is not.

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::clock::Timestamp;
use tapdesk_service::rolling_key::LIFETIME_MILLIS;

use crate::storage::backend::{Backend, DAY, Database, START, Tap};

/// A moment before every interaction: none is too old.
const EVER: Timestamp = Timestamp::from_millis(0);

pub async fn a_key_is_kept_as_long_as_it_lives<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    db.clock.advance(LIFETIME_MILLIS - 1);
    let younger = db.tap(Tap::of(tag)).await;
    assert!(!db.sweep(EVER).await.unwrap());
    assert!(db.issued_key(tapped.id).await.unwrap().is_some());

    db.clock.advance(1);
    assert!(!db.sweep(EVER).await.unwrap());
    assert!(db.issued_key(tapped.id).await.unwrap().is_none());
    assert!(db.issued_key(younger.id).await.unwrap().is_some());
}

pub async fn interactions_before_the_given_moment_go_and_nothing_else<B: Backend>(db: Database<B>) {
    const WEEK: i64 = 7 * DAY;
    let tag = db.tag(json!({"variables": {"registered": "no"}})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let older = db.tap(Tap::code(tag, inlay, 1)).await;
    db.clock.advance(3 * WEEK);
    let newer = db.tap(Tap::code(tag, inlay, 2)).await;
    let before = db.storage().tag(tag).await.unwrap();

    // A week late is early enough.
    while db.sweep(START.plus_millis(2 * WEEK)).await.unwrap() {}
    assert!(db.interaction(older.id).await.unwrap().is_none());
    assert!(db.interaction(newer.id).await.unwrap().is_some());
    assert!(db.issued_key(newer.id).await.unwrap().is_some());

    db.clock.advance(400 * DAY);
    while db.sweep(db.now()).await.unwrap() {}
    assert!(db.interaction(newer.id).await.unwrap().is_none());
    assert_eq!(db.storage().tag(tag).await.unwrap(), before);
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 2);
    assert!(!db.tap(Tap::code(tag, inlay, 2)).await.verified());
}

pub async fn what_is_due_goes_in_rounds_until_nothing_is_left<B: Backend>(db: Database<B>) {
    const TAPS: usize = 4_500;
    let tag = db.tag(json!({})).await;
    let taps = join_all((0..TAPS).map(|_| db.tap(Tap::of(tag)))).await;
    db.clock.advance(LIFETIME_MILLIS);
    let mut rounds = 1;
    while db.sweep(db.now()).await.unwrap() {
        rounds += 1;
        assert!(rounds <= TAPS, "it comes to an end");
    }
    for tapped in taps {
        assert!(db.issued_key(tapped.id).await.unwrap().is_none());
    }
}
