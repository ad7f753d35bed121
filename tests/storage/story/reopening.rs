//! The state that a restart finds, and the data that it must not bring back.

use serde_json::json;
use tapdesk_service::admin_token::TokenHash;
use tapdesk_service::clock::Millis;
use tapdesk_service::settings::Overrides;
use tapdesk_service::sheet::{Expected, SheetFields};
use tapdesk_service::storage::{StorageError, UpdateRefusal, Updated};

use crate::storage::backend::{
    Backend, DAY, Database, LIFETIME, MINUTE, START, Tap, is_ready, tag_fields,
};

pub(crate) async fn everything_is_found_again<B: Backend>(mut db: Database<B>) {
    let tag = db
        .tag(json!({"variables": {"registered": "no"}, "attributes": {"sku": "A-1"}}))
        .await;
    let inlay = db.inlay_on(tag, 1).await;
    let tapped = db.tap(Tap::code(tag, inlay, 41)).await;
    let app_id = |mut settings: Overrides| {
        settings.app_id = Some(7);
        Ok(settings)
    };
    db.edit_settings(Box::new(app_id)).await.unwrap();
    let hash = TokenHash([3; 32]);
    let token = db
        .insert_token(super::administration::token("script", hash))
        .await
        .unwrap();
    let shown = db.experience("landing").await;
    let sheet = SheetFields::new("Pallet 3", Some(12));
    let sheet = db.insert_sheet(sheet, Expected::default()).await.unwrap();
    let secrets = db.secrets().await.unwrap();
    let before = db.storage().tag(tag).await.unwrap();
    let experience = db.storage().experience(shown).await.unwrap();
    assert!(experience.is_some());

    db.reopen().await;
    assert_eq!(db.storage().tag(tag).await.unwrap(), before);
    assert_eq!(db.storage().experience(shown).await.unwrap(), experience);
    assert_eq!(db.sheet(sheet.id).await.unwrap(), Some(sheet));
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 41);
    let (key, interaction) = db.issued_key(tapped.id).await.unwrap().unwrap();
    assert_eq!(key.hash, tapped.hash);
    assert_eq!(interaction.verdict, tapped.verdict());
    assert_eq!(db.settings().await.unwrap().app_id, Some(7));
    assert!(db.token(hash).await.unwrap().is_some());
    assert_eq!(db.tokens(None, 10).await.unwrap(), [token]);
    let again = db.secrets().await.unwrap();
    assert_eq!(again.key_mask, secrets.key_mask);
    assert_eq!(again.client, secrets.client);
    assert!(!db.tap(Tap::code(tag, inlay, 41)).await.verified());
    assert!(
        db.tap(Tap::code(tag, inlay, 42))
            .await
            .recorded
            .returning
            .day
    );
}

pub(crate) async fn no_id_of_an_interaction_comes_twice<B: Backend>(mut db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let first = db.tap(Tap::of(tag)).await.id;
    let mut highest = db.tap(Tap::of(tag)).await.id;
    assert!(first < highest);
    for _ in 0..3 {
        db.reopen().await;
        let next = db.tap(Tap::of(tag)).await.id;
        assert!(next > highest, "{next} after {highest}");
        highest = next;
    }

    // Also long after the last interaction was deleted.
    db.advance(400 * DAY);
    while db.sweep(db.now()).await.unwrap().more {}
    db.reopen().await;
    let next = db.tap(Tap::of(tag)).await.id;
    assert!(next > highest, "{next} after {highest}");
}

pub(crate) async fn keys_from_a_later_clock_never_come_back<B: Backend>(mut db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let before = db.tap(Tap::of(tag)).await;
    db.advance(2 * MINUTE);
    let later = db.tap(Tap::of(tag)).await;

    // The wall clock now says a minute after the first tap, so the age of its key is unknown.
    db.reopen_at(START.plus(Millis::new(MINUTE))).await;
    assert!(db.issued_key(before.id).await.unwrap().is_none());
    assert!(db.issued_key(later.id).await.unwrap().is_none());
    let new = db.tap(Tap::of(tag)).await;
    assert!(new.id > later.id);
    assert!(db.issued_key(new.id).await.unwrap().is_some(), "it goes on");

    // The next start has a correct clock, which passes the later tap again.
    db.reopen_at(START.plus(Millis::new(2 * MINUTE))).await;
    assert!(db.issued_key(before.id).await.unwrap().is_none());
    assert!(db.issued_key(later.id).await.unwrap().is_none());
    assert!(db.issued_key(new.id).await.unwrap().is_some());
}

pub(crate) async fn simulated_time_expires_no_real_key<B: Backend>(mut db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    let real = db.tap(Tap::of(tag)).await;
    db.tap(Tap::of(twin).simulated(DAY)).await;
    db.advance(LIFETIME - 1);
    db.reopen().await;
    assert!(db.issued_key(real.id).await.unwrap().is_some());
}

pub(crate) async fn what_is_closed_refuses<B: Backend>(db: Database<B>) {
    is_ready(&db).await;
    db.close().await;
    let refusals = [
        db.ready().await.err(),
        db.insert_tags(vec![tag_fields(json!({}))], false)
            .await
            .err(),
    ];
    for refusal in refusals {
        assert!(
            matches!(refusal, Some(StorageError::Unavailable(_))),
            "{refusal:?}"
        );
    }
}

pub(crate) async fn what_was_acknowledged_outlives_a_crash<B: Backend>(mut db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let used = db.tap(Tap::code(tag, inlay, 1)).await;
    let unused = db.tap(Tap::code(tag, inlay, 2)).await;
    db.update_variables(used.update("yes")).await.unwrap();

    db.crash().await;
    assert_eq!(db.registered(tag).await, "yes");
    let again = db.update_variables(used.update("again")).await.unwrap();
    assert_eq!(again, Updated::Refused(UpdateRefusal::Consumed));
    assert!(!db.tap(Tap::code(tag, inlay, 2)).await.verified());
    let first = db.update_variables(unused.update("later")).await.unwrap();
    assert!(matches!(first, Updated::Done(_)), "{first:?}");
}
