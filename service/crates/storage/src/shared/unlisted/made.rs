//! The tags and inlays that taps created, and their way back.

use crate::shared::{Query, Transaction, tags};
use crate::value::{Value, values};
use crate::{CachedPart, MadeByTaps, StorageError, TagChange};
use domain::clock::Timestamp;
use domain::id::{InlayId, TagId, UrlTemplateId};

/// Inlays that one transaction deletes. A tap that arrives meanwhile waits for it.
const AT_ONCE: usize = 200;

/// Inlays that taps created at the template ?1 since ?2, and that are still on their tags.
const MADE: &str =
    "FROM tap_made_inlays m JOIN inlays i ON i.id = m.inlay_id AND i.tag_id = m.tag_id
         AND i.url_template_id = m.url_template_id
     JOIN tags t ON t.id = m.tag_id
     WHERE m.url_template_id = ?1 AND m.made_at >= ?2 AND i.deleted_at IS NULL";
/// Whether the tag of such an inlay is deleted with it.
const WITH_TAG: &str = "(t.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM inlays o
     WHERE o.tag_id = m.tag_id AND o.id <> m.inlay_id AND o.deleted_at IS NULL))";

/// How many of these inlays there are, and how many tags would be deleted with them.
pub(super) async fn count(
    db: &mut dyn Query,
    template: UrlTemplateId,
    since: Timestamp,
) -> Result<MadeByTaps, StorageError> {
    let sql = format!("SELECT count(*), count(CASE WHEN {WITH_TAG} THEN 1 END) {MADE}");
    let mut row = db.one(&sql, &values![template, since]).await?;
    Ok(MadeByTaps {
        inlays: row.take()?,
        tags: row.take()?,
    })
}

/// Deletes some of these inlays, with their tags, and returns how many.
pub(super) async fn delete_some(
    tx: &mut dyn Transaction,
    template: UrlTemplateId,
    since: Timestamp,
) -> Result<MadeByTaps, StorageError> {
    let sql =
        format!("SELECT m.inlay_id, m.tag_id, {WITH_TAG} {MADE} ORDER BY m.inlay_id LIMIT ?3");
    let values = values![template, since, Value::limit(AT_ONCE)];
    let (mut made, mut with) = (Vec::<InlayId>::new(), Vec::<TagId>::new());
    for mut row in tx.query(&sql, &values).await? {
        made.push(row.take()?);
        let tag = row.take()?;
        if row.take()? {
            with.push(tag);
        }
        tx.changes(Some(CachedPart::Tag(tag)));
    }
    if made.is_empty() {
        return Ok(MadeByTaps::default());
    }
    let now = tx.now();
    let sql = "UPDATE inlays SET deleted_at = ?2 WHERE id IN ids(?1)";
    tx.execute(sql, &values![Value::list(&made), now]).await?;
    let sql = "DELETE FROM tap_made_inlays WHERE inlay_id IN ids(?1)";
    tx.execute(sql, &values![Value::list(&made)]).await?;
    tags::change_all(tx, &with, TagChange::Delete).await?;
    Ok(MadeByTaps {
        inlays: made.len() as u64,
        tags: with.len() as u64,
    })
}
