//! The cost of a commit: compared with one `fdatasync`, and shared between taps.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use tapdesk_service::id::{InlayId, TagId};
use tapdesk_service::interaction::{
    Claim, Client, CounterRule, KnownAt, NewInteraction, NewKey, Tech,
};
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::Access;
use tokio::task::JoinSet;

use crate::apart::Apart;
use crate::fixture::Fixture;
use crate::load::{self, Case, Supply};
use crate::server::Server;
use crate::visitors::Visitors;
use crate::{CONNECTIONS, ROUNDS, turns};

/// Duration of one side's turn.
pub(crate) const TURN: Duration = Duration::from_millis(800);
/// Taps that are prepared for a turn of one connection, more than any disk can handle.
pub(crate) const TAPS: u32 = 30_000;

/// The same work done in two ways, once per round.
pub(crate) struct Pair<T> {
    pub(crate) ours: T,
    pub(crate) other: T,
}

/// Medians of a round with only one connection.
pub(crate) struct Alone {
    pub(crate) tap: Duration,
    /// Time of the bare server's response, also with one connection.
    pub(crate) bare: Duration,
    /// Time of an `fdatasync` of 4 KiB on the same file system.
    pub(crate) fdatasync: Duration,
}

/// One connection's tap, compared with its unavoidable parts: a response, and a commit to disk.
pub(crate) async fn one_connection(fixture: &Fixture) -> Result<Vec<Alone>> {
    let server = Server::service(fixture)?;
    let bare = Server::bare(&turns::record(&server, fixture).await?)?;
    let mut visitors = Visitors::of(fixture, CONNECTIONS);
    // The recorded tap used the first counter of one inlay.
    visitors.tap(0);
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        let mut alone = async |server: &Server| {
            let requests = (0..TAPS)
                .map(|n| visitors.tap_request(n % CONNECTIONS, server.address))
                .collect();
            let supply = vec![Supply::once(requests)];
            let load = load::run(&[server.address], Case::Tap, supply, TURN).await?;
            anyhow::Ok(load.percentile(50))
        };
        rounds.push(Alone {
            tap: alone(&server).await?,
            bare: alone(&bare).await?,
            fdatasync: fdatasync(fixture.folder())?,
        });
    }
    // The first round only warms up.
    rounds.remove(0);
    Ok(rounds)
}

/// Rewrites a file like SQLite rewrites its log: the file's size stays the same, which is the
/// cheapest commit for the disk.
fn fdatasync(folder: &Path) -> Result<Duration> {
    const BLOCK: [u8; 4096] = [0x5a; 4096];
    const BLOCKS: usize = 4_000;
    let path = folder.join("fdatasync");
    let mut file = File::create_new(&path)?;
    file.write_all(&BLOCK.repeat(BLOCKS))?;
    file.sync_all()?;
    let mut times = Vec::new();
    let started = Instant::now();
    while started.elapsed() < TURN {
        if times.len() % BLOCKS == 0 {
            file.rewind()?;
        }
        let before = Instant::now();
        file.write_all(&BLOCK)?;
        file.sync_data()?;
        times.push(before.elapsed());
    }
    std::fs::remove_file(path)?;
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Taps per second that SQLite records from 64 tasks, whose commits it groups, and from one task,
/// whose every tap is a commit.
pub(crate) async fn grouping(fixture: &Fixture) -> Result<Vec<Pair<f64>>> {
    let storage = fixture.open().await?.as_service();
    let mut visitors = Visitors::of(fixture, CONNECTIONS);
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        rounds.push(Pair {
            ours: taps_by(&storage, &mut visitors, CONNECTIONS).await?,
            other: taps_by(&storage, &mut visitors, 1).await?,
        });
    }
    rounds.remove(0);
    Ok(rounds)
}

/// Taps per second that PostgreSQL records from one node, which groups them, and from as many
/// connections with one transaction per tap.
pub(crate) async fn grouping_on_postgres(fixture: &Fixture) -> Result<Vec<Pair<f64>>> {
    let storage = fixture.open().await?.as_service();
    let apart = Apart::connect(fixture).await?;
    let mut visitors = Visitors::of(fixture, CONNECTIONS);
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        rounds.push(Pair {
            ours: taps_by(&storage, &mut visitors, CONNECTIONS).await?,
            other: apart.taps(&mut visitors).await?,
        });
    }
    rounds.remove(0);
    Ok(rounds)
}

async fn taps_by(storage: &Access, visitors: &mut Visitors, tasks: u32) -> Result<f64> {
    let mut running = JoinSet::new();
    let started = Instant::now();
    for task in 0..tasks {
        let storage = storage.clone();
        let taps: Vec<_> = (0..TAPS / tasks.min(8))
            .map(|_| visitors.tap(task))
            .collect();
        running.spawn(async move {
            let mut recorded = 0_u32;
            for tap in taps {
                if started.elapsed() > TURN {
                    break;
                }
                record(&storage, tap).await?;
                recorded += 1;
            }
            anyhow::Ok(recorded)
        });
    }
    let mut recorded = 0;
    while let Some(task) = running.join_next().await {
        recorded += task??;
    }
    Ok(f64::from(recorded) / started.elapsed().as_secs_f64())
}

async fn record(storage: &Access, (tag, counter): (u32, u32)) -> Result<()> {
    let at = KnownAt::Tag(TagId::new(tag.into()));
    let claim = Claim::Counter {
        inlay_id: InlayId::new(tag.into()),
        key_version: 1,
        counter,
        rule: CounterRule::Proof,
    };
    let recorded = storage
        .record_tap(NewInteraction {
            key: Some(NewKey {
                hash: KeyHash([0x5a; 16]),
                url_digest: [0x5a; 8],
            }),
            ..NewInteraction::new(at, Client([0x5a; 16]), claim, Tech::Nfc)
        })
        .await?;
    anyhow::ensure!(
        recorded.verdict.tag_verified() == Some(true),
        "the tap is verified"
    );
    Ok(())
}
