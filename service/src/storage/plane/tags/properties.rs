//! Single properties of a tag.

use crate::id::TagId;
use crate::revision::Precondition;
use crate::storage::plane::Transaction;
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
    let (class, key) = (class.as_str(), key.as_str());
    let sql = "UPDATE properties SET value = ?4 WHERE tag_id = ?1 AND class = ?2 AND key = ?3";
    if tx.execute(sql, &values![tag, class, key, value]).await? > 0 {
        return Ok(Some(Put::Set));
    }
    let present = "SELECT count(*) FROM properties WHERE tag_id = ?1 AND class = ?2";
    if tx.count(present, &values![tag, class]).await? >= PROPERTIES_MAX as u64 {
        return Err(Invalid::from(InvalidProperty::TooMany).into());
    }
    let sql = "INSERT INTO properties (tag_id, class, key, value) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(sql, &values![tag, class, key, value]).await?;
    Ok(Some(Put::New))
}

pub(super) async fn delete(
    tx: &mut dyn Transaction,
    (tag, class, key): Place<'_>,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let exists = "SELECT 1 FROM tags WHERE id = ?1 AND deleted_at IS NULL";
    if !tx.exists(exists, &values![tag]).await? {
        return Ok(None);
    }
    check(tx, (tag, class, key), expected).await?;
    let sql = "DELETE FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3";
    let values = values![tag, class.as_str(), key.as_str()];
    let removed = tx.execute(sql, &values).await?;
    Ok((removed > 0 && touch(tx, tag).await?).then_some(()))
}

/// Notes a change of a tag that is not deleted; `false` where there is none.
async fn touch(tx: &mut dyn Transaction, tag: TagId) -> Result<bool, StorageError> {
    let now = tx.now();
    let sql = "UPDATE tags SET updated_at = ?2 WHERE id = ?1 AND deleted_at IS NULL";
    Ok(tx.execute(sql, &values![tag, now]).await? > 0)
}

/// Visitors write variables meanwhile, unless the row is locked.
async fn check(
    tx: &mut dyn Transaction,
    (tag, class, key): Place<'_>,
    expected: &Precondition,
) -> Result<(), StorageError> {
    if *expected == Precondition::None {
        return Ok(());
    }
    let sql =
        "SELECT value FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3 FOR UPDATE";
    let values = values![tag, class.as_str(), key.as_str()];
    let value: Option<String> = match tx.row(sql, &values).await? {
        Some(mut found) => Some(found.take()?),
        None => None,
    };
    let value = value.as_deref().map(PropertyValue);
    Ok(expected.check(value.as_ref())?)
}
