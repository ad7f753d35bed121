//! Counts that are folded after taps, while the process is killed or the disk is full.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::json;
use tapdesk_service::entropy::{self, SeededEntropy};
use tapdesk_tests::strace::can_trace;
use tapdesk_tests::{Launch, ServiceProcess, eventually, length};

use super::launch;
use crate::faults::load::Load;

/// A launch that folds all the time, so that every event happens during a fold.
fn folding() -> Launch {
    launch()
        .env("TAPDESK_TEST_CLOCK", "1")
        .env("TAPDESK_TEST_FOLD", "1")
}

/// How often the process is killed: 25 times, in `make soak` 1,000 times, or the value of
/// `TAPDESK_TEST_KILLS`. A fold is also cut at each of its rows, in the storage's own tests.
fn kills() -> u32 {
    let kills = std::env::var("TAPDESK_TEST_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok());
    kills.unwrap_or_else(|| length(25, 1_000))
}

/// A tag, as counted from the history in the file.
struct Recounted {
    tag: i64,
    scans: u64,
    /// Its inlay, and the highest accepted counter.
    inlay: i64,
    counter: u32,
    /// Whether each counter was accepted at most once.
    once: bool,
}

fn recount(file: &Connection) -> Vec<Recounted> {
    let mut tags = file
        .prepare(
            "SELECT tag_id, count(*), max(inlay_id), max(counter),
                 count(DISTINCT counter) = count(*)
             FROM interactions WHERE reason = 'verified' GROUP BY 1",
        )
        .unwrap();
    let tags = tags.query_map([], |row| {
        Ok(Recounted {
            tag: row.get(0)?,
            scans: row.get(1)?,
            inlay: row.get(2)?,
            counter: row.get(3)?,
            once: row.get(4)?,
        })
    });
    tags.unwrap().map(Result::unwrap).collect()
}

fn hours(file: &Connection) -> BTreeMap<String, u64> {
    let mut hours = file
        .prepare(
            "SELECT strftime('%Y-%m-%dT%H:00:00Z', at / 1000, 'unixepoch'), count(*)
             FROM interactions GROUP BY 1",
        )
        .unwrap();
    let hours = hours.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    hours.unwrap().map(Result::unwrap).collect()
}

/// Asserts that the service's counts equal a recount of the history in its file. All of its taps
/// verified.
async fn assert_exact(service: &ServiceProcess) {
    let (tags, hours) = {
        let file = Connection::open(service.launch().database()).unwrap();
        (recount(&file), hours(&file))
    };
    assert!(!tags.is_empty());
    for Recounted {
        tag,
        scans,
        inlay,
        counter,
        once,
    } in tags
    {
        assert!(once, "a counter of tag {tag} was accepted twice");
        let shown = service.admin_get(&format!("/tags/{tag}")).await;
        assert_eq!(shown["scan_count"], json!(scans), "tag {tag}");
        let shown = service.admin_get(&format!("/inlays/{inlay}")).await;
        assert_eq!(shown["last_counter"], json!(counter), "inlay {inlay}");
    }
    let stats = service.admin_get("/stats").await;
    let buckets = stats["buckets"].as_array().unwrap().iter();
    let shown: BTreeMap<String, u64> = buckets
        .map(|bucket| {
            let kinds = ["verified", "not_verified", "not_checked"];
            let counts = kinds.map(|kind| bucket[kind].as_u64().unwrap());
            (
                bucket["at"].as_str().unwrap().to_owned(),
                counts.iter().sum(),
            )
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(shown, hours);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_of_a_fold_its_counts_are_exact() {
    let entropy = SeededEntropy::new(12);
    let mut service = folding().start().await;
    let mut load = Load::new(&service, 4).await;
    for _ in 0..kills() {
        let [random] = entropy::bytes::<1>(&entropy);
        let client = service.another();
        let launch = load
            .work_until(&client, 4 + usize::from(random) / 8, || {
                ServiceProcess::kill(service)
            })
            .await;
        service = launch.start().await;
        load.check(&service).await;
        assert_exact(&service).await;
    }
}

/// How often a start locks a part of the database's files before it listens.
async fn locks_of_a_start(launch: &Launch) -> usize {
    let trace = launch.folder.path().join("trace");
    let output = trace.to_string_lossy().into_owned();
    let traced =
        launch
            .clone()
            .under_strace(&["-s", "80", "-e", "trace=fcntl,write", "-o", &output]);
    let service = traced.start().await;
    let calls = eventually("it is traced", || async {
        let trace = std::fs::read_to_string(&trace).ok()?;
        let (before, _) = trace.split_once("listening on")?;
        Some(before.matches("F_SETLK").count())
    });
    let calls = calls.await;
    service.kill().await;
    calls
}

#[tokio::test]
async fn a_start_reads_what_is_unfolded_under_one_lock_however_much_it_is() {
    if !can_trace() {
        return;
    }
    let never = launch()
        .env("TAPDESK_TEST_CLOCK", "1")
        .env("TAPDESK_TEST_FOLD", "3600000");
    let service = never.start().await;
    for _ in 0..30 {
        let (tag, mut inlay) = service.bottle().await;
        service.tap(&inlay.url(&tag)).await;
    }
    let launch = service.kill().await;
    // On a busy machine, other work of a start may come before the line that it listens.
    let mut unfolded = usize::MAX;
    for _ in 0..3 {
        unfolded = unfolded.min(locks_of_a_start(&launch).await);
    }
    let service = launch.start().await;
    assert_exact(&service).await;
    assert!(service.terminate().await.success());
    // Each tap has its own inlay, tag and client: 90 rows are read.
    let folded = locks_of_a_start(&launch).await;
    assert!(folded > 0 && unfolded < folded + 60, "{unfolded}, {folded}");
}
