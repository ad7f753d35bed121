//! The time from the start of the process until it is ready, with a million tags.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::net::TcpStream;

use crate::ROUNDS;
use crate::fixture::Fixture;
use crate::server::Server;

/// The time of each start. The service was shut down normally before.
pub(crate) async fn starts(fixture: &Fixture) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let started = Instant::now();
        let server = Server::service(fixture)?;
        // It prints its address when it listens, so the first connection succeeds.
        drop(TcpStream::connect(server.address).await?);
        ready(&server).await?;
        times.push(started.elapsed());
        server.end()?;
    }
    // The first start reads files that the system has not cached.
    times.remove(0);
    Ok(times)
}

/// The same after a crash that left one tap per tag unfolded. The process is killed each time
/// before it folds them.
pub(crate) async fn after_crashes(fixture: &Fixture) -> Result<Vec<Duration>> {
    fixture.leave_taps_unfolded()?;
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let started = Instant::now();
        let server = Server::service(fixture)?;
        drop(TcpStream::connect(server.address).await?);
        ready(&server).await?;
        times.push(started.elapsed());
        drop(server);
    }
    times.remove(0);
    Ok(times)
}

async fn ready(server: &Server) -> Result<()> {
    let ready = format!("http://{}/ready", server.address);
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::get(ready).await?.error_for_status()?;
    Ok(())
}
