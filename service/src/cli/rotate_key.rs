//! `rotate-key`: encrypts all secrets of a database with a new key. The service must not be
//! running.

use std::io::{self, Write as _};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::plural::counted;
use tapdesk_service::rotate::files::KeyFiles;
use tapdesk_service::rotate::places::KeyPlaces;
use tapdesk_service::rotate::{self, Observer, Phase};
use tapdesk_service::start::{Database, open_exclusive};
use tapdesk_service::storage::Storage;

use crate::options::{Installation, KeyFile};

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    installation: Installation,

    #[command(flatten)]
    key_file: KeyFile,
}

/// The solution if the key file is not the database's.
const FIND: &str = "Name the right file with --key-file. A desktop may keep its key in the system's \
    keychain, which this command does not reach: rotate it there, in Settings, Backup.";

pub(super) fn run(options: &Options) -> Result<()> {
    let database = options.installation.database()?;
    let Some(file) = options.key_file.of(&database) else {
        bail!("Name the key file of the nodes with --key-file. Each node has a copy of it.");
    };
    let shared = !matches!(database, Database::Sqlite(_));
    let places: Arc<dyn KeyPlaces> = Arc::new(KeyFiles::of(&file, FIND));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?
        .block_on(async {
            let storage = open_exclusive(database).await?;
            let rotated = rotate(&storage, &places).await;
            storage.close().await;
            rotated
        })?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} contains the new key.", file.display())?;
    if shared {
        writeln!(
            out,
            "Give every node a copy of it before you start it: with the former key it verifies no codes."
        )?;
    }
    writeln!(
        out,
        "Make a backup now. Backups of before need the key that they contain, or the former key file."
    )?;
    Ok(())
}

async fn rotate(database: &Storage, places: &Arc<dyn KeyPlaces>) -> Result<()> {
    let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
    let mut out = io::stdout();
    if let Some(begun) = database.as_service().key_rotation().await? {
        writeln!(out, "The rotation of {} goes on.", begun.began_at)?;
    }
    let (actor, now) = (Actor::CommandLine, SystemClock::start().now());
    let mut progress = Progress::default();
    let rotated = rotate::run(database, places, actor, now, &entropy, &mut progress).await?;
    let rows = counted(rotated.rows, "row");
    writeln!(out, "The secrets of {rows} are under the new key.")?;
    if let Some(aside) = rotated.former {
        writeln!(out, "The former key is now {aside}.")?;
    }
    Ok(())
}

/// Progress between two lines, in percent.
const STEP: u64 = 10;

/// Prints a progress line from time to time.
#[derive(Default)]
struct Progress {
    phase: &'static str,
    total: u64,
    done: u64,
}

impl Progress {
    fn percent(&self) -> u64 {
        (self.done * 100).checked_div(self.total).unwrap_or(100)
    }
}

impl Observer for Progress {
    fn begin(&mut self, phase: Phase, total: u64) {
        self.phase = match phase {
            Phase::Checking => "checking",
            Phase::Wrapping => "rotating",
            Phase::Erasing => "erasing",
        };
        (self.total, self.done) = (total, 0);
    }

    fn advance(&mut self, table: &'static str, rows: u64) {
        let before = self.percent() / STEP;
        self.done = self.done.saturating_add(rows);
        if rows > 0 && self.percent() / STEP > before {
            // If nobody reads the output, ignore the error: progress is not essential.
            let _ = writeln!(
                io::stdout(),
                "{} {table}: {} of {} rows, {} %",
                self.phase,
                self.done,
                self.total,
                self.percent()
            );
        }
    }

    fn end(&mut self) {}
}
