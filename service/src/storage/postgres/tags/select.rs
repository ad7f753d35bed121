//! Selecting tags, in SQL that is put together from what is asked for.
//!
//! The planner finds the way: it knows the values, and how many tags have them.

use tokio_postgres::types::{ToSql, Type};

use crate::clock::Timestamp;
use crate::storage::postgres::row;
use crate::storage::{Conflict, StorageError, TagFilter, TagList, TagOrder, TagPlace};

/// Stands for the last tap of a tag that was never tapped.
const NEVER: i64 = -1;

type Value = (Box<dyn ToSql + Sync + Send>, Type);

/// A `SELECT` in the making.
pub(super) struct Select {
    /// Whether the order looks at taps, which lie in a table of their own.
    by_taps: bool,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Select {
    pub(super) fn new(filter: &TagFilter) -> Self {
        let deleted = if filter.deleted { "NOT NULL" } else { "NULL" };
        let mut select = Self {
            by_taps: false,
            conditions: vec![format!("t.deleted_at IS {deleted}")],
            values: Vec::new(),
        };
        if let Some(simulated) = filter.world.simulated() {
            select.equal("simulated", simulated, Type::BOOL);
        }
        if let Some(status) = filter.status {
            select.equal("status", status.as_str(), Type::TEXT);
        }
        if let Some(enabled) = filter.verifier_enabled {
            select.equal("verifier_enabled", enabled, Type::BOOL);
        }
        if let Some(experience) = filter.experience_id {
            select.equal("experience_id", experience.0, Type::INT8);
        }
        if let Some(assigned) = filter.assigned {
            let null = if assigned { "NOT NULL" } else { "NULL" };
            let condition = format!("t.experience_id IS {null}");
            select.conditions.push(condition);
        }
        if let Some(q) = &filter.q {
            let pattern = select.bind(row::containing(q), Type::TEXT);
            select.conditions.push(format!("t.folded LIKE {pattern}"));
        }
        select
    }

    /// The ids of a piece of the list: a statement and its values.
    pub(super) fn page(list: &TagList) -> Result<(String, Self), StorageError> {
        let mut select = Self::new(&list.filter);
        let key = match list.order {
            TagOrder::Created | TagOrder::CreatedDescending => None,
            TagOrder::Name | TagOrder::NameDescending => Some("t.name_order"),
            TagOrder::Scans | TagOrder::ScansDescending => Some("coalesce(v.scans, 0)"),
            TagOrder::LastScan | TagOrder::LastScanDescending => Some("coalesce(v.last_at, -1)"),
        };
        select.by_taps = key.is_some() && !list.order.is_by_name();
        let (beyond, direction) = if list.order.descends() {
            ("<", "DESC")
        } else {
            (">", "ASC")
        };
        if let Some(after) = &list.after {
            select.begin_after(list.order, after, beyond)?;
        }
        let order = match key {
            None => format!("t.id {direction}"),
            Some(key) => format!("{key} {direction}, t.id {direction}"),
        };
        let limit = select.bind(row::limit(list.limit), Type::INT8);
        let clauses = select.clauses();
        let sql = format!("SELECT t.id FROM {clauses} ORDER BY {order} LIMIT {limit}");
        Ok((sql, select))
    }

    /// Leaves out what is not beyond `place`.
    fn begin_after(
        &mut self,
        order: TagOrder,
        place: &TagPlace,
        beyond: &str,
    ) -> Result<(), StorageError> {
        let (key, value, id) = match (order, place) {
            (TagOrder::Created | TagOrder::CreatedDescending, TagPlace::Created(id)) => {
                let id = self.bind(id.0, Type::INT8);
                self.conditions.push(format!("t.id {beyond} {id}"));
                return Ok(());
            }
            (TagOrder::Name | TagOrder::NameDescending, TagPlace::Name(name, id)) => {
                let name = name.to_ascii_lowercase();
                ("t.name_order", self.bind(name, Type::TEXT), id)
            }
            (TagOrder::Scans | TagOrder::ScansDescending, TagPlace::Scans(scans, id)) => {
                let scans = self.bind(scans.cast_signed(), Type::INT8);
                ("coalesce(v.scans, 0)", scans, id)
            }
            (TagOrder::LastScan | TagOrder::LastScanDescending, TagPlace::LastScan(at, id)) => {
                let at = self.bind(at.map_or(NEVER, Timestamp::millis), Type::INT8);
                ("coalesce(v.last_at, -1)", at, id)
            }
            _ => {
                let why = "after is a place in another order.".to_owned();
                return Err(Conflict::Invalid(why).into());
            }
        };
        let id = self.bind(id.0, Type::INT8);
        self.conditions
            .push(format!("({key}, t.id) {beyond} ({value}, {id})"));
        Ok(())
    }

    fn equal(&mut self, column: &str, value: impl ToSql + Sync + Send + 'static, of: Type) {
        let value = self.bind(value, of);
        self.conditions.push(format!("t.{column} = {value}"));
    }

    /// Keeps a value, and answers its place in the statement.
    fn bind(&mut self, value: impl ToSql + Sync + Send + 'static, of: Type) -> String {
        self.values.push((Box::new(value), of));
        format!("${}", self.values.len())
    }

    /// The values, in their places.
    pub(super) fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let values = self.values.iter();
        values
            .map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone()))
            .collect()
    }

    /// What follows `FROM`, up to the order.
    pub(super) fn clauses(&self) -> String {
        let conditions = self.conditions.join(" AND ");
        let from = if self.by_taps {
            row::TAG_FROM
        } else {
            "tags t"
        };
        format!("{from} WHERE {conditions}")
    }
}
