//! Reports of ten million taps, and their export.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::Value;
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_tests::Client;
use tapdesk_tests::service::ADMIN_TOKEN;

use crate::fixture::Fixture;
use crate::server::Server;

/// Number of taps in the history.
const TAPS: u32 = 10_000_000;
/// Number of tags that the taps are spread over.
const TAGS: u32 = 100_000;
/// Requests per report; odd, so that one of them is the median.
const TIMES: usize = 11;
/// Longer than counting the history takes.
const COUNTED: Duration = Duration::from_mins(20);
/// Rows of the export between two measurements of memory.
const STEP: usize = 1_000_000;
/// The goal for a report's time, in milliseconds.
pub(crate) const GOAL_MILLIS: f64 = 1_000.0;

/// Name, days before today, and query of each report.
const REPORTS: [(&str, i64, &str); 5] = [
    ("the last 7 days by the hour", 7, "step=hour"),
    ("the last 40 days by the hour", 40, "step=hour"),
    ("the last 90 days by the day", 90, "step=day"),
    ("the last 180 days by the day", 180, "step=day"),
    (
        "the same of one experience",
        180,
        "step=day&experience_id=1",
    ),
];

/// The measurements of reports and their export.
pub(crate) struct Reported {
    /// The time to count the history.
    pub(crate) counted: Duration,
    /// The median time of each report.
    pub(crate) reports: Vec<(&'static str, Duration)>,
    pub(crate) export: Export,
}

/// The measurements of one complete export.
pub(crate) struct Export {
    pub(crate) rows: usize,
    pub(crate) elapsed: Duration,
    /// Memory of the service in bytes: before the export, at its peak, and after each million rows.
    pub(crate) before: u64,
    pub(crate) peak: u64,
    pub(crate) seen: Vec<u64>,
}

pub(crate) async fn of_many_taps() -> Result<Reported> {
    let fixture = Fixture::sqlite(TAGS).await?;
    fixture.with_history(TAPS)?;
    let server = Server::service(&fixture)?;
    let counted = count(&fixture).await?;
    let client = client(&server);
    let mut reports = Vec::new();
    for (what, days, query) in REPORTS {
        reports.push((what, report(&client, days, query).await?));
    }
    server.end()?;
    // A new process, so that its peak memory is that of the export.
    let server = Server::service(&fixture)?;
    let export = export(&server).await?;
    server.end()?;
    Ok(Reported {
        counted,
        reports,
        export,
    })
}

fn client(server: &Server) -> Client {
    Client::new(format!("http://{}", server.address), ADMIN_TOKEN)
}

/// Waits until the history is counted.
async fn count(fixture: &Fixture) -> Result<Duration> {
    let started = Instant::now();
    while !fixture.is_counted()? {
        ensure!(started.elapsed() < COUNTED, "the history is not counted");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Ok(started.elapsed())
}

/// The median time of a report.
async fn report(client: &Client, days: i64, query: &str) -> Result<Duration> {
    let stats = client.admin_get("/reports").await;
    let until: Timestamp = serde_json::from_value(stats["until"].clone())?;
    let since = until.minus(Millis::days(days));
    let path = format!("/reports?{query}&since={since}&until={until}");
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let started = Instant::now();
        let report = client.admin_get(&path).await;
        times.push(started.elapsed());
        let is_whole = report["complete"] == Value::Bool(true);
        let taps = report["totals"]["taps"].as_u64().unwrap_or_default();
        ensure!(is_whole && taps > 0, "{path}: {report}");
    }
    times.sort_unstable();
    Ok(times[TIMES / 2])
}

/// Reads all interactions, and stores none.
async fn export(server: &Server) -> Result<Export> {
    let client = client(server);
    let before = server.memory()?;
    let started = Instant::now();
    let request = client.admin_request(Method::GET, "/interactions/export?format=csv");
    let mut answer = request.send().await?.error_for_status()?;
    let (mut lines, mut seen) = (0, Vec::new());
    while let Some(chunk) = answer.chunk().await? {
        lines += chunk.split(|byte| *byte == b'\n').count() - 1;
        if lines / STEP > seen.len() {
            seen.push(server.memory()?);
        }
    }
    let elapsed = started.elapsed();
    // The first line has the names of the columns.
    let rows = lines - 1;
    ensure!(rows == usize::try_from(TAPS)?, "every tap is a row: {rows}");
    Ok(Export {
        rows,
        elapsed,
        before,
        peak: server.peak_memory()?,
        seen,
    })
}
