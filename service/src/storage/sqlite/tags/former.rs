//! Slugs that tags had before.

use rusqlite::{Connection, OptionalExtension as _};

use crate::id::TagId;
use crate::storage::sqlite::writer::Write;
use crate::storage::sqlite::{row, search};
use crate::storage::tags::SlugOwner;
use crate::storage::{Conflict, StorageError};
use crate::tag::Slug;

/// The tag whose URL ends in `slug`, or ended in it before; deleted ones, too.
pub(super) fn owner(
    connection: &Connection,
    slug: &Slug,
) -> Result<Option<SlugOwner>, StorageError> {
    let owner = connection
        .prepare_cached(
            "SELECT id, 0 FROM tags WHERE slug = ?1
             UNION ALL SELECT tag_id, 1 FROM former_slugs WHERE slug = ?1",
        )?
        .query_row([slug.as_str()], |row| {
            Ok(SlugOwner {
                tag: TagId(row.get(0)?),
                former: row.get(1)?,
            })
        })
        .optional()?;
    Ok(owner)
}

/// The tag that had `slug` before.
pub(in crate::storage::sqlite) fn tag(
    connection: &Connection,
    slug: &str,
) -> Result<Option<TagId>, StorageError> {
    let tag = connection
        .prepare_cached("SELECT tag_id FROM former_slugs WHERE slug = ?1")?
        .query_row([slug], |row| row.get(0).map(TagId))
        .optional()?;
    Ok(tag)
}

/// The slugs that a tag had before, the last one first.
pub(super) fn of(connection: &Connection, tag: TagId) -> Result<Vec<Slug>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT slug FROM former_slugs WHERE tag_id = ?1 ORDER BY replaced_at DESC, slug DESC",
    )?;
    let mut rows = statement.query([tag.0])?;
    let mut slugs = Vec::new();
    while let Some(found) = rows.next()? {
        let slug: String = found.get(0)?;
        slugs.push(Slug::parse(&slug).map_err(|_| row::unreadable("slug"))?);
    }
    Ok(slugs)
}

/// Notes that a tag has another slug now. One that it had before is no former one any more.
pub(super) fn replace(
    write: &Write<'_>,
    tag: TagId,
    before: &Slug,
    after: &Slug,
) -> Result<(), StorageError> {
    if before == after {
        return Ok(());
    }
    write
        .connection
        .prepare_cached("DELETE FROM former_slugs WHERE slug = ?1")?
        .execute([after.as_str()])?;
    let former = write
        .connection
        .prepare_cached("SELECT count(*) FROM former_slugs WHERE tag_id = ?1")?
        .query_row([tag.0], |row| row.get(0))?;
    Conflict::unless_former_slugs_have_room(former)?;
    write
        .connection
        .prepare_cached("INSERT INTO former_slugs (slug, tag_id, replaced_at) VALUES (?1, ?2, ?3)")?
        .execute((before.as_str(), tag.0, write.now.millis()))?;
    Ok(())
}

/// Gives up a former slug.
pub(super) fn release(
    write: &mut Write<'_>,
    tag: TagId,
    slug: &Slug,
) -> Result<Option<()>, StorageError> {
    let released = write
        .connection
        .prepare_cached(
            "DELETE FROM former_slugs WHERE slug = ?2 AND tag_id = ?1
             AND EXISTS (SELECT 1 FROM tags WHERE id = ?1 AND deleted_at IS NULL)",
        )?
        .execute((tag.0, slug.as_str()))?;
    if released == 0 || !super::touch(write, tag)? {
        return Ok(None);
    }
    search::replace(write.connection, tag)?;
    write.changes_configuration();
    Ok(Some(()))
}
