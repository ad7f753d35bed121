//! Tags and their properties, in SQL.

mod change;
mod list;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _};

use super::writer::Write;
use super::{SqliteStorage, row, taps};
use crate::id::{ExperienceId, TagId};
use crate::storage::{
    Conflict, Put, StorageError, TagChange, TagEdit, TagFilter, TagList, TagSelect, Tags,
};
use crate::tag::{
    InvalidProperty, PROPERTIES_MAX, Properties, PropertyClass, PropertyKey, Tag, TagFields,
};

#[async_trait]
impl Tags for SqliteStorage {
    async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
        self.write(move |write| {
            tags.iter()
                .map(|tag| insert(write, tag, simulated))
                .collect()
        })
        .await
    }

    async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError> {
        self.read(|connection| tag(connection, id))
    }

    async fn tags(&self, list: TagList) -> Result<Vec<Tag>, StorageError> {
        self.read_long(move |connection| list::tags(connection, &list))
            .await
    }

    async fn count_tags(&self, filter: TagFilter) -> Result<u64, StorageError> {
        self.read_long(move |connection| list::count(connection, &filter))
            .await
    }

    async fn tag_ids(&self, select: TagSelect) -> Result<Vec<TagId>, StorageError> {
        self.read_long(move |connection| list::ids(connection, &select))
            .await
    }

    async fn edit_tag(&self, id: TagId, edit: TagEdit) -> Result<Option<Tag>, StorageError> {
        self.write(move |write| edit_tag(write, id, &edit)).await
    }

    async fn change_tags(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
    ) -> Result<Vec<(TagId, TagChange)>, StorageError> {
        self.write(move |write| change::tags(write, &ids, change))
            .await
    }

    async fn put_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
    ) -> Result<Option<Put>, StorageError> {
        self.write(move |write| put_property(write, tag, class, &key, &value))
            .await
    }

    async fn delete_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| {
            let removed = write
                .connection
                .prepare_cached(
                    "DELETE FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3
                     AND EXISTS (SELECT 1 FROM tags WHERE id = ?1 AND deleted_at IS NULL)",
                )?
                .execute((tag.0, class.as_str(), key.as_str()))?;
            Ok((removed > 0 && touch(write, tag)?).then_some(()))
        })
        .await
    }
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
    key: &PropertyKey,
    value: &str,
) -> Result<Option<Put>, StorageError> {
    if !touch(write, tag)? {
        return Ok(None);
    }
    let set = write
        .connection
        .prepare_cached(
            "UPDATE properties SET value = ?4 WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
        )?
        .execute((tag.0, class.as_str(), key.as_str(), value))?;
    if set > 0 {
        return Ok(Some(Put::Set));
    }
    let present: i64 = write
        .connection
        .prepare_cached("SELECT count(*) FROM properties WHERE tag_id = ?1 AND class = ?2")?
        .query_row((tag.0, class.as_str()), |row| row.get(0))?;
    if usize::try_from(present).is_ok_and(|present| present >= PROPERTIES_MAX) {
        return Err(Conflict::Invalid(InvalidProperty::TooMany.to_string()).into());
    }
    let properties = Properties([(key.clone(), value.to_owned())].into());
    insert_properties(write.connection, tag, class, &properties)?;
    Ok(Some(Put::New))
}

/// A tag with its properties; `None` for a deleted one.
pub(super) fn tag(connection: &Connection, id: TagId) -> Result<Option<Tag>, StorageError> {
    let found = any_tag(connection, id)?;
    Ok(found.and_then(|(tag, deleted)| (!deleted).then_some(tag)))
}

/// A tag with its properties, and whether it is deleted.
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
    tag.fields.attributes = taps::properties(connection, id, PropertyClass::Attribute)?;
    tag.fields.data = taps::properties(connection, id, PropertyClass::Data)?;
    tag.fields.variables = taps::properties(connection, id, PropertyClass::Variable)?;
    Ok(Some((tag, deleted)))
}

