//! The epoch: data that was read under an older one may be stale.

use serde_json::json;
use tapdesk_service::inventory::InlayFields;
use tapdesk_service::storage::{SimulatedTag, TagChange};
use tapdesk_service::tag::{PropertyClass, PropertyKey, Status, TagFields};

use crate::storage::backend::{Backend, Database, Tap, inlay, keys, redirect, tag_fields};

pub(crate) async fn the_epoch_grows_before_a_change_is_acknowledged<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let mut epoch = db.configuration_epoch();
    let mut grown = |what: &str| {
        let now = db.configuration_epoch();
        assert!(now > epoch, "{what}");
        epoch = now;
    };

    let rename = |mut fields: TagFields| {
        "another".clone_into(&mut fields.name);
        Ok(fields)
    };
    db.edit_tag(tag, Box::new(rename)).await.unwrap();
    grown("a tag's fields");
    let fields = redirect("first");
    let shown = db.insert_experience(fields, true).await.unwrap().id;
    grown("an experience");
    let edit = |_| Ok(redirect("second"));
    db.edit_experience(shown, Box::new(edit), true)
        .await
        .unwrap();
    grown("a version");
    db.roll_back_experience(shown, 1).await.unwrap();
    grown("a version that comes back");
    for change in [
        TagChange::Assign(Some(shown)),
        TagChange::Status(Status::Archived),
        TagChange::Delete,
        TagChange::Restore,
    ] {
        db.change_tags(vec![tag], change).await.unwrap();
        grown(&format!("{change:?}"));
    }
    let bound = db.inlay_on(tag, 1).await;
    grown("an inlay on a tag");
    let replace = |mut fields: InlayFields| {
        fields.keys = Some(keys(2));
        Ok(fields)
    };
    db.edit_inlay(bound, Box::new(replace)).await.unwrap();
    grown("an inlay's keys");
    db.delete_inlay(bound).await.unwrap();
    grown("an inlay's end");
    let mut simulated = inlay(9, None);
    simulated.simulated = true;
    let twin = SimulatedTag::New(Box::new(tag_fields(json!({"slug": "my-twin"}))));
    db.insert_virtual_inlay(twin, simulated).await.unwrap();
    grown("a virtual inlay");
    db.change_tags(vec![tag], TagChange::Assign(None))
        .await
        .unwrap();
    db.delete_experience(shown).await.unwrap().unwrap();
    grown("an experience's end");
}

pub(crate) async fn what_is_no_configuration_leaves_the_epoch<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let epoch = db.configuration_epoch();

    let tapped = db.tap(Tap::code(tag, inlay, 1)).await;
    db.update_variables(tapped.update("yes")).await.unwrap();
    let key = PropertyKey::parse("colour").unwrap();
    db.put_property(tag, PropertyClass::Variable, key, "red".to_owned())
        .await
        .unwrap();
    db.sweep(db.now()).await.unwrap();
    assert_eq!(db.configuration_epoch(), epoch);
}
