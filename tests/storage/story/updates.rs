//! Updates: consuming a key and writing its variables are one operation.

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_service::id::InteractionId;
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::{TagChange, UpdateRefusal, Updated, VariableUpdate};
use tapdesk_service::tag::PropertyKey;

use crate::storage::backend::{Backend, DAY, Database, LIFETIME, Tap, Tapped};

fn key(text: &str) -> PropertyKey {
    PropertyKey::parse(text).unwrap()
}

async fn updated<B: Backend>(db: &Database<B>, update: VariableUpdate) -> Updated {
    db.update_variables(update).await.unwrap()
}

#[track_caller]
fn assert_done(updated: &Updated) {
    assert!(matches!(updated, Updated::Done(_)), "{updated:?}");
}

fn assert_refused(updated: &Updated, why: UpdateRefusal) {
    assert_eq!(*updated, Updated::Refused(why));
}

pub(crate) async fn a_key_updates_once<B: Backend>(db: Database<B>) {
    let tag = db
        .registrable("bottle", json!({"variables": {"owner": ""}}))
        .await;
    let tapped = db.tap(Tap::of(tag)).await;
    let mut both = tapped.update("yes");
    both.data
        .push((key("owner"), "Ada; DROP TABLE tags".to_owned()));
    let Updated::Done(changes) = updated(&db, both).await else {
        panic!("it is done");
    };
    let shown: Vec<_> = changes
        .iter()
        .map(|change| {
            (
                change.key.as_str(),
                change.old.as_deref(),
                change.new.as_str(),
            )
        })
        .collect();
    let expected = [
        ("registered", Some("no"), "yes"),
        ("owner", Some(""), "Ada; DROP TABLE tags"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(db.registered(tag).await, "yes");

    assert_refused(
        &updated(&db, tapped.update("again")).await,
        UpdateRefusal::Consumed,
    );
    assert_eq!(db.registered(tag).await, "yes");
    let (stored, _) = db.issued_key(tapped.id).await.unwrap().unwrap();
    assert_eq!(stored.consumed.expect("it says so").at, db.now());
}

pub(crate) async fn of_many_updates_at_once_with_one_key_one_is_done<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    let values: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let outcomes = join_all(
        values
            .iter()
            .map(|value| updated(&db, tapped.update(value))),
    )
    .await;
    let mut winners = Vec::new();
    for (value, outcome) in values.iter().zip(&outcomes) {
        match outcome {
            Updated::Done(_) => winners.push(value.clone()),
            other => assert_refused(other, UpdateRefusal::Consumed),
        }
    }
    assert_eq!(winners, [db.registered(tag).await]);
}

pub(crate) async fn the_same_request_is_answered_again_and_no_other<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    let by = |request| VariableUpdate {
        request,
        ..tapped.update("yes")
    };
    assert_done(&updated(&db, by(Some([1; 32]))).await);
    assert_eq!(updated(&db, by(Some([1; 32]))).await, Updated::Repeated);
    for other in [None, Some([2; 32])] {
        assert_refused(&updated(&db, by(other)).await, UpdateRefusal::Consumed);
    }
    db.advance(LIFETIME);
    assert_refused(
        &updated(&db, by(Some([1; 32]))).await,
        UpdateRefusal::InvalidKey,
    );

    let unnamed = db.tap(Tap::of(tag)).await;
    assert_done(&updated(&db, unnamed.update("yes")).await);
    assert_refused(
        &updated(&db, unnamed.update("yes")).await,
        UpdateRefusal::Consumed,
    );
}

pub(crate) async fn a_key_lives_for_300_seconds<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    for swept in [false, true] {
        let timely = db.tap(Tap::of(tag)).await;
        let late = db.tap(Tap::of(tag)).await;
        db.advance(LIFETIME - 1);
        assert_done(&updated(&db, timely.update("timely")).await);
        db.advance(1);
        if swept {
            db.sweep(Timestamp::default()).await.unwrap();
        }
        assert_refused(
            &updated(&db, late.update("late")).await,
            UpdateRefusal::InvalidKey,
        );
    }
    assert_eq!(db.registered(tag).await, "timely");
}

pub(crate) async fn a_refusal_names_its_reason_and_writes_nothing<B: Backend>(db: Database<B>) {
    let tag = db
        .registrable("bottle", json!({"updates_require_verified": true}))
        .await;
    let inlay = db.inlay_on(tag, 1).await;
    let unverified = db.tap(Tap::of(tag)).await;
    assert_refused(
        &updated(&db, unverified.update("yes")).await,
        UpdateRefusal::NotVerified,
    );

    let tapped = db.tap(Tap::code(tag, inlay, 1)).await;
    let stranger = Tapped {
        hash: KeyHash([0; 16]),
        ..tapped
    };
    let never_issued = Tapped {
        id: InteractionId::new(9_999),
        ..tapped
    };
    for invalid in [stranger, never_issued] {
        assert_refused(
            &updated(&db, invalid.update("yes")).await,
            UpdateRefusal::InvalidKey,
        );
    }
    let mut unknown = tapped.update("yes");
    unknown.data.push((key("nobody"), "x".to_owned()));
    let why = UpdateRefusal::UnknownVariable(key("nobody"));
    assert_refused(&updated(&db, unknown).await, why);

    let experience = db
        .storage()
        .tag(tag)
        .await
        .unwrap()
        .unwrap()
        .fields
        .experience_id;
    for (away, back) in [
        (TagChange::Assign(None), TagChange::Assign(experience)),
        (TagChange::Delete, TagChange::Restore),
    ] {
        db.change_tags(vec![tag], away).await.unwrap();
        assert_refused(
            &updated(&db, tapped.update("yes")).await,
            UpdateRefusal::NotAssigned,
        );
        db.change_tags(vec![tag], back).await.unwrap();
    }
    assert_eq!(db.registered(tag).await, "no");
    // None of these consumed the key.
    assert_done(&updated(&db, tapped.update("yes")).await);
    assert_eq!(db.registered(tag).await, "yes");
}

pub(crate) async fn simulated_keys_live_in_simulated_time<B: Backend>(db: Database<B>) {
    let real = db.registrable("bottle", json!({})).await;
    let experience = db.experience("twin").await;
    let twin = db
        .simulated_tag(json!({
            "slug": "my-twin", "experience_id": experience.get(), "variables": {"registered": "no"}
        }))
        .await;
    let at = |tapped: Tapped, simulated_offset| VariableUpdate {
        submission: None,
        simulated_offset: Millis::new(simulated_offset),
        ..tapped.update("yes")
    };
    let simulated = db.tap(Tap::of(twin).simulated(DAY)).await;
    let early = updated(&db, at(simulated, DAY - 1)).await;
    assert_refused(&early, UpdateRefusal::InvalidKey);
    let late = updated(&db, at(simulated, DAY + LIFETIME)).await;
    assert_refused(&late, UpdateRefusal::InvalidKey);
    assert_done(&updated(&db, at(simulated, DAY + LIFETIME - 1)).await);

    let live = db.tap(Tap::of(real)).await;
    assert_done(&updated(&db, at(live, DAY)).await);
}