pub(super) fn insert(
    write: &mut Write<'_>,
    tag: &TagFields,
    simulated: bool,
) -> Result<Result<TagId, Conflict>, StorageError> {
    if let Err(conflict) = check(write.connection, tag, None)? {
        return Ok(Err(conflict));
    }
    write
        .connection
        .prepare_cached(
            "INSERT INTO tags (slug, name, title, description, language_code, status, experience_id,
                 verifier_enabled, updates_require_verified, track_location, has_qr_code, location,
                 widget_settings, updated_at, simulated, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?14)",
        )?
        .execute(rusqlite::params![
            tag.slug.as_str(),
            tag.name,
            tag.title,
            tag.description,
            tag.language_code,
            tag.status.as_str(),
            tag.experience_id.map(|id| id.0),
            tag.verifier_enabled,
            tag.updates_require_verified,
            tag.track_location,
            tag.has_qr_code,
            location(tag)?,
            widgets(tag)?,
            write.now.millis(),
            simulated,
        ])?;
    let id = TagId(write.connection.last_insert_rowid());
    for (class, properties) in by_class(tag) {
        insert_properties(write.connection, id, class, properties)?;
    }
    Ok(Ok(id))
}

fn edit_tag(write: &mut Write<'_>, id: TagId, edit: &TagEdit) -> Result<Option<Tag>, StorageError> {
    let Some(before) = tag(write.connection, id)? else {
        return Ok(None);
    };
    let fields = edit(before.fields.clone()).map_err(Conflict::Invalid)?;
    check(write.connection, &fields, Some(id))??;
    write
        .connection
        .prepare_cached(
            "UPDATE tags SET slug = ?2, name = ?3, title = ?4, description = ?5, language_code = ?6, status = ?7,
                 experience_id = ?8, verifier_enabled = ?9, updates_require_verified = ?10, track_location = ?11,
                 has_qr_code = ?12, location = ?13, widget_settings = ?14, updated_at = ?15
             WHERE id = ?1",
        )?
        .execute(rusqlite::params![
            id.0,
            fields.slug.as_str(),
            fields.name,
            fields.title,
            fields.description,
            fields.language_code,
            fields.status.as_str(),
            fields.experience_id.map(|id| id.0),
            fields.verifier_enabled,
            fields.updates_require_verified,
            fields.track_location,
            fields.has_qr_code,
            location(&fields)?,
            widgets(&fields)?,
            write.now.millis(),
        ])?;
    for ((class, after), (_, before)) in by_class(&fields).into_iter().zip(by_class(&before.fields))
    {
        if after != before {
            write
                .connection
                .prepare_cached("DELETE FROM properties WHERE tag_id = ?1 AND class = ?2")?
                .execute((id.0, class.as_str()))?;
            insert_properties(write.connection, id, class, after)?;
        }
    }
    write.changes_configuration();
    tag(write.connection, id)
}

/// The rules between a tag and the rest of the database.
fn check(
    connection: &Connection,
    tag: &TagFields,
    itself: Option<TagId>,
) -> Result<Result<(), Conflict>, StorageError> {
    let owner = connection
        .prepare_cached("SELECT id FROM tags WHERE slug = ?1")?
        .query_row([tag.slug.as_str()], |row| row.get::<_, i64>(0))
        .optional()?;
    if owner.is_some_and(|owner| itself.is_none_or(|id| id.0 != owner)) {
        return Ok(Err(Conflict::SlugTaken(tag.slug.to_string())));
    }
    check_experience(connection, tag.experience_id)
}

fn check_experience(
    connection: &Connection,
    experience: Option<ExperienceId>,
) -> Result<Result<(), Conflict>, StorageError> {
    let Some(ExperienceId(id)) = experience else {
        return Ok(Ok(()));
    };
    let exists = connection
        .prepare_cached("SELECT 1 FROM experiences WHERE id = ?1 AND deleted_at IS NULL")?
        .exists([id])?;
    let noun = "experience";
    Ok(if exists {
        Ok(())
    } else {
        Err(Conflict::Missing { noun, id })
    })
}

fn by_class(tag: &TagFields) -> [(PropertyClass, &Properties); 3] {
    [
        (PropertyClass::Attribute, &tag.attributes),
        (PropertyClass::Data, &tag.data),
        (PropertyClass::Variable, &tag.variables),
    ]
}

fn insert_properties(
    connection: &Connection,
    tag: TagId,
    class: PropertyClass,
    properties: &Properties,
) -> Result<(), StorageError> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO properties (tag_id, class, key, value) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (key, value) in &properties.0 {
        insert.execute((tag.0, class.as_str(), key.as_str(), value))?;
    }
    Ok(())
}

fn location(tag: &TagFields) -> Result<Option<String>, StorageError> {
    tag.location
        .as_ref()
        .map(|location| serde_json::to_string(location).map_err(|_| row::unreadable("location")))
        .transpose()
}

fn widgets(tag: &TagFields) -> Result<String, StorageError> {
    serde_json::to_string(&tag.widget_settings).map_err(|_| row::unreadable("widget setting"))
}
