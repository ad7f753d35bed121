//! Images of experiences, in SQL.

use rusqlite::{Connection, OptionalExtension as _};

use super::writer::Write;
use super::{experiences, row};
use crate::clock::Timestamp;
use crate::experience::{Content, Image, ImageType};
use crate::id::{ExperienceId, ImageId};
use crate::storage::{Conflict, StorageError};

pub(super) fn insert(
    write: &Write<'_>,
    id: ExperienceId,
    media_type: ImageType,
    bytes: &[u8],
) -> Result<Option<Image>, StorageError> {
    if !experiences::exists(write.connection, id)? {
        return Ok(None);
    }
    write.connection.execute(
        "INSERT INTO images (experience_id, media_type, bytes, created_at) VALUES (?1, ?2, ?3, ?4)",
        (id.0, media_type.as_str(), bytes, write.now.millis()),
    )?;
    Ok(Some(Image {
        id: ImageId(write.connection.last_insert_rowid()),
        media_type,
        size: bytes.len() as u64,
        created_at: write.now,
    }))
}

pub(super) fn list(
    connection: &Connection,
    id: ExperienceId,
    after: Option<ImageId>,
    limit: usize,
) -> Result<Option<Vec<Image>>, StorageError> {
    if !experiences::exists(connection, id)? {
        return Ok(None);
    }
    let after = after.map_or(0, |id| id.0);
    let mut statement = connection.prepare_cached(
        "SELECT id, media_type, length(bytes), created_at FROM images
         WHERE experience_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let mut rows = statement.query((id.0, after, row::limit(limit)))?;
    let mut images = Vec::new();
    while let Some(row) = rows.next()? {
        images.push(Image {
            id: ImageId(row.get(0)?),
            media_type: media_type(&row.get::<_, String>(1)?)?,
            size: row.get::<_, i64>(2)?.unsigned_abs(),
            created_at: Timestamp::from_millis(row.get(3)?),
        });
    }
    Ok(Some(images))
}

pub(super) fn image(
    connection: &Connection,
    id: ExperienceId,
    image: ImageId,
) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
    if !experiences::exists(connection, id)? {
        return Ok(None);
    }
    let found: Option<(String, Vec<u8>)> = connection
        .prepare_cached(
            "SELECT media_type, bytes FROM images WHERE id = ?1 AND experience_id = ?2",
        )?
        .query_row((image.0, id.0), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    found
        .map(|(name, bytes)| Ok((media_type(&name)?, bytes)))
        .transpose()
}

pub(super) fn delete(
    connection: &Connection,
    id: ExperienceId,
    image: ImageId,
) -> Result<Option<()>, StorageError> {
    let contents: Option<(String, Option<String>)> = connection
        .prepare_cached(
            "SELECT e.draft, v.content FROM images i
             JOIN experiences e ON e.id = i.experience_id AND e.deleted_at IS NULL
             LEFT JOIN experience_versions v ON v.experience_id = e.id AND v.version = e.published
             WHERE i.id = ?1 AND i.experience_id = ?2",
        )?
        .query_row((image.0, id.0), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((draft, published)) = contents else {
        return Ok(None);
    };
    for content in [Some(draft), published].into_iter().flatten() {
        if row::content(&content)?.images().contains(&image) {
            let why = "The page shows this image. Take it out of the draft and publish that first.";
            return Err(Conflict::InUse(why.to_owned()).into());
        }
    }
    connection.execute("DELETE FROM images WHERE id = ?1", [image.0])?;
    Ok(Some(()))
}

/// Refuses a content with an image that the experience does not have.
pub(super) fn check(
    connection: &Connection,
    id: ExperienceId,
    content: &Content,
) -> Result<(), StorageError> {
    let mut find =
        connection.prepare_cached("SELECT 1 FROM images WHERE id = ?1 AND experience_id = ?2")?;
    for image in content.images() {
        if !find.exists((image.0, id.0))? {
            return Err(Conflict::Missing {
                noun: "image",
                id: image.0,
            }
            .into());
        }
    }
    Ok(())
}

fn media_type(name: &str) -> Result<ImageType, StorageError> {
    ImageType::from_name(name).ok_or_else(|| row::unreadable("image"))
}
