//! Scheduled backups into a folder or a bucket. Each one is checked by restoring it next to the
//! file; a backup in a bucket is downloaded for that.
//!
//! The passphrase is not stored. It sealed the wrapping key once; this sealed key is stored, and
//! each backup contains it. A rotation of the wrapping key makes the sealed key useless, which is
//! detected before the next backup is made.

mod bucket;
mod destination;
mod file;
mod folder;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use bucket::{Bucket, StoredBackup};
pub use destination::{BucketPath, Destination, DestinationError};
pub use file::name;

use crate::service::Service;
use crate::webhook_delivery::raise;
use domain::clock::{Millis, Timestamp};
use domain::keyring::{KeyringError, Passphrase, SealedWrappingKey};
use domain::plural::counted;
use domain::webhook::{Alert, EventKind};
use storage::{
    BackupContent, BackupNote, BackupResult, BackupSchedule, BackupSeal, SealedForBackups,
    StorageError,
};

/// Plain text of the probe that proves that the sealed key is the present one. It has no meaning.
const PROBE: &[u8; 16] = b"tapdesk schedule";
/// The longest pause after a failed backup before the next attempt.
const AGAIN: Millis = Millis::hours(1);

/// Why a backup failed. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The stored destination is none.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// The bucket, or its server, cannot be used: a sentence for people.
    #[error("{0}")]
    Bucket(String),
    /// There is a backup of this name.
    #[error("{0} exists, and no backup is overwritten.")]
    Exists(String),
    /// The bucket has other content than was sent.
    #[error("{0} does not read as it was written. Check the server of the bucket.")]
    Altered(String),
    /// The copy of the database cannot be read.
    #[error("The copy of the database cannot be read: {0}.")]
    Copy(std::io::Error),
    /// The file cannot be written or read back.
    #[error("{file} cannot be used: {error}.", file = .0.display(), error = .1)]
    File(PathBuf, std::io::Error),
    /// The disk has no room for a download: megabytes that are needed, and that are free.
    #[error(
        "The backup needs {needed} MB on the disk of the database, for the download and a copy, and {free} MB are free. \
         Make room there."
    )]
    NoRoom {
        /// Megabytes that are needed.
        needed: u64,
        /// Megabytes that are free.
        free: u64,
    },
    /// The folder belongs to the system.
    #[error("{} belongs to the system. Choose a folder that is only for backups, such as /var/backups/tapdesk.", .0.display())]
    System(PathBuf),
    /// The folder, or one above it, is a link that may point to another folder later.
    #[error("{} is a symbolic link, which can be made to lead to another folder. Name the folder that it leads to.", .0.display())]
    Link(PathBuf),
    /// The path of the folder contains `..`.
    #[error("{} has \"..\" in it. Name the folder itself.", .0.display())]
    Parent(PathBuf),
    /// The sealed key is not the present one.
    #[error(
        "The key that wraps inlay keys is another one than the one that was sealed for these backups. \
         Enter the passphrase of the scheduled backups again."
    )]
    OtherKey,
    /// The file reads back with other content than was written.
    #[error("{} does not read as it was written. Check the disk.", .0.display())]
    Differs(PathBuf),
    /// It cannot be restored.
    #[error("The backup cannot be restored: {0}")]
    Unsound(String),
    /// It has fewer rows than the database.
    #[error("The backup has {found}, and the database {expected}.")]
    Incomplete {
        /// Number of rows in the backup, in words.
        found: String,
        /// Number of rows in the database, in words.
        expected: String,
    },
    /// It does not contain the right sealed key, or its seal is not ours.
    #[error("The backup does not contain the key that unlocks inlay keys, or another one.")]
    WithoutKey,
    /// A separate thread stopped early.
    #[error("The backup was ended.")]
    Ended,
}

/// Seals the wrapping key with a passphrase for all scheduled backups. The result is opened once,
/// to prove that the passphrase opens it.
pub async fn seal(
    service: &Arc<Service>,
    passphrase: Passphrase,
) -> Result<SealedForBackups, BackupSealError> {
    let service = Arc::clone(service);
    let sealed = tokio::task::spawn_blocking(move || {
        let entropy = &*service.entropy;
        let key = service.keyring.seal(&passphrase, entropy)?;
        let opened = key.open(&passphrase).ok_or(KeyringError::OtherKey)?;
        let probe = service.keyring.wrap_secret(PROBE, entropy)?;
        domain::keyring::Keyring::open(&opened).unwrap_secret(&probe)?;
        Ok(SealedForBackups { key, probe })
    });
    sealed.await.map_err(|_| BackupSealError::Ended)?
}

/// Why the key cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum BackupSealError {
    /// The keyring has no key to seal.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// A separate thread stopped early.
    #[error("The key was not sealed.")]
    Ended,
}

