//! `/admin/v1/backup/schedule`: scheduled backups.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use crate::admin::Asked;
use crate::admin::extract::body::{Body, sent};
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use app::backup::{self, BackupSealError, Destination};
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::keyring::Passphrase;
use storage::{BackupSchedule, StorageError};

/// Range of the hours between two backups; the maximum is a year.
const HOURS: std::ops::RangeInclusive<u32> = 1..=8_760;
/// Range of the number of backups that are kept.
const KEEP: std::ops::RangeInclusive<u32> = 1..=1_000;

/// The schedule of backups.
#[derive(Serialize, ToSchema)]
#[schema(as = BackupSchedule)]
pub(crate) struct ScheduleView {
    /// Whether there is a schedule.
    enabled: bool,
    /// Folder for the backups, on the machine of the service, or a bucket: `s3://BUCKET/PATH`.
    destination: Option<String>,
    /// Hours between two backups.
    every_hours: Option<u32>,
    /// Number of newest backups that are kept.
    keep: Option<u32>,
    /// Whether backups contain the key that unlocks inlay keys, sealed with the passphrase.
    sealed: bool,
    /// When the next backup is due; null if it is due now.
    next_at: Option<Timestamp>,
    /// The result of the last backup.
    last: Option<ResultView>,
    /// The backups in the folder or bucket that the schedule has made, the oldest first.
    files: Vec<String>,
}

/// The result of a backup. Tapdesk restores each backup and compares it with the database. A backup
/// in a bucket is downloaded for that.
#[derive(Serialize, ToSchema)]
#[schema(as = BackupResult)]
pub(crate) struct ResultView {
    /// When the backup was made.
    at: Timestamp,
    /// Whether the backup passed all checks.
    ok: bool,
    /// Name of the file or object.
    file: Option<String>,
    /// Its size, in bytes.
    bytes: u64,
    /// The error, if the backup failed a check.
    error: Option<String>,
}

impl From<Option<BackupSchedule>> for ScheduleView {
    fn from(schedule: Option<BackupSchedule>) -> Self {
        let next_at = schedule.as_ref().and_then(backup::next_at);
        let Some(schedule) = schedule else {
            return Self {
                enabled: false,
                destination: None,
                every_hours: None,
                keep: None,
                sealed: false,
                next_at: None,
                last: None,
                files: Vec::new(),
            };
        };
        Self {
            enabled: true,
            destination: Some(schedule.destination),
            every_hours: Some(schedule.every_hours),
            keep: Some(schedule.keep),
            sealed: schedule.sealed.is_some(),
            next_at,
            last: schedule.last.map(|last| ResultView {
                at: last.at,
                ok: last.error.is_none(),
                file: last.file,
                bytes: last.bytes,
                error: last.error,
            }),
            files: schedule.files,
        }
    }
}

/// A new schedule of backups.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSchedule {
    /// A folder, as an absolute path on the machine of the service, which is created if it is
    /// missing. Or a bucket: `s3://BUCKET/PATH`; the options of the service name its server and its
    /// access key.
    #[schema(min_length = 1, max_length = 4096)]
    destination: String,
    /// Hours between two backups.
    #[schema(minimum = 1, maximum = 8760)]
    every_hours: u32,
    /// Number of newest backups to keep. Only backups that the schedule has made are ever removed.
    #[schema(minimum = 1, maximum = 1000)]
    keep: u32,
    /// With a passphrase, backups contain the key that unlocks inlay keys, sealed with it. The
    /// passphrase itself is not stored. If this member is missing, backups stay sealed as before;
    /// with null, they do not contain the key.
    #[serde(default, deserialize_with = "sent")]
    #[schema(min_length = 12, value_type = Option<String>)]
    #[expect(clippy::option_option, reason = "null is not the same as not sent")]
    passphrase: Option<Option<String>>,
}

impl NewSchedule {
    fn validate(&self) -> Result<Destination, FieldError> {
        let destination = Destination::parse(&self.destination)
            .map_err(|error| FieldError::of("destination", error.to_string()))?;
        if self.destination.len() > 4096 {
            let why = "A destination has at most 4096 bytes.";
            return Err(FieldError::of("destination", why));
        }
        if !HOURS.contains(&self.every_hours) {
            let why = "Backups are made every 1 to 8760 hours.";
            return Err(FieldError::of("every_hours", why));
        }
        if !KEEP.contains(&self.keep) {
            let why = "1 to 1000 backups are kept.";
            return Err(FieldError::of("keep", why));
        }
        Ok(destination)
    }
}

