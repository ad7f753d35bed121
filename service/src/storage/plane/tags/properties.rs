//! Single properties of a tag.

use crate::audit::Note;
use crate::id::TagId;
use crate::interaction::Change;
use crate::revision::Precondition;
use crate::storage::plane::webhooks::outbox;
use crate::storage::plane::{Transaction, callers};
use crate::storage::value::values;
use crate::storage::{Invalid, Put, StorageError};
use crate::tag::{InvalidProperty, PROPERTIES_MAX, PropertyClass, PropertyKey, PropertyValue};

/// Which property: the tag, the class and the key.
type Place<'a> = (TagId, PropertyClass, &'a PropertyKey);

pub(super) async fn put(
    tx: &mut dyn Transaction,
    (tag, class, key): Place<'_>,
    value: &str,
    expected: &Precondition,
) -> Result<Option<Put>, StorageError> {
    if !touch(tx, tag).await? {
        return Ok(None);
    }
    check(tx, (tag, class, key), expected).await?;
    let before = value_of(tx, (tag, class, key)).await?;
    let changes = changes((class, key), before.as_deref(), value);
    tx.note(Note {
        object: Some(object((tag, class, key))),
        before: before.map(Into::into),
        after: Some(value.into()),
    });
    let (class, key) = (class.as_str(), key.as_str());
    let sql = "UPDATE properties SET value = ?4 WHERE tag_id = ?1 AND class = ?2 AND key = ?3";
    if tx.execute(sql, &values![tag, class, key, value]).await? > 0 {
        outbox::tell_tag_updated(tx, tag, &changes).await?;
        return Ok(Some(Put::Set));
    }
    let present = "SELECT count(*) FROM properties WHERE tag_id = ?1 AND class = ?2";
    if tx.count(present, &values![tag, class]).await? >= PROPERTIES_MAX as u64 {
        return Err(Invalid::from(InvalidProperty::TooMany).into());
    }
    let sql = "INSERT INTO properties (tag_id, class, key, value) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(sql, &values![tag, class, key, value]).await?;
    outbox::tell_tag_updated(tx, tag, &changes).await?;
    Ok(Some(Put::New))
}

pub(super) async fn delete(
    tx: &mut dyn Transaction,
    (tag, class, key): Place<'_>,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let reached = callers::condition(tx.reach(), "experience_id");
    let exists = format!("SELECT 1 FROM tags WHERE id = ?1 AND deleted_at IS NULL{reached}");
    if !tx.exists(&exists, &values![tag]).await? {
        return Ok(None);
    }
    check(tx, (tag, class, key), expected).await?;
    let Some(before) = value_of(tx, (tag, class, key)).await? else {
        return Ok(None);
    };
    tx.note(Note {
        object: Some(object((tag, class, key))),
        ..Note::deleted(&before)
    });
    let sql = "DELETE FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3";
    let values = values![tag, class.as_str(), key.as_str()];
    let removed = tx.execute(sql, &values).await?;
    if removed == 0 || !touch(tx, tag).await? {
        return Ok(None);
    }
    let changes = changes((class, key), Some(&before), "");
    outbox::tell_tag_updated(tx, tag, &changes).await?;
    Ok(Some(()))
}

/// What an event says of a change: attributes and data are none of a tag's variables. One that is
/// not there is empty, as in an update.
fn changes(
    (class, key): (PropertyClass, &PropertyKey),
    old: Option<&str>,
    new: &str,
) -> Vec<Change> {
    let change = Change {
        key: key.clone(),
        old: old.unwrap_or_default().to_owned(),
        new: new.to_owned(),
    };
    let is_told = class == PropertyClass::Variable && change.old != change.new;
    is_told.then_some(change).into_iter().collect()
}

/// What the audit log calls a property, however the request spelled its path: erasing finds the
/// rows of a variable by it.
fn object((tag, class, key): Place<'_>) -> String {
    let list = match class {
        PropertyClass::Attribute => "attributes",
        PropertyClass::Data => "data",
        PropertyClass::Variable => "variables",
    };
    format!("tags/{tag}/{list}/{key}")
}

/// Notes a change of a tag that is not deleted; `false` if there is none.
async fn touch(tx: &mut dyn Transaction, tag: TagId) -> Result<bool, StorageError> {
    let now = tx.now();
    let reached = callers::condition(tx.reach(), "experience_id");
    let sql =
        format!("UPDATE tags SET updated_at = ?2 WHERE id = ?1 AND deleted_at IS NULL{reached}");
    Ok(tx.execute(&sql, &values![tag, now]).await? > 0)
}

/// A property's value. Visitors write variables meanwhile, unless the row is locked.
async fn value_of(
    tx: &mut dyn Transaction,
    (tag, class, key): Place<'_>,
) -> Result<Option<String>, StorageError> {
    let sql =
        "SELECT value FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3 FOR UPDATE";
    let values = values![tag, class.as_str(), key.as_str()];
    let found = tx.row(sql, &values).await?;
    found.map(|mut row| row.take()).transpose()
}

async fn check(
    tx: &mut dyn Transaction,
    (tag, class, key): Place<'_>,
    expected: &Precondition,
) -> Result<(), StorageError> {
    if *expected == Precondition::None {
        return Ok(());
    }
    let value = value_of(tx, (tag, class, key)).await?;
    let value = value.as_deref().map(PropertyValue);
    Ok(expected.check(value.as_ref())?)
}
