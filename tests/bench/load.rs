//! The clients: each sends its next request when the previous one is answered, or at a fixed pace.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::http::{Answer, Connection};

/// A rolling key in the form of a tap's response.
pub(crate) type Key = [u8; 44];

/// The kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Tap,
    Payload,
    Update,
    /// A tap with an unknown code, which gets an error page.
    Nobody,
    /// A redirect of another program, without a key.
    Redirect,
}

/// The requests of one connection.
pub(crate) struct Supply {
    pub(crate) requests: Vec<Vec<u8>>,
    /// Whether the requests may be sent repeatedly.
    pub(crate) repeats: bool,
    /// Shortest time between two requests; `None` to send each as soon as the previous one is
    /// answered.
    pub(crate) pace: Option<Duration>,
}

impl Supply {
    /// Requests that are each sent once, without a pace.
    pub(crate) fn once(requests: Vec<Vec<u8>>) -> Self {
        Self {
            requests,
            repeats: false,
            pace: None,
        }
    }
}

/// The measurements of one turn.
pub(crate) struct Load {
    pub(crate) elapsed: Duration,
    /// Times from request to response, sorted.
    pub(crate) latencies: Vec<Duration>,
    /// The keys in the responses to taps, by connection.
    pub(crate) keys: Vec<Vec<Key>>,
}

impl Case {
    /// Checks that a response is a success. A tap's response must contain a key.
    pub(crate) fn check(self, answer: &Answer<'_>) -> Result<Option<Key>> {
        let expected = match self {
            Self::Tap => 302,
            Self::Payload | Self::Update => 200,
            Self::Nobody => 404,
            Self::Redirect => 307,
        };
        let body = String::from_utf8_lossy(answer.body);
        if answer.status != expected || answer.body == b"[]" {
            bail!("{self:?} was answered {}: {body}", answer.status);
        }
        if self != Self::Tap {
            return Ok(None);
        }
        let location = answer.header("location").unwrap_or_default();
        let key = location.last_chunk().context("a redirect without a key")?;
        Ok(Some(*key))
    }
}

/// Loads servers for `time`, or until a connection has no more requests. The connections are
/// distributed over the servers.
pub(crate) async fn run(
    addresses: &[SocketAddr],
    case: Case,
    supplies: Vec<Supply>,
    time: Duration,
) -> Result<Load> {
    let mut connections = Vec::new();
    for (supply, address) in supplies.into_iter().zip(addresses.iter().cycle()) {
        connections.push((Connection::open(*address).await?, supply));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    let started = Instant::now();
    for (connection, supply) in connections {
        clients.spawn(client(connection, case, supply, Arc::clone(&stop)));
    }
    let timer = {
        let stop = Arc::clone(&stop);
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            stop.store(true, Ordering::Relaxed);
        })
    };
    let mut load = Load {
        elapsed: Duration::ZERO,
        latencies: Vec::new(),
        keys: Vec::new(),
    };
    while let Some(client) = clients.join_next().await {
        let (latencies, keys) = client??;
        load.latencies.extend(latencies);
        load.keys.push(keys);
    }
    load.elapsed = started.elapsed();
    timer.abort();
    load.latencies.sort_unstable();
    Ok(load)
}

async fn client(
    mut connection: Connection,
    case: Case,
    supply: Supply,
    stop: Arc<AtomicBool>,
) -> Result<(Vec<Duration>, Vec<Key>)> {
    let mut latencies = Vec::new();
    let mut keys = Vec::new();
    // If the server falls behind, requests are delayed and not sent in a burst later.
    let mut pace = supply.pace.map(|pace| {
        let mut pace = tokio::time::interval(pace);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pace
    });
    loop {
        for request in &supply.requests {
            if let Some(pace) = &mut pace {
                pace.tick().await;
            }
            let sent = Instant::now();
            let key = connection
                .exchange(request, |answer| case.check(answer))
                .await?;
            latencies.push(sent.elapsed());
            keys.extend(key);
            if stop.load(Ordering::Relaxed) {
                return Ok((latencies, keys));
            }
        }
        if !supply.repeats {
            stop.store(true, Ordering::Relaxed);
            return Ok((latencies, keys));
        }
    }
}
