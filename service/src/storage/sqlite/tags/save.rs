//! Writing tags. The index of pieces of text is kept here, once for a command:
//! FTS5 flushes to its tables at every savepoint and every statement of a
//! trigger, so row by row it costs several times as much.

use rusqlite::Connection;

use super::former;
use crate::id::{ExperienceId, TagId};
use crate::storage::sqlite::writer::Write;
use crate::storage::sqlite::{row, search};
use crate::storage::{Conflict, StorageError, TagEdit};
use crate::tag::{Properties, PropertyClass, Tag, TagFields};

/// Stores new tags, each for itself.
pub(super) fn insert_all(
    write: &mut Write<'_>,
    tags: &[TagFields],
    simulated: bool,
) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
    let newest = search::newest(write.connection)?;
    let results = tags.iter().map(|tag| insert_row(write, tag, simulated));
    let results = results.collect::<Result<_, _>>()?;
    search::add_after(write.connection, newest)?;
    Ok(results)
}

/// Stores a new tag.
pub(in crate::storage::sqlite) fn insert(
    write: &mut Write<'_>,
    tag: &TagFields,
    simulated: bool,
) -> Result<Result<TagId, Conflict>, StorageError> {
    let newest = search::newest(write.connection)?;
    let result = insert_row(write, tag, simulated)?;
    search::add_after(write.connection, newest)?;
    Ok(result)
}

/// Applies `edit` to a tag.
pub(super) fn edit(
    write: &mut Write<'_>,
    id: TagId,
    edit: &TagEdit,
) -> Result<Option<Tag>, StorageError> {
    let Some(before) = super::tag(write.connection, id)? else {
        return Ok(None);
    };
    let before = before.fields;
    let after = edit_row(write, id, &before, edit)?;
    let text = |tag: &TagFields| (tag.name.clone(), tag.slug.clone(), tag.title.clone());
    if text(&before) != text(&after) {
        search::replace(write.connection, id)?;
    }
    super::tag(write.connection, id)
}

/// Stores a new tag; the index is the caller's.
pub(super) fn insert_row(
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
    for class in PropertyClass::ALL {
        insert_properties(write.connection, id, class, tag.properties(class))?;
    }
    Ok(Ok(id))
}

/// Stores what `edit` makes of `before`, and answers it; the index is the caller's.
pub(super) fn edit_row(
    write: &mut Write<'_>,
    id: TagId,
    before: &TagFields,
    edit: &dyn Fn(TagFields) -> Result<TagFields, Conflict>,
) -> Result<TagFields, StorageError> {
    let fields = edit(before.clone())?;
    check(write.connection, &fields, Some(id))??;
    former::replace(write, id, &before.slug, &fields.slug)?;
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
    for class in PropertyClass::ALL {
        let after = fields.properties(class);
        if after != before.properties(class) {
            write
                .connection
                .prepare_cached("DELETE FROM properties WHERE tag_id = ?1 AND class = ?2")?
                .execute((id.0, class.as_str()))?;
            insert_properties(write.connection, id, class, after)?;
        }
    }
    write.changes_configuration();
    Ok(fields)
}

/// The rules between a tag and the rest of the database.
fn check(
    connection: &Connection,
    tag: &TagFields,
    itself: Option<TagId>,
) -> Result<Result<(), Conflict>, StorageError> {
    let owner = former::owner(connection, &tag.slug)?;
    if let Some(owner) = owner.filter(|owner| itself != Some(owner.tag)) {
        return Ok(Err(owner.refuses(&tag.slug)));
    }
    check_experience(connection, tag.experience_id)
}

pub(super) fn check_experience(
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

pub(super) fn insert_properties(
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
