//! Scheduled backups: the schedule, and the result of the last backup.

use serde::{Deserialize, Serialize};

use super::BackupNote;
use domain::clock::Timestamp;
use domain::keyring::{BackupKey, SealedWrappingKey};

/// The schedule by which the service makes backups.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupSchedule {
    /// The folder for the backups, on the service's machine, or a bucket: `s3://BUCKET/PATH`.
    pub destination: String,
    /// Hours between two backups.
    pub every_hours: u32,
    /// How many backups are kept.
    pub keep: u32,
    /// The key that wraps inlay keys, sealed; without it, backups do not contain that key.
    pub sealed: Option<SealedForBackups>,
    /// The result of the last backup; `None` before the first.
    pub last: Option<BackupResult>,
    /// Names of the existing scheduled backups, the oldest first. No other file or object is ever
    /// removed.
    #[serde(default)]
    pub files: Vec<String>,
}

/// The wrapping key, sealed for all scheduled backups.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SealedForBackups {
    /// The wrapping key, sealed with the owner's passphrase, so that the service keeps no
    /// passphrase.
    pub key: SealedWrappingKey,
    /// A value that this key wrapped: if the current key does not open it, the key was rotated.
    pub probe: Vec<u8>,
}

/// The result of a scheduled backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupResult {
    /// When the backup was made.
    pub at: Timestamp,
    /// Its name in the folder or bucket, if the backup is good.
    pub file: Option<String>,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Why the backup is not good: a sentence for people.
    pub error: Option<String>,
}

/// The content of a backup, read from its restored copy.
#[derive(Clone, Debug)]
pub struct BackupContent {
    /// The backup's description of itself; `None` if it has none.
    pub note: Option<BackupNote>,
    /// How many tags the backup contains.
    pub tags: u64,
    /// How many interactions the backup contains.
    pub interactions: u64,
    /// Any inlay's key in its stored form; the wrapping key must open it.
    pub wrapped_key: Option<Vec<u8>>,
    /// Its seal; `None` for a database file that is not a backup.
    pub seal: Option<BackupSeal>,
}

/// The trailer of a backup, after its checksum was found correct.
#[derive(Clone, Copy, Debug)]
pub struct BackupSeal {
    /// The SHA-256 digest of its content.
    pub(super) digest: [u8; 32],
    /// The seal by the backup key; `None` if the backup does not contain the wrapping key.
    pub(super) seal: Option<[u8; 32]>,
}

impl BackupSeal {
    /// Whether the trailer has a seal, which only a key can make. Anyone can make the checksum.
    pub const fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }

    /// Whether the writer of the backup had this key.
    pub fn is_by(&self, key: &BackupKey) -> bool {
        self.seal
            .is_some_and(|seal| key.has_sealed(&self.digest, &seal))
    }
}

/// The row of `settings` that holds the schedule.
pub(super) const SCHEDULE: &str = "backup_schedule";

/// Counts tags and interactions of a SQLite file.
pub(super) const CONTENT: &str = "SELECT (SELECT count(*) FROM tags WHERE deleted_at IS NULL),
    (SELECT count(*) FROM interactions)";

/// An edit of the schedule, applied inside the operation that stores it. `None` means no schedule.
pub type ScheduleEdit = Box<dyn Fn(Option<BackupSchedule>) -> Option<BackupSchedule> + Send + Sync>;
