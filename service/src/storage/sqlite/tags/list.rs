//! Selecting tags, in SQL that is put together from what is asked for.
//!
//! There are two ways to the tags. A *walk* goes along the index of the order
//! and skips what does not match; it is fast where much matches. A *search*
//! takes the candidates of the index of pieces of text; it is fast where little
//! matches, and where the order is that of ids, in which the candidates come.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::clock::Timestamp;
use crate::id::TagId;
use crate::storage::sqlite::{row, search};
use crate::storage::{Conflict, StorageError, TagFilter, TagList, TagOrder, TagPlace, TagSelect};
use crate::tag::{PropertyClass, PropertyKey, Tag};

/// Candidates up to which a search beats a walk in an order other than that of ids.
const FEW: i64 = 5_000;

/// Stands for the last tap of a tag that was never tapped.
const NEVER: i64 = -1;

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
    let select = Select::new(filter, by_candidates(filter));
    let sql = format!("SELECT count(*) FROM {}", select.clauses());
    let mut statement = connection.prepare_cached(&sql)?;
    let count: i64 = statement.query_row(params_from_iter(&select.values), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// All ids of a selection, rising.
pub(super) fn ids(connection: &Connection, select: &TagSelect) -> Result<Vec<TagId>, StorageError> {
    match select {
        TagSelect::Filter(filter) => {
            let select = Select::new(filter, by_candidates(filter));
            let id = select.source.id();
            let sql = format!("SELECT {id} FROM {} ORDER BY {id}", select.clauses());
            read_ids(connection, &sql, &select.values)
        }
        TagSelect::Ranges(ranges) => {
            let mut ranges = ranges.clone();
            ranges.sort_unstable();
            let (mut ids, mut read_to) = (Vec::new(), i64::MIN);
            for (TagId(first), TagId(last)) in ranges {
                // Ranges may overlap; each tag is read once.
                let first = first.max(read_to.saturating_add(1));
                read_to = read_to.max(last);
                let sql = "SELECT id FROM tags WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
                ids.extend(read_ids(connection, sql, &[first.into(), last.into()])?);
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
    let select = Select::new(filter, by_candidates(filter));
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
    let by_id = matches!(list.order, TagOrder::Created | TagOrder::CreatedDescending);
    let by_name = matches!(list.order, TagOrder::Name | TagOrder::NameDescending);
    let source = match by_candidates(&list.filter) {
        Source::Search { ref pieces } if by_name && !are_few(connection, pieces)? => {
            Source::names(&list.filter)
        }
        Source::ById if by_name => Source::names(&list.filter),
        source => source,
    };
    let mut select = Select::new(&list.filter, source);
    let id = select.source.id();
    let key = match list.order {
        TagOrder::Created | TagOrder::CreatedDescending => id,
        TagOrder::Name | TagOrder::NameDescending => "t.name COLLATE NOCASE",
        TagOrder::Scans | TagOrder::ScansDescending => "coalesce(v.scans, 0)",
        TagOrder::LastScan | TagOrder::LastScanDescending => "coalesce(v.last_at, -1)",
    };
    let (beyond, direction) = if list.order.descends() {
        ("<", "DESC")
    } else {
        (">", "ASC")
    };
    if let Some(after) = &list.after {
        match place(list.order, after)? {
            (None, after) => {
                let after = select.bind(after.0);
                select.conditions.push(format!("{id} {beyond} {after}"));
            }
            (Some(value), after) => {
                let value = select.bind(value);
                let after = select.bind(after.0);
                // The first term is what the index can seek; a row value is not.
                select.conditions.push(format!(
                    "{key} {beyond}= {value} AND ({key} {beyond} {value} OR {id} {beyond} {after})"
                ));
            }
        }
    }
    let order = if by_id {
        format!("{id} {direction}")
    } else {
        format!("{key} {direction}, {id} {direction}")
    };
    let limit = select.bind(i64::try_from(list.limit).unwrap_or(i64::MAX));
    let clauses = select.clauses();
    let sql = format!("SELECT {id} FROM {clauses} ORDER BY {order} LIMIT {limit}");
    read_ids(connection, &sql, &select.values)
}

/// What `order` looks at in `place`, and the id.
fn place(order: TagOrder, place: &TagPlace) -> Result<(Option<Value>, TagId), StorageError> {
    match (order, place) {
        (TagOrder::Created | TagOrder::CreatedDescending, TagPlace::Created(id)) => Ok((None, *id)),
        (TagOrder::Name | TagOrder::NameDescending, TagPlace::Name(name, id)) => {
            Ok((Some(name.clone().into()), *id))
        }
        (TagOrder::Scans | TagOrder::ScansDescending, TagPlace::Scans(scans, id)) => {
            Ok((Some(scans.cast_signed().into()), *id))
        }
        (TagOrder::LastScan | TagOrder::LastScanDescending, TagPlace::LastScan(at, id)) => {
            Ok((Some(at.map_or(NEVER, Timestamp::millis).into()), *id))
        }
        _ => Err(Conflict::Invalid("after is a place in another order.".to_owned()).into()),
    }
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

/// Where tags come from.
enum Source {
    /// A walk along ids.
    ById,
    /// A walk along names.
    ByName,
    /// A walk along the ids of deleted tags.
    Deleted,
    /// The candidates of the index of pieces.
    Search { pieces: String },
}

/// The candidates of a search where there is one that the index can do; else a walk along ids.
fn by_candidates(filter: &TagFilter) -> Source {
    match filter.q.as_deref().and_then(search::pieces) {
        Some(pieces) => Source::Search { pieces },
        None if filter.deleted => Source::Deleted,
        None => Source::ById,
    }
}

impl Source {
    fn names(filter: &TagFilter) -> Self {
        if filter.deleted {
            Self::Deleted
        } else {
            Self::ByName
        }
    }

    const fn id(&self) -> &'static str {
        match self {
            Self::Search { .. } => "s.rowid",
            _ => "t.id",
        }
    }
}

/// A `SELECT` in the making.
struct Select {
    source: Source,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Select {
    fn new(filter: &TagFilter, source: Source) -> Self {
        let mut select = Self {
            source,
            conditions: Vec::new(),
            values: Vec::new(),
        };
        if let Source::Search { pieces } = &select.source {
            let pieces = pieces.clone();
            let pieces = select.bind(pieces);
            select
                .conditions
                .push(format!("tags_search MATCH {pieces}"));
        }
        let deleted = if filter.deleted { "NOT NULL" } else { "NULL" };
        select.conditions.push(format!("t.deleted_at IS {deleted}"));
        let equal = [
            ("simulated", filter.world.simulated().map(Value::from)),
            (
                "status",
                filter
                    .status
                    .map(|status| status.as_str().to_owned().into()),
            ),
            ("verifier_enabled", filter.verifier_enabled.map(Value::from)),
            ("experience_id", filter.experience_id.map(|id| id.0.into())),
        ];
        for (column, value) in equal {
            if let Some(value) = value {
                let value = select.bind(value);
                select.conditions.push(format!("t.{column} = {value}"));
            }
        }
        if let Some(q) = &filter.q {
            let folded = select.bind(search::fold(q));
            select
                .conditions
                .push(format!("holds({folded}, t.name, t.slug, t.title)"));
        }
        select
    }

    /// Keeps a value, and answers its place in the statement.
    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// What follows `FROM`, up to the order.
    fn clauses(&self) -> String {
        let source = match self.source {
            Source::ById => "tags t INDEXED BY tags_by_id",
            Source::ByName => "tags t INDEXED BY tags_by_name",
            Source::Deleted => "tags t INDEXED BY tags_deleted",
            Source::Search { .. } => "tags_search s CROSS JOIN tags t ON t.id = s.rowid",
        };
        let conditions = self.conditions.join(" AND ");
        format!(
            "{source} LEFT JOIN visits v ON v.tag_id = t.id AND v.client = x'' WHERE {conditions}"
        )
    }
}
