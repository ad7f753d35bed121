//! Counts the values of an attribute.

use std::collections::HashMap;

use super::in_groups::{Given, given};
use super::select::{Select, inherits};
use super::tally::{Parts, Tally};
use crate::shared::Query;
use crate::value::Value;
use crate::{COUNTING, StorageError, TagFilter, ValueCounts};
use domain::clock::Stopwatch;
use domain::id::GroupId;
use domain::tag::PropertyKey;

/// The most frequent values, at most `limit`.
pub(super) async fn counts(
    db: &mut dyn Query,
    filter: &TagFilter,
    key: &PropertyKey,
    limit: usize,
    estimate: bool,
) -> Result<ValueCounts, StorageError> {
    let stopwatch = Stopwatch::start();
    let parts = Parts::of(db, filter).await?;
    let mut counts = Counts::of_groups(given(db, key).await?);
    let mut counted = 0;
    for part in parts.all() {
        let select = parts.select(db.reach(), part);
        counts.add(db, select, key).await?;
        counted += 1;
        if estimate && stopwatch.elapsed() >= COUNTING {
            break;
        }
    }
    let (values, exact) = counts.tally.most_frequent(limit, parts.number(), counted);
    Ok(ValueCounts { values, exact })
}

struct Counts {
    tally: Tally<String>,
    /// The values of tags without one of their own, by their group.
    given: HashMap<GroupId, String>,
}

impl Counts {
    /// Counts for tags to which groups give these values.
    fn of_groups(given: Vec<Given>) -> Self {
        let given = given.into_iter().map(|given| (given.group, given.value));
        Self {
            tally: Tally::default(),
            given: given.collect(),
        }
    }

    /// Counts the values of the attribute in a selection.
    async fn add(
        &mut self,
        db: &mut dyn Query,
        mut select: Select,
        key: &PropertyKey,
    ) -> Result<(), StorageError> {
        let key = select.bind(key.to_string());
        let properties = select.with_properties();
        let sql = format!(
            "SELECT p.value, count(*) FROM {properties} AND p.class = 'attribute' AND p.key = {key}
             GROUP BY p.value"
        );
        for mut row in db.query_once(&sql, &select.values).await? {
            let (value, count): (String, u64) = (row.take()?, row.take()?);
            self.tally.add(value, count);
        }
        if !self.given.is_empty() {
            let groups = select.bind(Value::list(self.given.keys()));
            let (clauses, inherits) = (select.clauses(), inherits(&key));
            let sql = format!(
                "SELECT t.group_id, count(*) FROM {clauses} AND t.group_id IN ids({groups})
                 AND {inherits} GROUP BY t.group_id"
            );
            for mut row in db.query_once(&sql, &select.values).await? {
                let (group, count): (GroupId, u64) = (row.take()?, row.take()?);
                let value = self.given.get(&group).cloned().unwrap_or_default();
                self.tally.add(value, count);
            }
        }
        self.tally.give_up_rarest();
        Ok(())
    }
}
