//! Files that are damaged, foreign, or in use: opening them fails with a message, and changes
//! nothing.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use tapdesk_service::id::TagId;
use tapdesk_service::storage::StorageError;
use tapdesk_service::storage::sqlite::{OpenError, examine, move_aside, temporary_folder};
#[cfg(target_os = "linux")]
use tapdesk_tests::eventually;

use super::{Sqlite, open};
use crate::storage::backend::{Backend as _, Database, START, Tap, is_ready, tag_fields};

/// The bytes of a database that was used and closed properly.
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

/// Asserts that opening a file with these bytes fails with `words`, and changes none of them.
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

/// They are as large as the database.
#[tokio::test]
async fn a_start_removes_the_temporary_files_of_killed_processes_beside_the_database() {
    let place = Sqlite::new();
    let running = temporary_folder(&place.path()).unwrap();
    let folder = place.path().with_file_name(".tapdesk-check-killed");
    let draft = place.path().with_file_name("tapdesk.db.restoring");
    std::fs::create_dir(&folder).unwrap();
    for file in [&folder.join(".held"), &folder.join("tapdesk.db"), &draft] {
        std::fs::write(file, "left").unwrap();
    }
    open(&place.path()).unwrap().close().await;
    assert!(!folder.exists());
    assert!(!draft.exists());
    assert!(running.path().exists(), "its process still runs");
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
    // An invalid page size (SQLite file format, section 1.3.2).
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
        first.tag(TagId::new(1)).await.map(drop),
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
    // It was not closed, so a part of its data is in the log next to it.
    drop(owner);

    let aside = move_aside(&place.path(), START).unwrap().unwrap();
    assert!(!place.path().exists());
    assert!(!place.path().with_extension("db-wal").exists());
    let moved = open(&aside).unwrap();
    assert!(moved.tag(TagId::new(1)).await.unwrap().is_some());
    let fresh = open(&place.path()).unwrap();
    assert!(fresh.tag(TagId::new(1)).await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_moved_aside_never_takes_the_place_of_what_was_before() {
    let place = Sqlite::new();
    let mut aside = Vec::new();
    for number in 0..3 {
        let owner = open(&place.path()).unwrap();
        let tags = vec![tag_fields(json!({"slug": format!("bottle-{number}")}))];
        owner.insert_tags(tags, false).await.unwrap()[0]
            .clone()
            .unwrap();
        owner.close().await;
        drop(owner);
        aside.push(move_aside(&place.path(), START).unwrap().unwrap());
    }
    for (number, aside) in aside.iter().enumerate() {
        let moved = open(aside).unwrap();
        let tag = moved.tag(TagId::new(1)).await.unwrap().unwrap();
        assert_eq!(tag.fields.slug.to_string(), format!("bottle-{number}"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_second_owner_is_refused_by_whatever_name_it_calls_the_database() {
    use std::fs::{hard_link, remove_file};
    use std::os::unix::fs::symlink;

    let (place, elsewhere) = (Sqlite::new(), Sqlite::new());
    let other = elsewhere.path();
    let first = open(&place.path()).unwrap();
    symlink(place.path(), &other).unwrap();
    let said = refusal(&other).to_string();
    assert!(said.contains("is in use by another Tapdesk"), "{said}");
    remove_file(&other).unwrap();

    hard_link(place.path(), &other).unwrap();
    for name in [&other, &place.path()] {
        let said = refusal(name).to_string();
        assert!(
            said.contains("more than one name") || said.contains("in use"),
            "{said}"
        );
    }
    first.close().await;
    for name in [&other, &place.path()] {
        let said = refusal(name).to_string();
        assert!(said.contains("more than one name"), "{said}");
    }
    remove_file(&other).unwrap();
    open(&place.path()).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_behind_a_link_is_made_served_and_moved_aside_where_the_link_leads() {
    let (place, elsewhere) = (Sqlite::new(), Sqlite::new());
    std::os::unix::fs::symlink(elsewhere.path(), place.path()).unwrap();
    for _ in 0..2 {
        let storage = open(&place.path()).unwrap();
        is_ready(&storage).await;
        storage.close().await;
        assert!(place.path().is_symlink());
        let aside = move_aside(&place.path(), START).unwrap().unwrap();
        assert_eq!(
            aside.parent(),
            elsewhere
                .path()
                .canonicalize()
                .unwrap_or(elsewhere.path())
                .parent()
        );
        assert!(!elsewhere.path().exists());
    }
}

/// A process that closes a file releases all of its POSIX locks on it, including those of SQLite.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_database_that_is_looked_at_in_its_owners_process_stays_locked() {
    use std::collections::BTreeSet;
    use std::os::unix::fs::MetadataExt as _;

    let place = Sqlite::new();
    let owner = open(&place.path()).unwrap();
    is_ready(&owner).await;
    let inode = place.path().metadata().unwrap().ino();
    let (process, of_file) = (format!(" {} ", std::process::id()), format!(":{inode} "));
    let locks = || -> BTreeSet<String> {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        let is_ours = |line: &&str| line.contains("POSIX") && line.contains(&process);
        let ours = locks.lines().filter(is_ours);
        let ours = ours.filter(|line| line.contains(&of_file));
        // A line begins with its number in the list.
        ours.filter_map(|line| Some(line.split_once(": ")?.1.to_owned()))
            .collect()
    };
    // The list is read in parts. A lock is missed or repeated if other processes change theirs
    // meanwhile.
    let before = eventually("SQLite holds a lock", async || {
        let locks = locks();
        (!locks.is_empty()).then_some(locks)
    })
    .await;
    examine(&place.path()).unwrap();
    eventually("SQLite holds its locks", async || {
        locks().is_superset(&before).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_a_cut_start_left_is_cleared_away() {
    let place = Sqlite::new();
    let half = place.path().with_extension("db.new");
    std::fs::write(&half, b"half a database").unwrap();
    let storage = open(&place.path()).unwrap();
    is_ready(&storage).await;
    assert!(!half.exists());
    let connection = Connection::open(place.path()).unwrap();
    let sound: String = connection
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}
