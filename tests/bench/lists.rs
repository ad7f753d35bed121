//! Lists of a million tags during 10,000 taps per second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tapdesk_tests::Client;
use tapdesk_tests::service::ADMIN_TOKEN;

use crate::CONNECTIONS;
use crate::fixture::Fixture;
use crate::load::{self, Case, Supply};
use crate::server::Server;
use crate::visitors::Visitors;

/// Requests per list; odd, so that one of them is the median.
const TIMES: usize = 11;
/// Pause between two taps of a connection: 64 connections make 10,000 taps per second.
const PACE: Duration = Duration::from_micros(6_400);
/// Taps of a connection per turn.
const TAPS: usize = 500;

/// Name, goal in milliseconds, and path below the API's.
const LISTS: [(&str, f64, &str); 8] = [
    ("first page", 16.0, "/tags?limit=100&sort=-created"),
    ("first page by name", 16.0, "/tags?limit=100&sort=name"),
    ("most tapped", 16.0, "/tags?limit=100&sort=-scans"),
    ("last tapped", 16.0, "/tags?limit=100&sort=-last_scan"),
    ("search for a number", 16.0, "/tags?limit=100&q=999999"),
    (
        "search for a word that all have",
        16.0,
        "/tags?limit=100&q=bottle",
    ),
    (
        "count of all, or an estimate",
        100.0,
        "/tags?limit=1&count=true&estimate=true",
    ),
    (
        "count of a search, or an estimate",
        100.0,
        "/tags?limit=1&q=bottle&count=true&estimate=true",
    ),
];

/// The median time of a list.
pub(crate) struct Listed {
    pub(crate) what: &'static str,
    pub(crate) goal_millis: f64,
    pub(crate) median: Duration,
}

pub(crate) async fn under_load(fixture: &Fixture) -> Result<Vec<Listed>> {
    let server = Server::service(fixture)?;
    let address = server.address;
    let over = Arc::new(AtomicBool::new(false));
    let mut visitors = Visitors::of(fixture, CONNECTIONS);
    let taps = {
        let over = Arc::clone(&over);
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let supplies = (0..CONNECTIONS).map(|connection| Supply {
                    pace: Some(PACE),
                    ..Supply::once(visitors.taps(connection, TAPS, address))
                });
                let time = Duration::from_secs(3);
                load::run(&[address], Case::Tap, supplies.collect(), time).await?;
            }
            anyhow::Ok(())
        })
    };
    let client = Client::new(format!("http://{address}"), ADMIN_TOKEN);
    let mut listed = Vec::new();
    for (what, goal_millis, path) in LISTS {
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            let found = client.admin_get(path).await;
            times.push(started.elapsed());
            ensure!(found["items"][0].is_object(), "{what}: {found}");
        }
        times.sort_unstable();
        listed.push(Listed {
            what,
            goal_millis,
            median: times[TIMES / 2],
        });
    }
    over.store(true, Ordering::Relaxed);
    taps.await??;
    Ok(listed)
}
