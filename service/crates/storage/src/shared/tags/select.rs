//! Selects tags, with SQL composed from the request.
//!
//! PostgreSQL's planner finds the best way, because it knows the values and their frequency. In
//! SQLite there are two ways. A *walk* follows the index of the order and skips tags that do not
//! match; it is fast if many match. A *search* takes the candidates from the index of pieces of
//! text; it is fast if few match, and if the order is that of ids, in which the candidates come.

use super::source::Source;
use super::wanted::{Attribute, Elsewhere, Others, Wanted, Word};
use crate::search::{containing, runs_of};
use crate::shared::callers;
use crate::shared::groups::{below, is_in, leads, leads_to};
use crate::value::Value;
use crate::{Invalid, StorageError, TagFilter, TagList, TagOrder, TagPlace};
use domain::clock::Timestamp;
use domain::id::TagId;
use domain::scope::Reach;
use domain::tag::Status;

/// The value for the last tap of a tag that was never tapped.
const NEVER: i64 = -1;

/// The join with the taps `v` of each tag.
const TAPS: &str = "LEFT JOIN visits v ON v.tag_id = t.id AND v.client = x''";

/// The join with the number `tests` of each tag's test taps.
const TESTS: &str =
    "LEFT JOIN (SELECT tag_id, count(*) AS taps FROM test_taps GROUP BY tag_id) tests
     ON tests.tag_id = t.id";

/// How often visitors tapped a tag. SQLite writes `visits` later than `test_taps`, so the difference
/// could be negative for some seconds.
const VISITORS_TAPS: &str = "CASE WHEN v.scans > coalesce(tests.taps, 0)
     THEN v.scans - coalesce(tests.taps, 0) ELSE 0 END";

/// A `SELECT` statement under construction.
pub(super) struct Select {
    pub(super) source: Source,
    /// The tables to select from.
    from: String,
    /// The joins with the tables of taps, if the order compares them.
    taps: &'static [&'static str],
    conditions: Vec<String>,
    pub(super) values: Vec<Value<'static>>,
}

