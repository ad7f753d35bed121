//! The speed of the service, as ratios to a bare response of the same size.
//!
//! All sides run on one machine in one run: the service on SQLite with 1,000, 100,000 and 1,000,000
//! tags; on PostgreSQL with one node and with two, and with 1,000,000 tags that were tapped
//! 10,000,000 times; and an axum server that repeats the service's responses without working for
//! them. Each side is its own process. They take turns, and medians are reported, because
//! neighbours on the machine can halve any figure. A ratio compares two adjacent turns. The
//! clients, 64 keep-alive connections, share the machine with the servers, and so does the
//! PostgreSQL server, which has its default durability.
//!
//! Taps verify. Virtual inlays make them in advance, spread uniformly over all tags: with 1,000,000
//! tags hardly any tag is tapped twice, so no tag is in a cache. Payloads and updates come in
//! random order. Every tap, payload and update is checked to be a success.
//!
//! Arguments select parts, so that a change can be judged in a minute: `cargo bench --bench service
//! -- tap connection`.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads time and nothing but time"
)]

mod addresses;
mod apart;
mod bare;
mod codes;
mod commits;
mod fixture;
mod goals;
mod http;
mod import;
mod imports;
mod lists;
mod load;
mod memory;
mod redirector;
mod report;
mod reports;
mod server;
mod start;
mod subject;
mod turns;
mod visitors;
mod webhooks;

use std::time::Duration;

use anyhow::Result;
use tapdesk_tests::postgres::Cluster;

use addresses::Found;
use codes::Cost;
use commits::{Alone, Pair};
use fixture::Fixture;
use import::{Import, Kind};
use imports::Imports;
use lists::Listed;
use load::Case;
use memory::Seen;
use redirector::Redirected;
use reports::Reported;
use subject::{Subject, Subjects};
use turns::{Side, Turn};

/// The argument that turns this program into the bare server.
const BARE: &str = "bare";

/// Number of rounds; odd, so that one of them is the median.
const ROUNDS: usize = 5;
/// How many connections send requests in parallel.
const CONNECTIONS: u32 = 64;

/// Settings of the PostgreSQL server: memory for its pages, and how much it may log before it
/// writes them. All others have their defaults.
const SERVER: [&str; 2] = ["shared_buffers=4GB", "max_wal_size=4GB"];

/// For each database, the taps per second in two ways, round by round.
type Rates = Vec<(&'static str, Vec<Pair<f64>>)>;

/// All measurements; those that were not requested are empty.
#[derive(Default)]
struct Figures {
    turns: Vec<Turn>,
    alone: Vec<Alone>,
    /// With grouped commits, compared with one commit per tap.
    groups: Rates,
    import: Option<Import>,
    import_xlsx: Option<Import>,
    imports: Vec<(&'static str, Imports)>,
    memory: Vec<Seen>,
    starts: Vec<Duration>,
    starts_after_crashes: Vec<Duration>,
    lists: Vec<Listed>,
    reports: Option<Reported>,
    /// With dead webhook endpoints, compared with none.
    webhooks: Rates,
    addresses: Vec<Found>,
    codes: Vec<Cost>,
    redirected: Option<Redirected>,
}

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some(BARE) {
        return bare::serve();
    }
    let subjects = Subjects::parse(std::env::args().skip(1))?;
    let cluster = Cluster::start(&SERVER);
    let mut figures = Figures::default();
    let measured = one_thread()?.block_on(measure(&subjects, &cluster, &mut figures));
    // If a case failed, the measurements before it still took minutes.
    report::print(&figures);
    goals::print(&figures);
    measured
}

/// One thread is enough for the clients.
fn one_thread() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_all().build()?)
}

