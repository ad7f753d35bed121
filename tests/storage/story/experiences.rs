//! Experiences: a draft that changes, and versions that never change.

use serde_json::json;
use tapdesk_service::experience::{Content, ExperienceFields, ExperienceKind, ImageType};
use tapdesk_service::id::{ExperienceId, ImageId};
use tapdesk_service::interaction::VersionRef;
use tapdesk_service::storage::{
    Conflict, ExperienceEdit, ExperienceFilter, StorageError, TagChange, TagKey,
};

use crate::storage::backend::{Backend, Database, redirect};

fn to(page: &'static str) -> ExperienceEdit {
    Box::new(move |_| Ok(redirect(page)))
}

pub(crate) async fn a_tag_leads_to_what_is_published_and_not_to_a_draft<B: Backend>(
    db: Database<B>,
) {
    let drafted = db
        .insert_experience(redirect("draft"), false)
        .await
        .unwrap();
    let tag = db.tag(json!({"experience_id": drafted.id.get()})).await;
    let shown = || async {
        let tap = db.tag_tap(TagKey::Id(tag)).await.unwrap().unwrap();
        let experience = tap.tag.fields.experience_id.unwrap();
        let shown = db.published_now(experience).await.unwrap();
        shown.map(|shown| (shown.version.version, shown.name))
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
    let shown = db.published_now(drafted.id).await.unwrap().unwrap();
    assert_eq!(*shown.content, redirect("first").content);
}

pub(crate) async fn a_version_never_changes<B: Backend>(db: Database<B>) {
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

pub(crate) async fn an_edit_that_is_refused_changes_nothing<B: Backend>(db: Database<B>) {
    let id = db.experience("first").await;
    let before = db.storage().experience(id).await.unwrap();
    db.advance(1_000);
    let refusing: ExperienceEdit = Box::new(|_| Err("No.".to_owned().into()));
    let refused = db.edit_experience(id, refusing, true).await.unwrap_err();
    assert!(matches!(refused, StorageError::Conflict(_)), "{refused}");
    let refused = db.roll_back_experience(id, 9).await.unwrap_err();
    assert!(matches!(refused, StorageError::Conflict(_)), "{refused}");
    assert_eq!(db.storage().experience(id).await.unwrap(), before);
    assert_eq!(db.versions(id, None, 10).await.unwrap().unwrap().len(), 1);
}

pub(crate) async fn an_experience_goes_when_no_tag_leads_to_it<B: Backend>(db: Database<B>) {
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

pub(crate) async fn a_restored_tag_leads_to_no_deleted_experience<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle", json!({})).await;
    let fields = db.storage().tag(tag).await.unwrap().unwrap().fields;
    db.change_tags(vec![tag], TagChange::Delete).await.unwrap();
    let id = fields.experience_id.unwrap();
    db.delete_experience(id).await.unwrap().unwrap();
    db.change_tags(vec![tag], TagChange::Restore).await.unwrap();
    let restored = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(restored.fields.experience_id, None);
    // The tag can be edited like any other.
    db.edit_tag(tag, Box::new(Ok)).await.unwrap().unwrap();
}

pub(crate) async fn what_is_published_already_is_no_new_version<B: Backend>(db: Database<B>) {
    let id = db.experience("first").await;
    let edited = db.edit_experience(id, to("first"), true).await.unwrap();
    assert_eq!(edited.unwrap().published_version, Some(1));
    let drafted = db.edit_experience(id, to("second"), false).await.unwrap();
    assert!(drafted.unwrap().draft);
    let back = db.roll_back_experience(id, 1).await.unwrap().unwrap();
    assert_eq!((back.published_version, back.draft), (Some(1), true));
    assert_eq!(
        back.content,
        redirect("second").content,
        "the draft is kept"
    );
    let published = db.edit_experience(id, Box::new(Ok), true).await.unwrap();
    assert_eq!(published.unwrap().published_version, Some(2));
    let back = db.roll_back_experience(id, 1).await.unwrap().unwrap();
    assert_eq!((back.published_version, back.draft), (Some(3), false));
    assert_eq!(back.content, redirect("first").content);

    for (before, limit, expected) in [
        (None, 10, vec![3, 2, 1]),
        (None, 1, vec![3]),
        (Some(3), 10, vec![2, 1]),
        (Some(u32::MAX), 10, vec![3, 2, 1]),
    ] {
        let versions = db.versions(id, before, limit).await.unwrap().unwrap();
        let numbers: Vec<_> = versions.iter().map(|version| version.version).collect();
        assert_eq!(numbers, expected, "before {before:?}");
    }
    let none = db.versions(ExperienceId::new(99), None, 10).await.unwrap();
    assert!(none.is_none());
}

pub(crate) async fn experiences_are_found_by_name_and_kind<B: Backend>(db: Database<B>) {
    let mut ids = Vec::new();
    for name in ["Äpfel 100%", "apples_1", "APPLES 1"] {
        let fields = ExperienceFields::named(name, redirect("page").content).unwrap();
        ids.push(db.insert_experience(fields, false).await.unwrap().id);
    }
    let kind = |kind| ExperienceFilter {
        kind: Some(kind),
        ..ExperienceFilter::default()
    };
    let named = |name: &str| ExperienceFilter {
        name_contains: Some(name.to_owned()),
        ..ExperienceFilter::default()
    };
    for (filter, expected) in [
        (ExperienceFilter::default(), &ids[..]),
        (kind(ExperienceKind::Redirect), &ids[..]),
        (kind(ExperienceKind::Studio), &[]),
        (named("äPF"), &ids[..1]),
        (named("0%"), &ids[..1]),
        (named("Apples"), &ids[1..]),
        (named("s_1"), &ids[1..2]),
        (named("\\"), &[]),
    ] {
        let found = db.experiences(filter.clone(), None, 10).await.unwrap();
        let found: Vec<_> = found.iter().map(|experience| experience.id).collect();
        assert_eq!(found, expected, "{filter:?}");
        let count = db.count_experiences(filter).await.unwrap();
        assert_eq!(count, expected.len() as u64);
    }
    let all = ExperienceFilter::default();
    let second = db.experiences(all, Some(ids[0]), 1).await.unwrap();
    assert_eq!(second[0].id, ids[1]);
}

fn page(images: &[ImageId]) -> ExperienceFields {
    let blocks = images
        .iter()
        .map(|id| json!({"type": "image", "image_id": id}));
    let blocks: Vec<_> = blocks.collect();
    let json = json!({"kind": "studio", "blocks": blocks}).to_string();
    ExperienceFields::named("Page", Content::from_json(&json).unwrap()).unwrap()
}

pub(crate) async fn an_image_goes_when_no_page_shows_it<B: Backend>(db: Database<B>) {
    let page_of = |images: Vec<ImageId>| -> ExperienceEdit { Box::new(move |_| Ok(page(&images))) };
    let shows_unknown = db.insert_experience(page(&[ImageId::new(1)]), false).await;
    let missing = Conflict::Missing {
        noun: "image",
        id: 1,
    };
    assert!(matches!(shows_unknown, Err(StorageError::Conflict(conflict)) if conflict == missing));
    let id = db.insert_experience(page(&[]), true).await.unwrap().id;
    let add = |bytes: &[u8]| db.insert_image(id, ImageType::Png, bytes.to_vec());
    let first = add(b"first").await.unwrap().unwrap();
    let second = add(b"the second").await.unwrap().unwrap();
    assert_eq!((first.size, second.size), (5, 10));
    let all = [first.clone(), second.clone()];
    assert_eq!(db.images(id, None, 10).await.unwrap().unwrap(), all);
    let behind = db.images(id, Some(first.id), 10).await.unwrap();
    assert_eq!(behind.unwrap(), all[1..]);
    let bytes = db.image(id, first.id).await.unwrap();
    assert_eq!(bytes, Some((ImageType::Png, b"first".to_vec())));

    let other = db.insert_experience(page(&[]), false).await.unwrap().id;
    assert!(db.image(other, first.id).await.unwrap().is_none());
    assert!(db.delete_image(other, first.id).await.unwrap().is_none());
    let foreign = db.edit_experience(other, page_of(vec![first.id]), false);
    assert!(foreign.await.is_err(), "it is another experience's");

    db.edit_experience(id, page_of(vec![first.id]), true)
        .await
        .unwrap();
    assert!(db.delete_image(id, first.id).await.is_err(), "it is shown");
    db.edit_experience(id, page_of(vec![]), false)
        .await
        .unwrap();
    let shown = db.delete_image(id, first.id).await;
    assert!(shown.is_err(), "it is still published");
    db.edit_experience(id, Box::new(Ok), true).await.unwrap();
    assert_eq!(db.delete_image(id, first.id).await.unwrap(), Some(()));
    assert!(db.image(id, first.id).await.unwrap().is_none());
    assert!(
        db.roll_back_experience(id, 2).await.is_err(),
        "it shows what is gone"
    );

    db.delete_experience(id).await.unwrap().unwrap();
    assert!(db.images(id, None, 10).await.unwrap().is_none());
    assert!(db.image(id, second.id).await.unwrap().is_none());
    let late = db.insert_image(id, ImageType::Png, vec![1]).await.unwrap();
    assert!(late.is_none());
}
