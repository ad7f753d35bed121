//! Selects tags, with SQL composed from the request.
//!
//! PostgreSQL's planner finds the best way, because it knows the values and their frequency. In
//! SQLite there are two ways. A *walk* follows the index of the order and skips tags that do not
//! match; it is fast if many match. A *search* takes the candidates from the index of pieces of
//! text; it is fast if few match, and if the order is that of ids, in which the candidates come.

use crate::search::{containing, fold, pieces};
use crate::shared::dialect::Dialect;
use crate::value::Value;
use crate::{Invalid, StorageError, TagFilter, TagList, TagOrder, TagPlace};
use domain::clock::Timestamp;
use domain::id::TagId;
use domain::scope::Reach;
use domain::tag::Status;

/// The value for the last tap of a tag that was never tapped.
const NEVER: i64 = -1;

/// The source of the tags.
pub(super) enum Source {
    /// PostgreSQL: its planner chooses.
    Postgres,
    /// SQLite: a walk along ids.
    ById,
    /// SQLite: a walk along names.
    ByName,
    /// SQLite: a walk along the ids of deleted tags.
    Deleted,
    /// SQLite: the candidates of the index of pieces.
    Search { pieces: String },
}

impl Source {
    /// For SQLite: the candidates of a search if the index supports it, otherwise a walk along ids.
    pub(super) fn of(dialect: Dialect, filter: &TagFilter) -> Self {
        if dialect == Dialect::Postgres {
            return Self::Postgres;
        }
        match filter.q.as_deref().and_then(pieces) {
            Some(pieces) => Self::Search { pieces },
            None => Self::by_id(filter),
        }
    }

    /// SQLite: a walk along the ids of deleted tags or of the others.
    pub(super) const fn by_id(filter: &TagFilter) -> Self {
        if filter.deleted {
            Self::Deleted
        } else {
            Self::ById
        }
    }

    /// SQLite: a walk along names; deleted tags have no such index, and are walked along ids.
    pub(super) fn names(filter: &TagFilter) -> Self {
        if filter.deleted {
            Self::Deleted
        } else {
            Self::ByName
        }
    }

    /// The column with the tag's id.
    pub(super) const fn id(&self) -> &'static str {
        match self {
            Self::Search { .. } => "s.rowid",
            _ => "t.id",
        }
    }

    /// The tables to select from.
    const fn from(&self) -> &'static str {
        match self {
            Self::Postgres => "tags t",
            Self::ById => "tags t INDEXED BY tags_by_id",
            Self::ByName => "tags t INDEXED BY tags_by_name",
            Self::Deleted => "tags t INDEXED BY tags_deleted",
            Self::Search { .. } => "tags_search s CROSS JOIN tags t ON t.id = s.rowid",
        }
    }

    /// The expression that orders names. In both databases, A to Z compare like a to z.
    const fn name(&self) -> &'static str {
        match self {
            Self::Postgres => "t.name_order",
            _ => "t.name COLLATE NOCASE",
        }
    }
}

/// A `SELECT` statement under construction.
pub(super) struct Select {
    pub(super) source: Source,
    /// Whether the order compares taps, which are in another table.
    by_taps: bool,
    conditions: Vec<String>,
    pub(super) values: Vec<Value<'static>>,
}

