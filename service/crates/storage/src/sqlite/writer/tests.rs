//! Tests of the writer when commits, commands or its own thread fail.

use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::*;
use crate::sqlite::fold::{EVERY, Visit, Visitor};
use domain::clock::SystemClock;
use domain::id::TagId;

/// A writer, and a switch that makes its commits fail.
fn writer() -> (Writer, Arc<AtomicBool>) {
    let connection = Connection::open_in_memory().unwrap();
    let schema = "CREATE TABLE secrets (value); INSERT INTO secrets VALUES (1);
         CREATE TABLE notes (text)";
    connection.execute_batch(schema).unwrap();
    let broken = Arc::new(AtomicBool::new(false));
    let hook = Arc::clone(&broken);
    connection
        .commit_hook(Some(move || hook.load(Ordering::Relaxed)))
        .unwrap();
    let (events, _) = broadcast::channel(1);
    let clock = Arc::new(SystemClock::start());
    let folded = Folded::default();
    (
        Writer::start(connection, clock, events, folded, EVERY),
        broken,
    )
}

async fn note(writer: &Writer) -> Result<(), StorageError> {
    let insert = "INSERT INTO notes VALUES ('')";
    let noted = writer.run(move |write| Ok(write.connection.execute(insert, [])?));
    noted.await.map(drop)
}

async fn notes(writer: &Writer) -> i64 {
    let count = "SELECT count(*) FROM notes";
    let counted =
        writer.run(move |write| Ok(write.connection.query_row(count, [], |row| row.get(0))?));
    counted.await.unwrap()
}

#[tokio::test]
async fn whether_it_can_write_is_tried_once_a_commit_has_failed() {
    let (writer, broken) = writer();
    let probe = || writer.run(|write| write.probe());
    probe().await.unwrap();
    broken.store(true, Ordering::Relaxed);
    note(&writer).await.unwrap_err();
    probe().await.unwrap_err();
    broken.store(false, Ordering::Relaxed);
    probe().await.unwrap();
    note(&writer).await.unwrap();
    assert_eq!(notes(&writer).await, 1);
}

#[tokio::test]
async fn what_a_command_wrote_before_it_panicked_is_taken_back() {
    let (writer, _) = writer();
    let panicked = writer.run(|write| -> Result<(), _> {
        write
            .connection
            .execute("INSERT INTO notes VALUES ('')", [])?;
        panic!("a test's own panic")
    });
    let panicked = panicked.await;
    assert!(
        matches!(panicked, Err(StorageError::Panicked)),
        "{panicked:?}"
    );
    assert_eq!(notes(&writer).await, 0);
    note(&writer).await.unwrap();
    assert_eq!(writer.metrics().panics(), 1);
}

#[tokio::test]
async fn a_command_learns_whether_others_wait_for_it() {
    let (writer, _) = writer();
    let first = writer.run(|write| Ok(write.others_wait()));
    assert!(!first.await.unwrap(), "it is the only one");
    let first = writer.run(|write| {
        let stopwatch = Stopwatch::start();
        while !write.others_wait() && stopwatch.elapsed() < Duration::from_mins(1) {
            std::thread::yield_now();
        }
        Ok(write.others_wait())
    });
    let (waited_for, noted) = tokio::join!(first, note(&writer));
    assert!(waited_for.unwrap(), "a note waits");
    noted.unwrap();
}

/// Creates the tables into which a visit is folded.
const FOLDED: &str =
    "CREATE TABLE visits (tag_id, client, scans, last_at, last_interaction, folded_to);
     CREATE TABLE folded (up_to); INSERT INTO folded VALUES (0)";

#[tokio::test]
async fn whoever_waits_for_a_fold_is_told_that_it_failed() {
    let (writer, _) = writer();
    let tapped = writer.run(|write| {
        let id = write.fold.next();
        let visit = Visit::and(None, write.now, id);
        write
            .fold
            .set(Visitor::everyone(Some(TagId::new(1))), visit);
        Ok(())
    });
    tapped.await.unwrap();
    // The tables for the fold do not exist.
    for _ in 0..3 {
        let settled = tokio::time::timeout(Duration::from_mins(3), writer.settle());
        let failed = settled.await.expect("it ends").unwrap_err();
        assert!(failed.to_string().contains("no such table"), "{failed}");
        assert_eq!(writer.folded().dirty(), 1, "nothing is lost");
    }
    let made = writer.run(|write| Ok(write.connection.execute_batch(FOLDED)?));
    made.await.unwrap();
    writer.settle().await.unwrap();
    assert_eq!(writer.folded().dirty(), 0);
    let scans = "SELECT scans FROM visits";
    let scans = writer.run(move |write| {
        let scans: i64 = write.connection.query_row(scans, [], |row| row.get(0))?;
        Ok(scans)
    });
    assert_eq!(scans.await.unwrap(), 1);
}

/// Panics if the writer's thread drops it, which happens outside of every command.
struct Unwelcome;

