//! The sides take turns: for each case the bare server, the service with few
//! tags, the service with many, and so on for several rounds.

use std::time::Duration;

use anyhow::{Context as _, Result};
use tapdesk_tests::postgres::Cluster;

use crate::bare::{Answers, Recorded};
use crate::fixture::Fixture;
use crate::http::Connection;
use crate::load::{self, Case, Key, Load, Supply};
use crate::server::{self, Server, database_cpu};
use crate::subject::{Subject, Subjects};
use crate::visitors::{Visitors, payload_request, update_request};
use crate::{CONNECTIONS, ROUNDS};

/// Duration of a turn.
const TURN: Duration = Duration::from_millis(1_500);
/// Taps that are prepared per connection and turn, more than any server can handle.
const TAPS: usize = 2_000;

/// The servers that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Bare,
    /// SQLite with 1,000 tags.
    Few,
    /// The same, by an earlier build of the service.
    FewBefore,
    /// A SQLite file with 100,000 tags.
    Some,
    /// A SQLite file with 1,000,000 tags.
    Many,
    /// The same, by an earlier build of the service.
    ManyBefore,
    /// A SQLite file with 10,000,000 tags.
    Huge,
    /// PostgreSQL with 1,000, behind one node.
    OneNode,
    /// PostgreSQL with 1,000, behind two nodes.
    TwoNodes,
    /// PostgreSQL with 1,000,000 tags and ten times as many interactions, behind one node.
    ManyOnPostgres,
}

impl Side {
    /// The sides that the subjects ask for.
    pub(crate) fn of(subjects: &Subjects) -> Vec<Self> {
        let mut sides = vec![Self::Bare, Self::Few, Self::Some, Self::Many];
        if server::before().is_some() {
            // Each takes its turn beside the present build.
            sides = vec![Self::Bare, Self::Few, Self::FewBefore];
            sides.extend([Self::Some, Self::Many, Self::ManyBefore]);
        }
        if subjects.has(Subject::Huge) {
            sides.push(Self::Huge);
        }
        if subjects.has(Subject::Postgres) {
            sides.extend([Self::OneNode, Self::TwoNodes, Self::ManyOnPostgres]);
        }
        sides
    }

    /// The name in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Few => "SQLite, 1,000 tags",
            Self::FewBefore => "  1,000 tags, before",
            Self::Some => "SQLite, 100,000 tags",
            Self::Many => "SQLite, 1,000,000 tags",
            Self::ManyBefore => "  1,000,000 tags, before",
            Self::Huge => "SQLite, 10,000,000 tags",
            Self::OneNode => "PostgreSQL, one node",
            Self::TwoNodes => "PostgreSQL, two nodes",
            Self::ManyOnPostgres => "PostgreSQL, 1,000,000 tags",
        }
    }

    pub(crate) fn is_on_postgres(self) -> bool {
        matches!(self, Self::OneNode | Self::TwoNodes | Self::ManyOnPostgres)
    }

    fn nodes(self) -> usize {
        match self {
            Self::Bare => 0,
            Self::TwoNodes => 2,
            _ => 1,
        }
    }

    /// A server of the side on its database.
    fn server(self, fixture: &Fixture) -> Result<Server> {
        match (self, server::before()) {
            (Self::FewBefore | Self::ManyBefore, Some(build)) => Server::of_build(&build, fixture),
            _ => Server::service(fixture),
        }
    }

    /// The database of a side. The bare server has none; its visitors tap the tags of a small one.
    async fn fixture(self, cluster: &Cluster) -> Result<Fixture> {
        match self {
            Self::Bare | Self::Few | Self::FewBefore => Fixture::sqlite(1_000).await,
            Self::Some => Fixture::sqlite(100_000).await,
            Self::Many | Self::ManyBefore => Fixture::sqlite(1_000_000).await,
            Self::Huge => Fixture::sqlite(10_000_000).await,
            Self::OneNode | Self::TwoNodes => Fixture::postgres(cluster, 1_000, 0).await,
            Self::ManyOnPostgres => Fixture::postgres(cluster, 1_000_000, 10_000_000).await,
        }
    }
}

/// The measurements of one turn of one side.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) round: usize,
    pub(crate) case: Case,
    pub(crate) side: Side,
    /// How many requests are answered per second.
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// Processor time of the server, or of all nodes, per request.
    pub(crate) cpu: Duration,
    /// Processor time of the PostgreSQL server per request.
    pub(crate) database: Duration,
}

/// Running servers, their visitors, and the visitors' keys.
struct Seat<'a> {
    side: Side,
    fixture: Fixture,
    servers: Vec<Server>,
    cluster: &'a Cluster,
    visitors: Visitors,
    keys: Vec<Vec<Key>>,
}

