//! Images of products: their SQL. A group without one has that of the nearest group above it.

use std::collections::HashMap;

use crate::shared::{Query, Transaction};
use crate::value::{Row, Value, values};
use crate::{Access, Conflict, StorageError};
use domain::audit::Note;
use domain::field_error::FieldError;
use domain::group::{Group, GroupImage, GroupKind};
use domain::id::GroupId;
use domain::image_type::ImageType;

/// The operations on images of products.
impl Access {
    /// Gives a product an image, in place of the one that it has.
    ///
    /// # Errors
    ///
    /// [`Invalid::Edit`](crate::Invalid::Edit) for a group that is no product.
    pub async fn set_group_image(
        &self,
        id: GroupId,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<Option<Group>, StorageError> {
        let arguments = (id, media_type, bytes);
        self.change(
            "set_group_image",
            arguments,
            |tx, (id, media_type, bytes)| Box::pin(set(tx, *id, *media_type, bytes)),
        )
        .await
    }

    /// The image that a group has, from itself or from above, and its bytes.
    pub async fn group_image(
        &self,
        id: GroupId,
    ) -> Result<Option<(GroupImage, Vec<u8>)>, StorageError> {
        self.read_snapshot("group_image", id, |db, id| Box::pin(with_bytes(db, *id)))
            .await
    }

    /// Deletes the image that a product has itself.
    pub async fn delete_group_image(&self, id: GroupId) -> Result<Option<()>, StorageError> {
        self.change("delete_group_image", id, |tx, id| Box::pin(delete(tx, *id)))
            .await
    }
}

async fn set(
    tx: &mut dyn Transaction,
    id: GroupId,
    media_type: ImageType,
    bytes: &[u8],
) -> Result<Option<Group>, StorageError> {
    let Some(present) = super::group(tx, id).await? else {
        return Ok(None);
    };
    if present.fields.kind != GroupKind::Product {
        let why = FieldError::whole("Only a product has an image.");
        return Err(Conflict::from(why).into());
    }
    let after = GroupImage::of(id, media_type, bytes);
    let before = present.own_image();
    if before == Some(&after) {
        return Ok(Some(present));
    }
    let sql = "INSERT INTO group_images (group_id, media_type, digest, created_at, bytes)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (group_id) DO UPDATE SET media_type = excluded.media_type,
             digest = excluded.digest, created_at = excluded.created_at, bytes = excluded.bytes";
    let row = values![id, media_type.as_str(), &after.digest, tx.now(), bytes];
    tx.execute(sql, &row).await?;
    touch(tx, id).await?;
    tx.note(Note::changed(&before, &after));
    super::stored(tx, id).await.map(Some)
}

async fn delete(tx: &mut dyn Transaction, id: GroupId) -> Result<Option<()>, StorageError> {
    let present = super::group(tx, id).await?;
    let Some(before) = present.as_ref().and_then(Group::own_image) else {
        return Ok(None);
    };
    let sql = "DELETE FROM group_images WHERE group_id = ?1";
    tx.execute(sql, &values![id]).await?;
    touch(tx, id).await?;
    tx.note(Note::deleted(before));
    Ok(Some(()))
}

/// Notes when the group was changed. No cache has its image or this time, so none is told.
async fn touch(tx: &mut dyn Transaction, id: GroupId) -> Result<(), StorageError> {
    let sql = "UPDATE tag_groups SET updated_at = ?2 WHERE id = ?1";
    tx.execute(sql, &values![id, tx.now()]).await.map(drop)
}

async fn with_bytes(
    db: &mut dyn Query,
    id: GroupId,
) -> Result<Option<(GroupImage, Vec<u8>)>, StorageError> {
    let group = super::group(db, id).await?;
    let Some(image) = group.and_then(|group| group.image) else {
        return Ok(None);
    };
    let sql = "SELECT bytes FROM group_images WHERE group_id = ?1";
    let bytes = db.one(sql, &values![image.group_id]).await?.take()?;
    Ok(Some((image, bytes)))
}

/// The groups, each with its image.
pub(super) async fn with_images(
    db: &mut dyn Query,
    mut groups: Vec<Group>,
) -> Result<Vec<Group>, StorageError> {
    if groups.is_empty() {
        return Ok(groups);
    }
    let ids: Vec<_> = groups.iter().map(|group| group.id).collect();
    let mut images = of(db, &ids).await?;
    for group in &mut groups {
        group.image = images.remove(&group.id);
    }
    Ok(groups)
}

/// The images of these groups. The limit stops a circle, which no write makes.
async fn of(
    db: &mut dyn Query,
    groups: &[GroupId],
) -> Result<HashMap<GroupId, GroupImage>, StorageError> {
    // The nearest group of each comes last, and stays in the map.
    let sql = "WITH RECURSIVE up (root, id, level) AS (
             SELECT id, id, 1 FROM tag_groups WHERE id IN ids(?1)
             UNION ALL SELECT up.root, g.parent_id, up.level + 1 FROM up JOIN tag_groups g ON g.id = up.id
             WHERE g.parent_id IS NOT NULL AND up.level < 8)
         SELECT up.root, i.group_id, i.media_type, i.digest
         FROM up JOIN group_images i ON i.group_id = up.id ORDER BY up.level DESC";
    let mut images = HashMap::new();
    for mut row in db.query(sql, &[Value::list(groups)]).await? {
        let group = row.take()?;
        images.insert(group, read(&mut row)?);
    }
    Ok(images)
}

fn read(row: &mut Row) -> Result<GroupImage, StorageError> {
    Ok(GroupImage {
        group_id: row.take()?,
        media_type: row.text("image", ImageType::from_name)?,
        digest: row.take()?,
    })
}
