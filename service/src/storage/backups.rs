//! Scheduled backups: what was asked for, and what came of the last one.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{BackupNote, StorageError};
use crate::clock::Timestamp;
use crate::keyring::SealedWrappingKey;

/// Which backups the service makes by itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupSchedule {
    /// Where they go, on the machine of the service.
    pub folder: String,
    /// Hours between two.
    pub every_hours: u32,
    /// How many are kept.
    pub keep: u32,
    /// The key that wraps inlay keys, sealed; without it backups do not contain it.
    pub sealed: Option<SealedForBackups>,
    /// What came of the last one.
    pub last: Option<BackupResult>,
    /// Those that are there, the oldest first. No other file is ever removed.
    #[serde(default)]
    pub files: Vec<String>,
}

/// The wrapping key, sealed for all scheduled backups.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SealedForBackups {
    /// The sealed key.
    pub key: SealedWrappingKey,
    /// Something that it wrapped: by it a rotation is noticed.
    pub probe: Vec<u8>,
}

/// What came of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupResult {
    /// When it was made.
    pub at: Timestamp,
    /// Its name in the folder, if it is good.
    pub file: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Why it is not good: a sentence for people.
    pub error: Option<String>,
}

/// What a backup has, as it is restored.
#[derive(Clone, Debug)]
pub struct BackupContent {
    /// What it tells of itself.
    pub note: Option<BackupNote>,
    /// How many tags it has.
    pub tags: u64,
    /// How many interactions it has.
    pub interactions: u64,
    /// Any inlay's key in its stored form.
    pub wrapped_key: Option<Vec<u8>>,
}

/// The row of `settings` that holds the schedule.
pub(super) const SCHEDULE: &str = "backup_schedule";

/// An edit of the schedule, applied inside the operation that stores it. `None`: there is none.
pub type ScheduleEdit = Box<dyn Fn(Option<BackupSchedule>) -> Option<BackupSchedule> + Send + Sync>;

/// The operations on scheduled backups.
#[async_trait]
pub trait Backups: Send + Sync {
    /// The schedule; `None` if there is none.
    async fn backup_schedule(&self) -> Result<Option<BackupSchedule>, StorageError>;

    /// Applies `edit` to the schedule, and answers what is stored then.
    async fn edit_backup_schedule(
        &self,
        edit: ScheduleEdit,
    ) -> Result<Option<BackupSchedule>, StorageError>;

    /// Notes what came of a backup; `None` if the schedule is gone.
    async fn note_backup(
        &self,
        result: BackupResult,
    ) -> Result<Option<BackupSchedule>, StorageError>;

    /// Notes that these backups are there no more.
    async fn forget_backups(&self, files: Vec<String>) -> Result<(), StorageError>;

    /// How many tags and interactions there are, as [`BackupContent`] counts them.
    async fn content(&self) -> Result<(u64, u64), StorageError>;
}
