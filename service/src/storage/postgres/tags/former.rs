//! Slugs that tags had before.

use super::save::folded;
use crate::id::TagId;
use crate::storage::postgres::row::column;
use crate::storage::postgres::session::Session;
use crate::storage::postgres::transaction::Write;
use crate::storage::{Conflict, StorageError};
use crate::tag::Slug;

/// What a search looks into beside name, slug and title of the tag `$1`.
pub(super) const SEARCHED: &str =
    "coalesce((SELECT string_agg(chr(31) || slug, '' ORDER BY replaced_at, slug)
    FROM former_slugs WHERE tag_id = $1), '')";

/// The tag that had `slug` before.
pub(in crate::storage::postgres) async fn tag(
    session: &Session,
    slug: &str,
) -> Result<Option<TagId>, StorageError> {
    let found = session
        .rows("SELECT tag_id FROM former_slugs WHERE slug = $1", &[&slug])
        .await?;
    found
        .first()
        .map(|row| column(row, 0).map(TagId))
        .transpose()
}

/// Notes that a tag has another slug now. One that it had before is no former one any more.
pub(super) async fn replace(
    write: &Write,
    tag: TagId,
    before: &Slug,
    after: &Slug,
) -> Result<(), StorageError> {
    if before == after {
        return Ok(());
    }
    write
        .run(
            "DELETE FROM former_slugs WHERE slug = $1",
            &[&after.as_str()],
        )
        .await?;
    let former = "SELECT count(*) FROM former_slugs WHERE tag_id = $1";
    let former: i64 = column(&write.one(former, &[&tag.0]).await?, 0)?;
    Conflict::unless_former_slugs_have_room(former.unsigned_abs())?;
    write
        .run(
            "INSERT INTO former_slugs (slug, tag_id, replaced_at) VALUES ($1, $2, $3)",
            &[&before.as_str(), &tag.0, &write.now.millis()],
        )
        .await?;
    Ok(())
}

/// Gives up a former slug.
pub(super) async fn release(
    write: &mut Write,
    tag: TagId,
    slug: &Slug,
) -> Result<Option<()>, StorageError> {
    let Some(found) = super::tag(write, tag).await? else {
        return Ok(None);
    };
    let released = write
        .run(
            "DELETE FROM former_slugs WHERE slug = $2 AND tag_id = $1",
            &[&tag.0, &slug.as_str()],
        )
        .await?;
    if released == 0 {
        return Ok(None);
    }
    let sql =
        format!("UPDATE tags SET folded = $2::TEXT || {SEARCHED}, updated_at = $3 WHERE id = $1");
    write
        .run(&sql, &[&tag.0, &folded(&found.fields), &write.now.millis()])
        .await?;
    write.changes_configuration();
    Ok(Some(()))
}