/// Get the schedule of backups
///
/// Includes the result of the last backup. After each backup the service opens it, restores it, and
/// compares it with the database. It downloads a backup in a bucket for that.
#[utoipa::path(
    get, path = "/backup/schedule", tag = "backup",
    responses((status = OK, body = ScheduleView), Common)
)]
pub(crate) async fn schedule(Asked(service): Asked) -> Result<Json<ScheduleView>, ApiError> {
    let schedule = service.storage.backup_schedule().await?;
    Ok(Json(schedule.into()))
}

/// Set the schedule of backups
///
/// The first backup is made within a minute. A failed backup is repeated after an hour; the first
/// failure raises `alert.backup_failed`. On PostgreSQL this is not supported (409): use its own
/// tools.
#[utoipa::path(
    put, path = "/backup/schedule", tag = "backup", request_body = NewSchedule,
    responses((status = OK, body = ScheduleView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn set_schedule(
    Asked(service): Asked,
    Body(new): Body<NewSchedule>,
) -> Result<Json<ScheduleView>, ApiError> {
    let destination = new.validate().map_err(ApiError::Invalid)?;
    if !service.storage.makes_backups() {
        return Err(StorageError::Unsupported(
            "This service keeps its data in PostgreSQL, which has tools of its own for backups: schedule pg_dump or \
             pg_basebackup there, and keep the file inlay.key beside the copy.",
        )
        .into());
    }
    backup::check_destination(&service, destination)
        .await
        .map_err(|error| ApiError::Invalid(FieldError::of("destination", error.to_string())))?;
    let sealed = match new.passphrase {
        Some(Some(text)) => {
            let text = Zeroizing::new(text);
            let passphrase = Passphrase::parse(&text).map_err(|error| {
                ApiError::Invalid(FieldError::of("passphrase", error.to_string()))
            })?;
            let sealed = backup::seal(&service, passphrase).await;
            Some(Some(sealed.map_err(|error| match error {
                BackupSealError::Keyring(error) => error.into(),
                BackupSealError::Ended => ApiError::Internal,
            })?))
        }
        Some(None) => Some(None),
        None => None,
    };
    let (destination, every_hours, keep) = (new.destination, new.every_hours, new.keep);
    let edit = move |before: Option<BackupSchedule>| {
        // The schedule never removes backups from another destination, so a new one starts with an
        // empty list.
        let same = before.filter(|before| before.destination == destination);
        let (files, last) = same.map_or_else(Default::default, |same| (same.files, same.last));
        Some(BackupSchedule {
            destination: destination.clone(),
            every_hours,
            keep,
            sealed: None,
            last,
            files,
        })
    };
    let edit = move |before: Option<BackupSchedule>| {
        let former = before.as_ref().and_then(|before| before.sealed.clone());
        let mut after = edit(before);
        if let Some(after) = &mut after {
            after.sealed = sealed.clone().unwrap_or(former);
            // With a new passphrase, make a backup at once.
            if sealed.is_some() {
                after.last = None;
            }
        }
        after
    };
    let stored = service.storage.edit_backup_schedule(Box::new(edit)).await?;
    Ok(Json(stored.into()))
}

/// Remove the schedule of backups
///
/// The existing backups are kept.
#[utoipa::path(
    delete, path = "/backup/schedule", tag = "backup",
    responses((status = NO_CONTENT), Written, Common)
)]
pub(crate) async fn end_schedule(Asked(service): Asked) -> Result<StatusCode, ApiError> {
    let ended = service.storage.edit_backup_schedule(Box::new(|_| None));
    ended.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Make the scheduled backup now
///
/// The backup is checked like every other one; `last` contains the result.
#[utoipa::path(
    post, path = "/backup/schedule/run", tag = "backup",
    responses((status = OK, body = ScheduleView), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn run_schedule(Asked(service): Asked) -> Result<Json<ScheduleView>, ApiError> {
    let schedule = service.storage.backup_schedule().await?;
    let schedule = schedule.ok_or(ApiError::NotFound("backup schedule"))?;
    let made = backup::run(&service, schedule).await?;
    Ok(Json(Some(made).into()))
}
