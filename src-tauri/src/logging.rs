//! The log, on stderr.

use std::io;

use tracing_subscriber::filter::{EnvFilter, LevelFilter, filter_fn};
use tracing_subscriber::prelude::*;

/// Starts the log; `TAPDESK_LOG` sets its level, as in `tapdesk=debug`. Libraries log only
/// warnings, because their traces of a request may contain a key.
pub(crate) fn start() {
    let ours = filter_fn(|metadata| {
        metadata.target().starts_with("tapdesk") || *metadata.level() <= LevelFilter::WARN
    });
    let wanted = EnvFilter::try_from_env("TAPDESK_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // If a log was started already, that one is used.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(ours))
        .with(wanted)
        .try_init();
}