async fn measure(subjects: &Subjects, cluster: &Cluster, figures: &mut Figures) -> Result<()> {
    let mut cases = vec![Case::Tap];
    if subjects.has(Subject::Payload) {
        cases.push(Case::Payload);
    }
    if subjects.has(Subject::Update) {
        cases.push(Case::Update);
    }
    // Payloads and updates need keys, which come from taps.
    if subjects.has(Subject::Tap) || cases.len() > 1 {
        figures.turns = turns::take(&Side::of(subjects), &cases, cluster).await?;
    }
    if subjects.has(Subject::Connection) {
        eprintln!("one connection beside fdatasync");
        figures.alone = commits::one_connection(&Fixture::sqlite(1_000).await?).await?;
    }
    if subjects.has(Subject::Groups) {
        eprintln!("commits in groups and one by one");
        figures.groups = groups(cluster)?;
    }
    if subjects.has(Subject::Import) {
        eprintln!("an import of a million tags");
        figures.import = Some(import::million(Kind::Csv).await?);
        eprintln!("the same as a workbook");
        figures.import_xlsx = Some(import::million(Kind::Xlsx).await?);
    }
    if subjects.has(Subject::Imports) {
        eprintln!("taps beside an import");
        let sqlite = Fixture::sqlite(1_000).await?;
        let postgres = Fixture::postgres(cluster, 1_000, 0).await?;
        for (name, fixture) in [("SQLite", sqlite), ("PostgreSQL", postgres)] {
            let beside = imports::beside_taps(&fixture).await?;
            figures.imports.push((name, beside));
        }
    }
    if subjects.has(Subject::Templates) {
        eprintln!("a million inlays behind one address");
        figures.addresses = addresses::each().await?;
    }
    if subjects.has(Subject::Codes) {
        eprintln!("codes of each technology");
        figures.codes = codes::each();
    }
    if subjects.has(Subject::Redirector) {
        if let Some(program) = redirector::program() {
            eprintln!("taps beside redirects of another program");
            figures.redirected = Some(redirector::beside_taps(&program).await?);
        } else {
            let variable = redirector::PROGRAM;
            eprintln!("skipped: redirector. Set {variable} to the path of a chhoto-url binary.");
        }
    }
    if subjects.has(Subject::Memory) {
        eprintln!("ten million taps");
        let fixture = Fixture::sqlite(1_000_000).await?;
        figures.memory = memory::of_many_taps(&fixture).await?;
    }
    if subjects.has(Subject::Reports) {
        eprintln!("reports and an export of ten million taps");
        figures.reports = Some(reports::of_many_taps().await?);
    }
    if subjects.has(Subject::Webhooks) {
        eprintln!("taps beside dead webhooks");
        figures.webhooks = webhooks::beside_none(cluster).await?;
    }
    if subjects.has(Subject::Start) || subjects.has(Subject::Lists) {
        eprintln!("starts and lists with a million tags");
        let fixture = Fixture::sqlite(1_000_000).await?;
        if subjects.has(Subject::Start) {
            figures.starts = start::starts(&fixture).await?;
        }
        if subjects.has(Subject::Lists) {
            let bottles = fixture.copied()?;
            bottles.with_attributes()?;
            figures.lists = lists::under_load(&bottles).await?;
        }
        if subjects.has(Subject::Start) {
            figures.starts_after_crashes = start::after_crashes(&fixture).await?;
        }
    }
    Ok(())
}

/// Only storage, in this process and with its own threads.
fn groups(cluster: &Cluster) -> Result<Rates> {
    std::thread::scope(|scope| {
        let measured = scope.spawn(|| {
            tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()?
                .block_on(async {
                    let sqlite = Fixture::sqlite(1_000).await?;
                    let postgres = Fixture::postgres(cluster, 1_000, 0).await?;
                    anyhow::Ok(vec![
                        ("SQLite", commits::grouping(&sqlite).await?),
                        (
                            "PostgreSQL",
                            commits::grouping_on_postgres(&postgres).await?,
                        ),
                    ])
                })
        });
        measured.join().expect("it does not panic")
    })
}