/// Runs all turns of `sides`. The first round warms up caches and is not counted.
pub(crate) async fn take(sides: &[Side], cases: &[Case], cluster: &Cluster) -> Result<Vec<Turn>> {
    let mut seats = Vec::new();
    for side in sides {
        eprintln!("{}", side.name());
        let fixture = side.fixture(cluster).await?;
        let servers = (0..side.nodes()).map(|_| side.server(&fixture));
        let servers: Vec<_> = servers.collect::<Result<_>>()?;
        for server in &servers {
            server.rests().await?;
        }
        seats.push(Seat {
            side: *side,
            servers,
            cluster,
            visitors: Visitors::of(&fixture, CONNECTIONS),
            fixture,
            keys: Vec::new(),
        });
    }
    let answers = record(&seats[1].servers[0], &seats[1].fixture).await?;
    seats[0].servers.push(Server::bare(&answers)?);
    // The recorded tap used the first counter of one inlay.
    seats[1].visitors.tap(0);
    let mut turns = Vec::new();
    for round in 0..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        for case in cases {
            for seat in &mut seats {
                turns.push(seat.turn(round, *case).await?);
            }
        }
    }
    turns.retain(|turn| turn.round > 0);
    Ok(turns)
}

/// Records the service's responses for the bare server.
pub(crate) async fn record(server: &Server, fixture: &Fixture) -> Result<Answers> {
    let host = server.address;
    let mut connection = Connection::open(host).await?;
    let tap = Visitors::of(fixture, CONNECTIONS).tap_request(0, host);
    let (tap, key) = connection
        .exchange(&tap, |answer| {
            let key = Case::Tap.check(answer)?.context("a key")?;
            Ok((Recorded::of(answer), key))
        })
        .await?;
    let payload = connection
        .exchange(&payload_request(key, host), |answer| {
            let body: serde_json::Value = serde_json::from_slice(answer.body)?;
            anyhow::ensure!(body["tag_verified"] == true, "the tap is verified");
            Ok(Recorded::of(answer))
        })
        .await?;
    let update = connection
        .exchange(&update_request(key, host), |answer| {
            Case::Update.check(answer)?;
            Ok(Recorded::of(answer))
        })
        .await?;
    Ok(Answers {
        tap,
        payload,
        update,
    })
}

impl Seat<'_> {
    async fn turn(&mut self, round: usize, case: Case) -> Result<Turn> {
        let supplies = (0..CONNECTIONS)
            .map(|connection| self.supply(case, connection))
            .collect();
        let addresses: Vec<_> = self.servers.iter().map(|server| server.address).collect();
        let before = self.cpu()?;
        let load = load::run(&addresses, case, supplies, TURN).await?;
        let after = self.cpu()?;
        let each = |after: Duration, before| after.saturating_sub(before).div_f64(load.answers());
        let turn = Turn {
            round,
            case,
            side: self.side,
            rate: load.rate(),
            p50: load.percentile(50),
            p99: load.percentile(99),
            cpu: each(after.0, before.0),
            database: each(after.1, before.1),
        };
        if case == Case::Tap {
            self.keys = self.visitors.shuffle(load.keys);
        }
        Ok(turn)
    }

    /// Processor time of the servers, and of the PostgreSQL server.
    fn cpu(&self) -> Result<(Duration, Duration)> {
        let mut servers = Duration::ZERO;
        for server in &self.servers {
            servers += server.cpu()?;
        }
        Ok((servers, database_cpu(self.cluster)?))
    }

    /// The requests of one connection. Taps and updates happen once. A payload may be read again,
    /// and the bare server makes no difference.
    fn supply(&mut self, case: Case, connection: u32) -> Supply {
        let host = self.servers[0].address;
        let keys = || self.keys[connection as usize].iter();
        let bare = self.side == Side::Bare;
        let (requests, repeats) = match case {
            Case::Tap => {
                let taps = if bare { 64 } else { TAPS };
                (self.visitors.taps(connection, taps, host), bare)
            }
            Case::Payload => (
                keys().map(|key| payload_request(*key, host)).collect(),
                true,
            ),
            Case::Update => (keys().map(|key| update_request(*key, host)).collect(), bare),
            Case::Nobody | Case::Redirect => unreachable!("no side has such requests"),
        };
        Supply {
            repeats,
            ..Supply::once(requests)
        }
    }
}

impl Load {
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 answers")]
    pub(crate) fn answers(&self) -> f64 {
        self.latencies.len() as f64
    }

    pub(crate) fn rate(&self) -> f64 {
        self.answers() / self.elapsed.as_secs_f64()
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * percent / 100]
    }
}
