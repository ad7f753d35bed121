//! Sets properties of many tags, in a few statements.

use std::collections::BTreeMap;

use super::search;
use crate::shared::webhooks::outbox;
use crate::shared::{self, Transaction, callers};
use crate::value::{Value, values};
use crate::{CachedPart, Invalid, StorageError, TagSet};
use domain::id::TagId;
use domain::tag::{InvalidProperty, PROPERTIES_MAX, PropertyClass, PropertyKey};

/// The values of a tag's attributes and data.
type Values = BTreeMap<(PropertyClass, PropertyKey), String>;

/// Sets the properties in the tags that have all values of `from`, and returns for each changed tag
/// the properties that undo it.
pub(super) async fn all(
    tx: &mut dyn Transaction,
    ids: &[TagId],
    set: &TagSet,
    from: &TagSet,
) -> Result<Vec<(TagId, TagSet)>, StorageError> {
    let before = before(tx, ids).await?;
    let mut changed = Vec::with_capacity(before.len());
    for (id, (has_qr_code, values)) in before {
        // Another value came meanwhile: it is nobody's to undo.
        if !back(from, has_qr_code, &values).is_empty() {
            continue;
        }
        let back = back(set, has_qr_code, &values);
        if back.is_empty() {
            continue;
        }
        check(set, &values)?;
        changed.push((id, back));
    }
    if changed.is_empty() {
        return Ok(changed);
    }
    let tags: Vec<_> = changed.iter().map(|(id, _)| *id).collect();
    let now = tx.now();
    let sql =
        "UPDATE tags SET updated_at = ?2, has_qr_code = coalesce(CAST(?3 AS BOOLEAN), has_qr_code)
         WHERE id IN ids(?1)";
    tx.execute(sql, &values![Value::list(&tags), now, set.has_qr_code])
        .await?;
    for class in [PropertyClass::Attribute, PropertyClass::Data] {
        write(tx, &tags, class, set.of(class)).await?;
    }
    let searched = changed
        .iter()
        .filter(|(_, back)| !back.attributes.is_empty());
    let searched: Vec<_> = searched.map(|(id, _)| *id).collect();
    search::renew(tx, &searched).await?;
    for tag in &tags {
        tx.changes(Some(CachedPart::Tag(*tag)));
    }
    outbox::tell_tags_updated(tx, &tags).await?;
    Ok(changed)
}

/// The tags as they are, in the order of ids: whether they have a QR code, and their values.
async fn before(
    tx: &mut dyn Transaction,
    ids: &[TagId],
) -> Result<BTreeMap<TagId, (bool, Values)>, StorageError> {
    let reached = callers::tags(tx.reach(), "");
    let sql = format!(
        "SELECT id, has_qr_code FROM tags WHERE id IN ids(?1) AND deleted_at IS NULL{reached}"
    );
    let mut tags = BTreeMap::new();
    for mut row in tx.query(&sql, &values![Value::list(ids)]).await? {
        tags.insert(row.take()?, (row.take()?, Values::new()));
    }
    let sql = "SELECT tag_id, class, key, value FROM properties
         WHERE tag_id IN ids(?1) AND class IN ('attribute', 'data')";
    for mut row in tx.query(sql, &values![Value::list(ids)]).await? {
        let tag: TagId = row.take()?;
        let property = super::whole::property_key(&mut row)?;
        if let Some((_, values)) = tags.get_mut(&tag) {
            values.insert(property, row.take()?);
        }
    }
    Ok(tags)
}

/// The values that undo `set` in a tag; empty if the tag is so already.
fn back(set: &TagSet, has_qr_code: bool, values: &Values) -> TagSet {
    let of = |class| {
        let differ = set.of(class).iter().filter_map(|(key, value)| {
            let before = values.get(&(class, key.clone()));
            (before != value.as_ref()).then(|| (key.clone(), before.cloned()))
        });
        differ.collect()
    };
    TagSet {
        attributes: of(PropertyClass::Attribute),
        data: of(PropertyClass::Data),
        has_qr_code: set
            .has_qr_code
            .and_then(|to| (to != has_qr_code).then_some(has_qr_code)),
    }
}

/// Refuses properties for which a tag has no room.
fn check(set: &TagSet, before: &Values) -> Result<(), StorageError> {
    for class in [PropertyClass::Attribute, PropertyClass::Data] {
        let kept = before
            .keys()
            .filter(|(of, key)| *of == class && !set.of(class).contains_key(key));
        let added = set.of(class).values().flatten();
        if kept.count() + added.count() > PROPERTIES_MAX {
            return Err(Invalid::from(InvalidProperty::TooMany).into());
        }
    }
    Ok(())
}

/// Writes the rows of one class.
async fn write(
    tx: &mut dyn Transaction,
    tags: &[TagId],
    class: PropertyClass,
    set: &BTreeMap<PropertyKey, Option<String>>,
) -> Result<(), StorageError> {
    let removed = set.iter().filter(|(_, value)| value.is_none());
    let removed: Vec<&str> = removed.map(|(key, _)| key.as_str()).collect();
    if !removed.is_empty() {
        let sql =
            "DELETE FROM properties WHERE tag_id IN ids(?1) AND class = ?2 AND key IN texts(?3)";
        let (tags, keys) = (Value::list(tags), Value::list(&removed));
        tx.execute(sql, &values![tags, class.as_str(), keys])
            .await?;
    }
    let rows = tags.iter().flat_map(|tag| {
        set.iter().filter_map(|(key, value)| {
            let value = value.as_ref()?;
            Some(values![*tag, class.as_str(), key.as_str(), value].into())
        })
    });
    let columns = ["tag_id", "class", "key", "value"];
    let present = "ON CONFLICT (tag_id, class, key) DO UPDATE SET value = excluded.value";
    shared::insert_rows(tx, "properties", &columns, rows.collect(), present).await?;
    Ok(())
}
