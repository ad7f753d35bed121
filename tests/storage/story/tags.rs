//! Tags and their properties.

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::storage::{
    Conflict, Put, StorageError, TagChange, TagEdit, TagFilter, TagKey, TagList, TagOrder,
};
use tapdesk_service::tag::{PropertyClass, PropertyKey, TagFields};
use tapdesk_service::world::World;

use crate::storage::backend::{Backend, Database, START, tag_fields};

fn titled(title: String) -> TagEdit {
    Box::new(move |mut fields| {
        fields.title.clone_from(&title);
        Ok(fields)
    })
}

fn refusing() -> TagEdit {
    Box::new(|_| Err("No.".to_owned().into()))
}

/// The ids of the tags in a list with this filter.
async fn listed<B: Backend>(db: &Database<B>, filter: TagFilter) -> Vec<i64> {
    let list = TagList {
        filter,
        order: TagOrder::Created,
        after: None,
        limit: 100,
    };
    let tags = db.tags(list).await.unwrap();
    tags.iter().map(|(tag, _)| tag.id.get()).collect()
}

pub(crate) async fn a_tag_is_found_as_it_was_stored<B: Backend>(db: Database<B>) {
    let fields = tag_fields(json!({
        "slug": "k3v9qa", "name": "Bottle 41", "title": "Grüezi 🍾", "description": "O'Neill; --",
        "language_code": "de_CH", "verifier_enabled": false, "updates_require_verified": true,
        "attributes": {"sku": "A-1"}, "data": {"colour": "red"}, "variables": {"registered": ""},
        "widget_settings": {"map": {"zoom": 3, "deep": [1, {"x": null}]}},
        "track_location": true, "has_qr_code": true
    }));
    let stored = db.insert_tags(vec![fields.clone()], false).await.unwrap();
    let id = *stored[0].as_ref().unwrap();
    let tag = db.storage().tag(id).await.unwrap().unwrap();
    assert_eq!(tag.fields, fields);
    assert_eq!((tag.id, tag.simulated, tag.scan_count), (id, false, 0));
    assert_eq!((tag.created_at, tag.updated_at), (START, START));
    assert_eq!(tag.last_scan_at, None);

    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    let of = |world| TagFilter {
        world,
        ..TagFilter::default()
    };
    assert_eq!(listed(&db, of(World::Real)).await, [id.get()]);
    assert_eq!(listed(&db, of(World::Simulated)).await, [twin.get()]);
    assert_eq!(listed(&db, of(World::Both)).await, [id.get(), twin.get()]);
    assert_eq!(db.count_tags(of(World::Both)).await.unwrap(), 2);
}

pub(crate) async fn a_tag_that_breaks_a_rule_is_refused_alone<B: Backend>(db: Database<B>) {
    let taken = tag_fields(json!({"slug": "taken-1"}));
    let nowhere = tag_fields(json!({"slug": "nowhere", "experience_id": 99}));
    let fine = tag_fields(json!({"slug": "fine-1"}));
    let tags = vec![taken.clone(), taken, nowhere, fine];
    let results = db.insert_tags(tags, false).await.unwrap();
    assert!(results[0].is_ok() && results[3].is_ok(), "{results:?}");
    assert_eq!(results[1], Err(Conflict::SlugTaken("taken-1".to_owned())));
    let missing = Conflict::Missing {
        noun: "experience",
        id: 99,
    };
    assert_eq!(results[2], Err(missing));
    assert_eq!(listed(&db, TagFilter::default()).await.len(), 2);
}

pub(crate) async fn an_edit_that_is_refused_changes_nothing<B: Backend>(db: Database<B>) {
    db.tag(json!({"slug": "taken-1"})).await;
    let tag = db
        .tag(json!({"slug": "bottle-9", "data": {"a": "b"}}))
        .await;
    let before = db.storage().tag(tag).await.unwrap();
    db.advance(1_000);
    let with = |change: serde_json::Value| -> TagEdit {
        Box::new(move |fields: TagFields| {
            let mut json = serde_json::to_value(fields).unwrap();
            for (name, value) in change.as_object().unwrap() {
                json[name] = value.clone();
            }
            Ok(serde_json::from_value(json).unwrap())
        })
    };
    for edit in [
        refusing(),
        with(json!({"slug": "taken-1", "data": {}})),
        with(json!({"experience_id": 99, "data": {}})),
    ] {
        let error = db.edit_tag(tag, edit).await.unwrap_err();
        assert!(matches!(error, StorageError::Conflict(_)), "{error}");
        assert_eq!(db.storage().tag(tag).await.unwrap(), before);
    }
    let gone = tapdesk_service::id::TagId::new(99);
    assert!(db.edit_tag(gone, refusing()).await.unwrap().is_none());
}

