//! Makes one change to many tags, in a few statements.

use std::collections::HashMap;

use super::save::check_experience;
use super::written;
use crate::shared::webhooks::outbox;
use crate::shared::{Transaction, callers};
use crate::value::{Value, values};
use crate::{CachedPart, ChangedTag, FormVariables, Invalid, StorageError, TagChange};
use domain::id::{ExperienceId, TagId};
use domain::tag::Status;

/// Makes the change, and returns for each changed tag the change that undoes it.
pub(super) async fn tags(
    tx: &mut dyn Transaction,
    ids: &[TagId],
    change: TagChange,
    variables: &FormVariables,
) -> Result<Vec<ChangedTag>, StorageError> {
    match change {
        TagChange::Assign(Some(experience)) => check_experience(tx, experience).await?,
        // Without an experience, the tags would be outside the caller's reach.
        TagChange::Assign(None) if tx.reach().limit().is_some() => {
            return Err(Invalid::NoExperience.into());
        }
        _ => {}
    }
    let reached = callers::condition(tx.reach(), "experience_id");
    let sql = format!(
        "SELECT id, experience_id, status, deleted_at IS NOT NULL FROM tags
         WHERE id IN ids(?1){reached}"
    );
    let mut before = HashMap::with_capacity(ids.len());
    for mut row in tx.query(&sql, &values![Value::list(ids)]).await? {
        let id: TagId = row.take()?;
        let tag = Before {
            experience: row.take()?,
            status: row.text("status", Status::parse)?,
            deleted: row.take()?,
        };
        before.insert(id, tag);
    }
    let mut changed = Vec::with_capacity(before.len());
    for id in ids {
        // Remove the tag from the map, so that one named twice is changed once.
        if let Some(back) = before.remove(id).and_then(|tag| tag.back(change)) {
            let added = Vec::new();
            changed.push(ChangedTag {
                id: *id,
                back,
                added,
            });
        }
    }
    if !changed.is_empty() {
        update(tx, changed.iter().map(|tag| tag.id), change).await?;
        match (change, variables) {
            (TagChange::Assign(Some(experience)), FormVariables::Add) => {
                written::add(tx, experience, &mut changed).await?;
            }
            (TagChange::Assign(_), FormVariables::Remove(keys)) => {
                written::remove(tx, keys, &changed).await?;
            }
            _ => {}
        }
        for tag in &changed {
            tx.changes(Some(CachedPart::Tag(tag.id)));
        }
        // Deleting and restoring tags create no webhook events.
        if let TagChange::Assign(_) | TagChange::Status(_) = change {
            let changed: Vec<_> = changed.iter().map(|tag| tag.id).collect();
            outbox::tell_tags_updated(tx, &changed).await?;
        }
    }
    Ok(changed)
}

/// A tag before the change.
struct Before {
    experience: Option<ExperienceId>,
    status: Status,
    deleted: bool,
}

impl Before {
    /// The change that undoes `change`; `None` if `change` has no effect.
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

async fn update(
    tx: &mut dyn Transaction,
    ids: impl Iterator<Item = TagId>,
    change: TagChange,
) -> Result<(), StorageError> {
    let mut values = values![Value::list(ids), tx.now()].to_vec();
    let sets = match change {
        TagChange::Assign(to) => {
            values.push(to.into());
            "experience_id = ?3, updated_at = ?2"
        }
        TagChange::Status(to) => {
            values.push(to.as_str().into());
            "status = ?3, updated_at = ?2"
        }
        TagChange::Delete => "deleted_at = ?2",
        TagChange::Restore => {
            "deleted_at = NULL, updated_at = ?2, experience_id =
                 (SELECT e.id FROM experiences e
                  WHERE e.id = tags.experience_id AND e.deleted_at IS NULL)"
        }
    };
    let sql = format!("UPDATE tags SET {sets} WHERE id IN ids(?1)");
    tx.execute(&sql, &values).await.map(drop)
}
