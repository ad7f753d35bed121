//! The searchable text of tags, which the two databases store differently. PostgreSQL has one
//! column with all of it, and indexes its pieces. SQLite has an index of pieces that is updated
//! here, once per operation: FTS5 flushes to its tables at every statement of a trigger, so
//! updating it row by row costs several times as much.

use crate::StorageError;
use crate::search::fold;
use crate::shared::Transaction;
use crate::shared::dialect::Dialect;
use crate::value::{Value, values};
use domain::id::TagId;
use domain::tag::TagFields;

/// PostgreSQL's column with the searchable text.
pub(super) const FOLDED: &str = "folded";

/// The searchable text of a tag, without its former slugs.
pub(super) fn folded(tag: &TagFields) -> String {
    [tag.name.as_str(), tag.slug.as_str(), tag.title.as_str()]
        .map(fold)
        .join("\u{1f}")
}

/// Updates PostgreSQL's column of a tag with these fields. Former slugs come last.
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

/// The rows of SQLite's index: tags with their texts. Former slugs follow the slug.
pub(crate) const INDEXED_TAGS: &str = "SELECT id, name, slug || coalesce((\
    SELECT group_concat(' ' || f.slug, '') FROM former_slugs f WHERE f.tag_id = tags.id), ''), \
    title FROM tags";

/// Replaces tags in SQLite's index by their current texts.
pub(in crate::shared) async fn index(
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
