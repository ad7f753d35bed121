//! `serve`: runs the service until it is asked to stop.

mod public;

use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tapdesk_service::settings::{Layers, Settings};
use tapdesk_service::start::{Start, Started, TokenSource, start};
use tapdesk_service::{Exposure, Limits, housekeeping, router};
use tokio::sync::watch;

use crate::options;
use public::{Public, ended, listen};

pub(super) fn run(options: options::Serve) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("The system does not let the service start its threads.")?
        .block_on(serve(options))
}

async fn serve(options: options::Serve) -> Result<()> {
    // Each connection uses a descriptor. Shells allow 1,024 descriptors by default, but systems
    // allow many more on request. With few descriptors the service still works, but connections
    // wait.
    let descriptors = rlimit::increase_nofile_limit(u64::MAX)
        .inspect_err(|error| tracing::debug!("the limit of open files is unchanged: {error}"));
    let database = options.installation.database()?;
    let listening = options.listening;
    let listener = listen("--listen", listening.listen)?;
    let public = Public::open(&options.certificates)?;
    let address = listener.local_addr()?;
    let admin_token = match options::admin_token()? {
        Some(token) => TokenSource::Given(token),
        None => TokenSource::File(options.installation.token_file()?),
    };
    let defaults = Settings {
        tag_url: public.as_ref().map_or_else(
            || format!("http://{}/t", options::reachable(address)),
            Public::tag_url,
        ),
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
        s3_server: options.s3.server(),
        test: options.test.mode()?,
    })
    .await?;
    state.set_listening(address);
    if let Some(public) = &public {
        public.check(&service)?;
    }

    let exposure = if address.ip().is_loopback() || listening.expose_admin {
        Exposure::WithAdmin
    } else {
        tracing::info!(
            "{address} is not a loopback address: the admin API is off; --expose-admin turns it on"
        );
        Exposure::PublicOnly
    };
    let shutdown = asked_to_end(options.connections.shutdown_delay())?;
    writeln!(io::stdout(), "listening on http://{address}")?;
    let limits = Limits {
        idle: options.connections.keep_alive(),
        descriptors: descriptors.ok(),
        ..Limits::default()
    };
    let (tell_end, end) = watch::channel(None);
    let ends = async {
        tell_end.send_replace(Some(shutdown.await));
        Ok(())
    };
    let own = router(state.clone(), exposure);
    let own = tapdesk_service::serve(listener, own, limits, ended(end.clone()));
    let to_visitors = async {
        // The admin API is at the other listener, unless it is exposed.
        let exposure = if listening.expose_admin {
            Exposure::WithAdmin
        } else {
            Exposure::PublicOnly
        };
        match public {
            Some(public) => public.serve(state, exposure, limits, end).await,
            None => Ok(()),
        }
    };
    tokio::select! {
        served = async { tokio::try_join!(ends, own, to_visitors) } => drop(served?),
        never = housekeeping::run(&service) => match never {},
    }
    if let Err(error) = service.note_previews().await {
        tracing::warn!("the last previews could not be counted: {error}");
    }
    service.close().await;
    Ok(())
}

/// Resolves with the first SIGTERM, SIGINT or SIGHUP. Returns the time that load balancers need to
/// notice: `delay`, or zero if a person presses Ctrl-C. The signal handlers are installed before
/// this function returns.
#[cfg(unix)]
pub(super) fn asked_to_end(delay: Duration) -> Result<impl Future<Output = Duration> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // A handler would override the setting of `nohup`.
    let mut hang_up = if hang_up_is_ignored() {
        None
    } else {
        Some(signal(SignalKind::hangup())?)
    };
    Ok(async move {
        let terminal_closed = async {
            match &mut hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => delay,
            _ = terminal_closed => delay,
            _ = interrupt.recv() => Duration::ZERO,
        }
    })
}

/// Whether the process was started with SIGHUP ignored, as `nohup` does. Only Linux can tell.
#[cfg(unix)]
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is number 1, the lowest bit.
    ignored.is_some_and(|mask| mask & 1 != 0)
}

/// Resolves with the first Ctrl-C. The handler is installed before this function returns.
#[cfg(windows)]
pub(super) fn asked_to_end(_: Duration) -> Result<impl Future<Output = Duration> + Send> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
        Duration::ZERO
    })
}
