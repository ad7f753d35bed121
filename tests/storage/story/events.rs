//! The events that are sent, and their time.

use serde_json::json;
use tapdesk_service::storage::Event;

use crate::storage::backend::{Backend, Database, Tap};

pub(crate) async fn a_tap_is_told_after_its_commit<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let mut events = db.events();

    let real = db.tap(Tap::code(tag, inlay, 1)).await;
    let simulated = db.tap(Tap::of(twin).simulated(5)).await;
    for (tapped, of, verified, simulated) in [
        (real, tag, Some(true), false),
        (simulated, twin, None, true),
    ] {
        let event = events.try_recv().expect("told before it is acknowledged");
        let Event::Interaction {
            interaction_id,
            tag_id,
            at,
            tag_verified,
            ..
        } = *event
        else {
            panic!("{event:?}");
        };
        assert_eq!((interaction_id, tag_id), (tapped.id, Some(of)));
        assert_eq!((at, tag_verified), (tapped.recorded.at, verified));
        assert_eq!(event.simulated(), simulated);
        assert!(db.issued_key(interaction_id).await.unwrap().is_some());
    }

    db.delete_inlay(inlay).await.unwrap();
    assert!(events.try_recv().is_err(), "configuration is no event");
}

pub(crate) async fn an_update_is_told_with_its_changes_and_a_refusal_is_not<B: Backend>(
    db: Database<B>,
) {
    let tag = db.registrable("bottle", json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    let mut events = db.events();
    db.update_variables(tapped.update("yes")).await.unwrap();
    db.update_variables(tapped.update("again")).await.unwrap();
    let event = events.try_recv().expect("told before it is acknowledged");
    let Event::Update {
        interaction_id,
        tag_id,
        at,
        changes,
        simulated,
    } = &*event
    else {
        panic!("{event:?}");
    };
    assert_eq!((*interaction_id, *tag_id), (tapped.id, tag));
    assert_eq!((*at, *simulated), (db.now(), false));
    let [change] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(
        (change.old.as_deref(), change.new.as_str()),
        (Some("no"), "yes")
    );
    assert!(events.try_recv().is_err());
}
