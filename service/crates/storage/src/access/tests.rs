use std::net::IpAddr;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::json;

use super::{Access, Storage};
use crate::sqlite::SqliteStorage;
use crate::{AuditFilter, Event, StorageError};
use domain::caller::{Actor, Caller};
use domain::clock::SystemClock;
use domain::entropy::OsEntropy;
use domain::id::ExperienceId;
use domain::resource_kind::ResourceKind;
use domain::scope::{Rights, Scope};
use domain::tag::TagFields;

fn open(folder: &tempfile::TempDir) -> Storage {
    let path = folder.path().join("tapdesk.db");
    let clock = Arc::new(SystemClock::start());
    SqliteStorage::open(&path, clock, &OsEntropy)
        .unwrap()
        .into()
}

/// The sender of a request, limited to an experience or not.
fn caller(limit: Option<ExperienceId>) -> Arc<Caller> {
    let rights = Rights {
        scopes: [Scope::Tags].into(),
        experience_ids: limit.map(|id| [id].into()),
        group_ids: None,
    };
    Arc::new(Caller::new(
        Actor::CommandLine,
        IpAddr::from([127, 0, 0, 1]),
        ("tags.create".into(), "tags".to_owned()),
        rights.reach(),
        [0; 16],
    ))
}

fn tag(name: &str) -> TagFields {
    let slug = format!("bottle-{name}");
    serde_json::from_value(json!({"name": name, "slug": slug})).unwrap()
}

/// The number of rows in the audit log.
async fn rows(storage: &Storage) -> usize {
    let service = storage.as_service();
    let all = service.audit(AuditFilter::default(), None, 100).await;
    all.unwrap().len()
}

#[tokio::test]
async fn a_change_has_a_row_in_the_audit_log_if_a_caller_asked_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(&folder);
    let add = async |access: Access, name: &str| access.insert_tag(tag(name), false).await.unwrap();
    add(storage.as_service(), "service").await;
    assert_eq!(rows(&storage).await, 0);
    let caller_of_two = storage.on_behalf_of(&caller(None));
    add(caller_of_two.clone(), "first").await;
    // A request has one row, however many changes it makes.
    add(caller_of_two, "second").await;
    assert_eq!(rows(&storage).await, 1);
    add(storage.on_behalf_of(&caller(None)), "third").await;
    assert_eq!(rows(&storage).await, 2);
    storage.close().await;
}

#[tokio::test]
async fn a_limited_caller_does_not_see_the_objects_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(&folder);
    let (stored, _) = storage
        .as_service()
        .insert_tag(tag("one"), false)
        .await
        .unwrap();
    let limited = storage.on_behalf_of(&caller(Some(ExperienceId::new(7))));
    assert!(limited.is_limited());
    assert_eq!(limited.tag(stored.id).await.unwrap(), None);
    let unlimited = storage.on_behalf_of(&caller(None));
    assert_eq!(unlimited.tag(stored.id).await.unwrap(), Some(stored));
    storage.close().await;
}

/// The writer commits the change although nobody waits for it.
#[tokio::test]
async fn a_change_is_announced_although_the_client_hung_up() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(&folder);
    let mut events = storage.as_service().events();
    let request = storage.on_behalf_of(&caller(None));
    let _ = request.insert_tag(tag("one"), false).now_or_never();
    drop(request);
    storage.close().await;
    drop(storage);
    // The stream ends after it.
    let event = events.recv().await.unwrap();
    let kind = ResourceKind::Tags;
    assert!(matches!(&*event, Event::Changed { kind: found, .. } if *found == kind));
    let storage = open(&folder);
    assert_eq!(rows(&storage).await, 1, "it is committed");
    storage.close().await;
}

#[tokio::test]
async fn an_erasure_is_announced_once() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(&folder);
    let mut events = storage.as_service().events();
    let request = storage.on_behalf_of(&caller(None));
    for _ in 0..2 {
        request.erase_history(None, None).await.unwrap();
        request.erase_visitors(None).await.unwrap();
    }
    assert!(events.try_recv().is_err(), "the request is not over");
    drop(request);
    assert_eq!(events.try_recv().unwrap().name(), "changed");
    assert!(events.try_recv().is_err());
    storage.close().await;
}

/// The audit log would not learn of it.
#[tokio::test]
async fn a_query_that_writes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(&folder);
    let service = storage.as_service();
    let written = service.change("test", (), |tx, ()| {
        Box::pin(async move {
            let sql = "INSERT INTO settings (name, value) VALUES ('test', '') RETURNING name";
            tx.query(sql, &[]).await
        })
    });
    let refused = written.await.err();
    assert!(
        matches!(refused, Some(StorageError::Failed(_))),
        "{refused:?}"
    );
    storage.close().await;
}
