//! Lists of tags, and everything else that selects many of them.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::select::{Select, Source};
use crate::id::TagId;
use crate::storage::sqlite::row;
use crate::storage::{StorageError, TagFilter, TagList, TagSelect};
use crate::tag::{PropertyClass, PropertyKey, Tag};

/// Candidates up to which a search beats a walk in an order other than that of ids.
const FEW: i64 = 5_000;

/// A piece of the list, whole tags.
pub(super) fn tags(connection: &Connection, list: &TagList) -> Result<Vec<Tag>, StorageError> {
    // One transaction: the tags are read as they were selected.
    let snapshot = connection.unchecked_transaction()?;
    let ids = page(&snapshot, list)?;
    let tags = ids.into_iter().map(|id| super::any_tag(&snapshot, id));
    let tags = tags.filter_map(Result::transpose);
    tags.map(|found| found.map(|(tag, _)| tag)).collect()
}

/// How many tags match.
pub(super) fn count(connection: &Connection, filter: &TagFilter) -> Result<u64, StorageError> {
    let select = Select::new(filter, Source::of(filter));
    let sql = format!("SELECT count(*) FROM {}", select.clauses());
    let mut statement = connection.prepare_cached(&sql)?;
    let count: i64 = statement.query_row(params_from_iter(&select.values), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// All ids of a selection, rising.
pub(super) fn ids(connection: &Connection, select: &TagSelect) -> Result<Vec<TagId>, StorageError> {
    match select {
        TagSelect::Filter(filter) => {
            let select = Select::new(filter, Source::of(filter));
            let id = select.source.id();
            let sql = format!("SELECT {id} FROM {} ORDER BY {id}", select.clauses());
            read_ids(connection, &sql, &select.values)
        }
        TagSelect::Ranges { ranges, deleted } => {
            let null = if *deleted { "NOT NULL" } else { "NULL" };
            let sql = format!(
                "SELECT id FROM tags WHERE id BETWEEN ?1 AND ?2 AND deleted_at IS {null} ORDER BY id"
            );
            let mut ranges = ranges.clone();
            ranges.sort_unstable();
            let (mut ids, mut read_to) = (Vec::new(), i64::MIN);
            for (TagId(first), TagId(last)) in ranges {
                // Ranges may overlap; each tag is read once.
                let first = first.max(read_to.saturating_add(1));
                read_to = read_to.max(last);
                ids.extend(read_ids(connection, &sql, &[first.into(), last.into()])?);
            }
            Ok(ids)
        }
    }
}

/// The keys of the properties of all tags that match.
pub(super) fn property_keys(
    connection: &Connection,
    filter: &TagFilter,
) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
    let select = Select::new(filter, Source::of(filter));
    let (id, clauses) = (select.source.id(), select.clauses());
    let mut statement = connection.prepare_cached(&format!(
        "SELECT DISTINCT p.class, p.key FROM (SELECT {id} AS id FROM {clauses}) matching
         CROSS JOIN properties p ON p.tag_id = matching.id"
    ))?;
    let mut rows = statement.query(params_from_iter(&select.values))?;
    let mut keys = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let unreadable = || row::unreadable("property");
        let (class, key): (String, String) = (row.get(0)?, row.get(1)?);
        let class = PropertyClass::parse(&class).ok_or_else(unreadable)?;
        let key = PropertyKey::parse(&key).map_err(|_| unreadable())?;
        keys.insert((class, key));
    }
    Ok(keys)
}

fn page(connection: &Connection, list: &TagList) -> Result<Vec<TagId>, StorageError> {
    let by_name = list.order.is_by_name();
    let source = match Source::of(&list.filter) {
        Source::Search { ref pieces } if by_name && !are_few(connection, pieces)? => {
            Source::names(&list.filter)
        }
        Source::ById if by_name => Source::names(&list.filter),
        source => source,
    };
    let (sql, values) = Select::page(list, source)?;
    read_ids(connection, &sql, &values)
}

fn are_few(connection: &Connection, pieces: &str) -> Result<bool, StorageError> {
    let candidates: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM tags_search WHERE tags_search MATCH ?1 LIMIT ?2)",
        )?
        .query_row((pieces, FEW), |row| row.get(0))?;
    Ok(candidates < FEW)
}

fn read_ids(
    connection: &Connection,
    sql: &str,
    values: &[Value],
) -> Result<Vec<TagId>, StorageError> {
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map(params_from_iter(values), |row| row.get(0).map(TagId))?;
    Ok(ids.collect::<Result<_, _>>()?)
}
