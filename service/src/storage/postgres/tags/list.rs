//! Lists of tags, and everything else that selects many of them.

use std::collections::BTreeSet;

use tokio_postgres::Row;

use super::select::Select;
use super::whole_tags;
use crate::id::TagId;
use crate::storage::postgres::row::{self, column};
use crate::storage::postgres::session::Session;
use crate::storage::{StorageError, TagFilter, TagList, TagSelect};
use crate::tag::{PropertyClass, PropertyKey, Tag};

/// A piece of the list, whole tags.
pub(super) async fn tags(session: &Session, list: &TagList) -> Result<Vec<Tag>, StorageError> {
    let (sql, select) = Select::page(list)?;
    let rows = session.rows_once(&sql, &select.parameters()).await?;
    let ids: Vec<i64> = rows
        .iter()
        .map(|row| column(row, 0))
        .collect::<Result<_, _>>()?;
    let tags = whole_tags(session, &ids).await?;
    Ok(tags.into_iter().map(|(tag, _)| tag).collect())
}

/// How many tags match.
pub(super) async fn count(session: &Session, filter: &TagFilter) -> Result<u64, StorageError> {
    let select = Select::new(filter);
    let sql = format!("SELECT count(*) FROM {}", select.clauses());
    let rows = session.rows_once(&sql, &select.parameters()).await?;
    rows.first().map_or(Ok(0), row::count)
}

/// All ids of a selection, rising.
pub(super) async fn ids(session: &Session, select: &TagSelect) -> Result<Vec<TagId>, StorageError> {
    let rows = match select {
        TagSelect::Filter(filter) => {
            let select = Select::new(filter);
            let sql = format!("SELECT t.id FROM {} ORDER BY t.id", select.clauses());
            session.rows_once(&sql, &select.parameters()).await?
        }
        TagSelect::Ranges { ranges, deleted } => {
            let (first, last): (Vec<i64>, Vec<i64>) =
                ranges.iter().map(|(first, last)| (first.0, last.0)).unzip();
            session
                .rows(
                    "SELECT DISTINCT t.id FROM unnest($1::BIGINT[], $2::BIGINT[]) AS ranges (first, last)
                     JOIN tags t ON t.id BETWEEN ranges.first AND ranges.last
                     WHERE (t.deleted_at IS NOT NULL) = $3 ORDER BY t.id",
                    &[&first, &last, deleted],
                )
                .await?
        }
    };
    rows.iter().map(|row| column(row, 0).map(TagId)).collect()
}

/// The keys of the properties of all tags that match.
pub(super) async fn property_keys(
    session: &Session,
    filter: &TagFilter,
) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
    let select = Select::new(filter);
    let sql = format!(
        "SELECT DISTINCT p.class, p.key FROM (SELECT t.id FROM {}) matching
         JOIN properties p ON p.tag_id = matching.id",
        select.clauses()
    );
    let rows = session.rows_once(&sql, &select.parameters()).await?;
    rows.iter().map(property_key).collect()
}

fn property_key(found: &Row) -> Result<(PropertyClass, PropertyKey), StorageError> {
    let unreadable = || row::unreadable("property");
    let class = PropertyClass::parse(column(found, 0)?).ok_or_else(unreadable)?;
    let key = PropertyKey::parse(column(found, 1)?).map_err(|_| unreadable())?;
    Ok((class, key))
}
