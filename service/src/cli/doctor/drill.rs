//! `--restore-drill`: restores the newest backup of the schedule in a temporary folder, and
//! compares it with the database, of which it changes nothing.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tapdesk_service::backup::Destination;
use tapdesk_service::clock::{Stopwatch, Timestamp};
use tapdesk_service::keyring::{BackupKey, Keyring, Passphrase, file as key_file};
use tapdesk_service::plural::counted;
use tapdesk_service::start::Database;
use tapdesk_service::storage::BackupSeal;
use tapdesk_service::storage::sqlite::{self, Content, Restore, temporary_folder};
use zeroize::Zeroizing;

use super::Finding::{self, Good, Warning};
use super::{Options, bad};
use crate::cli::bucket::{self, Fetched};
use crate::cli::restore;

/// A backup of the schedule, on this machine.
struct Newest {
    name: String,
    file: PathBuf,
    /// The downloaded file, which is removed with this value.
    fetched: Option<Fetched>,
}

/// Runs the drill. Its result is a finding; an error means that an option cannot be used.
pub(super) fn run(database: &Database, options: &Options, now: Timestamp) -> Result<Finding> {
    let Database::Sqlite(path) = database else {
        let why = "Not supported on PostgreSQL: restore a pg_dump into another database.";
        return Ok(Warning(why.to_owned()));
    };
    let text = options.passphrase.read()?;
    let passphrase = text.map(|text| Passphrase::parse(&text)).transpose()?;
    let key = key_file::read(&options.key_file.path(path))?;
    let stopwatch = Stopwatch::start();
    let newest = match newest(path, options) {
        Ok(Some(newest)) => newest,
        Ok(None) => {
            let why = "The schedule has made no backup yet. Set one under Settings, Backup.";
            return Ok(Warning(why.to_owned()));
        }
        Err(error) => return Ok(bad(error)),
    };
    let drilled = drill(path, &newest, passphrase, key.as_ref(), now);
    Ok(drilled.map_or_else(bad, |report| {
        let seconds = stopwatch.elapsed().as_secs_f64();
        Good(format!("in {seconds:.1} s, {report}"))
    }))
}

/// The newest backup that the schedule keeps; `None` if there is none.
fn newest(database: &Path, options: &Options) -> Result<Option<Newest>> {
    let schedule = if database.try_exists()? {
        sqlite::backup_schedule(database)?
    } else {
        None
    };
    let Some((schedule, name)) =
        schedule.and_then(|mut schedule| schedule.files.pop().map(|name| (schedule, name)))
    else {
        return Ok(None);
    };
    let (file, fetched) = match Destination::parse(&schedule.destination)? {
        Destination::Folder(folder) => (folder.join(&name), None),
        Destination::Bucket(path) => {
            let fetched = bucket::fetch_one(&path, &name, &options.s3.server(), database)?;
            (fetched.file.clone(), Some(fetched))
        }
    };
    Ok(Some(Newest {
        name,
        file,
        fetched,
    }))
}

/// Restores a backup, and compares it with `database`. Returns the result in words.
fn drill(
    database: &Path,
    newest: &Newest,
    passphrase: Option<Passphrase>,
    key: Option<&Zeroizing<[u8; 32]>>,
    now: Timestamp,
) -> Result<String> {
    let Newest {
        name,
        file,
        fetched,
    } = newest;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let folder = temporary_folder(database)?;
    let target = folder.path().join("tapdesk.db");
    let restore = Restore::prepare(file, &target)?;
    let of_key = check_key(&restore, passphrase, fetched.as_ref(), key)?;
    restore.finish(now)?;
    sqlite::examine(&target)?;
    if let Some(fault) = sqlite::check_audit(&target)? {
        bail!("{fault} That is the log in {name}.");
    }
    let (restored, live) = (sqlite::content(&target)?, sqlite::content(database)?);
    let (row, _) = restored.audit_head;
    if !sqlite::has_audit_row(database, restored.audit_head)? {
        bail!(
            "{name} has another row {row} in its audit log than the database. One of them is not of this service, or was changed."
        );
    }
    Ok(format!(
        "{name} of {bytes} bytes was restored with {}. The database has {} now. The audit log of the backup is whole, \
         and the database has its last row, {row}. {of_key}",
        words(&restored),
        words(&live)
    ))
}

/// Checks the seal of a backup, and that the key in it opens inlay keys. Returns the result in
/// words.
fn check_key(
    restore: &Restore,
    passphrase: Option<Passphrase>,
    fetched: Option<&Fetched>,
    key: Option<&Zeroizing<[u8; 32]>>,
) -> Result<&'static str> {
    let seal = restore.seal.filter(BackupSeal::is_sealed);
    if passphrase.is_some() || seal.is_none() {
        let ways_out = "Set TAPDESK_PASSPHRASE or --passphrase-file.";
        let Some(opened) = restore::open(restore, passphrase, fetched, ways_out)? else {
            return Ok("It does not contain the key that unlocks inlay keys: keep inlay.key.");
        };
        let keyring = Keyring::open(&opened).for_stored(restore.wrapped_key.as_deref());
        if let Some(why) = keyring.why_locked() {
            bail!("The key in the backup does not open its inlay keys: {why}");
        }
        return Ok("The passphrase opens its key.");
    }
    let is_ours = |key: &Zeroizing<[u8; 32]>| {
        let key = BackupKey::of(key);
        seal.is_some_and(|seal| seal.is_by(&key))
    };
    Ok(if key.is_some_and(is_ours) {
        "Its seal is of the present key. With TAPDESK_PASSPHRASE the drill also opens the key in it."
    } else {
        "It contains another key than the present one. With TAPDESK_PASSPHRASE the drill opens it."
    })
}

fn words(content: &Content) -> String {
    format!(
        "{} and {}",
        counted(content.tags, "tag"),
        counted(content.interactions, "interaction")
    )
}
