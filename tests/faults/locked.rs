//! Another program locks the database: a backup, an administrator's shell, a hanging migration.

use std::time::Duration;

use rusqlite::Connection;
use tapdesk_tests::{Answer, Answering as _, ServiceProcess, eventually};

use crate::faults::launch;

/// A load balancer should notice it within two seconds. The rest is for a busy machine.
const NOTICED_WITHIN: Duration = Duration::from_secs(4);

async fn ready(service: &ServiceProcess) -> Answer {
    let answer = tokio::time::timeout(NOTICED_WITHIN, service.get("/ready").answer());
    answer.await.expect("it answers in time")
}

async fn notices(service: &ServiceProcess, lock: &str) {
    let answer = ready(service).await;
    assert_eq!(answer.status, 503, "{lock}: {}", answer.body);
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
    assert_eq!(ready(&service).await.status, 200);
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
