//! What a search for tags looks into. It is not the same in the two databases: PostgreSQL
//! has a column with all of it, whose pieces it indexes; SQLite has an index of pieces,
//! which is kept here, once for an operation: FTS5 flushes to its tables at every statement
//! of a trigger, so row by row it costs several times as much.

use crate::id::TagId;
use crate::storage::StorageError;
use crate::storage::plane::Transaction;
use crate::storage::plane::dialect::Dialect;
use crate::storage::search::fold;
use crate::storage::value::{Value, values};
use crate::tag::TagFields;

/// PostgreSQL's column.
pub(super) const FOLDED: &str = "folded";

/// What a search looks into, but for former slugs.
pub(super) fn folded(tag: &TagFields) -> String {
    [tag.name.as_str(), tag.slug.as_str(), tag.title.as_str()]
        .map(fold)
        .join("\u{1f}")
}

/// Writes PostgreSQL's column of a tag that has these fields. Former slugs stand last.
pub(super) async fn refold(
    tx: &mut dyn Transaction,
    id: TagId,
    tag: &TagFields,
) -> Result<(), StorageError> {
    if tx.dialect() == Dialect::Postgres {
        tx.execute(
            "UPDATE tags SET folded = CAST(?2 AS TEXT) || coalesce((
                 SELECT string_agg(chr(31) || slug, '' ORDER BY replaced_at, slug)
                 FROM former_slugs WHERE tag_id = ?1), '')
             WHERE id = ?1",
            &values![id, folded(tag)],
        )
        .await?;
    }
    Ok(())
}

/// What SQLite's index takes of tags. Former slugs stand behind the slug.
pub(in crate::storage) const INDEXED_TAGS: &str = "SELECT id, name, slug || coalesce((\
    SELECT group_concat(' ' || f.slug, '') FROM former_slugs f WHERE f.tag_id = tags.id), ''), \
    title FROM tags";

/// Puts tags into SQLite's index as they are now.
pub(in crate::storage::plane) async fn index(
    tx: &mut dyn Transaction,
    tags: &[TagId],
) -> Result<(), StorageError> {
    if tx.dialect() == Dialect::Sqlite && !tags.is_empty() {
        let sql = format!(
            "INSERT OR REPLACE INTO tags_search (rowid, name, slug, title)
             {INDEXED_TAGS} WHERE id IN ids(?1)"
        );
        tx.execute(&sql, &values![Value::list(tags)]).await?;
    }
    Ok(())
}
