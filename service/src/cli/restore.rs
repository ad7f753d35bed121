//! `restore`: restores a database from a backup. The service must not be running.

mod passphrase;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use tapdesk_service::backup::BucketPath;
use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::keyring::{Keyring, Passphrase, file as key_file};
use tapdesk_service::plural::counted;
use tapdesk_service::rotate::files::KeyFiles;
use tapdesk_service::rotate::places::KeyPlaces as _;
use tapdesk_service::start::Database;
use tapdesk_service::storage::sqlite::{OpenKeyError, Restore, make_place};
use zeroize::Zeroizing;

use super::bucket::{self, Fetched};
use crate::options::{Installation, KeyFile, PassphraseFile, S3};

#[derive(Args)]
pub(super) struct Options {
    /// The backup file, or a bucket: `s3://BUCKET/PATH` for its newest backup, `s3://BUCKET/PATH/NAME` for one.
    file: PathBuf,

    /// List the backups in the bucket, the newest first, and restore none.
    #[arg(long)]
    list: bool,

    /// Move an existing database aside first.
    #[arg(long)]
    replace: bool,

    /// Restore without the inlay key in the backup.
    #[arg(long)]
    without_key: bool,

    #[command(flatten)]
    installation: Installation,

    #[command(flatten)]
    key_file: KeyFile,

    #[command(flatten)]
    passphrase: PassphraseFile,

    #[command(flatten)]
    s3: S3,
}

impl Options {
    /// The passphrase from the file that the options name. `None` if the key is left out.
    fn given_passphrase(&self) -> Result<Option<Passphrase>> {
        if self.without_key {
            return Ok(None);
        }
        let text = self.passphrase.read()?;
        Ok(text.map(|text| Passphrase::parse(&text)).transpose()?)
    }
}

pub(super) fn run(options: &Options) -> Result<()> {
    let bucket = bucket::meant(&options.file)?;
    if options.list {
        let path = bucket.context("--list shows the backups in a bucket, such as s3://backups.")?;
        return list(options, &path);
    }
    let Database::Sqlite(database) = options.installation.database()? else {
        bail!("A backup is restored to a SQLite file. Name that file with --database sqlite:PATH.");
    };
    if database.try_exists()? && !options.replace {
        bail!(
            "A database already exists at {}. Use --replace to move it aside first.",
            database.display()
        );
    }
    // A download takes long: a passphrase that cannot be one shows before it.
    let passphrase = options.given_passphrase()?;
    let fetched = match &bucket {
        Some(path) => {
            make_place(&database)?;
            Some(bucket::fetch(path, &options.s3.server(), &database)?)
        }
        None => None,
    };
    let file = fetched
        .as_ref()
        .map_or(&options.file, |fetched| &fetched.file);
    let restore = Restore::prepare(file, &database)?;
    let note = restore.note.clone();
    let key = if options.without_key {
        None
    } else {
        let ways_out = "Set TAPDESK_PASSPHRASE or --passphrase-file, or restore --without-key.";
        open(&restore, passphrase, fetched.as_ref(), ways_out)?
    };
    let key_path = options.key_file.path(&database);
    let present = key_file::read(&key_path)?;
    let is_other = key.is_some() && present.is_some() && present != key;
    if is_other && !options.replace {
        bail!(
            "{} contains another key than the backup. Use --replace to move it aside first.",
            key_path.display()
        );
    }

    let now = SystemClock::start().now();
    let mut out = io::stdout().lock();
    let (tags, interactions) = (restore.tags, restore.interactions);
    let in_use = key.as_ref().or(present.as_ref());
    let wrapped = restore.wrapped_key.as_deref();
    let opens = in_use.is_some_and(|key| {
        Keyring::open(key)
            .for_stored(wrapped)
            .why_locked()
            .is_none()
    });
    let seal = restore.seal;
    let needs_key = wrapped.is_some() && !opens;
    // Before the database: a key without one does no harm, but one without its key is locked. If the
    // restore is killed before another key has made room, the next start finishes it.
    let key_files = KeyFiles::of_restore(&key_path);
    if let Some(key) = key.as_ref().filter(|_| present != key) {
        let kept = key_files.keep_restored(key, now);
        kept.map_err(anyhow::Error::msg)?;
        if !is_other {
            key_files.replace(now).map_err(anyhow::Error::msg)?;
        }
    }
    restore.record(Actor::CommandLine, now, &OsEntropy)?;
    if let Some(aside) = restore.finish(now)? {
        writeln!(out, "The former database is now {}.", aside.display())?;
    }
    if is_other && let Some(aside) = key_files.replace(now).map_err(anyhow::Error::msg)? {
        writeln!(out, "The former key is now {aside}.")?;
    }
    let made = note.map_or_else(String::new, |note| format!(" of {}", note.at));
    writeln!(
        out,
        "{} contains the backup{made}: {}, {}.",
        database.display(),
        counted(tags, "tag"),
        counted(interactions, "interaction")
    )?;
    match seal {
        None => writeln!(
            out,
            "{} is a copy of a database, and no backup: it has no checksum, so a change of its content is not noticed.",
            options.file.display()
        )?,
        Some(seal) if seal.is_sealed() && options.without_key => {
            writeln!(out, "Its seal was not checked: that needs the passphrase.")?;
        }
        Some(_) => {}
    }
    if needs_key {
        writeln!(
            out,
            "The backup does not contain the key that unlocks inlay keys. Put it at {}, so that taps verify.",
            key_path.display()
        )?;
    }
    Ok(())
}

/// Prints the backups at `path`.
fn list(options: &Options, path: &BucketPath) -> Result<()> {
    let mut out = io::stdout().lock();
    for backup in bucket::list(path, &options.s3.server())? {
        writeln!(out, "{path}/{} {} bytes", backup.name, backup.bytes)?;
    }
    Ok(())
}

/// The inlay key in the backup. If the passphrase does not open it, and the backup was `fetched`, a
/// person at a terminal can name other ones. `ways_out` is for a backup that needs a passphrase.
pub(super) fn open(
    restore: &Restore,
    mut passphrase: Option<Passphrase>,
    fetched: Option<&Fetched>,
    ways_out: &str,
) -> Result<Option<Zeroizing<[u8; 32]>>> {
    let asks = fetched.is_some() && io::stdin().is_terminal();
    loop {
        let why = match restore.open_key(passphrase.as_ref()) {
            Err(error @ OpenKeyError::NoPassphrase) => anyhow!("{error} {ways_out}"),
            Err(error @ OpenKeyError::WrongPassphrase) => error.into(),
            opened => return Ok(opened?),
        };
        let another = if asks {
            passphrase::another(&why, &mut io::stdin().lock(), &mut io::stderr())?
        } else {
            None
        };
        let Some(another) = another else {
            return Err(why);
        };
        passphrase = Some(another);
    }
}
