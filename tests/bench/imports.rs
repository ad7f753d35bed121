//! The effect on taps of an import that stores all rows or none: the same taps with and without an
//! import, in turns.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use tapdesk_tests::Client;
use tapdesk_tests::service::ADMIN_TOKEN;

use crate::commits::Pair;
use crate::fixture::Fixture;
use crate::load::{self, Case, Load, Supply};
use crate::server::Server;
use crate::visitors::Visitors;
use crate::{CONNECTIONS, ROUNDS};

/// Rows of one import, which takes longer than a turn of taps.
const ROWS: u32 = 20_000;
/// Duration of one side's turn.
const TURN: Duration = Duration::from_millis(1_500);
/// Taps that are prepared per connection and turn, more than any server can handle.
const TAPS: usize = 2_000;

/// Medians and 99th percentiles of taps with and without an import.
pub(crate) struct Imports {
    pub(crate) p50: Vec<Pair<Duration>>,
    pub(crate) p99: Vec<Pair<Duration>>,
}

pub(crate) async fn beside_taps(fixture: &Fixture) -> Result<Imports> {
    let server = Server::service(fixture)?;
    let mut visitors = Visitors::of(fixture, CONNECTIONS);
    let mut imports = Imports {
        p50: Vec::new(),
        p99: Vec::new(),
    };
    for round in 0..=ROUNDS {
        let alone = taps(&server, &mut visitors).await?;
        let over = Arc::new(AtomicBool::new(false));
        let importing = tokio::spawn(import(server.address.to_string(), round, Arc::clone(&over)));
        let beside = taps(&server, &mut visitors).await?;
        over.store(true, Ordering::Relaxed);
        let imported = importing.await??;
        ensure!(imported > 0, "an import was at work");
        // The first round only warms up.
        if round > 0 {
            for (pairs, percent) in [(&mut imports.p50, 50), (&mut imports.p99, 99)] {
                pairs.push(Pair {
                    ours: beside.percentile(percent),
                    other: alone.percentile(percent),
                });
            }
        }
    }
    Ok(imports)
}

async fn taps(server: &Server, visitors: &mut Visitors) -> Result<Load> {
    let supplies = (0..CONNECTIONS)
        .map(|connection| Supply::once(visitors.taps(connection, TAPS, server.address)));
    load::run(&[server.address], Case::Tap, supplies.collect(), TURN).await
}

/// Imports one file after the other until the taps end. Returns the number of imports.
async fn import(authority: String, round: usize, over: Arc<AtomicBool>) -> Result<u32> {
    let client = Client::new(format!("http://{authority}"), ADMIN_TOKEN);
    let mut files = 0;
    while !over.load(Ordering::Relaxed) {
        let mut file = "slug,name,variable:registered\n".to_owned();
        for row in 0..ROWS {
            writeln!(file, "import-{round}-{files}-{row},Bottle {row},")?;
        }
        let path = "/tags/import?on_error=abort";
        let request = client.admin_request(Method::POST, path);
        let request = request.header("content-type", "text/csv").body(file);
        let text = request.send().await?.text().await?;
        ensure!(
            text.contains(&format!("\"created\":{ROWS}")),
            "every row is a tag: {}",
            &text[text.floor_char_boundary(text.len().saturating_sub(500))..]
        );
        files += 1;
    }
    Ok(files)
}
