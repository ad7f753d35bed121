//! The effect of webhooks on taps: the same taps on two equal databases, in turns. One database has
//! ten dead endpoints, and a million events wait for each of them.
//!
//! Half of the endpoints refuse the connection, so that an attempt ends at once. The others accept
//! it and never answer, which blocks an attempt for its fifteen seconds. The service whose turn it
//! is not is suspended, so that neither works while the other is measured.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::clock::{Clock as _, Millis, SystemClock};
use tapdesk_tests::Client;
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::service::ADMIN_TOKEN;

use crate::commits::Pair;
use crate::fixture::{Fixture, HISTORY};
use crate::load::{self, Case, Supply};
use crate::server::Server;
use crate::visitors::Visitors;
use crate::{CONNECTIONS, Rates};

/// Number of endpoints that never take a delivery.
const DEAD: usize = 10;
/// Number of taps that no endpoint has received yet.
const WAITING: u32 = 1_000_000;
/// More rounds than in other cases, because a difference of a twentieth must be visible; odd, so
/// that one of them is the median.
const ROUNDS: usize = 11;
/// Duration of one side's turn.
const TURN: Duration = Duration::from_secs(2);
/// Taps that are prepared per connection and turn, more than any server can handle.
const TAPS: usize = 1_500;
/// Longer than the service waits before it counts new taps for reports.
const COUNTS: Duration = Duration::from_secs(6);
/// Longer than it takes until each endpoint has failed once.
const DIES: Duration = Duration::from_mins(2);
/// A closed port: that of the discard service, which no system runs any more.
const REFUSES: &str = "http://127.0.0.1:9/";

/// A service and its visitors.
struct Side {
    server: Server,
    visitors: Visitors,
    /// Its files, which are deleted with this.
    _fixture: Fixture,
}

impl Side {
    async fn start(fixture: Fixture) -> Result<Self> {
        let server = Server::service(&fixture)?;
        tokio::time::sleep(COUNTS).await;
        server.rests().await?;
        Ok(Self {
            server,
            visitors: Visitors::of(&fixture, CONNECTIONS),
            _fixture: fixture,
        })
    }

    fn client(&self) -> Client {
        Client::new(format!("http://{}", self.server.address), ADMIN_TOKEN)
    }

    /// How many taps are answered per second.
    async fn taps(&mut self) -> Result<f64> {
        self.server.resume()?;
        let address = self.server.address;
        let supplies = (0..CONNECTIONS)
            .map(|connection| Supply::once(self.visitors.taps(connection, TAPS, address)));
        let load = load::run(&[address], Case::Tap, supplies.collect(), TURN).await?;
        self.server.pause()?;
        Ok(load.rate())
    }
}

/// Taps per second with dead endpoints and without any, for each database.
pub(crate) async fn beside_none(cluster: &Cluster) -> Result<Rates> {
    let sqlite = [sqlite().await?, sqlite().await?];
    let mut rates = vec![("SQLite", on(sqlite).await?)];
    let postgres = [
        Fixture::postgres(cluster, 1_000, WAITING).await?,
        Fixture::postgres(cluster, 1_000, WAITING).await?,
    ];
    rates.push(("PostgreSQL", on(postgres).await?));
    Ok(rates)
}

async fn sqlite() -> Result<Fixture> {
    let fixture = Fixture::sqlite(1_000).await?;
    fixture.with_history(WAITING)?;
    Ok(fixture)
}

async fn on([with, without]: [Fixture; 2]) -> Result<Vec<Pair<f64>>> {
    let mut with = Side::start(with).await?;
    let mut without = Side::start(without).await?;
    without.server.pause()?;
    // The system accepts the connections, and no program takes them out of its queue.
    let silent = TcpListener::bind("127.0.0.1:0")?;
    add_webhooks(&with.client(), &format!("http://{}/", silent.local_addr()?)).await?;
    let mut pairs = Vec::new();
    for round in 0..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        let pair = Pair {
            ours: with.taps().await?,
            other: without.taps().await?,
        };
        // The first round only warms up.
        if round > 0 {
            pairs.push(pair);
        }
    }
    with.server.resume()?;
    without.server.resume()?;
    are_dead_and_behind(&with.client()).await?;
    with.server.end()?;
    without.server.end()?;
    Ok(pairs)
}

/// Creates the endpoints, and requests that each gets all events of the past.
async fn add_webhooks(client: &Client, silent: &str) -> Result<()> {
    for number in 0..DEAD {
        let webhook = json!({
            "url": if number % 2 == 0 { REFUSES } else { silent },
            "events": ["tap.verified", "tap.not_verified", "tap.not_checked"],
        });
        let made = client.admin_create("/webhooks", webhook).await;
        let path = format!("/webhooks/{}/resend", made["id"]);
        let since = json!({"since": "2000-01-01T00:00:00Z"});
        let again = client.admin(Method::POST, &path, since).await;
        ensure!(again.status == 202, "what happened is sent");
    }
    Ok(())
}

/// Checks that every endpoint has failed, is still on, and was last sent one of the first taps:
/// nearly the whole million was waiting all the time.
async fn are_dead_and_behind(client: &Client) -> Result<()> {
    let started = Instant::now();
    // Within the first tenth of the history. Times sort like texts.
    let early = SystemClock::start()
        .now()
        .minus(Millis::new(HISTORY / 10 * 9));
    let early = early.to_string();
    loop {
        let webhooks = client.admin_get("/webhooks").await;
        let webhooks = webhooks["items"].as_array().map_or(&[][..], Vec::as_slice);
        ensure!(webhooks.len() == DEAD, "all endpoints are there");
        for webhook in webhooks {
            ensure!(webhook["enabled"] == true, "an endpoint is on: {webhook}");
        }
        if webhooks
            .iter()
            .all(|one| one["failing_since"] != Value::Null)
        {
            for webhook in webhooks {
                let at = last_tap_sent(client, webhook).await?;
                ensure!(at < early, "it was sent the tap at {at}: {webhook}");
            }
            return Ok(());
        }
        ensure!(started.elapsed() < DIES, "every endpoint has failed");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// The time of the last tap that was sent to an endpoint; an event is named by its interaction.
async fn last_tap_sent(client: &Client, webhook: &Value) -> Result<String> {
    let path = format!("/webhooks/{}/attempts", webhook["id"]);
    let attempts = client.admin_get(&path).await;
    let attempts = attempts["items"].as_array().map_or(&[][..], Vec::as_slice);
    let taps = attempts.iter().filter_map(|attempt| {
        let mut parts = attempt["event_id"].as_str()?.split('_');
        (parts.next() == Some("tap")).then_some(())?;
        parts.next()?.parse::<i64>().ok()
    });
    let last = taps.max().context("an attempt of a tap")?;
    let tap = client.admin_get(&format!("/interactions/{last}")).await;
    let at = tap["at"].as_str().context("the tap is there")?;
    Ok(at.to_owned())
}
