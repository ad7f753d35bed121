//! Memory of the service and size of its file, during ten taps of each of a million tags.

use std::time::Duration;

use anyhow::Result;

use crate::CONNECTIONS;
use crate::fixture::Fixture;
use crate::load::{self, Case, Supply};
use crate::server::Server;
use crate::visitors::Visitors;

/// How many taps the service records in all.
const TAPS: usize = 10_000_000;
/// Taps between two measurements.
const STEP: usize = 1_000_000;
/// Taps of a connection that are prepared at a time; 64 connections hold 100 MB of requests.
const PREPARED: usize = 4_000;
/// Longer than the prepared taps take.
const TURN: Duration = Duration::from_mins(1);

/// The measurements after a number of taps.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) taps: usize,
    /// Resident memory of the service (`VmRSS`), in bytes.
    pub(crate) memory: u64,
    /// Size of the database with its log, in bytes.
    pub(crate) file: u64,
}

/// Measures from before the first tap to after the last.
pub(crate) async fn of_many_taps(fixture: &Fixture) -> Result<Vec<Seen>> {
    let server = Server::service(fixture)?;
    let mut visitors = Visitors::of(fixture, CONNECTIONS);
    let look = |taps| {
        anyhow::Ok(Seen {
            taps,
            memory: server.memory()?,
            file: fixture.size()?,
        })
    };
    let mut seen = vec![look(0)?];
    let mut taps = 0;
    while taps < TAPS {
        let supplies = (0..CONNECTIONS)
            .map(|connection| Supply::once(visitors.taps(connection, PREPARED, server.address)));
        let load = load::run(&[server.address], Case::Tap, supplies.collect(), TURN).await?;
        let before = taps;
        taps += load.latencies.len();
        if taps / STEP > before / STEP {
            seen.push(look(taps)?);
        }
    }
    server.end()?;
    Ok(seen)
}