/// Checks that backups can be written to a destination. A folder is created if it is missing.
pub async fn check_destination(
    service: &Service,
    destination: Destination,
) -> Result<(), BackupError> {
    match destination {
        Destination::Folder(folder) => blocking(move || file::check_folder(&folder)).await,
        Destination::Bucket(path) => Bucket::open(&path, &service.s3_server)?.check().await,
    }
}

/// When the next backup is due.
pub fn next_at(schedule: &BackupSchedule) -> Option<Timestamp> {
    let last = schedule.last.as_ref()?;
    let pause = Millis::hours(schedule.every_hours.into());
    let pause = if last.error.is_some() {
        pause.min(AGAIN)
    } else {
        pause
    };
    Some(last.at.plus(pause))
}

/// Makes the backup that is due, if there is one, and records its result.
pub(crate) async fn run_due(service: &Service) -> Result<(), StorageError> {
    let Some(schedule) = service.storage.backup_schedule().await? else {
        return Ok(());
    };
    service.metrics.backup(schedule.last.as_ref());
    let now = service.storage.now().await?;
    if next_at(&schedule).is_some_and(|next| now < next) {
        return Ok(());
    }
    run(service, schedule).await.map(drop)
}

/// Makes a backup now, checks it, and removes the oldest ones. The result is recorded. The first
/// failure after a success raises an alert.
pub async fn run(
    service: &Service,
    schedule: BackupSchedule,
) -> Result<BackupSchedule, StorageError> {
    // Two backups at the same time would have the same name.
    let _alone = service.backing_up.lock().await;
    let at = service.storage.now().await?;
    let made = make(service, &schedule, at).await;
    let error = made.as_ref().err().map(ToString::to_string);
    if let Some(why) = &error {
        service.metrics.backup_failure();
        tracing::error!("the scheduled backup failed: {why}");
    }
    let was_good = schedule
        .last
        .as_ref()
        .is_none_or(|last| last.error.is_none());
    let sealed = schedule.sealed.is_some();
    let result = match made {
        Ok((file, bytes)) => BackupResult {
            at,
            file: Some(file),
            bytes,
            error: None,
        },
        Err(_) => BackupResult {
            at,
            file: None,
            bytes: 0,
            error: error.clone(),
        },
    };
    let noted = service.storage.note_backup(result).await?;
    if error.is_none() && sealed {
        service.storage.note_roots_backed_up(at).await?;
    }
    if let Some(why) = error.filter(|_| was_good) {
        let message = format!("The scheduled backup failed: {why}");
        let destination = serde_json::json!({"destination": schedule.destination});
        let alert = Alert::new(EventKind::AlertBackupFailed, &message, destination);
        raise(service, alert).await?;
    }
    let noted = noted.unwrap_or(schedule);
    service.metrics.backup(noted.last.as_ref());
    remove_old(service, &noted).await?;
    Ok(noted)
}

/// Makes a backup and checks it. Returns its name and size.
async fn make(
    service: &Service,
    schedule: &BackupSchedule,
    at: Timestamp,
) -> Result<(String, u64), BackupError> {
    if let Some(sealed) = &schedule.sealed
        && service.keyring.unwrap_secret(&sealed.probe).is_err()
    {
        return Err(BackupError::OtherKey);
    }
    let inlay_key = schedule.sealed.as_ref().map(|sealed| sealed.key.clone());
    let before = service.storage.content().await?;
    let note = BackupNote {
        at,
        inlay_key: inlay_key.clone(),
    };
    let key = || service.keyring.backup_key();
    let key = schedule.sealed.is_some().then(key).transpose();
    let copy = service
        .storage
        .backup(note, key.map_err(|_| BackupError::OtherKey)?)
        .await?;
    let after = service.storage.content().await?;
    let expected = Expected {
        inlay_key,
        before,
        after,
    };
    match Destination::parse(&schedule.destination)? {
        Destination::Folder(folder) => {
            let written = blocking(move || file::write(&folder, at, copy)).await?;
            check(service, &written.path, &expected).await?;
            blocking(move || file::keep(written)).await
        }
        Destination::Bucket(path) => {
            let bucket = Bucket::open(&path, &service.s3_server)?;
            store(service, &bucket, at, copy, &expected).await
        }
    }
}

/// Uploads a backup and checks the object. Returns its name and size.
async fn store(
    service: &Service,
    bucket: &Bucket,
    at: Timestamp,
    copy: File,
    expected: &Expected,
) -> Result<(String, u64), BackupError> {
    let name = name(at);
    let folder = service.storage.temporary_folder()?;
    let file = folder.path().join(&name);
    let bytes = bucket.store(&name, copy, &file).await?;
    if let Err(error) = check(service, &file, expected).await {
        bucket.discard(&name).await;
        return Err(error);
    }
    Ok((name, bytes))
}

