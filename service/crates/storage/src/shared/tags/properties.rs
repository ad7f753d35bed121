//! Changes of single properties of a tag.

use super::search;
use crate::shared::webhooks::outbox;
use crate::shared::{Transaction, callers};
use crate::value::values;
use crate::{Invalid, Put, StorageError};
use domain::audit::Note;
use domain::id::TagId;
use domain::interaction::Change;
use domain::revision::Precondition;
use domain::tag::{InvalidProperty, PROPERTIES_MAX, PropertyClass, PropertyKey, PropertyValue};

/// Identifies a property by tag, class and key.
type TagProperty<'a> = (TagId, PropertyClass, &'a PropertyKey);

pub(super) async fn put(
    tx: &mut dyn Transaction,
    (tag, class, key): TagProperty<'_>,
    value: &str,
    expected: &Precondition,
) -> Result<Option<Put>, StorageError> {
    if !is_there(tx, tag).await? {
        return Ok(None);
    }
    check(tx, (tag, class, key), expected).await?;
    let before = value_of(tx, (tag, class, key)).await?;
    // Writing the same value again removes the mark of an erased value, so it is a change.
    let is_same = |before: &Before| before.value == value && !before.erased;
    if before.as_ref().is_some_and(is_same) {
        return Ok(Some(Put::Set));
    }
    if !touch(tx, tag).await? {
        return Ok(None);
    }
    let changes = changes((class, key), before.as_ref(), value);
    tx.note(Note {
        object: Some(object((tag, class, key))),
        before: before.and_then(Before::shown).map(Into::into),
        after: Some(value.into()),
    });
    let put = write(tx, (tag, class, key), value).await?;
    renew(tx, tag, class).await?;
    outbox::tell_tag_updated(tx, tag, &changes).await?;
    Ok(Some(put))
}

/// Writes a property's row, and returns whether it is new.
async fn write(
    tx: &mut dyn Transaction,
    (tag, class, key): TagProperty<'_>,
    value: &str,
) -> Result<Put, StorageError> {
    let (class, key) = (class.as_str(), key.as_str());
    let sql = "UPDATE properties SET value = ?4, erased = FALSE
         WHERE tag_id = ?1 AND class = ?2 AND key = ?3";
    if tx.execute(sql, &values![tag, class, key, value]).await? > 0 {
        return Ok(Put::Set);
    }
    let present = "SELECT count(*) FROM properties WHERE tag_id = ?1 AND class = ?2";
    if tx.count(present, &values![tag, class]).await? >= PROPERTIES_MAX as u64 {
        return Err(Invalid::from(InvalidProperty::TooMany).into());
    }
    let sql = "INSERT INTO properties (tag_id, class, key, value) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(sql, &values![tag, class, key, value]).await?;
    Ok(Put::New)
}

/// Attributes are searched and counted: renews the searchable text of a tag with a changed one.
async fn renew(
    tx: &mut dyn Transaction,
    tag: TagId,
    class: PropertyClass,
) -> Result<(), StorageError> {
    if class == PropertyClass::Attribute {
        search::renew(tx, &[tag]).await?;
        // Counts of attributes are kept.
        tx.changes(None);
    }
    Ok(())
}

pub(super) async fn delete(
    tx: &mut dyn Transaction,
    (tag, class, key): TagProperty<'_>,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    if !is_there(tx, tag).await? {
        return Ok(None);
    }
    check(tx, (tag, class, key), expected).await?;
    let Some(before) = value_of(tx, (tag, class, key)).await? else {
        return Ok(None);
    };
    tx.note(Note {
        object: Some(object((tag, class, key))),
        ..Note::deleted(&before.clone().shown())
    });
    let sql = "DELETE FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3";
    let values = values![tag, class.as_str(), key.as_str()];
    let removed = tx.execute(sql, &values).await?;
    if removed == 0 || !touch(tx, tag).await? {
        return Ok(None);
    }
    renew(tx, tag, class).await?;
    let changes = changes((class, key), Some(&before), "");
    outbox::tell_tag_updated(tx, tag, &changes).await?;
    Ok(Some(()))
}

/// The changes that an event reports: only those of variables, not of attributes and data. A
/// variable that does not exist counts as empty, as in an update.
fn changes(
    (class, key): (PropertyClass, &PropertyKey),
    old: Option<&Before>,
    new: &str,
) -> Vec<Change> {
    let change = Change {
        key: key.clone(),
        old: match old {
            Some(before) => before.clone().shown(),
            None => Some(String::new()),
        },
        new: new.to_owned(),
    };
    let is_update = class == PropertyClass::Variable && change.old.as_ref() != Some(&change.new);
    is_update.then_some(change).into_iter().collect()
}

/// The audit log's name for a property, independent of the spelling in the request's path, because
/// erasing finds the rows of a variable by this name.
fn object((tag, class, key): TagProperty<'_>) -> String {
    let list = match class {
        PropertyClass::Attribute => "attributes",
        PropertyClass::Data => "data",
        PropertyClass::Variable => "variables",
    };
    format!("tags/{tag}/{list}/{key}")
}

/// Whether the tag exists within reach.
async fn is_there(tx: &mut dyn Transaction, tag: TagId) -> Result<bool, StorageError> {
    let reached = callers::tags(tx.reach(), "");
    let exists = format!("SELECT 1 FROM tags WHERE id = ?1 AND deleted_at IS NULL{reached}");
    tx.exists(&exists, &values![tag]).await
}

/// Sets the time of a tag's last change; `false` if the tag does not exist or is deleted.
async fn touch(tx: &mut dyn Transaction, tag: TagId) -> Result<bool, StorageError> {
    let now = tx.now();
    let reached = callers::tags(tx.reach(), "");
    let sql =
        format!("UPDATE tags SET updated_at = ?2 WHERE id = ?1 AND deleted_at IS NULL{reached}");
    Ok(tx.execute(&sql, &values![tag, now]).await? > 0)
}

/// A property's value before a change.
#[derive(Clone)]
struct Before {
    value: String,
    /// Whether it was entered by a visitor whose data was erased.
    erased: bool,
}

impl Before {
    /// The value for the audit log and events; `None` if it was erased, because neither may contain
    /// it.
    fn shown(self) -> Option<String> {
        (!self.erased).then_some(self.value)
    }
}

/// A property's value. The row is locked, because visitors write variables at the same time.
async fn value_of(
    tx: &mut dyn Transaction,
    (tag, class, key): TagProperty<'_>,
) -> Result<Option<Before>, StorageError> {
    let sql = "SELECT value, erased FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3 FOR UPDATE";
    let values = values![tag, class.as_str(), key.as_str()];
    let Some(mut row) = tx.row(sql, &values).await? else {
        return Ok(None);
    };
    Ok(Some(Before {
        value: row.take()?,
        erased: row.take()?,
    }))
}

async fn check(
    tx: &mut dyn Transaction,
    (tag, class, key): TagProperty<'_>,
    expected: &Precondition,
) -> Result<(), StorageError> {
    if *expected == Precondition::None {
        return Ok(());
    }
    let before = value_of(tx, (tag, class, key)).await?;
    let value = before.as_ref().map(|before| PropertyValue(&before.value));
    Ok(expected.check(value.as_ref())?)
}
