//! One change of many tags: a command of the writer.

use crate::id::{ExperienceId, TagId};
use crate::storage::sqlite::row;
use crate::storage::sqlite::writer::Write;
use crate::storage::{StorageError, TagChange};

use rusqlite::OptionalExtension as _;

/// Makes the change, and answers for each changed tag what takes it back.
pub(super) fn tags(
    write: &mut Write<'_>,
    ids: &[TagId],
    change: TagChange,
) -> Result<Vec<(TagId, TagChange)>, StorageError> {
    if let TagChange::Assign(experience) = change {
        super::save::check_experience(write.connection, experience)??;
    }
    let mut changed = Vec::with_capacity(ids.len());
    for &id in ids {
        if let Some(back) = tag(write, id, change)? {
            changed.push((id, back));
        }
    }
    if !changed.is_empty() {
        write.changes_configuration();
    }
    Ok(changed)
}

fn tag(write: &Write<'_>, id: TagId, change: TagChange) -> Result<Option<TagChange>, StorageError> {
    let connection = write.connection;
    let before = connection
        .prepare_cached(
            "SELECT experience_id, status, deleted_at IS NOT NULL FROM tags WHERE id = ?1",
        )?
        .query_row([id.0], |row| {
            Ok((
                row.get::<_, Option<i64>>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, bool>(2)?,
            ))
        })
        .optional()?;
    let Some((experience, status, deleted)) = before else {
        return Ok(None);
    };
    let experience = experience.map(ExperienceId);
    let status = row::status(&status)?;
    let back = match change {
        TagChange::Assign(to) if !deleted && to != experience => TagChange::Assign(experience),
        TagChange::Status(to) if !deleted && to != status => TagChange::Status(status),
        TagChange::Delete if !deleted => TagChange::Restore,
        TagChange::Restore if deleted => TagChange::Delete,
        _ => return Ok(None),
    };
    let now = write.now.millis();
    match change {
        TagChange::Assign(to) => connection
            .prepare_cached("UPDATE tags SET experience_id = ?2, updated_at = ?3 WHERE id = ?1")?
            .execute((id.0, to.map(|to| to.0), now)),
        TagChange::Status(to) => connection
            .prepare_cached("UPDATE tags SET status = ?2, updated_at = ?3 WHERE id = ?1")?
            .execute((id.0, to.as_str(), now)),
        TagChange::Delete => connection
            .prepare_cached("UPDATE tags SET deleted_at = ?2 WHERE id = ?1")?
            .execute((id.0, now)),
        TagChange::Restore => connection
            .prepare_cached(
                "UPDATE tags SET deleted_at = NULL, updated_at = ?2, experience_id =
                     (SELECT e.id FROM experiences e WHERE e.id = experience_id AND e.deleted_at IS NULL)
                 WHERE id = ?1",
            )?
            .execute((id.0, now)),
    }?;
    Ok(Some(back))
}
