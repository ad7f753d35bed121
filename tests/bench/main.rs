//! How fast the service is, as ratios to a bare answer of the same size.
//!
//! In one run and on one machine: the service with 1,000 and with 1,000,000
//! tags, and an axum server that says the service's own answers again without
//! doing anything for them, each a process of its own. They take turns, and
//! medians are quoted, because neighbours on the machine can halve any figure;
//! a ratio is of two turns that stood side by side. The clients, 64 keep-alive
//! connections, share the machine with the servers.
//!
//! Taps are verified ones, made by virtual inlays ahead of time and spread
//! uniformly over all tags: with 1,000,000 tags hardly any tag is tapped twice,
//! so nothing about it is in a cache. Every tap, payload and update is checked
//! to be a success.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads time and nothing but time"
)]

mod bare;
mod commits;
mod fixture;
mod http;
mod load;
mod report;
mod server;
mod turns;

use anyhow::Result;

use fixture::Fixture;

/// The argument that makes this program the bare server.
const BARE: &str = "bare";

/// How often the sides take turns; odd, so that a median is one of them.
const ROUNDS: usize = 5;
/// Keep-alive connections.
const CONNECTIONS: u32 = 64;

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some(BARE) {
        return bare::serve();
    }
    eprintln!("making databases of 1,000 and 1,000,000 tags");
    let few = Fixture::create(1_000)?;
    let many = Fixture::create(1_000_000)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let turns = runtime.block_on(turns::take(&few, &many))?;
    eprintln!("one connection beside fdatasync");
    let single = runtime.block_on(commits::one_connection(&Fixture::create(1_000)?))?;
    eprintln!("commits in groups and one by one");
    let grouping = commits::grouping(&Fixture::create(1_000)?)?;
    report::print(&turns, &single, &grouping);
    Ok(())
}
