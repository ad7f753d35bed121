//! `serve`: runs the service until it is asked to end.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result, anyhow};
use tapdesk_service::settings::{Layers, Settings};
use tapdesk_service::start::{Start, Started, TokenSource, start};
use tapdesk_service::{Exposure, housekeeping, router};
use tokio::net::TcpListener;

use crate::config;

pub(super) fn run(options: config::Serve) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("The system does not let the service start its threads.")?
        .block_on(serve(options))
}

async fn serve(options: config::Serve) -> Result<()> {
    // A connection is a descriptor, and shells give 1,024 of them, systems far
    // more to who asks. With fewer the service works; connections wait.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::debug!("the limit of open files is unchanged: {error}");
    }
    let database = options.installation.database()?;
    let listening = options.listening;
    let listener = TcpListener::bind(listening.listen)
        .await
        .map_err(|error| anyhow!(config::cannot_listen(listening.listen, &error)))?;
    let address = listener.local_addr()?;
    let admin_token = match config::admin_token()? {
        Some(token) => TokenSource::Given(token),
        None => TokenSource::File(options.installation.token_file()?),
    };
    let defaults = Settings {
        tag_url: format!("http://{}/t", config::reachable(address)),
        private_webhooks: options.private_webhooks,
        ..Settings::default()
    };
    let layers = Layers {
        defaults,
        fixed: options.settings.0,
    };
    layers.check_fixed()?;
    let Started { service, state, .. } = start(Start {
        wrapping_key: options.key_file.wrapping_key(&database),
        database,
        admin_token,
        layers,
        countries: options.country_file,
        tag_cache: options.tag_cache.saturating_mul(1_000_000),
        test: options.test.mode()?,
    })
    .await?;
    state.set_listening(address);

    let exposure = if address.ip().is_loopback() || listening.expose_admin {
        Exposure::WithAdmin
    } else {
        tracing::info!(
            "{address} is not a loopback address: the admin API is off; --expose-admin turns it on"
        );
        Exposure::PublicOnly
    };
    let shutdown = asked_to_end()?;
    writeln!(io::stdout(), "listening on http://{address}")?;
    let router = router(state, exposure);
    tokio::select! {
        served = tapdesk_service::serve(listener, router, shutdown) => served?,
        never = housekeeping::run(&service) => match never {},
    }
    service.storage.close().await;
    Ok(())
}

/// Ends with the first SIGTERM or SIGINT. The handlers are in place when this returns.
#[cfg(unix)]
fn asked_to_end() -> Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Ends with the first Ctrl-C. The handler is in place when this returns.
#[cfg(windows)]
fn asked_to_end() -> Result<impl Future<Output = ()> + Send> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
    })
}
