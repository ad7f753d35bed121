//! Who came before, as the payload tells it (`device.r` and `device.rd`).

use serde_json::json;
use tapdesk_service::clock::Timestamp;

use crate::storage::backend::{Backend, DAY, Database, Tap};

/// How a tap found its visitor: known for 30 days, known for a day.
async fn known<B: Backend>(db: &Database<B>, tap: Tap) -> (bool, bool) {
    let returning = db.tap(tap).await.recorded.returning;
    (returning.month, returning.day)
}

pub(crate) async fn a_visitor_is_known_for_a_day_and_for_30_days<B: Backend>(db: Database<B>) {
    let tap = Tap::of(db.tag(json!({})).await);
    for (pause, expected) in [
        (0, (false, false)),
        (0, (true, true)),
        (DAY - 1, (true, true)),
        (DAY, (true, false)),
        (30 * DAY - 1, (true, false)),
        (30 * DAY, (false, false)),
    ] {
        db.clock.advance(pause);
        // Whoever is known stays known while house is kept.
        db.sweep(Timestamp::default()).await.unwrap();
        assert_eq!(known(&db, tap).await, expected, "after {pause} ms");
    }
}

pub(crate) async fn a_visitor_is_known_at_a_tag_only<B: Backend>(db: Database<B>) {
    let tap = Tap::of(db.tag(json!({})).await);
    let elsewhere = Tap::of(db.tag(json!({"slug": "elsewhere"})).await);
    known(&db, tap.by(1)).await;
    assert_eq!(known(&db, tap.by(2)).await, (false, false));
    assert_eq!(known(&db, elsewhere.by(1)).await, (false, false));
    assert_eq!(known(&db, tap.by(1)).await, (true, true));
    assert_eq!(known(&db, tap.by(2)).await, (true, true));
}
