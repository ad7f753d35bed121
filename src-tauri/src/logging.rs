//! The log, on stderr.

use std::io;

use tracing_subscriber::filter::{EnvFilter, LevelFilter, filter_fn};
use tracing_subscriber::prelude::*;

/// Starts the log; `TAPDESK_LOG` says how much of it, as in `tapdesk=debug`. Of
/// libraries, warnings alone: what they trace of a request may contain a key.
pub(crate) fn start() {
    let ours = filter_fn(|metadata| {
        metadata.target().starts_with("tapdesk") || *metadata.level() <= LevelFilter::WARN
    });
    let wanted = EnvFilter::try_from_env("TAPDESK_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // A log that was started already is as good.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(ours))
        .with(wanted)
        .try_init();
}
