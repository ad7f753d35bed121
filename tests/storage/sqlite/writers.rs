//! One writer for all: groups of waiting commands, and concurrent readers.

use std::sync::{Arc, Barrier};

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_service::storage::{StorageError, TagEdit};
use tapdesk_service::tag::{Tag, TagFields};

use super::Sqlite;
use crate::storage::backend::{Database, Tap};

/// Only the failing command of a group fails: the others are committed.
#[tokio::test]
async fn a_command_that_fails_takes_none_of_its_group_with_it() {
    let refused =
        |outcome: &Result<_, StorageError>| matches!(outcome, Err(StorageError::Conflict(_)));
    fail_in_a_group(|| Err("No.".to_owned()), refused).await;
}

#[tokio::test]
async fn a_command_that_panics_takes_none_of_its_group_with_it() {
    fail_in_a_group(
        || panic!("a test's own panic"),
        |outcome| matches!(outcome, Err(StorageError::Panicked)),
    )
    .await;
}

/// A third of a group of edits is `bad`, and must end as `expected`.
async fn fail_in_a_group(
    bad: impl Fn() -> Result<TagFields, String> + Copy + Send + Sync + 'static,
    expected: impl Fn(&Result<Option<Tag>, StorageError>) -> bool,
) {
    let db = Database::<Sqlite>::create().await;
    let mut tags = Vec::new();
    for number in 0..100 {
        tags.push(db.tag(json!({"slug": format!("bottle-{number}")})).await);
    }

    // The writer is blocked until all of them wait for it.
    let gate = Arc::new(Barrier::new(2));
    let writer = Arc::clone(&gate);
    let standing_still: TagEdit = Box::new(move |fields| {
        writer.wait();
        writer.wait();
        Ok(fields)
    });
    let queue = |tag, edit| {
        let storage = (*db).clone();
        tokio::spawn(async move { storage.edit_tag(tag, edit).await })
    };
    let held = queue(tags[0], standing_still);
    tokio::task::yield_now().await;
    gate.wait();
    let mut waiting = Vec::new();
    for (number, tag) in tags.iter().enumerate() {
        let edit: TagEdit = Box::new(move |mut fields| {
            "written".clone_into(&mut fields.title);
            if number % 3 == 0 {
                Ok(bad()?)
            } else {
                Ok(fields)
            }
        });
        waiting.push(queue(*tag, edit));
        tokio::task::yield_now().await;
    }
    gate.wait();
    held.await.unwrap().unwrap();

    for (number, (tag, outcome)) in tags.iter().zip(join_all(waiting).await).enumerate() {
        let outcome = outcome.unwrap();
        let title = db.storage().tag(*tag).await.unwrap().unwrap().fields.title;
        if number % 3 == 0 {
            assert!(expected(&outcome), "{outcome:?}");
            assert_eq!(title, "");
        } else {
            assert!(outcome.is_ok(), "{outcome:?}");
            assert_eq!(title, "written");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_and_a_long_reader_do_not_hinder_each_other() {
    const WRITERS: i64 = 200;
    let db = Database::<Sqlite>::create().await;
    let tag = db.tag(json!({})).await;
    let count = |connection: &rusqlite::Connection| -> i64 {
        let sql = "SELECT count(*) FROM interactions";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let mut reader = db.backend().look_into();
    let reading = reader.transaction().unwrap();
    assert_eq!(count(&reading), 0);

    let taps = join_all((0..WRITERS).map(|_| db.tap(Tap::of(tag)))).await;
    assert_eq!(taps.len(), 200);
    assert_eq!(count(&reading), 0, "it sees what there was when it began");
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, WRITERS.unsigned_abs());
    reading.commit().unwrap();
    assert_eq!(count(&reader), WRITERS);
}
