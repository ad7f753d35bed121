//! Images of experiences: their SQL.

use super::{Query, Transaction, experiences};
use crate::value::{Row, Value, values};
use crate::{Access, Conflict, InUse, StorageError};
use domain::audit::Note;
use domain::experience::{Content, Image, ImageType};
use domain::id::{ExperienceId, ImageId};

/// The operations on images. Drafts and published versions show only images that exist.
impl Access {
    /// Adds an image to an experience.
    pub async fn insert_image(
        &self,
        id: ExperienceId,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<Option<Image>, StorageError> {
        let arguments = (id, media_type, bytes);
        self.change("insert_image", arguments, |tx, (id, media_type, bytes)| {
            Box::pin(insert(tx, *id, *media_type, bytes))
        })
        .await
    }

    /// At most `limit` images of an experience, after the one with the id `after`, ordered by id.
    pub async fn images(
        &self,
        id: ExperienceId,
        after: Option<ImageId>,
        limit: usize,
    ) -> Result<Option<Vec<Image>>, StorageError> {
        self.read("images", (id, after, limit), |db, (id, after, limit)| {
            Box::pin(list(db, *id, *after, *limit))
        })
        .await
    }

    /// An image of an experience, and its bytes.
    pub async fn image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
        self.read("image", (id, image), |db, (id, image)| {
            Box::pin(with_bytes(db, *id, *image))
        })
        .await
    }

    /// Deletes an image that neither the draft nor the published version shows.
    ///
    /// # Errors
    ///
    /// [`InUse::Shown`](crate::InUse::Shown).
    pub async fn delete_image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_image", (id, image), |tx, (id, image)| {
            Box::pin(delete(tx, *id, *image))
        })
        .await
    }
}

async fn insert(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    media_type: ImageType,
    bytes: &Vec<u8>,
) -> Result<Option<Image>, StorageError> {
    if !experiences::exists(tx, id).await? {
        return Ok(None);
    }
    let now = tx.now();
    let mut inserted = tx
        .write_one(
            "INSERT INTO images (experience_id, media_type, bytes, created_at)
             VALUES (?1, ?2, ?3, ?4) RETURNING id",
            &values![id, media_type.as_str(), bytes, now],
        )
        .await?;
    let image = Image {
        id: inserted.take()?,
        media_type,
        size: bytes.len() as u64,
        created_at: now,
    };
    tx.note(Note::created(
        format!("experiences/{id}/images/{}", image.id),
        &image,
    ));
    Ok(Some(image))
}

async fn list(
    db: &mut dyn Query,
    id: ExperienceId,
    after: Option<ImageId>,
    limit: usize,
) -> Result<Option<Vec<Image>>, StorageError> {
    if !experiences::exists(db, id).await? {
        return Ok(None);
    }
    let found = db
        .query(
            "SELECT id, media_type, length(bytes), created_at FROM images
             WHERE experience_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            &values![id, after.map_or(0, ImageId::get), Value::limit(limit)],
        )
        .await?;
    let images = found.into_iter().map(|mut row| {
        Ok(Image {
            id: row.take()?,
            media_type: media_type(&mut row)?,
            size: row.take()?,
            created_at: row.take()?,
        })
    });
    images.collect::<Result<_, StorageError>>().map(Some)
}

async fn with_bytes(
    db: &mut dyn Query,
    id: ExperienceId,
    image: ImageId,
) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
    if !experiences::exists(db, id).await? {
        return Ok(None);
    }
    let found = db
        .row(
            "SELECT i.media_type, i.bytes FROM images i
             JOIN experiences e ON e.id = i.experience_id AND e.deleted_at IS NULL
             WHERE i.id = ?1 AND i.experience_id = ?2",
            &values![image, id],
        )
        .await?;
    found
        .map(|mut row| Ok((media_type(&mut row)?, row.take()?)))
        .transpose()
}

async fn delete(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    image: ImageId,
) -> Result<Option<()>, StorageError> {
    if !experiences::exists(tx, id).await? {
        return Ok(None);
    }
    let found = tx
        .row(
            "SELECT e.draft, v.content FROM images i
             JOIN experiences e ON e.id = i.experience_id AND e.deleted_at IS NULL
             LEFT JOIN experience_versions v ON v.experience_id = e.id AND v.version = e.published
             WHERE i.id = ?1 AND i.experience_id = ?2",
            &values![image, id],
        )
        .await?;
    let Some(mut found) = found else {
        return Ok(None);
    };
    let draft = experiences::content(&mut found)?;
    let published = found.optional_text("experience", |json| Content::from_json(json).ok())?;
    if [Some(draft), published]
        .into_iter()
        .flatten()
        .any(|content| content.images().contains(&image))
    {
        return Err(InUse::Shown.into());
    }
    let sql = "SELECT media_type, length(bytes), created_at FROM images WHERE id = ?1";
    let mut row = tx.one(sql, &values![image]).await?;
    tx.note(Note::deleted(&Image {
        id: image,
        media_type: media_type(&mut row)?,
        size: row.take()?,
        created_at: row.take()?,
    }));
    tx.execute("DELETE FROM images WHERE id = ?1", &values![image])
        .await?;
    Ok(Some(()))
}

/// Refuses a content that shows an image which the experience does not have.
pub(super) async fn check(
    db: &mut dyn Query,
    id: ExperienceId,
    content: &Content,
) -> Result<(), StorageError> {
    let shown = content.images();
    if shown.is_empty() {
        return Ok(());
    }
    let sql = "SELECT id FROM images WHERE experience_id = ?1 AND id IN ids(?2)";
    let found = db.query(sql, &values![id, Value::list(&shown)]).await?;
    let found = found.into_iter().map(|mut row| row.take());
    let found = found.collect::<Result<Vec<ImageId>, _>>()?;
    match shown.into_iter().find(|image| !found.contains(image)) {
        None => Ok(()),
        Some(image) => Err(Conflict::Missing {
            noun: "image",
            id: image.get(),
        }
        .into()),
    }
}

fn media_type(row: &mut Row) -> Result<ImageType, StorageError> {
    row.text("image", ImageType::from_name)
}