impl Select {
    pub(super) fn new(filter: &TagFilter, reach: &Reach, source: Source) -> Self {
        let mut select = Self {
            source,
            by_taps: false,
            conditions: Vec::new(),
            values: Vec::new(),
        };
        if let Source::Search { pieces } = &select.source {
            let pieces = pieces.clone();
            let pieces = select.bind(pieces);
            let condition = format!("tags_search MATCH {pieces}");
            select.conditions.push(condition);
        }
        let deleted = if filter.deleted { "NOT NULL" } else { "NULL" };
        select.conditions.push(format!("t.deleted_at IS {deleted}"));
        let equal: [(_, Value<'_>); 5] = [
            ("simulated", filter.world.simulated().into()),
            ("status", filter.status.map(Status::as_str).into()),
            ("verifier_enabled", filter.verifier_enabled.into()),
            ("has_qr_code", filter.has_qr_code.into()),
            ("experience_id", filter.experience_id.into()),
        ];
        for (column, value) in equal {
            if value != Value::Null {
                let value = select.bind(value);
                select.conditions.push(format!("t.{column} = {value}"));
            }
        }
        if let Some(limit) = reach.limit() {
            let limit = select.bind(Value::list(limit));
            select
                .conditions
                .push(format!("t.experience_id IN ids({limit})"));
        }
        if let Some(assigned) = filter.assigned {
            let null = if assigned { "NOT NULL" } else { "NULL" };
            let condition = format!("t.experience_id IS {null}");
            select.conditions.push(condition);
        }
        if let Some(opened) = filter.opened {
            let not = if opened { "" } else { "NOT " };
            let id = select.source.id();
            let condition = format!("{id} {not}IN (SELECT o.tag_id FROM opened_tags o)");
            select.conditions.push(condition);
        }
        if let Some(q) = &filter.q {
            select.find(q);
        }
        select
    }

    /// Restricts the selection to these ids.
    pub(super) fn only(&mut self, ids: impl IntoIterator<Item = TagId>) {
        let ids = self.bind(Value::list(ids));
        self.conditions.push(format!("t.id IN ids({ids})"));
    }

    /// Restricts the selection to ids from `first` to `last`.
    pub(super) fn between(&mut self, first: u64, last: u64) {
        let id = self.source.id();
        let (first, last) = (self.bind(first), self.bind(last));
        self.conditions
            .push(format!("{id} BETWEEN {first} AND {last}"));
    }

    /// Restricts the selection to tags whose texts contain `q`.
    fn find(&mut self, q: &str) {
        let condition = if let Source::Postgres = self.source {
            let pattern = self.bind(containing(q));
            format!("t.folded LIKE {pattern} ESCAPE '\\'")
        } else {
            let folded = self.bind(fold(q));
            // The list of matching former slugs is short, and computed once.
            format!(
                "(holds({folded}, t.name, t.slug, t.title)
                  OR t.id IN (SELECT f.tag_id FROM former_slugs f WHERE holds({folded}, f.slug)))"
            )
        };
        self.conditions.push(condition);
    }

    /// The statement for the ids of a piece of the list, and its values.
    pub(super) fn page(
        list: &TagList,
        reach: &Reach,
        source: Source,
    ) -> Result<(String, Vec<Value<'static>>), StorageError> {
        let mut select = Self::new(&list.filter, reach, source);
        let id = select.source.id();
        let (key, by_taps) = match list.order {
            TagOrder::Created | TagOrder::CreatedDescending => (id, false),
            TagOrder::Name | TagOrder::NameDescending => (select.source.name(), false),
            TagOrder::Scans | TagOrder::ScansDescending => ("coalesce(v.scans, 0)", true),
            TagOrder::LastScan | TagOrder::LastScanDescending => ("coalesce(v.last_at, -1)", true),
        };
        select.by_taps = by_taps;
        let (beyond, direction) = if list.order.descends() {
            ("<", "DESC")
        } else {
            (">", "ASC")
        };
        if let Some(after) = &list.after {
            let (value, after) = place(list.order, after)?;
            select.begin_after(key, value, after, beyond);
        }
        let order = if key == id {
            format!("{id} {direction}")
        } else {
            format!("{key} {direction}, {id} {direction}")
        };
        let limit = select.bind(Value::limit(list.limit));
        let clauses = select.clauses();
        let sql = format!("SELECT {id} FROM {clauses} ORDER BY {order} LIMIT {limit}");
        Ok((sql, select.values))
    }

