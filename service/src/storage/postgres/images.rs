//! Images of experiences, in SQL.

use super::experiences;
use super::row::{self, column, unreadable};
use super::session::Session;
use super::transaction::Write;
use crate::experience::{Content, Image, ImageType};
use crate::id::{ExperienceId, ImageId};
use crate::storage::{Conflict, StorageError};

pub(super) async fn insert(
    write: &Write,
    id: ExperienceId,
    media_type: ImageType,
    bytes: &[u8],
) -> Result<Option<Image>, StorageError> {
    let inserted = write
        .row(
            "INSERT INTO images (experience_id, media_type, bytes, created_at)
             SELECT id, $2, $3, $4 FROM experiences WHERE id = $1 AND deleted_at IS NULL
             RETURNING id",
            &[&id.0, &media_type.as_str(), &bytes, &write.now.millis()],
        )
        .await?;
    let Some(inserted) = inserted else {
        return Ok(None);
    };
    Ok(Some(Image {
        id: ImageId(column(&inserted, 0)?),
        media_type,
        size: bytes.len() as u64,
        created_at: write.now,
    }))
}

pub(super) async fn list(
    session: &Session,
    id: ExperienceId,
    after: Option<ImageId>,
    limit: usize,
) -> Result<Option<Vec<Image>>, StorageError> {
    if !experiences::exists(session, id).await? {
        return Ok(None);
    }
    let found = session
        .rows(
            "SELECT id, media_type, length(bytes), created_at FROM images
             WHERE experience_id = $1 AND id > $2 ORDER BY id LIMIT $3",
            &[&id.0, &after.map_or(0, |id| id.0), &row::limit(limit)],
        )
        .await?;
    let images = found.iter().map(|found| {
        Ok(Image {
            id: ImageId(column(found, 0)?),
            media_type: media_type(column(found, 1)?)?,
            size: row::number(found, 2)?.into(),
            created_at: row::time(found, 3)?,
        })
    });
    images.collect::<Result<_, StorageError>>().map(Some)
}

pub(super) async fn image(
    session: &Session,
    id: ExperienceId,
    image: ImageId,
) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
    let found = session
        .row(
            "SELECT i.media_type, i.bytes FROM images i
             JOIN experiences e ON e.id = i.experience_id AND e.deleted_at IS NULL
             WHERE i.id = $1 AND i.experience_id = $2",
            &[&image.0, &id.0],
        )
        .await?;
    found
        .map(|found| Ok((media_type(column(&found, 0)?)?, column(&found, 1)?)))
        .transpose()
}

pub(super) async fn delete(
    write: &Write,
    id: ExperienceId,
    image: ImageId,
) -> Result<Option<()>, StorageError> {
    let found = write
        .row(
            "SELECT e.draft, v.content FROM images i
             JOIN experiences e ON e.id = i.experience_id AND e.deleted_at IS NULL
             LEFT JOIN experience_versions v ON v.experience_id = e.id AND v.version = e.published
             WHERE i.id = $1 AND i.experience_id = $2",
            &[&image.0, &id.0],
        )
        .await?;
    let Some(found) = found else {
        return Ok(None);
    };
    let contents: [Option<&str>; 2] = [column(&found, 0)?, column(&found, 1)?];
    for content in contents.into_iter().flatten() {
        if row::content(content)?.images().contains(&image) {
            let why = "The page shows this image. Take it out of the draft and publish that first.";
            return Err(Conflict::InUse(why.to_owned()).into());
        }
    }
    write
        .run("DELETE FROM images WHERE id = $1", &[&image.0])
        .await?;
    Ok(Some(()))
}

/// Refuses a content with an image that the experience does not have.
pub(super) async fn check(
    session: &Session,
    id: ExperienceId,
    content: &Content,
) -> Result<(), StorageError> {
    let shown: Vec<i64> = content.images().into_iter().map(|image| image.0).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let missing = session
        .row(
            "SELECT shown.id FROM unnest($2::BIGINT[]) WITH ORDINALITY AS shown (id, place)
             LEFT JOIN images i ON i.id = shown.id AND i.experience_id = $1
             WHERE i.id IS NULL ORDER BY shown.place LIMIT 1",
            &[&id.0, &shown],
        )
        .await?;
    match missing {
        None => Ok(()),
        Some(missing) => Err(Conflict::Missing {
            noun: "image",
            id: column(&missing, 0)?,
        }
        .into()),
    }
}

fn media_type(name: &str) -> Result<ImageType, StorageError> {
    ImageType::from_name(name).ok_or_else(|| unreadable("image"))
}
