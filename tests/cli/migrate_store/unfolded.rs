//! Counts that were only in memory when the service was killed: a move and a backup contain them.

use rusqlite::Connection;
use serde_json::json;
use tapdesk_tests::{ServiceProcess, TestDatabase, TestInlay, TestTag};

use super::{file, migrate, sqlite};
use crate::cli::{launch, run_with};

const TAPS: u64 = 7;

/// A service that folds only on request, after some taps.
async fn tapped() -> (ServiceProcess, TestTag, TestInlay) {
    let launch = launch()
        .with_wrapping_key()
        .env("TAPDESK_TEST_CLOCK", "1")
        .env("TAPDESK_TEST_FOLD", "3600000");
    let service = launch.start().await;
    let (tag, mut inlay) = service.bottle().await;
    for _ in 0..TAPS {
        service.tap(&inlay.url(&tag)).await;
    }
    (service, tag, inlay)
}

/// The number of interactions in the file, the last folded one, and the scans in the tags' rows.
fn folded(file: &Connection) -> (u64, i64, u64) {
    let sql = "SELECT (SELECT count(*) FROM interactions), (SELECT up_to FROM folded),
         (SELECT coalesce(sum(scans), 0) FROM visits WHERE client = x'')";
    let row = file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    row.unwrap()
}

async fn assert_exact(service: &ServiceProcess, tag: &TestTag, inlay: &TestInlay) {
    assert_eq!(service.scan_count(tag).await, TAPS);
    let stats = service.admin_get("/stats").await;
    assert_eq!(stats["totals"]["verified"], json!(TAPS));
    let shown = service.admin_get(&format!("/inlays/{}", inlay.id)).await;
    assert_eq!(shown["last_counter"], json!(TAPS));
}

#[tokio::test]
async fn what_a_killed_service_left_unfolded_is_moved() {
    let (service, tag, inlay) = tapped().await;
    let launch = service.kill().await;
    let (taps, mark, scans) = folded(&Connection::open(launch.database()).unwrap());
    assert_eq!((taps, mark, scans), (TAPS, 0, 0), "nothing is folded");

    let database = TestDatabase::create().await;
    let from = sqlite(&launch.database());
    migrate(&from, &database.url()).await.good();
    let moved = launch.clone().on(&database).start().await;
    assert_exact(&moved, &tag, &inlay).await;
    assert!(moved.terminate().await.success());

    let back = file(&launch, "back.db");
    migrate(&database.url(), &sqlite(&back)).await.good();
    let (taps, mark, scans) = folded(&Connection::open(&back).unwrap());
    assert_eq!((taps, scans), (TAPS, TAPS));
    assert!(mark > 0, "all of it is folded");
}

#[tokio::test]
async fn a_backup_after_a_kill_has_nothing_that_is_unfolded() {
    let (service, tag, inlay) = tapped().await;
    let launch = service.kill().await;
    let service = launch.start().await;
    let backup = file(&launch, "backup.db");
    let environment = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
    ];
    let arguments = ["backup", backup.to_str().unwrap()];
    run_with(&launch.database(), &environment, &arguments)
        .await
        .good();
    let (taps, mark, scans) = folded(&Connection::open(&backup).unwrap());
    assert_eq!((taps, scans), (TAPS, TAPS));
    let newest = "SELECT max(id) FROM interactions";
    let newest = Connection::open(&backup)
        .unwrap()
        .query_row(newest, [], |row| row.get::<_, i64>(0));
    assert_eq!(newest.unwrap(), mark);
    assert_exact(&service, &tag, &inlay).await;
}