pub(crate) async fn of_many_edits_at_once_none_is_lost<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let add_one = || -> TagEdit {
        Box::new(|mut fields| {
            fields.title.push('x');
            Ok(fields)
        })
    };
    // A machine at its limits may report that no connection was available in time. Such a request
    // is repeated, as every client does.
    let edit = async |i: usize| loop {
        let edit = if i.is_multiple_of(7) {
            refusing()
        } else {
            add_one()
        };
        match db.edit_tag(tag, edit).await {
            Err(StorageError::Unavailable(_)) => {}
            outcome => return outcome,
        }
    };
    let outcomes = join_all((0..64).map(edit)).await;
    let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(done, 64 - 10, "10 of them refuse");
    let title = db.storage().tag(tag).await.unwrap().unwrap().fields.title;
    assert_eq!(title.len(), done);
}

pub(crate) async fn a_deleted_tag_is_gone_until_it_is_restored<B: Backend>(db: Database<B>) {
    let tag = db
        .tag(json!({"slug": "bottle-9", "variables": {"registered": "no"}}))
        .await;
    let before = db.storage().tag(tag).await.unwrap().unwrap();
    let deleted = db.change_tags(vec![tag], TagChange::Delete).await.unwrap();
    assert_eq!(deleted, [(tag, TagChange::Restore)]);

    assert!(db.storage().tag(tag).await.unwrap().is_none());
    assert!(
        db.tag_tap(TagKey::Slug("bottle-9"))
            .await
            .unwrap()
            .is_none()
    );
    assert!(db.tag_tap(TagKey::Id(tag)).await.unwrap().is_none());
    assert!(listed(&db, TagFilter::default()).await.is_empty());
    let edit = titled("x".to_owned());
    assert!(db.edit_tag(tag, edit).await.unwrap().is_none());
    let key = || PropertyKey::parse("registered").unwrap();
    let class = PropertyClass::Variable;
    let put = db.put_property(tag, class, key(), "yes".to_owned());
    assert_eq!(put.await.unwrap(), None);
    assert_eq!(db.delete_property(tag, class, key()).await.unwrap(), None);
    let again = db.change_tags(vec![tag], TagChange::Delete).await.unwrap();
    assert!(again.is_empty());
    let same_slug = vec![tag_fields(json!({"slug": "bottle-9"}))];
    let taken = db.insert_tags(same_slug, false).await.unwrap();
    assert!(taken[0].is_err(), "its slug stays its own");

    let restored = db.change_tags(vec![tag], TagChange::Restore).await.unwrap();
    assert_eq!(restored, [(tag, TagChange::Delete)]);
    assert_eq!(db.storage().tag(tag).await.unwrap(), Some(before));
}

pub(crate) async fn a_property_is_put_and_removed<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let key = || PropertyKey::parse("registered").unwrap();
    for class in [
        PropertyClass::Attribute,
        PropertyClass::Data,
        PropertyClass::Variable,
    ] {
        for (value, put) in [("no", Put::New), ("yes", Put::Set), ("yes", Put::Set)] {
            let done = db.put_property(tag, class, key(), value.to_owned()).await;
            assert_eq!(done.unwrap(), Some(put));
            let properties = db.properties(tag, class).await.unwrap();
            assert_eq!(properties.get("registered"), Some(value));
        }
    }
    let class = PropertyClass::Data;
    assert_eq!(
        db.delete_property(tag, class, key()).await.unwrap(),
        Some(())
    );
    assert_eq!(db.delete_property(tag, class, key()).await.unwrap(), None);
    let fields = db.storage().tag(tag).await.unwrap().unwrap().fields;
    assert_eq!(fields.data.get("registered"), None);
    assert_eq!(fields.attributes.get("registered"), Some("yes"));
    assert_eq!(fields.variables.get("registered"), Some("yes"));
}
