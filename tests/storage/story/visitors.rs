//! Earlier visitors, in the payload's form (`device.r` and `device.rd`).

use serde_json::json;
use tapdesk_service::clock::Timestamp;
use tapdesk_service::storage::{Advance, Move, NewDelivery, Precondition, WebhookEdit};
use tapdesk_service::webhook::EventKind;

use crate::storage::backend::{Backend, DAY, Database, START, Tap};

/// Whether a tap's visitor was known for 30 days, and for a day.
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
        db.advance(pause);
        // Housekeeping does not forget a known visitor.
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

pub(crate) async fn what_was_read_before_an_erasing_or_an_edit_is_not_stored_for_webhooks<
    B: Backend,
>(
    db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let fields = json!({"url": "https://hooks.example/", "events": ["tap.not_checked"]});
    let fields = serde_json::from_value(fields).unwrap();
    let webhook = db.insert_webhook(fields, vec![1]).await.unwrap().id;
    let cursor = db.route_states().await.unwrap()[0].cursor;
    let revision = db.route_fields().await.unwrap()[&webhook].revision;
    let made_of = |erasures: u64| Advance {
        moves: vec![Move {
            webhook,
            revision,
            from: cursor,
            to: cursor,
        }],
        deliveries: vec![NewDelivery {
            webhook_id: webhook,
            event_id: "tap_1_1".to_owned(),
            again: None,
            kind: EventKind::TapNotChecked,
            at: START,
            tag_id: Some(tag),
            body: "{}".to_owned(),
        }],
        erasures,
    };
    let waiting = async || db.webhook(webhook).await.unwrap().unwrap().waiting;
    // An event is built, its visitor is erased, and only then it is stored.
    let read = made_of(db.erasures().await.unwrap());
    while db.erase_visitors(Some(tag)).await.unwrap().unwrap() {}
    assert!(db.advance_webhooks(read).await.unwrap().is_empty());
    assert_eq!(waiting().await, 0);
    // Built again, it does not contain the visitor's data.
    let read = made_of(db.erasures().await.unwrap());
    assert_eq!(db.advance_webhooks(read).await.unwrap(), [webhook]);
    assert_eq!(waiting().await, 1);
    // An event that was built before an edit of its webhook is not stored either, because the
    // webhook may no longer receive such events.
    let read = made_of(db.erasures().await.unwrap());
    let edit: WebhookEdit = Box::new(|mut fields| {
        fields.events = vec![EventKind::TapVerified];
        Ok(fields)
    });
    let edited = db.edit_webhook(webhook, edit, Precondition::None).await;
    assert_eq!(edited.unwrap().unwrap().waiting, 0);
    assert!(db.advance_webhooks(read).await.unwrap().is_empty());
    assert_eq!(waiting().await, 0);
}
