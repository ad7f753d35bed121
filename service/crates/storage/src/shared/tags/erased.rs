//! Variables with erased values: a visitor entered the value, its data was erased, and the owner
//! kept the value. The value stays in the tag, but in no event and no row of the audit log.

use crate::StorageError;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use domain::id::TagId;
use domain::tag::{PropertyClass, PropertyKey, TagFields};

/// The keys of a tag's variables with erased values.
pub(super) async fn variables(
    db: &mut dyn Query,
    tag: TagId,
) -> Result<Vec<PropertyKey>, StorageError> {
    let sql = "SELECT key FROM properties WHERE tag_id = ?1 AND class = ?2 AND erased";
    let class = PropertyClass::Variable.as_str();
    let found = db.query(sql, &values![tag, class]).await?;
    let keys = found
        .into_iter()
        .map(|mut row| row.text("property", |key| PropertyKey::parse(key).ok()));
    keys.collect()
}

/// `of` without the erased variables that did not change; `of` is `before` or a later version.
pub(super) fn without(erased: &[PropertyKey], before: &TagFields, of: &TagFields) -> TagFields {
    let mut shown = of.clone();
    for key in unchanged(erased, before, of) {
        shown.properties_mut(PropertyClass::Variable).0.remove(&key);
    }
    shown
}

/// Marks unchanged erased variables again, after all variables were stored.
pub(super) async fn keep(
    tx: &mut dyn Transaction,
    tag: TagId,
    erased: &[PropertyKey],
    (before, after): (&TagFields, &TagFields),
) -> Result<(), StorageError> {
    let keys = unchanged(erased, before, after);
    if keys.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE properties SET erased = TRUE
         WHERE tag_id = ?1 AND class = ?2 AND key IN texts(?3)";
    let class = PropertyClass::Variable.as_str();
    let keys = Value::list(keys.iter().map(PropertyKey::as_str));
    tx.execute(sql, &values![tag, class, keys]).await.map(drop)
}

fn unchanged(erased: &[PropertyKey], before: &TagFields, after: &TagFields) -> Vec<PropertyKey> {
    let [before, after] = [before, after].map(|tag| &tag.properties(PropertyClass::Variable).0);
    let same = |key: &&PropertyKey| before.get(*key) == after.get(*key);
    erased.iter().filter(same).cloned().collect()
}
