//! The sides take turns: for each case the bare server, the service with few
//! tags, the service with many, and so on for several rounds.

use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::bare::{Answers, Recorded};
use crate::fixture::{Fixture, Visitors, payload_request, update_request};
use crate::http::Connection;
use crate::load::{self, Case, Key, Load, Supply};
use crate::server::Server;
use crate::{CONNECTIONS, ROUNDS};

/// How long a turn lasts.
const TURN: Duration = Duration::from_millis(1_500);
/// Taps prepared for each connection and turn, more than any server can take.
const TAPS: usize = 2_000;

/// A server that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Bare,
    Few,
    Many,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Bare, Self::Few, Self::Many];
}

/// One turn of one side.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) round: usize,
    pub(crate) case: Case,
    pub(crate) side: Side,
    /// Answers a second.
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// The server's processor time for one request.
    pub(crate) cpu: Duration,
}

/// A running server, those who visit it, and the keys they hold.
struct Seat {
    side: Side,
    server: Server,
    visitors: Visitors,
    keys: Vec<Vec<Key>>,
}

/// Takes all turns. The first round warms caches up and is not counted.
pub(crate) async fn take(few: &Fixture, many: &Fixture) -> Result<Vec<Turn>> {
    let server = Server::service(few)?;
    let answers = record(&server, few).await?;
    let seat = |side, server, fixture| Seat {
        side,
        server,
        visitors: Visitors::of(fixture, CONNECTIONS),
        keys: Vec::new(),
    };
    let mut seats = [
        seat(Side::Bare, Server::bare(&answers)?, few),
        seat(Side::Few, server, few),
        seat(Side::Many, Server::service(many)?, many),
    ];
    // The recorded tap took the first counter of one inlay.
    seats[1].visitors.tap(0);
    let mut turns = Vec::new();
    for round in 0..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        for case in [Case::Tap, Case::Payload, Case::Update] {
            for seat in &mut seats {
                turns.push(seat.turn(round, case).await?);
            }
        }
    }
    turns.retain(|turn| turn.round > 0);
    Ok(turns)
}

/// What the service answers, for the bare server to repeat.
async fn record(server: &Server, fixture: &Fixture) -> Result<Answers> {
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

impl Seat {
    async fn turn(&mut self, round: usize, case: Case) -> Result<Turn> {
        let supplies = (0..CONNECTIONS)
            .map(|connection| self.supply(case, connection))
            .collect();
        let before = self.server.cpu()?;
        let load = load::run(self.server.address, case, supplies, TURN).await?;
        let cpu = self.server.cpu()?.saturating_sub(before);
        let turn = Turn {
            round,
            case,
            side: self.side,
            rate: load.rate(),
            p50: load.percentile(50),
            p99: load.percentile(99),
            cpu: cpu.div_f64(load.answers()),
        };
        if case == Case::Tap {
            self.keys = load.keys;
        }
        Ok(turn)
    }

    /// The requests of one connection. Taps and updates happen once; a payload
    /// may be read again, and the bare server does not care.
    fn supply(&mut self, case: Case, connection: u32) -> Supply {
        let host = self.server.address;
        let keys = || self.keys[connection as usize].iter();
        let bare = self.side == Side::Bare;
        let (requests, repeats) = match case {
            Case::Tap => {
                let taps = if bare { 64 } else { TAPS };
                let tap = |_| self.visitors.tap_request(connection, host);
                ((0..taps).map(tap).collect(), bare)
            }
            Case::Payload => (
                keys().map(|key| payload_request(*key, host)).collect(),
                true,
            ),
            Case::Update => (keys().map(|key| update_request(*key, host)).collect(), bare),
        };
        Supply { requests, repeats }
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
