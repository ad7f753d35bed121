//! Taps beside redirects of another program, the URL shortener chhoto-url, which counts the visits
//! of its links in a SQLite file. Both have as many entries, the same clients, and commits that are
//! synchronised in full. The bare server has its turns, too.
//!
//! Whoever has no turn is suspended. So nobody works off its own requests during another's turn.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use rusqlite::Connection as Database;
use serde_json::json;
use tapdesk_tests::free_port;

use crate::addresses::Turn;
use crate::fixture::{Fixture, slug};
use crate::http::Connection;
use crate::load::{self, Case, Supply};
use crate::server::Server;
use crate::visitors::{Visitors, request};
use crate::{CONNECTIONS, ROUNDS, turns};

/// The variable that names the program.
pub(crate) const PROGRAM: &str = "TAPDESK_BENCH_REDIRECTOR";
/// Number of tags, and of links.
const ENTRIES: u32 = 10_000;
/// Destination of every link, the same as that of the tags.
const TARGET: &str = "https://shop.example/register?campaign=spring";
/// Duration of a turn.
const TURN: Duration = Duration::from_millis(1_500);
/// Taps that are prepared per connection and turn, more than any server can handle.
const TAPS: usize = 2_000;
/// Taps for a connection of the bare server, which are sent repeatedly.
const BARE_TAPS: usize = 64;

/// A turn of each.
pub(crate) struct Round {
    pub(crate) tap: Turn,
    pub(crate) redirect: Turn,
    pub(crate) bare: Turn,
}

/// The measurements of taps and redirects.
pub(crate) struct Redirected {
    pub(crate) rounds: Vec<Round>,
    /// Share of the redirects that were in the program's database when the last one was answered.
    pub(crate) stored: f64,
}

/// The program, if one is compared.
pub(crate) fn program() -> Option<OsString> {
    std::env::var_os(PROGRAM)
}

/// Measures all turns. The first round warms up caches and is not counted.
pub(crate) async fn beside_taps(program: &OsStr) -> Result<Redirected> {
    let fixture = Fixture::sqlite(ENTRIES).await?;
    let service = Server::service(&fixture)?;
    service.rests().await?;
    let bare = Server::bare(&turns::record(&service, &fixture).await?)?;
    let mut visitors = Visitors::of(&fixture, CONNECTIONS);
    // The recorded tap used the first counter of one inlay.
    visitors.tap(0);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = folder.path().join("links.sqlite");
    let other = start(program, &file).await?;
    create_links(&other).await?;
    for server in [&service, &bare, &other] {
        server.pause()?;
    }
    let mut rounds = Vec::new();
    let mut redirects = 0.0;
    for round in 0..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        let taps = (0..CONNECTIONS)
            .map(|connection| Supply::once(visitors.taps(connection, TAPS, service.address)));
        let (tap, _) = turn(&service, Case::Tap, taps.collect()).await?;
        let links = (0..CONNECTIONS).map(|connection| links(connection, &other));
        let (redirect, answered) = turn(&other, Case::Redirect, links.collect()).await?;
        redirects += answered;
        let taps = (0..CONNECTIONS).map(|connection| Supply {
            repeats: true,
            ..Supply::once(visitors.taps(connection, BARE_TAPS, bare.address))
        });
        let (bare, _) = turn(&bare, Case::Tap, taps.collect()).await?;
        if round > 0 {
            rounds.push(Round {
                tap,
                redirect,
                bare,
            });
        }
    }
    let hits: f64 = ask(&file, "SELECT total(hits) FROM urls")?;
    Ok(Redirected {
        rounds,
        stored: hits / redirects,
    })
}

/// Starts the program on a new database. It has no password, so anybody may create links.
async fn start(program: &OsStr, file: &Path) -> Result<Server> {
    let port = free_port();
    let mut command = Command::new(program);
    command
        .env("CHHOTO_DB_URL", file)
        .env("CHHOTO_LISTEN_ADDRESS", "127.0.0.1")
        .env("CHHOTO_LISTEN_PORT", port.to_string())
        .env("CHHOTO_REDIRECT_METHOD", "TEMPORARY")
        .env("CHHOTO_DISABLE_FRONTEND", "True")
        .env("CHHOTO_SQLITE_USE_WAL_MODE", "True")
        .env("CHHOTO_SQLITE_ENSURE_ACID", "True")
        .env("RUST_LOG", "error");
    let server = Server::of_other(&mut command, port).await?;
    // An older version has other variables, and would be measured with other settings.
    let mode: String = ask(file, "PRAGMA journal_mode")?;
    ensure!(mode == "wal", "the program does not know its variables");
    Ok(server)
}

/// The single value of a query.
fn ask<T: rusqlite::types::FromSql>(file: &Path, query: &str) -> Result<T> {
    let database = Database::open(file)?;
    Ok(database.query_row(query, [], |row| row.get(0))?)
}

async fn create_links(server: &Server) -> Result<()> {
    let mut connection = Connection::open(server.address).await?;
    for id in 1..=ENTRIES {
        let link = json!({"shortlink": slug(id), "longlink": TARGET}).to_string();
        let create = request("POST", "/api/new", server.address, 0, &link);
        connection
            .exchange(&create, |answer| {
                ensure!(answer.status == 201, "a link: status {}", answer.status);
                Ok(())
            })
            .await?;
    }
    Ok(())
}

/// The requests of one connection, which has its own links.
fn links(connection: u32, server: &Server) -> Supply {
    let own = (1 + connection..=ENTRIES).step_by(CONNECTIONS as usize);
    let requests = own.map(|id| {
        let path = format!("/{}", slug(id));
        request("GET", &path, server.address, u64::from(id % 16), "")
    });
    Supply {
        repeats: true,
        ..Supply::once(requests.collect())
    }
}

/// One turn, and how many requests were answered in it.
async fn turn(server: &Server, case: Case, supplies: Vec<Supply>) -> Result<(Turn, f64)> {
    server.resume()?;
    let before = server.cpu()?;
    let load = load::run(&[server.address], case, supplies, TURN).await?;
    server.pause()?;
    let cpu = server.cpu()?.saturating_sub(before);
    let turn = Turn {
        rate: load.rate(),
        p50: load.percentile(50),
        p99: load.percentile(99),
        cpu: cpu.div_f64(load.answers()),
    };
    Ok((turn, load.answers()))
}
