//! How fast the service is, as ratios to a bare answer of the same size.
//!
//! In one run and on one machine: the service on SQLite with 1,000 and with
//! 1,000,000 tags; on PostgreSQL with one node and with two, and with 1,000,000
//! tags that were tapped 10,000,000 times; and an axum server that says the
//! service's own answers again without doing anything for them, each a process of
//! its own. They take turns, and medians are quoted, because neighbours on the
//! machine can halve any figure; a ratio is of two turns that stood side by side.
//! The clients, 64 keep-alive connections, share the machine with the servers,
//! and so does the PostgreSQL server, which is as durable as by default.
//!
//! Taps are verified ones, made by virtual inlays ahead of time and spread
//! uniformly over all tags: with 1,000,000 tags hardly any tag is tapped twice,
//! so nothing about it is in a cache. Every tap, payload and update is checked
//! to be a success.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads time and nothing but time"
)]

mod apart;
mod bare;
mod commits;
mod fixture;
mod http;
mod imports;
mod load;
mod report;
mod server;
mod turns;
mod visitors;

use anyhow::Result;

use commits::Grouping;
use fixture::Fixture;
use imports::Imports;
use tapdesk_tests::postgres::Cluster;
use turns::Fixtures;

/// The argument that makes this program the bare server.
const BARE: &str = "bare";

/// The argument that measures taps beside an import, and nothing else.
const IMPORTS: &str = "imports";

/// How often the sides take turns; odd, so that a median is one of them.
const ROUNDS: usize = 5;
/// Keep-alive connections.
const CONNECTIONS: u32 = 64;

/// Of a PostgreSQL server: memory for its pages, and how much it may log before
/// it writes them. The rest is as it comes.
const SERVER: [&str; 2] = ["shared_buffers=4GB", "max_wal_size=4GB"];

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some(BARE) {
        return bare::serve();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let cluster = Cluster::start(&SERVER);
    if std::env::args().any(|argument| argument == IMPORTS) {
        report::imports(&runtime.block_on(imports(&cluster))?);
        return Ok(());
    }
    eprintln!("making databases of 1,000 and 1,000,000 tags");
    let fixtures = runtime.block_on(async {
        anyhow::Ok(Fixtures {
            few: Fixture::sqlite(1_000).await?,
            many: Fixture::sqlite(1_000_000).await?,
            one_node: Fixture::postgres(&cluster, 1_000, 0).await?,
            two_nodes: Fixture::postgres(&cluster, 1_000, 0).await?,
            many_on_postgres: Fixture::postgres(&cluster, 1_000_000, 10_000_000).await?,
        })
    })?;
    let turns = runtime.block_on(turns::take(&fixtures, &cluster))?;
    drop(fixtures);
    eprintln!("one connection beside fdatasync");
    let single = runtime.block_on(async {
        let fixture = Fixture::sqlite(1_000).await?;
        commits::one_connection(&fixture).await
    })?;
    eprintln!("commits in groups and one by one");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let grouping = runtime.block_on(async {
        let sqlite = Fixture::sqlite(1_000).await?;
        let postgres = Fixture::postgres(&cluster, 1_000, 0).await?;
        anyhow::Ok(Grouping {
            sqlite: commits::grouping(&sqlite).await?,
            postgres: commits::grouping_on_postgres(&postgres).await?,
        })
    })?;
    let imports = runtime.block_on(imports(&cluster))?;
    report::print(&turns, &single, &grouping);
    report::imports(&imports);
    Ok(())
}

/// Taps beside an import, on each database.
async fn imports(cluster: &Cluster) -> Result<[(&'static str, Imports); 2]> {
    eprintln!("taps beside an import");
    let sqlite = Fixture::sqlite(1_000).await?;
    let postgres = Fixture::postgres(cluster, 1_000, 0).await?;
    Ok([
        ("SQLite", imports::beside_taps(&sqlite).await?),
        ("PostgreSQL", imports::beside_taps(&postgres).await?),
    ])
}
