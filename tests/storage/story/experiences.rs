//! Experiences: a draft that changes, and versions that never do.

use serde_json::json;
use tapdesk_service::interaction::VersionRef;
use tapdesk_service::storage::{Conflict, ExperienceEdit, StorageError, TagChange, TagKey};

use crate::backend::{Backend, Database, redirect};

fn to(page: &'static str) -> ExperienceEdit {
    Box::new(move |_| Ok(redirect(page)))
}

pub async fn a_tag_leads_to_what_is_published_and_not_to_a_draft<B: Backend>(db: Database<B>) {
    let drafted = db
        .insert_experience(redirect("draft"), false)
        .await
        .unwrap();
    let tag = db.tag(json!({"experience_id": drafted.id.0})).await;
    let shown = || async {
        let tap = db.tag_tap(TagKey::Id(tag)).await.unwrap().unwrap();
        tap.experience
            .map(|shown| (shown.version.version, shown.name))
    };
    assert_eq!(shown().await, None);
    for (page, publish, expected) in [
        ("first", true, (1, "first")),
        ("second", false, (1, "first")),
        ("second", true, (2, "second")),
        ("second", true, (2, "second")),
    ] {
        let edited = db.edit_experience(drafted.id, to(page), publish).await;
        let edited = edited.unwrap().unwrap();
        assert_eq!(edited.content, redirect(page).content);
        let (version, name) = expected;
        assert_eq!(edited.published_version, Some(version));
        assert_eq!(shown().await, Some((version, name.to_owned())));
    }
    let back = db
        .roll_back_experience(drafted.id, 1)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(back.content, redirect("first").content);
    let tap = db.tag_tap(TagKey::Id(tag)).await.unwrap().unwrap();
    assert_eq!(*tap.experience.unwrap().content, redirect("first").content);
}

pub async fn a_version_never_changes<B: Backend>(db: Database<B>) {
    let experience_id = db.experience("first").await;
    let first = VersionRef {
        experience_id,
        version: 1,
    };
    let as_published = || async {
        let published = db.published(first).await.unwrap().expect("it is kept");
        assert_eq!(published.version, first);
        assert_eq!(published.name, "first");
        assert_eq!(*published.content, redirect("first").content);
    };
    as_published().await;
    db.edit_experience(experience_id, to("second"), true)
        .await
        .unwrap();
    as_published().await;
    db.delete_experience(experience_id).await.unwrap().unwrap();
    as_published().await;
    let third = VersionRef {
        version: 3,
        ..first
    };
    assert!(db.published(third).await.unwrap().is_none());
}

pub async fn an_edit_that_is_refused_changes_nothing<B: Backend>(db: Database<B>) {
    let id = db.experience("first").await;
    let before = db.storage().experience(id).await.unwrap();
    db.clock.advance(1_000);
    let refusing: ExperienceEdit = Box::new(|_| Err("No.".to_owned()));
    let refused = db.edit_experience(id, refusing, true).await.unwrap_err();
    assert!(matches!(refused, StorageError::Conflict(_)), "{refused}");
    let refused = db.roll_back_experience(id, 9).await.unwrap_err();
    assert!(matches!(refused, StorageError::Conflict(_)), "{refused}");
    assert_eq!(db.storage().experience(id).await.unwrap(), before);
    assert_eq!(db.versions(id, None, 10).await.unwrap().unwrap().len(), 1);
}

pub async fn an_experience_goes_when_no_tag_leads_to_it<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let fields = db.storage().tag(tag).await.unwrap().unwrap().fields;
    let id = fields.experience_id.unwrap();
    let refused = db.delete_experience(id).await.unwrap_err();
    let in_use = matches!(refused, StorageError::Conflict(Conflict::InUse(_)));
    assert!(in_use, "{refused}");
    db.change_tags(vec![tag], TagChange::Assign(None))
        .await
        .unwrap();
    assert_eq!(db.delete_experience(id).await.unwrap(), Some(()));
    assert_eq!(db.delete_experience(id).await.unwrap(), None);
    assert!(db.storage().experience(id).await.unwrap().is_none());
    let assign = TagChange::Assign(Some(id));
    assert!(db.change_tags(vec![tag], assign).await.is_err());
}

pub async fn a_restored_tag_leads_to_no_deleted_experience<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let fields = db.storage().tag(tag).await.unwrap().unwrap().fields;
    db.change_tags(vec![tag], TagChange::Delete).await.unwrap();
    let id = fields.experience_id.unwrap();
    db.delete_experience(id).await.unwrap().unwrap();
    db.change_tags(vec![tag], TagChange::Restore).await.unwrap();
    let restored = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(restored.fields.experience_id, None);
    // It can be edited like any other.
    db.edit_tag(tag, Box::new(Ok)).await.unwrap().unwrap();
}
