//! Makes one change to many tags, in a few statements.

use std::collections::{HashMap, HashSet};

use super::save::check_experience;
use super::written;
use crate::shared::webhooks::outbox;
use crate::shared::{Transaction, callers, groups};
use crate::value::{Value, values};
use crate::{CachedPart, ChangedTag, FormVariables, Invalid, StorageError, TagChange};
use domain::id::{ExperienceId, GroupId, TagId};
use domain::tag::Status;

/// Makes a change that leaves the variables of forms as they are.
pub(in crate::shared) async fn all(
    tx: &mut dyn Transaction,
    ids: &[TagId],
    change: TagChange,
) -> Result<(), StorageError> {
    let leave = FormVariables::Leave;
    tags(tx, ids, change, &leave, None).await.map(drop)
}

/// Makes the change, and returns for each changed tag the change that undoes it. With `from`, only
/// tags are changed that are as that change makes them.
pub(super) async fn tags(
    tx: &mut dyn Transaction,
    ids: &[TagId],
    change: TagChange,
    variables: &FormVariables,
    from: Option<TagChange>,
) -> Result<Vec<ChangedTag>, StorageError> {
    // The experience of tags in the group that have none of their own.
    let mut leading = None;
    match change {
        TagChange::Assign(Some(experience)) => check_experience(tx, experience).await?,
        TagChange::Group(Some(group)) => leading = groups::existing(tx, group).await?,
        // Without an experience or a group, the tags could be outside the caller's reach.
        TagChange::Group(None) if tx.reach().groups().is_some() => {
            return Err(Invalid::NoGroup("group_id").into());
        }
        TagChange::Assign(None) if tx.reach().groups().is_some() => {}
        TagChange::Assign(None) | TagChange::Group(None) if tx.reach().limit().is_some() => {
            return Err(Invalid::NoExperience.into());
        }
        _ => {}
    }
    let reached = callers::tags(tx.reach(), "");
    let sql = format!(
        "SELECT id, experience_id, group_id, status, deleted_at IS NOT NULL FROM tags
         WHERE id IN ids(?1){reached}"
    );
    let mut before = HashMap::with_capacity(ids.len());
    for mut row in tx.query(&sql, &values![Value::list(ids)]).await? {
        let id: TagId = row.take()?;
        let tag = Before {
            experience: row.take()?,
            group: row.take()?,
            status: row.text("status", Status::parse)?,
            deleted: row.take()?,
        };
        before.insert(id, tag);
    }
    let mut changed = Vec::with_capacity(before.len());
    let mut inheriting = HashSet::new();
    for id in ids {
        // Remove the tag from the map, so that one named twice is changed once.
        let Some(tag) = before.remove(id) else {
            continue;
        };
        // Another value came meanwhile: it is nobody's to undo.
        if from.is_some_and(|from| tag.back(from).is_some()) {
            continue;
        }
        let has_own = tag.experience.is_some();
        if let Some(back) = tag.back(change) {
            if !has_own {
                inheriting.insert(*id);
            }
            let added = Vec::new();
            changed.push(ChangedTag {
                id: *id,
                back,
                added,
            });
        }
    }
    if !changed.is_empty() {
        let ids: Vec<_> = changed.iter().map(|tag| tag.id).collect();
        // Neither an experience nor a status changes what a group counts.
        let moved: &[TagId] = match change {
            TagChange::Assign(_) | TagChange::Status(_) => &[],
            _ => &ids,
        };
        let counted = groups::counted(tx, moved).await?;
        update(tx, &ids, change).await?;
        let after = groups::counted(tx, moved).await?;
        groups::count(tx, &counted, &after).await?;
        match (change, variables) {
            (TagChange::Assign(Some(experience)), FormVariables::Add) => {
                let changed: Vec<_> = changed.iter_mut().collect();
                written::add(tx, experience, changed).await?;
            }
            (TagChange::Group(_), FormVariables::Add) => {
                let changed = changed.iter_mut();
                let led: Vec<_> = changed.filter(|tag| inheriting.contains(&tag.id)).collect();
                if let Some(experience) = leading {
                    written::add(tx, experience, led).await?;
                }
            }
            (TagChange::Assign(_) | TagChange::Group(_), FormVariables::Remove(keys)) => {
                written::remove(tx, keys, &changed).await?;
            }
            _ => {}
        }
        for tag in &changed {
            tx.changes(Some(CachedPart::Tag(tag.id)));
        }
        // Deleting and restoring tags create no webhook events.
        if let TagChange::Assign(_) | TagChange::Group(_) | TagChange::Status(_) = change {
            let changed: Vec<_> = changed.iter().map(|tag| tag.id).collect();
            outbox::tell_tags_updated(tx, &changed).await?;
        }
    }
    Ok(changed)
}

/// A tag before the change.
struct Before {
    experience: Option<ExperienceId>,
    group: Option<GroupId>,
    status: Status,
    deleted: bool,
}

impl Before {
    /// The change that undoes `change`; `None` if `change` has no effect.
    fn back(&self, change: TagChange) -> Option<TagChange> {
        match change {
            TagChange::Assign(to) if !self.deleted && to != self.experience => {
                Some(TagChange::Assign(self.experience))
            }
            TagChange::Group(to) if !self.deleted && to != self.group => {
                Some(TagChange::Group(self.group))
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
    ids: &[TagId],
    change: TagChange,
) -> Result<(), StorageError> {
    let mut values = values![Value::list(ids), tx.now()].to_vec();
    let sets = match change {
        TagChange::Assign(to) => {
            values.push(to.into());
            "experience_id = ?3, updated_at = ?2"
        }
        TagChange::Group(to) => {
            values.push(to.into());
            "group_id = ?3, updated_at = ?2"
        }
        TagChange::Status(to) => {
            values.push(to.as_str().into());
            "status = ?3, updated_at = ?2"
        }
        TagChange::Delete => "deleted_at = ?2",
        TagChange::Restore => {
            "deleted_at = NULL, updated_at = ?2, experience_id =
                 (SELECT e.id FROM experiences e
                  WHERE e.id = tags.experience_id AND e.deleted_at IS NULL),
             group_id = (SELECT g.id FROM tag_groups g WHERE g.id = tags.group_id)"
        }
    };
    let sql = format!("UPDATE tags SET {sets} WHERE id IN ids(?1)");
    tx.execute(&sql, &values).await.map(drop)
}
