//! `migrate-store`: moves a whole database from SQLite to PostgreSQL, or back.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::migrate_store::{Moved, Observer, Phase, migrate_store};
use tapdesk_service::plural::counted;
use tapdesk_service::start::Database;

use crate::options;

#[derive(Args)]
pub(super) struct Options {
    /// The database to move: `sqlite:PATH` or `postgres://USER@HOST/DATABASE`. It is only read, and
    /// marked as moved at the end. No service may use it meanwhile.
    #[arg(long, env = "TAPDESK_FROM", value_name = "URL", hide_env_values = true)]
    from: String,

    /// An empty database of the other kind, or the one of an interrupted move.
    #[arg(long, env = "TAPDESK_TO", value_name = "URL", hide_env_values = true)]
    to: String,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let from = options::database(&options.from)?;
    let to = options::database(&options.to)?;
    let clock = SystemClock::start();
    let mut progress = Progress::new();
    let moved = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?
        .block_on(migrate_store(&from, &to, &clock, &OsEntropy, &mut progress))?;
    let mut out = io::stdout().lock();
    let (rows, wrapped_keys) = match moved {
        Moved::Before(at) => {
            writeln!(out, "This move was completed at {at}. Nothing was changed.")?;
            return Ok(());
        }
        Moved::Now { rows, wrapped_keys } => (rows, wrapped_keys),
    };
    writeln!(
        out,
        "Moved {}. Every table has the same rows on both sides, by count and by checksum.",
        counted(rows, "row")
    )?;
    writeln!(
        out,
        "The old database is marked as moved, and no service starts on it: otherwise both would accept the same \
         code."
    )?;
    if wrapped_keys {
        let key = match to {
            Database::Postgres(_) => {
                "Inlay keys stay wrapped with the key in inlay.key. Give every node a copy of that file with \
                 --key-file: codes cannot be verified without it."
            }
            Database::Sqlite(_) => {
                "Inlay keys stay wrapped with the key file of the nodes. Put that file beside the database as \
                 inlay.key, or name it with --key-file: codes cannot be verified without it."
            }
        };
        writeln!(out, "{key}")?;
    }
    Ok(())
}

/// Progress between two lines, in percent. Not used on a terminal.
const STEP: u64 = 10;

/// The progress of the move: one changing line on a terminal, otherwise a line from time to time.
struct Progress {
    bar: Option<ProgressBar>,
    clock: SystemClock,
    phase: &'static str,
    total: u64,
    done: u64,
    /// Start time of the phase, and the number of rows at that time.
    began: (Timestamp, u64),
}

impl Progress {
    fn new() -> Self {
        let clock = SystemClock::start();
        Self {
            bar: None,
            phase: "",
            total: 0,
            done: 0,
            began: (clock.now(), 0),
            clock,
        }
    }

    fn percent(&self) -> u64 {
        (self.done * 100).checked_div(self.total).unwrap_or(100)
    }

    fn tell(&self, table: &str) {
        let (since, before) = self.began;
        let millis = self.clock.now().since(since).get().max(1).unsigned_abs();
        let rate = (self.done - before) * 1_000 / millis;
        // If nobody reads the output, ignore the error: progress is not essential.
        let _ = writeln!(
            io::stdout(),
            "{} {table}: {} of {} rows, {} %, {rate} rows/s",
            self.phase,
            self.done,
            self.total,
            self.percent(),
        );
    }
}

impl Observer for Progress {
    fn begin(&mut self, phase: Phase, total: u64, done: u64) {
        self.phase = match phase {
            Phase::Copying => "copying",
            Phase::Comparing => "comparing",
        };
        (self.total, self.done) = (total, done);
        self.began = (self.clock.now(), done);
        if io::stderr().is_terminal() {
            let bar = ProgressBar::new(total).with_position(done);
            if let Ok(style) = ProgressStyle::with_template(
                "{prefix} {human_pos} of {human_len} rows, {percent} %, {rate} {wide_bar} {eta} {msg}",
            ) {
                let rate = |state: &ProgressState, line: &mut dyn fmt::Write| {
                    let _ = write!(line, "{:.0} rows/s", state.per_sec());
                };
                bar.set_style(style.with_key("rate", rate));
            }
            bar.set_prefix(self.phase);
            self.bar = Some(bar);
        } else if done > 0 {
            self.tell("continues");
        }
    }

    fn advance(&mut self, table: &'static str, rows: u64) {
        let before = self.percent() / STEP;
        self.done = self.done.saturating_add(rows);
        match &self.bar {
            Some(bar) => {
                bar.set_message(table);
                bar.inc(rows);
            }
            None if self.percent() / STEP > before => self.tell(table),
            None => {}
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
