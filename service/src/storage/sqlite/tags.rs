//! Tags and their properties, in SQL.

mod change;
mod former;
mod import;
mod list;
mod missing;
mod save;
mod select;
mod staged;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _};

use super::writer::Write;
use super::{SqliteStorage, row, taps};
use crate::id::{ExperienceId, TagId};
use crate::revision::Precondition;
use crate::storage::tags::SlugOwner;
use crate::storage::{
    Conflict, ImportRow, Imported, MissingVariables, Put, StorageError, TagChange, TagEdit,
    TagFilter, TagList, TagSelect, Tags,
};
use crate::tag::{
    InvalidProperty, PROPERTIES_MAX, Properties, PropertyClass, PropertyKey, PropertyValue, Slug,
    Tag, TagFields,
};

pub(super) use former::tag as former_tag;
pub(super) use save::insert;
pub(super) use staged::abandon_all;

#[async_trait]
impl Tags for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
        self.write(move |write| save::insert_all(write, &tags, simulated))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError> {
        self.read(|connection| tag(connection, id))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn tags(&self, list: TagList) -> Result<Vec<Tag>, StorageError> {
        self.read_long(move |connection| list::tags(connection, &list))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn count_tags(&self, filter: TagFilter) -> Result<u64, StorageError> {
        self.read_long(move |connection| list::count(connection, &filter))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn tag_ids(&self, select: TagSelect) -> Result<Vec<TagId>, StorageError> {
        self.read_long(move |connection| list::ids(connection, &select))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn property_keys(
        &self,
        filter: TagFilter,
    ) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
        self.read_long(move |connection| list::property_keys(connection, &filter))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn import_tags(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
        self.write(move |write| import::rows(write, &rows, upsert))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn edit_tag(&self, id: TagId, edit: TagEdit) -> Result<Option<Tag>, StorageError> {
        self.write(move |write| save::edit(write, id, &edit)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn change_tags(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
    ) -> Result<Vec<(TagId, TagChange)>, StorageError> {
        self.write(move |write| change::tags(write, &ids, change))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn release_slug(&self, tag: TagId, slug: Slug) -> Result<Option<()>, StorageError> {
        self.write(move |write| former::release(write, tag, &slug))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn delete_tag_if(
        &self,
        id: TagId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| {
            let Some(present) = tag(write.connection, id)? else {
                return Ok(None);
            };
            expected.check(Some(&present))?;
            change::tags(write, &[id], TagChange::Delete).map(|_| Some(()))
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn put_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
        expected: Precondition,
    ) -> Result<Option<Put>, StorageError> {
        self.write(move |write| put_property(write, tag, class, (&key, &value), &expected))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
    ) -> Result<MissingVariables, StorageError> {
        self.read_long(move |connection| missing::variables(connection, experience, &keys))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn add_missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
        limit: usize,
    ) -> Result<u64, StorageError> {
        self.write(move |write| missing::add(write, experience, &keys, limit))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn delete_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| {
            if !exists(write.connection, tag)? {
                return Ok(None);
            }
            check_property(write.connection, tag, class, &key, &expected)?;
            let removed = write
                .connection
                .prepare_cached(
                    "DELETE FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
                )?
                .execute((tag.0, class.as_str(), key.as_str()))?;
            Ok((removed > 0 && touch(write, tag)?).then_some(()))
        })
        .await
    }
}

/// Whether there is such a tag, and it is not deleted.
fn exists(connection: &Connection, tag: TagId) -> Result<bool, StorageError> {
    let exists = connection
        .prepare_cached("SELECT 1 FROM tags WHERE id = ?1 AND deleted_at IS NULL")?
        .exists([tag.0])?;
    Ok(exists)
}

fn check_property(
    connection: &Connection,
    tag: TagId,
    class: PropertyClass,
    key: &PropertyKey,
    expected: &Precondition,
) -> Result<(), StorageError> {
    if *expected == Precondition::None {
        return Ok(());
    }
    let value: Option<String> = connection
        .prepare_cached(
            "SELECT value FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
        )?
        .query_row((tag.0, class.as_str(), key.as_str()), |row| row.get(0))
        .optional()?;
    let value = value.as_deref().map(PropertyValue);
    Ok(expected.check(value.as_ref())?)
}

/// Notes a change of a tag that is not deleted; `false` where there is none.
fn touch(write: &mut Write<'_>, tag: TagId) -> Result<bool, StorageError> {
    let touched = write
        .connection
        .prepare_cached("UPDATE tags SET updated_at = ?2 WHERE id = ?1 AND deleted_at IS NULL")?
        .execute((tag.0, write.now.millis()))?;
    Ok(touched > 0)
}

fn put_property(
    write: &mut Write<'_>,
    tag: TagId,
    class: PropertyClass,
    (key, value): (&PropertyKey, &str),
    expected: &Precondition,
) -> Result<Option<Put>, StorageError> {
    if !touch(write, tag)? {
        return Ok(None);
    }
    check_property(write.connection, tag, class, key, expected)?;
    let set = write
        .connection
        .prepare_cached(
            "UPDATE properties SET value = ?4 WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
        )?
        .execute((tag.0, class.as_str(), key.as_str(), value))?;
    if set > 0 {
        return Ok(Some(Put::Set));
    }
    let present: usize = write
        .connection
        .prepare_cached("SELECT count(*) FROM properties WHERE tag_id = ?1 AND class = ?2")?
        .query_row((tag.0, class.as_str()), |row| row.get(0))?;
    if present >= PROPERTIES_MAX {
        return Err(Conflict::Invalid(InvalidProperty::TooMany.to_string()).into());
    }
    let properties = Properties([(key.clone(), value.to_owned())].into());
    save::insert_properties(write.connection, tag, class, &properties)?;
    Ok(Some(Put::New))
}

/// Whose slug a row names.
fn owner(connection: &Connection, row: &ImportRow) -> Result<Option<SlugOwner>, StorageError> {
    if !row.named {
        return Ok(None);
    }
    former::owner(connection, &row.slug)
}

/// A whole tag; `None` for a deleted one.
pub(super) fn tag(connection: &Connection, id: TagId) -> Result<Option<Tag>, StorageError> {
    let found = any_tag(connection, id)?;
    Ok(found.and_then(|(tag, deleted)| (!deleted).then_some(tag)))
}

/// A whole tag, and whether it is deleted.
fn any_tag(connection: &Connection, id: TagId) -> Result<Option<(Tag, bool)>, StorageError> {
    let (columns, from) = (row::TAG_COLUMNS, row::TAG_FROM);
    let found = connection
        .prepare_cached(&format!(
            "SELECT {columns}, t.deleted_at IS NOT NULL FROM {from} WHERE t.id = ?1"
        ))?
        .query_row([id.0], |r| Ok((row::tag(r), r.get(row::AFTER_TAG)?)))
        .optional()?;
    let Some((tag, deleted)) = found else {
        return Ok(None);
    };
    let mut tag = tag?;
    for class in PropertyClass::ALL {
        *tag.fields.properties_mut(class) = taps::properties(connection, id, class)?;
    }
    tag.former_slugs = former::of(connection, id)?;
    Ok(Some((tag, deleted)))
}
