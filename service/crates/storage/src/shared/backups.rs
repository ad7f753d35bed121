//! Scheduled backups: the schedule's SQL.

use serde_json::{Value as Json, json};

use super::{Query, Transaction};
use crate::backups::SCHEDULE;
use crate::value::{unreadable, values};
use crate::{Access, BackupResult, BackupSchedule, ScheduleEdit, StorageError};
use domain::audit::Note;
use domain::resource_kind::ResourceKind;

/// The operations on scheduled backups.
impl Access {
    /// The schedule; `None` if there is none.
    pub async fn backup_schedule(&self) -> Result<Option<BackupSchedule>, StorageError> {
        self.read("backup_schedule", (), |db, ()| Box::pin(schedule(db)))
            .await
    }

    /// Applies `edit` to the schedule, and returns the schedule as stored afterwards.
    pub async fn edit_backup_schedule(
        &self,
        edit: ScheduleEdit,
    ) -> Result<Option<BackupSchedule>, StorageError> {
        self.change("edit_backup_schedule", edit, |tx, edit| {
            Box::pin(self::edit(tx, edit))
        })
        .await
    }

    /// Stores the result of a backup; `None` if the schedule no longer exists.
    pub async fn note_backup(
        &self,
        result: BackupResult,
    ) -> Result<Option<BackupSchedule>, StorageError> {
        let noted = self
            .change("note_backup", result, |tx, result| {
                Box::pin(note(tx, result))
            })
            .await?;
        self.tell_changed(ResourceKind::Backup, None);
        Ok(noted)
    }

    /// Removes these files from the list of existing backups.
    pub async fn forget_backups(&self, files: Vec<String>) -> Result<(), StorageError> {
        self.change("forget_backups", files, |tx, files| {
            Box::pin(forget(tx, files))
        })
        .await
    }

    /// How many tags and interactions there are, as [`BackupContent`](crate::BackupContent) counts them.
    pub async fn content(&self) -> Result<(u64, u64), StorageError> {
        self.read_snapshot("content", (), |db, ()| Box::pin(content(db)))
            .await
    }
}

async fn schedule(db: &mut dyn Query) -> Result<Option<BackupSchedule>, StorageError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    let found = db.row(sql, &values![SCHEDULE]).await?;
    found.map(|mut row| row.json("backup schedule")).transpose()
}

async fn store(
    tx: &mut dyn Transaction,
    schedule: Option<&BackupSchedule>,
) -> Result<(), StorageError> {
    let Some(schedule) = schedule else {
        let sql = "DELETE FROM settings WHERE name = ?1";
        return tx.execute(sql, &values![SCHEDULE]).await.map(drop);
    };
    let json = serde_json::to_string(schedule).map_err(|_| unreadable("backup schedule"))?;
    tx.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &values![SCHEDULE, json],
    )
    .await
    .map(drop)
}

/// The schedule as the audit log shows it: without the sealed key.
fn shown(schedule: Option<&BackupSchedule>) -> Json {
    match schedule {
        None => json!({}),
        Some(schedule) => json!({
            "destination": schedule.destination,
            "every_hours": schedule.every_hours,
            "keep": schedule.keep,
            "sealed": schedule.sealed.is_some(),
        }),
    }
}

async fn edit(
    tx: &mut dyn Transaction,
    edit: &ScheduleEdit,
) -> Result<Option<BackupSchedule>, StorageError> {
    let before = schedule(tx).await?;
    let after = edit(before.clone());
    if json!(after) == json!(before) {
        return Ok(after);
    }
    store(tx, after.as_ref()).await?;
    tx.note(Note::changed(
        &shown(before.as_ref()),
        &shown(after.as_ref()),
    ));
    Ok(after)
}

async fn note(
    tx: &mut dyn Transaction,
    result: &BackupResult,
) -> Result<Option<BackupSchedule>, StorageError> {
    let Some(mut schedule) = schedule(tx).await? else {
        return Ok(None);
    };
    schedule.files.extend(result.file.clone());
    schedule.last = Some(result.clone());
    store(tx, Some(&schedule)).await?;
    tx.note(Note::done(&json!({
        "file": result.file,
        "bytes": result.bytes,
        "error": result.error,
    })));
    Ok(Some(schedule))
}

async fn forget(tx: &mut dyn Transaction, files: &[String]) -> Result<(), StorageError> {
    let Some(mut schedule) = schedule(tx).await? else {
        return Ok(());
    };
    schedule.files.retain(|file| !files.contains(file));
    store(tx, Some(&schedule)).await
}

/// Counts tags and interactions in the same way as `Restore` does.
async fn content(db: &mut dyn Query) -> Result<(u64, u64), StorageError> {
    let tags = "SELECT count(*) FROM tags WHERE deleted_at IS NULL";
    let tags = db.count(tags, &[]).await?;
    let interactions = db.count("SELECT count(*) FROM interactions", &[]).await?;
    Ok((tags, interactions))
}
