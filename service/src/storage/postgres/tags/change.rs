//! One change of many tags, in a few statements.

use std::collections::HashMap;

use super::save::check_experience;
use crate::id::{ExperienceId, TagId};
use crate::storage::postgres::row::{self, column};
use crate::storage::postgres::transaction::Write;
use crate::storage::{StorageError, TagChange};
use crate::tag::Status;

/// Makes the change, and answers for each changed tag what takes it back.
pub(super) async fn tags(
    write: &mut Write,
    ids: &[TagId],
    change: TagChange,
) -> Result<Vec<(TagId, TagChange)>, StorageError> {
    if let TagChange::Assign(experience) = change {
        check_experience(write, experience).await??;
    }
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let rows = write
        .rows(
            "SELECT id, experience_id, status, deleted_at IS NOT NULL FROM tags WHERE id = ANY ($1)",
            &[&numbers],
        )
        .await?;
    let mut before = HashMap::with_capacity(rows.len());
    for found in &rows {
        let tag = Before {
            experience: column::<Option<i64>>(found, 1)?.map(ExperienceId),
            status: row::status(column(found, 2)?)?,
            deleted: column(found, 3)?,
        };
        before.insert(TagId(column(found, 0)?), tag);
    }
    let mut changed = Vec::with_capacity(rows.len());
    for id in ids {
        // Taken out, so that one named twice is changed once.
        if let Some(back) = before.remove(id).and_then(|tag| tag.back(change)) {
            changed.push((*id, back));
        }
    }
    if !changed.is_empty() {
        let numbers: Vec<i64> = changed.iter().map(|(id, _)| id.0).collect();
        update(write, &numbers, change).await?;
        write.changes_configuration();
    }
    Ok(changed)
}

/// A tag as it was.
struct Before {
    experience: Option<ExperienceId>,
    status: Status,
    deleted: bool,
}

impl Before {
    /// What takes `change` back; `None` where it changes nothing.
    fn back(self, change: TagChange) -> Option<TagChange> {
        match change {
            TagChange::Assign(to) if !self.deleted && to != self.experience => {
                Some(TagChange::Assign(self.experience))
            }
            TagChange::Status(to) if !self.deleted && to != self.status => {
                Some(TagChange::Status(self.status))
            }
            TagChange::Delete if !self.deleted => Some(TagChange::Restore),
            TagChange::Restore if self.deleted => Some(TagChange::Delete),
            _ => None,
        }
    }
}

async fn update(write: &Write, ids: &[i64], change: TagChange) -> Result<u64, StorageError> {
    let now = write.now.millis();
    match change {
        TagChange::Assign(to) => {
            let sql = "UPDATE tags SET experience_id = $3, updated_at = $2 WHERE id = ANY ($1)";
            write.run(sql, &[&ids, &now, &to.map(|to| to.0)]).await
        }
        TagChange::Status(to) => {
            let sql = "UPDATE tags SET status = $3, updated_at = $2 WHERE id = ANY ($1)";
            write.run(sql, &[&ids, &now, &to.as_str()]).await
        }
        TagChange::Delete => {
            let sql = "UPDATE tags SET deleted_at = $2 WHERE id = ANY ($1)";
            write.run(sql, &[&ids, &now]).await
        }
        TagChange::Restore => {
            let sql = "UPDATE tags t SET deleted_at = NULL, updated_at = $2, experience_id =
                     (SELECT e.id FROM experiences e WHERE e.id = t.experience_id AND e.deleted_at IS NULL)
                 WHERE id = ANY ($1)";
            write.run(sql, &[&ids, &now]).await
        }
    }
}
