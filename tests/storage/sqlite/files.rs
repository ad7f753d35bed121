//! Files that are no sound database of ours, or somebody else's at the moment:
//! said in words, and left as they are.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use tapdesk_service::id::TagId;
use tapdesk_service::storage::sqlite::{OpenError, move_aside};
use tapdesk_service::storage::{Storage as _, StorageError, Tags as _};

use super::{Sqlite, open};
use crate::storage::backend::{Backend as _, Database, START, Tap, tag_fields};

/// A database that was used and closed well, as the bytes of its file.
async fn used() -> Vec<u8> {
    let db = Database::<Sqlite>::create().await;
    for number in 0..100 {
        let slug = format!("bottle-{number}");
        let tag = db
            .tag(json!({"slug": slug, "description": "x".repeat(500)}))
            .await;
        db.tap(Tap::of(tag)).await;
    }
    db.close().await;
    std::fs::read(db.backend().path()).unwrap()
}

/// Opening a file of these bytes fails, says `words`, and changes none of them.
fn assert_refused(bytes: &[u8], words: &str) {
    let place = Sqlite::new();
    std::fs::write(place.path(), bytes).unwrap();
    let said = refusal(&place.path()).to_string();
    assert!(said.contains(words), "{words}: {said}");
    let after = std::fs::read(place.path()).unwrap();
    assert!(after == bytes, "{words}: the file was changed");
}

fn refusal(path: &Path) -> OpenError {
    open(path).err().expect("it is refused")
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_left_as_it_is() {
    const PAGE: usize = 4096;
    let sound = used().await;
    let middle = sound.len() / 2 / PAGE * PAGE;
    let damaged = |damage: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        damage(&mut bytes);
        bytes
    };
    // Its page size (SQLite file format, section 1.3.2) is none.
    assert_refused(&damaged(&|bytes| bytes[16..18].fill(3)), "is damaged");
    let page = |bytes: &mut Vec<u8>| bytes[middle..middle + PAGE].fill(0xA5);
    assert_refused(&damaged(&page), "is damaged");
    assert_refused(&damaged(&|bytes| bytes.truncate(middle)), "is damaged");
    assert_refused(&damaged(&|bytes| bytes[100..].fill(0xA5)), "is damaged");
}

#[tokio::test]
async fn a_file_that_is_not_ours_is_refused_and_left_as_it_is() {
    assert_refused(b"", "is empty");
    assert_refused(&b"Dear diary, ".repeat(1_000), "is not a Tapdesk database");
    assert_refused(b"SQLite format 3\0", "is not a Tapdesk database");
    let foreign = Sqlite::new();
    let connection = foreign.look_into();
    connection
        .execute_batch("CREATE TABLE diary (day);")
        .unwrap();
    drop(connection);
    let bytes = std::fs::read(foreign.path()).unwrap();
    assert_refused(&bytes, "is not a Tapdesk database");
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_as_it_is() {
    let place = Sqlite::new();
    std::fs::write(place.path(), used().await).unwrap();
    let connection = place.look_into();
    connection
        .execute_batch(
            "INSERT INTO refinery_schema_history SELECT 1 + max(version), 'later', applied_on, checksum
             FROM refinery_schema_history;",
        )
        .unwrap();
    drop(connection);
    let bytes = std::fs::read(place.path()).unwrap();
    assert_refused(&bytes, "was made by a newer Tapdesk");
}

#[tokio::test]
async fn a_second_owner_is_refused_and_the_first_goes_on() {
    let place = Sqlite::new();
    let first = open(&place.path()).unwrap();
    let said = refusal(&place.path()).to_string();
    assert!(said.contains("is in use by another Tapdesk"), "{said}");
    let tags = vec![tag_fields(json!({}))];
    first.insert_tags(tags, false).await.unwrap()[0]
        .clone()
        .unwrap();
    drop(first);
    open(&place.path()).unwrap();
}

#[tokio::test]
async fn a_closed_database_is_left_to_the_next_owner() {
    let place = Sqlite::new();
    let first = open(&place.path()).unwrap();
    let tags = |slug| vec![tag_fields(json!({"slug": slug}))];
    first.insert_tags(tags("bottle-a"), false).await.unwrap()[0]
        .clone()
        .unwrap();
    first.close().await;
    assert!(!place.path().with_extension("db-wal").exists());

    let second = open(&place.path()).unwrap();
    second.insert_tags(tags("bottle-b"), false).await.unwrap()[0]
        .clone()
        .unwrap();
    for refused in [
        first.ready().await,
        first.tag(TagId(1)).await.map(drop),
        first.insert_tags(tags("bottle-c"), false).await.map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_database_is_moved_aside_whole_once_nobody_owns_it() {
    let place = Sqlite::new();
    assert_eq!(move_aside(&place.path(), START).unwrap(), None);
    let owner = open(&place.path()).unwrap();
    let refused = move_aside(&place.path(), START).unwrap_err();
    assert!(matches!(refused, OpenError::Taken(_)), "{refused}");
    let tags = vec![tag_fields(json!({"slug": "bottle"}))];
    owner.insert_tags(tags, false).await.unwrap()[0]
        .clone()
        .unwrap();
    // Not closed: part of what was written stands in the log beside it.
    drop(owner);

    let aside = move_aside(&place.path(), START).unwrap().unwrap();
    assert!(!place.path().exists());
    assert!(!place.path().with_extension("db-wal").exists());
    let moved = open(&aside).unwrap();
    assert!(moved.tag(TagId(1)).await.unwrap().is_some());
    let fresh = open(&place.path()).unwrap();
    assert!(fresh.tag(TagId(1)).await.unwrap().is_none());
}

#[tokio::test]
async fn what_a_cut_start_left_is_cleared_away() {
    let place = Sqlite::new();
    let half = place.path().with_extension("db.new");
    std::fs::write(&half, b"half a database").unwrap();
    let storage = open(&place.path()).unwrap();
    storage.ready().await.unwrap();
    assert!(!half.exists());
    let connection = Connection::open(place.path()).unwrap();
    let sound: String = connection
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}