impl Select {
    pub(super) fn new(filter: &TagFilter, wanted: &Wanted, reach: &Reach, source: Source) -> Self {
        let mut select = Self {
            source,
            from: String::new(),
            taps: &[],
            conditions: Vec::new(),
            values: Vec::new(),
        };
        select.from = match select.source.clone() {
            Source::Search { pieces } => {
                let pieces = select.bind(pieces);
                select
                    .conditions
                    .push(format!("tags_search MATCH {pieces}"));
                "tags_search s CROSS JOIN tags t ON t.id = s.rowid".to_owned()
            }
            Source::Candidates { pieces, others } => {
                let Others { tags, groups } = others;
                let pieces = select.bind(pieces);
                let (tags, groups) = (
                    select.bind(Value::list(&tags)),
                    select.bind(Value::list(&groups)),
                );
                format!(
                    "(SELECT rowid AS id FROM tags_search WHERE tags_search MATCH {pieces}
                      UNION SELECT o.id FROM tags o WHERE o.id IN ids({tags})
                      UNION SELECT o.id FROM tags o WHERE o.group_id IN ids({groups})) s
                     CROSS JOIN tags t ON t.id = s.id"
                )
            }
            Source::Postgres => "tags t".to_owned(),
            Source::ById => "tags t INDEXED BY tags_by_id".to_owned(),
            Source::ByName => "tags t INDEXED BY tags_by_name".to_owned(),
            Source::Deleted => "tags t INDEXED BY tags_deleted".to_owned(),
        };
        let deleted = if filter.deleted { "NOT NULL" } else { "NULL" };
        select.conditions.push(format!("t.deleted_at IS {deleted}"));
        let equal: [(_, Value<'_>); 4] = [
            ("simulated", filter.world.simulated().into()),
            ("status", filter.status.map(Status::as_str).into()),
            ("verifier_enabled", filter.verifier_enabled.into()),
            ("has_qr_code", filter.has_qr_code.into()),
        ];
        for (column, value) in equal {
            if value != Value::Null {
                let value = select.bind(value);
                select.conditions.push(format!("t.{column} = {value}"));
            }
        }
        let dialect = select.source.dialect();
        if let Some(experience) = filter.experience_id {
            let experience = select.bind(experience);
            let condition = leads_to(dialect, "t.", &experience);
            select.conditions.push(condition);
        }
        if let Some(group) = filter.group_id {
            let group = select.bind(group);
            let condition = is_in(dialect, "t.group_id", &below(&group));
            select.conditions.push(condition);
        }
        let reached = callers::tags(reach, "t.");
        if !reached.is_empty() {
            select.conditions.push(format!("TRUE{reached}"));
        }
        if let Some(assigned) = filter.assigned {
            let not = if assigned { "" } else { "NOT " };
            let condition = format!("{not}{}", leads(dialect, "t."));
            select.conditions.push(condition);
        }
        if let Some(opened) = filter.opened {
            let not = if opened { "" } else { "NOT " };
            let id = select.source.id();
            let condition = format!("{id} {not}IN (SELECT o.tag_id FROM opened_tags o)");
            select.conditions.push(condition);
        }
        if let Some(has_inlay) = filter.has_inlay {
            let not = if has_inlay { "" } else { "NOT " };
            select.conditions.push(format!(
                "{not}EXISTS (SELECT 1 FROM inlays i WHERE i.tag_id = t.id AND i.deleted_at IS NULL)"
            ));
        }
        for word in &wanted.words {
            select.find(word);
        }
        for attribute in &wanted.attributes {
            select.has_value(attribute);
        }
        select.tapped(filter);
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

    /// Restricts the selection to tags in which `word` is found.
    fn find(&mut self, word: &Word) {
        let in_text = if self.source.is_postgres() {
            self.text_has(&word.text)
        } else {
            let text = self.bind(word.text.clone());
            format!("instr(t.folded, {text}) > 0")
        };
        let in_text = if word.groups.is_empty() {
            in_text
        } else {
            let groups = self.bind(Value::list(&word.groups.ids));
            format!("(t.group_id IN ids({groups}) OR {in_text})")
        };
        let condition = match &word.elsewhere {
            Elsewhere::Nowhere => in_text,
            Elsewhere::Tags(tags) => {
                let tags = self.bind(Value::list(tags));
                format!("({in_text} OR t.id IN ids({tags}))")
            }
            Elsewhere::Uids(part) => {
                let dialect = self.source.dialect();
                let is_in_uid = part.is_in_uid(dialect, |value| self.bind(value));
                format!(
                    "({in_text} OR EXISTS (SELECT 1 FROM inlays i WHERE i.tag_id = t.id
                      AND i.deleted_at IS NULL AND {is_in_uid}))"
                )
            }
        };
        self.conditions.push(condition);
    }

    /// PostgreSQL: the condition that the text of a tag has a part, by the indexes of its pieces.
    fn text_has(&mut self, part: &str) -> String {
        let pattern = self.bind(containing(part));
        let mut condition = format!("t.folded LIKE {pattern} ESCAPE '\\'");
        if let Some(runs) = runs_of(part) {
            let runs = self.bind(runs);
            condition = format!(
                "({condition} AND strpos(t.folded, chr(30)) > 0
                  AND string_to_array(substr(t.folded, strpos(t.folded, chr(30))), chr(30))
                      @> string_to_array({runs}, chr(30)))"
            );
        }
        condition
    }

    /// Restricts the selection to tags with one of the values of an attribute.
    fn has_value(&mut self, attribute: &Attribute) {
        let (key, values) = (
            self.bind(attribute.key.to_string()),
            self.bind(Value::list(&attribute.values)),
        );
        let mut condition = format!(
            "EXISTS (SELECT 1 FROM properties p WHERE p.tag_id = t.id AND p.class = 'attribute'
              AND p.key = {key} AND p.value IN texts({values}))"
        );
        if self.source.is_postgres() {
            // Values have no index of their own: it would make each update of a variable write to
            // all indexes of its row. The text of the tag has one.
            let texts = attribute.texts.iter();
            let texts = texts.map(|text| self.text_has(text));
            let texts = texts.collect::<Vec<_>>().join(" OR ");
            condition = format!("({texts}) AND {condition}");
        }
        if !attribute.groups.is_empty() {
            let groups = self.bind(Value::list(&attribute.groups.ids));
            let inherits = inherits(&key);
            condition = format!("({condition} OR t.group_id IN ids({groups}) AND {inherits})");
        }
        self.conditions.push(condition);
    }

    /// Restricts the selection to tags whose last tap is within the filter's time.
    fn tapped(&mut self, filter: &TagFilter) {
        let (since, until) = (filter.tapped_since, filter.tapped_until);
        if since.is_none() && until.is_none() {
            return;
        }
        let mut within = String::new();
        for (compare, at) in [(">=", since), ("<", until)] {
            if let Some(at) = at {
                let at = self.bind(at);
                within = format!("{within} AND l.last_at {compare} {at}");
            }
        }
        self.conditions.push(format!(
            "EXISTS (SELECT 1 FROM visits l WHERE l.tag_id = t.id AND l.client = x''{within})"
        ));
    }

    /// The statement for the ids of a piece of the list, and its values.
    pub(super) fn page(
        list: &TagList,
        wanted: &Wanted,
        reach: &Reach,
        source: Source,
    ) -> Result<(String, Vec<Value<'static>>), StorageError> {
        let mut select = Self::new(&list.filter, wanted, reach, source);
        let id = select.source.id();
        let (key, taps): (_, &[_]) = match list.order {
            TagOrder::Created | TagOrder::CreatedDescending => (id, &[]),
            TagOrder::Name | TagOrder::NameDescending => (select.source.name(), &[]),
            TagOrder::Scans | TagOrder::ScansDescending => (VISITORS_TAPS, &[TAPS, TESTS]),
            TagOrder::LastScan | TagOrder::LastScanDescending => {
                ("coalesce(v.last_at, -1)", &[TAPS])
            }
        };
        select.taps = taps;
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
    pub(super) fn bind(&mut self, value: impl Into<Value<'static>>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// The SQL after `FROM` for the properties `p` of all tags of the selection, `matching`, up to
    /// their conditions.
    pub(super) fn with_properties(&self) -> String {
        // SQLite joins tables in the order of a CROSS JOIN: the matching tags must come first.
        let join = if self.source.is_postgres() {
            "JOIN"
        } else {
            "CROSS JOIN"
        };
        let (id, clauses) = (self.source.id(), self.clauses());
        format!(
            "(SELECT {id} AS id, t.group_id FROM {clauses}) matching
             {join} properties p ON p.tag_id = matching.id"
        )
    }

    /// The SQL after `FROM`, up to the order.
    pub(super) fn clauses(&self) -> String {
        let from = &self.from;
        let conditions = self.conditions.join(" AND ");
        let taps = self.taps.join(" ");
        format!("{from} {taps} WHERE {conditions}")
    }
}

/// The condition that a tag has no value of its own for the attribute `key`.
pub(super) fn inherits(key: &str) -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM properties n WHERE n.tag_id = t.id AND n.class = 'attribute'
          AND n.key = {key})"
    )
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
    use crate::shared::dialect::Dialect;
    use crate::shared::inlays::UidPart;
    use crate::shared::tags::in_groups::InGroups;

    fn plan(connection: &Connection, list: &TagList, wanted: &Wanted, source: Source) -> String {
        let page = Select::page(list, wanted, &Reach::EVERYTHING, source);
        let (sql, values) = page.unwrap();
        let sql = Dialect::Sqlite.say(&sql).into_owned();
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
            let plan = plan(&connection, &list, &Wanted::default(), source);
            assert!(plan.contains(index), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
        let list = TagList {
            filter: TagFilter::default(),
            order: TagOrder::Created,
            after: Some(TagPlace::Created(id)),
            limit: 51,
        };
        let word = |elsewhere| {
            let text = "04de".to_owned();
            let groups = InGroups::default();
            let words = vec![Word {
                text,
                elsewhere,
                groups,
            }];
            Wanted {
                words,
                ..Wanted::default()
            }
        };
        let pieces = || "\"04d\" AND \"4de\"".to_owned();
        let nowhere = word(Elsewhere::Nowhere);
        let search = Source::Search { pieces: pieces() };
        let plan_of = |wanted: Wanted, source| plan(&connection, &list, &wanted, source);
        let found = plan_of(nowhere, search);
        assert!(found.contains("SCAN s VIRTUAL TABLE INDEX"), "{found}");
        assert!(!found.contains("TEMP B-TREE"), "{found}");
        let candidates = Source::Candidates {
            pieces: pieces(),
            others: Others {
                tags: vec![id],
                groups: Vec::new(),
            },
        };
        let found = plan_of(word(Elsewhere::Tags(vec![id])), candidates);
        assert!(
            found.contains("SEARCH t USING INTEGER PRIMARY KEY"),
            "{found}"
        );
        let many = word(Elsewhere::Uids(UidPart::of("04de").unwrap()));
        let found = plan_of(many, Source::ById);
        assert!(found.contains("USING INDEX tags_by_id (id>?)"), "{found}");
        assert!(found.contains("SEARCH i USING INDEX inlays_tag"), "{found}");
    }
}
