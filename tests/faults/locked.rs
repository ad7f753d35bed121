//! Another program locks the database: a backup, an administrator's shell, a hanging migration.

use std::time::Duration;

use rusqlite::Connection;
use tapdesk_service::clock::Stopwatch;
use tapdesk_tests::{Answering as _, ServiceProcess, eventually, within_attempts};

use crate::faults::launch;

/// A load balancer should notice it within this time.
const NOTICED_WITHIN: Duration = Duration::from_secs(2);

/// Asserts that every answer tells of the lock, and that one of them is in time.
async fn notices(service: &ServiceProcess, lock: &str) {
    let took = within_attempts(5, async || {
        let watch = Stopwatch::start();
        let answer = service.get("/ready").answer().await;
        let took = watch.elapsed();
        assert_eq!(answer.status, 503, "{lock}: {}", answer.body);
        if took < NOTICED_WITHIN {
            Ok(took)
        } else {
            Err((lock, took))
        }
    });
    println!("{lock}: {:?}", took.await);
    let health = service.get("/health").answer().await;
    assert_eq!(health.status, 200, "nobody restarts it");
}

async fn recovers(service: &ServiceProcess) {
    eventually("it is ready again", async || {
        (service.get("/ready").answer().await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_table_is_noticed_by_ready_within_two_seconds() {
    let service = launch().start().await;
    recovers(&service).await;
    let Some(database) = &service.launch().postgres else {
        let other = Connection::open(service.launch().database()).unwrap();
        for lock in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
            other.execute_batch(lock).unwrap();
            notices(&service, lock).await;
            other.execute_batch("ROLLBACK").unwrap();
            recovers(&service).await;
        }
        return;
    };
    let other = database.get().expect("it runs").look_into().await;
    for (table, mode) in [
        ("interactions", "ACCESS EXCLUSIVE"),
        ("interactions", "EXCLUSIVE"),
        ("tags", "ACCESS EXCLUSIVE"),
        ("inlays", "SHARE"),
    ] {
        let lock = format!("LOCK TABLE {table} IN {mode} MODE");
        other
            .batch_execute(&format!("BEGIN; {lock}"))
            .await
            .unwrap();
        notices(&service, &lock).await;
        other.batch_execute("ROLLBACK").await.unwrap();
        recovers(&service).await;
    }
}
