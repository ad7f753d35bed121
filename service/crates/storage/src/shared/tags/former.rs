//! Former slugs of tags.

use super::{named, search, whole};
use crate::conflict::FORMER_SLUGS_MAX;
use crate::shared::Transaction;
use crate::value::values;
use crate::{CachedPart, Conflict, StorageError};
use domain::audit::Note;
use domain::id::TagId;
use domain::tag::Slug;

/// Stores that a tag's slug has changed. If the new slug was a former one, it no longer is.
pub(super) async fn replace(
    tx: &mut dyn Transaction,
    tag: TagId,
    before: &Slug,
    after: &Slug,
) -> Result<(), StorageError> {
    if before == after {
        return Ok(());
    }
    named::void_alike(tx, &[after.as_str()]).await?;
    let sql = "DELETE FROM former_slugs WHERE slug = ?1";
    tx.execute(sql, &values![after.as_str()]).await?;
    let sql = "SELECT count(*) FROM former_slugs WHERE tag_id = ?1";
    if tx.count(sql, &values![tag]).await? >= FORMER_SLUGS_MAX {
        return Err(Conflict::TooManyFormerSlugs.into());
    }
    let now = tx.now();
    let sql = "INSERT INTO former_slugs (slug, tag_id, replaced_at) VALUES (?1, ?2, ?3)";
    tx.execute(sql, &values![before.as_str(), tag, now]).await?;
    Ok(())
}

/// Releases a former slug.
pub(super) async fn release(
    tx: &mut dyn Transaction,
    tag: TagId,
    slug: &Slug,
) -> Result<Option<()>, StorageError> {
    if whole::tag(tx, tag).await?.is_none() {
        return Ok(None);
    }
    let sql = "DELETE FROM former_slugs WHERE slug = ?2 AND tag_id = ?1";
    if tx.execute(sql, &values![tag, slug.as_str()]).await? == 0 {
        return Ok(None);
    }
    let now = tx.now();
    let sql = "UPDATE tags SET updated_at = ?2 WHERE id = ?1";
    tx.execute(sql, &values![tag, now]).await?;
    search::renew(tx, &[tag]).await?;
    tx.changes(Some(CachedPart::Tag(tag)));
    tx.note(Note::deleted(slug));
    Ok(Some(()))
}
