//! From the start of the process until it is ready, with a million tags.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::net::TcpStream;

use crate::ROUNDS;
use crate::fixture::Fixture;
use crate::server::Server;

/// How long each start took. The service was ended in good order before.
pub(crate) async fn starts(fixture: &Fixture) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let started = Instant::now();
        let server = Server::service(fixture)?;
        // It says where it listens once it does: the first connection is answered.
        drop(TcpStream::connect(server.address).await?);
        ready(&server).await?;
        times.push(started.elapsed());
        server.end()?;
    }
    // The first reads files that the system has not in memory.
    times.remove(0);
    Ok(times)
}

/// The same after a crash that left a tap of each tag unfolded. It is killed each time before it
/// folds them.
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