/// The content that a backup must have.
struct Expected {
    inlay_key: Option<SealedWrappingKey>,
    /// The numbers of tags and interactions before and after it was made.
    before: (u64, u64),
    after: (u64, u64),
}

/// Restores the backup at `path` next to it, and compares it with the database.
async fn check(service: &Service, path: &Path, expected: &Expected) -> Result<(), BackupError> {
    let found = service.storage.check_backup(path).await;
    let found = found.map_err(BackupError::Unsound)?;
    compare(&found, expected.before, expected.after)?;
    let inlay_key = &expected.inlay_key;
    let same_key = match (&found.note, inlay_key) {
        (
            Some(BackupNote {
                inlay_key: None, ..
            }),
            None,
        ) => true,
        (
            Some(BackupNote {
                inlay_key: Some(one),
                ..
            }),
            Some(other),
        ) => one.is_same(other),
        _ => false,
    };
    let opens = |wrapped: &Vec<u8>| service.keyring.unwrap_secret(wrapped).is_ok();
    let locked = service.keyring.why_locked().is_some();
    let is_ours = |seal: &BackupSeal| {
        let key = service.keyring.backup_key();
        seal.is_sealed() == inlay_key.is_some()
            && (!seal.is_sealed() || key.is_ok_and(|key| seal.is_by(&key)))
    };
    if !same_key
        || !found.seal.as_ref().is_some_and(is_ours)
        || !(locked || found.wrapped_key.as_ref().is_none_or(opens))
    {
        return Err(BackupError::WithoutKey);
    }
    Ok(())
}

/// Checks that a backup has as many rows as the database had while it was made.
fn compare(
    found: &BackupContent,
    before: (u64, u64),
    after: (u64, u64),
) -> Result<(), BackupError> {
    let between =
        |found: u64, one: u64, other: u64| (one.min(other)..=one.max(other)).contains(&found);
    if between(found.tags, before.0, after.0) && between(found.interactions, before.1, after.1) {
        return Ok(());
    }
    let words = |tags, interactions| {
        format!(
            "{} and {}",
            counted(tags, "tag"),
            counted(interactions, "interaction")
        )
    };
    Err(BackupError::Incomplete {
        found: words(found.tags, found.interactions),
        expected: words(after.0, after.1),
    })
}

/// Removes the oldest scheduled backups beyond the number to keep. Other files and objects stay.
async fn remove_old(service: &Service, schedule: &BackupSchedule) -> Result<(), StorageError> {
    let beyond = schedule.files.len().saturating_sub(schedule.keep as usize);
    let old = schedule.files[..beyond].to_vec();
    if old.is_empty() {
        return Ok(());
    }
    let removed = remove(service, &schedule.destination, old).await;
    service
        .storage
        .forget_backups(removed.unwrap_or_default())
        .await
}

async fn remove(
    service: &Service,
    destination: &str,
    old: Vec<String>,
) -> Result<Vec<String>, BackupError> {
    match Destination::parse(destination)? {
        Destination::Folder(folder) => blocking(move || Ok(file::remove(&folder, old))).await,
        Destination::Bucket(path) => {
            let bucket = Bucket::open(&path, &service.s3_server)?;
            Ok(bucket.remove(old).await)
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| BackupError::Ended)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_or_removed_meanwhile_may_be_in_it_or_not() {
        let found = |tags, interactions| BackupContent {
            note: None,
            tags,
            interactions,
            wrapped_key: None,
            seal: None,
        };
        assert!(compare(&found(5, 11), (5, 10), (5, 12)).is_ok());
        assert!(compare(&found(4, 10), (5, 10), (4, 10)).is_ok());
        let missing = compare(&found(5, 9), (5, 10), (5, 12)).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "The backup has 5 tags and 9 interactions, and the database 5 tags and 12 interactions."
        );
        assert!(compare(&found(0, 10), (5, 10), (5, 10)).is_err());
    }

    #[test]
    fn after_a_failure_it_is_tried_again_within_an_hour() {
        let schedule = |every_hours, error: Option<&str>| BackupSchedule {
            destination: "/backups".to_owned(),
            every_hours,
            keep: 1,
            sealed: None,
            last: Some(BackupResult {
                at: Timestamp::from_millis(0),
                file: None,
                bytes: 0,
                error: error.map(ToOwned::to_owned),
            }),
            files: Vec::new(),
        };
        for (every_hours, error, hours) in
            [(24, None, 24), (24, Some("No."), 1), (1, Some("No."), 1)]
        {
            let next = next_at(&schedule(every_hours, error));
            assert_eq!(next, Some(Timestamp::default().plus(Millis::hours(hours))));
        }
    }
}