    /// Restricts the selection to tags beyond a place: `value` in the order of `key`, and an id.
    fn begin_after(
        &mut self,
        key: &str,
        value: Option<Value<'static>>,
        after: TagId,
        beyond: &str,
    ) {
        let id = self.source.id();
        let value = value.map(|value| self.bind(value));
        let after = self.bind(after);
        let condition = match (value, &self.source) {
            (None, _) => format!("{id} {beyond} {after}"),
            (Some(value), Source::Postgres) => format!("({key}, {id}) {beyond} ({value}, {after})"),
            // SQLite's index can seek by the first term; it cannot seek by a row value.
            (Some(value), _) => format!(
                "{key} {beyond}= {value} AND ({key} {beyond} {value} OR {id} {beyond} {after})"
            ),
        };
        self.conditions.push(condition);
    }

    /// Adds a value, and returns its placeholder in the statement.
    fn bind(&mut self, value: impl Into<Value<'static>>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// The SQL after `FROM`, up to the order.
    pub(super) fn clauses(&self) -> String {
        let from = self.source.from();
        let conditions = self.conditions.join(" AND ");
        let taps = if self.by_taps {
            "LEFT JOIN visits v ON v.tag_id = t.id AND v.client = x''"
        } else {
            ""
        };
        format!("{from} {taps} WHERE {conditions}")
    }
}

/// The value in `place` that `order` compares, and the id.
fn place(
    order: TagOrder,
    place: &TagPlace,
) -> Result<(Option<Value<'static>>, TagId), StorageError> {
    match (order, place) {
        (TagOrder::Created | TagOrder::CreatedDescending, TagPlace::Created(id)) => Ok((None, *id)),
        (TagOrder::Name | TagOrder::NameDescending, TagPlace::Name(name, id)) => {
            Ok((Some(name.to_ascii_lowercase().into()), *id))
        }
        (TagOrder::Scans | TagOrder::ScansDescending, TagPlace::Scans(scans, id)) => {
            Ok((Some((*scans).into()), *id))
        }
        (TagOrder::LastScan | TagOrder::LastScanDescending, TagPlace::LastScan(at, id)) => {
            Ok((Some(at.map_or(NEVER, Timestamp::millis).into()), *id))
        }
        _ => Err(Invalid::OtherOrder.into()),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, params_from_iter};

    use super::*;

    fn plan(connection: &Connection, list: &TagList, source: Source) -> String {
        let (sql, values) = Select::page(list, &Reach::EVERYTHING, source).unwrap();
        let mut explain = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let steps = explain.query_map(params_from_iter(values), |row| row.get::<_, String>(3));
        let steps: Vec<_> = steps.unwrap().map(Result::unwrap).collect();
        steps.join("; ")
    }

    #[test]
    fn a_page_begins_at_its_place_in_the_index_and_is_not_sorted() {
        let connection = crate::sqlite::in_memory();
        crate::sqlite::search::add_function(&connection).unwrap();
        let id = TagId::new(1);
        for (order, after, index) in [
            (
                TagOrder::Created,
                TagPlace::Created(id),
                "USING INDEX tags_by_id (id>?)",
            ),
            (
                TagOrder::CreatedDescending,
                TagPlace::Created(id),
                "USING INDEX tags_by_id (id<?)",
            ),
            (
                TagOrder::Name,
                TagPlace::Name(String::new(), id),
                "USING INDEX tags_by_name (name>?)",
            ),
            (
                TagOrder::NameDescending,
                TagPlace::Name(String::new(), id),
                "USING INDEX tags_by_name (name<?)",
            ),
        ] {
            let list = TagList {
                filter: TagFilter {
                    status: Some(Status::Archived),
                    ..TagFilter::default()
                },
                order,
                after: Some(after),
                limit: 51,
            };
            let source = if order.is_by_name() {
                Source::ByName
            } else {
                Source::ById
            };
            let plan = plan(&connection, &list, source);
            assert!(plan.contains(index), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
        let found = TagList {
            filter: TagFilter {
                q: Some("bottle".to_owned()),
                ..TagFilter::default()
            },
            order: TagOrder::Created,
            after: Some(TagPlace::Created(id)),
            limit: 51,
        };
        let source = Source::of(Dialect::Sqlite, &found.filter);
        let plan = plan(&connection, &found, source);
        assert!(plan.contains("SCAN s VIRTUAL TABLE INDEX"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}
