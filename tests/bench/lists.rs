//! Lists of a million tags with five attributes each, during 10,000 taps per second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use tapdesk_tests::Client;
use tapdesk_tests::service::ADMIN_TOKEN;

use crate::CONNECTIONS;
use crate::fixture::{Fixture, attributes, uid};
use crate::load::{self, Case, Supply};
use crate::server::Server;
use crate::visitors::Visitors;

/// Requests per list; odd, so that one of them is the median.
const TIMES: usize = 11;
/// Pause between two taps of a connection: 64 connections make 10,000 taps per second.
const PACE: Duration = Duration::from_micros(6_400);
/// Taps of a connection per turn.
const TAPS: usize = 500;

/// A list, its goal in milliseconds, and its path below the API's.
type List = (&'static str, f64, String);

fn lists() -> Vec<List> {
    // Of a tag in the middle, so that no index has it at an end.
    let id = 654_321;
    let [_, (_, lot), _, (_, serial), _] = attributes(id);
    let uid = uid(id).to_string();
    let page = |query: &str| format!("/tags?limit=100{query}");
    let count = "/tags?limit=1&count=true&estimate=true";
    vec![
        ("first page", 16.0, page("&sort=-created")),
        ("first page by name", 16.0, page("&sort=name")),
        ("most tapped", 16.0, page("&sort=-scans")),
        ("last tapped", 16.0, page("&sort=-last_scan")),
        (
            "first page by an attribute",
            2_000.0,
            page("&sort=attribute.serial"),
        ),
        ("search for a number", 16.0, page("&q=999999")),
        (
            "search for a serial number",
            16.0,
            page(&format!("&q={serial}")),
        ),
        (
            "search for a part of one",
            16.0,
            page(&format!("&q={}", &serial[4..8])),
        ),
        (
            "search for a lot and a colour",
            16.0,
            page(&format!("&q={lot}+red")),
        ),
        ("search for a UID", 16.0, page(&format!("&q={uid}"))),
        (
            "search for the end of one",
            16.0,
            page(&format!("&q={}", &uid[10..])),
        ),
        ("search for a word that all have", 16.0, page("&q=bottle")),
        (
            "search for two of them",
            16.0,
            page("&q=bottle+cellar&sort=-created"),
        ),
        ("count of all, or an estimate", 100.0, count.to_owned()),
        (
            "count of a search, or an estimate",
            100.0,
            format!("{count}&q=bottle"),
        ),
        (
            "values of an attribute, counted",
            100.0,
            "/tags/values?attribute=colour".to_owned(),
        ),
        (
            "keys of attributes, counted",
            100.0,
            "/tags/attributes".to_owned(),
        ),
    ]
}

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
    for (what, goal_millis, path) in lists() {
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            let found = client.admin_get(&path).await;
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
    listed.push(Listed {
        what: "5,000 labels as PDF",
        goal_millis: 10_000.0,
        median: labels(&client).await?,
    });
    over.store(true, Ordering::Relaxed);
    taps.await??;
    Ok(listed)
}

/// The time for 5,000 labels with a code and a line of text each.
async fn labels(client: &Client) -> Result<Duration> {
    let wanted = json!({
        "select": {"ids": [[1, 5_000]]}, "format": "pdf", "label_mm": [50, 30],
        "sheet": {"page": "a4", "columns": 3, "rows": 8, "margin_mm": [10, 8], "gap_mm": [2, 0], "skip": 0},
        "qr": {"level": "M"}, "text": ["{{tag:name}}"], "allow_unproved_address": true,
    });
    let started = Instant::now();
    let request = client.admin_request(Method::POST, "/labels").json(&wanted);
    let answer = request.send().await?.error_for_status()?;
    ensure!(answer.bytes().await?.starts_with(b"%PDF"), "it is no PDF");
    Ok(started.elapsed())
}