impl Drop for Unwelcome {
    fn drop(&mut self) {
        assert!(
            std::thread::current().name() != Some("sqlite-writer"),
            "a test's own panic"
        );
    }
}

#[tokio::test]
async fn a_writer_that_has_ended_says_so_and_each_write_that_it_fails_is_counted() {
    let (writer, _) = writer();
    note(&writer).await.unwrap();
    // The caller is gone before the writer can send it the result.
    let (go, waits) = std::sync::mpsc::channel::<()>();
    let (starts, began) = std::sync::mpsc::channel();
    let waits = Mutex::new(waits);
    let mut abandoned = Box::pin(writer.run(move |_| {
        let _ = starts.send(());
        let _ = waits.lock().unwrap().recv();
        Ok(Unwelcome)
    }));
    assert!((&mut abandoned).now_or_never().is_none());
    // The command runs in a group of one, so later commands belong to the next group. A taken turn
    // would not prove that, because an earlier group may still be folded.
    while began.try_recv().is_err() {
        tokio::task::yield_now().await;
    }
    drop(abandoned);
    drop(go);
    let failed = note(&writer).await.unwrap_err().to_string();
    assert!(failed.contains("its writer has ended"), "{failed}");
    let probed = writer.run(|write| write.probe()).await.unwrap_err();
    assert!(probed.to_string().contains("restart"), "{probed}");
    let mut registry = Registry::default();
    writer.metrics().register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let failures = "write_failures_total{reason=\"unavailable\"} 2";
    assert!(text.contains(failures), "{text}");
}

/// The name of the thread on which a command ran.
async fn thread_of_a_command(writer: &Writer) -> String {
    let name = |_: &mut Write<'_>| Ok(std::thread::current().name().unwrap_or_default().to_owned());
    writer.run_here(name).await.unwrap()
}

/// Keeps the writer's thread busy until the returned sender is dropped.
async fn keep_busy(writer: &Arc<Writer>) -> std::sync::mpsc::Sender<()> {
    let (end, waits) = std::sync::mpsc::channel::<()>();
    let (waits, busy) = (Mutex::new(waits), Arc::clone(writer));
    tokio::spawn(async move {
        let wait = move |_: &mut Write<'_>| {
            let _ = lock(&waits).recv();
            Ok(())
        };
        busy.run(wait).await
    });
    while writer.turn.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    end
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_finds_nobody_at_work_needs_no_other_thread() {
    let (writer, _) = writer();
    let writer = Arc::new(writer);
    let own = |writer: &Arc<Writer>| {
        let writer = Arc::clone(writer);
        tokio::spawn(async move { thread_of_a_command(&writer).await })
    };
    assert_ne!(own(&writer).await.unwrap(), "sqlite-writer");

    // The writer is busy: the command is queued, and runs with the next group.
    let end = keep_busy(&writer).await;
    let queued = own(&writer);
    while writer.nobody_waits() {
        tokio::task::yield_now().await;
    }
    drop(end);
    assert_eq!(queued.await.unwrap(), "sqlite-writer");

    writer.stop().await;
    let closed = writer.run_here(|_| Ok(())).await.unwrap_err();
    assert!(closed.to_string().contains("it is closed"), "{closed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_group_of_many_the_next_write_waits_for_a_group_too() {
    let (writer, _) = writer();
    let writer = Arc::new(writer);
    let end = keep_busy(&writer).await;
    let many = [0; 2].map(|_| {
        let writer = Arc::clone(&writer);
        tokio::spawn(async move { thread_of_a_command(&writer).await })
    });
    while writer.queue().waiting < many.len() {
        tokio::task::yield_now().await;
    }
    drop(end);
    for queued in many {
        assert_eq!(queued.await.unwrap(), "sqlite-writer");
    }
    assert_eq!(thread_of_a_command(&writer).await, "sqlite-writer");
    // It was a group of one: the crowd ends as soon as the thread has released the turn.
    while thread_of_a_command(&writer).await == "sqlite-writer" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn on_the_only_thread_of_a_runtime_nobody_waits_for_the_disk() {
    let (writer, _) = writer();
    assert_eq!(thread_of_a_command(&writer).await, "sqlite-writer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_on_its_callers_thread_is_stored_or_its_failure_is_counted() {
    let (writer, broken) = writer();
    let here = || {
        writer.run_here(|write| {
            let insert = "INSERT INTO notes VALUES ('')";
            Ok(write.connection.execute(insert, [])?)
        })
    };
    here().await.unwrap();
    broken.store(true, Ordering::Relaxed);
    here().await.unwrap_err();
    broken.store(false, Ordering::Relaxed);
    let panicked = writer
        .run_here(|_| -> Result<(), _> { panic!("a test's own panic") })
        .await;
    assert!(matches!(panicked, Err(StorageError::Panicked)));
    here().await.unwrap();
    assert_eq!(notes(&writer).await, 2);
    assert_eq!(writer.metrics().panics(), 1);
}
