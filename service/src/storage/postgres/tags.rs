//! Tags and their properties, in SQL.

mod change;
mod list;
mod save;
mod select;

use std::collections::HashMap;

use futures_util::future::try_join;

use super::row::{self, column};
use super::session::Session;
use super::transaction::Write;
use crate::id::TagId;
use crate::storage::{Conflict, Put, StorageError};
use crate::tag::{InvalidProperty, PROPERTIES_MAX, PropertyClass, PropertyKey, Tag};

pub(super) use save::insert;

/// Notes a change of a tag that is not deleted; `false` where there is none.
async fn touch(write: &Write, tag: TagId) -> Result<bool, StorageError> {
    let touched = write
        .run(
            "UPDATE tags SET updated_at = $2 WHERE id = $1 AND deleted_at IS NULL",
            &[&tag.0, &write.now.millis()],
        )
        .await?;
    Ok(touched > 0)
}

async fn put_property(
    write: &Write,
    tag: TagId,
    class: PropertyClass,
    key: &PropertyKey,
    value: &str,
) -> Result<Option<Put>, StorageError> {
    if !touch(write, tag).await? {
        return Ok(None);
    }
    let (class, key) = (class.as_str(), key.as_str());
    let set = write
        .run(
            "UPDATE properties SET value = $4 WHERE tag_id = $1 AND class = $2 AND key = $3",
            &[&tag.0, &class, &key, &value],
        )
        .await?;
    if set > 0 {
        return Ok(Some(Put::Set));
    }
    let present = write
        .one(
            "SELECT count(*) FROM properties WHERE tag_id = $1 AND class = $2",
            &[&tag.0, &class],
        )
        .await?;
    if row::count(&present)? >= PROPERTIES_MAX as u64 {
        return Err(Conflict::Invalid(InvalidProperty::TooMany.to_string()).into());
    }
    write
        .run(
            "INSERT INTO properties (tag_id, class, key, value) VALUES ($1, $2, $3, $4)",
            &[&tag.0, &class, &key, &value],
        )
        .await?;
    Ok(Some(Put::New))
}

async fn delete_property(
    write: &Write,
    tag: TagId,
    class: PropertyClass,
    key: &PropertyKey,
) -> Result<Option<()>, StorageError> {
    let removed = write
        .run(
            "DELETE FROM properties WHERE tag_id = $1 AND class = $2 AND key = $3
             AND EXISTS (SELECT FROM tags WHERE id = $1 AND deleted_at IS NULL)",
            &[&tag.0, &class.as_str(), &key.as_str()],
        )
        .await?;
    Ok((removed > 0 && touch(write, tag).await?).then_some(()))
}

/// A tag with its properties; `None` for a deleted one.
async fn tag(session: &Session, id: TagId) -> Result<Option<Tag>, StorageError> {
    let found = whole_tags(session, &[id.0]).await?.pop();
    Ok(found.and_then(|(tag, deleted)| (!deleted).then_some(tag)))
}

/// Tags with their properties, and whether each is deleted; in the order of `ids`.
async fn whole_tags(session: &Session, ids: &[i64]) -> Result<Vec<(Tag, bool)>, StorageError> {
    let (columns, from) = (row::TAG_COLUMNS, row::TAG_FROM);
    let tags = format!(
        "SELECT {columns}, t.deleted_at IS NOT NULL FROM {from}
         JOIN unnest($1::BIGINT[]) WITH ORDINALITY AS wanted (id, place) ON wanted.id = t.id ORDER BY wanted.place"
    );
    let properties = "SELECT tag_id, class, key, value FROM properties WHERE tag_id = ANY ($1)";
    let (tags, properties) = try_join(
        session.rows(&tags, &[&ids]),
        session.rows(properties, &[&ids]),
    )
    .await?;
    let mut by_tag = HashMap::<i64, Vec<_>>::new();
    for found in &properties {
        by_tag.entry(column(found, 0)?).or_default().push(found);
    }
    let whole = tags.iter().map(|found| {
        let mut tag = row::tag(found)?;
        for property in by_tag.get(&tag.id.0).into_iter().flatten() {
            let unreadable = || row::unreadable("property");
            let class = PropertyClass::parse(column(property, 1)?).ok_or_else(unreadable)?;
            let key = PropertyKey::parse(column(property, 2)?).map_err(|_| unreadable())?;
            let properties = tag.fields.properties_mut(class);
            properties.0.insert(key, column(property, 3)?);
        }
        Ok((tag, column(found, row::AFTER_TAG)?))
    });
    whole.collect()
}
