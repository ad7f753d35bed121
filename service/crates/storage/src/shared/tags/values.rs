//! Counts the values of an attribute, in bounded memory and, if asked to, in a bounded time. Like an
//! [estimate](super::estimate), it goes through ranges of ids.

use std::collections::HashMap;

use super::estimate::{ranges, spread, two_digits};
use super::in_groups::{Given, given};
use super::select::{Select, inherits};
use super::source::Source;
use super::wanted::Wanted;
use crate::shared::Query;
use crate::value::Value;
use crate::{COUNTING, StorageError, TagFilter, ValueCounts};
use domain::clock::Stopwatch;
use domain::id::GroupId;
use domain::tag::PropertyKey;

/// Most values that are counted at a time. If there are more, the rarest are given up: an attribute
/// of which each tag has another value has no frequent ones.
const VALUES: usize = 20_000;

/// The most frequent values, at most `limit`.
pub(super) async fn counts(
    db: &mut dyn Query,
    filter: &TagFilter,
    key: &PropertyKey,
    limit: usize,
    estimate: bool,
) -> Result<ValueCounts, StorageError> {
    let stopwatch = Stopwatch::start();
    let wanted = Wanted::of(db, filter).await?;
    let source = Source::of(db, filter, &wanted).await?;
    let mut counts = Counts::of_groups(given(db, key).await?);
    let ranges = ranges(db).await?;
    if ranges <= 1 || source.has_few(db).await? {
        let select = Select::new(filter, &wanted, db.reach(), source);
        counts.add(db, select, key).await?;
        return Ok(counts.most_frequent(limit, 1, 1));
    }
    let mut counted = 0;
    for range in spread(ranges) {
        let mut select = Select::new(filter, &wanted, db.reach(), source.clone());
        select.range(range);
        counts.add(db, select, key).await?;
        counted += 1;
        if estimate && stopwatch.elapsed() >= COUNTING {
            break;
        }
    }
    Ok(counts.most_frequent(limit, ranges, counted))
}

#[derive(Default)]
struct Counts {
    of: HashMap<String, u64>,
    /// The values of tags without one of their own, by their group.
    given: HashMap<GroupId, String>,
    /// Whether values were given up.
    incomplete: bool,
}

impl Counts {
    /// Counts for tags to which groups give these values.
    fn of_groups(given: Vec<Given>) -> Self {
        let given = given.into_iter().map(|given| (given.group, given.value));
        Self {
            given: given.collect(),
            ..Self::default()
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
            *self.of.entry(value).or_default() += count;
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
                *self.of.entry(value).or_default() += count;
            }
        }
        self.give_up_rarest();
        Ok(())
    }

    fn give_up_rarest(&mut self) {
        if self.of.len() > VALUES {
            let mut counts: Vec<u64> = self.of.values().copied().collect();
            let (_, least, _) = counts.select_nth_unstable(VALUES / 2);
            let least = *least;
            self.of.retain(|_, count| *count > least);
            self.incomplete = true;
        }
    }

    /// The most frequent values, if `counted` of all `ranges` were counted.
    fn most_frequent(self, limit: usize, ranges: u64, counted: u64) -> ValueCounts {
        let exact = counted == ranges && !self.incomplete;
        let mut values: Vec<_> = self.of.into_iter().collect();
        values.sort_unstable_by(|(one, of_one), (other, of_other)| {
            of_other.cmp(of_one).then_with(|| one.cmp(other))
        });
        values.truncate(limit);
        if !exact {
            for (_, count) in &mut values {
                *count = two_digits(*count * ranges / counted);
            }
        }
        ValueCounts { values, exact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: impl Iterator<Item = (usize, u64)>) -> Counts {
        let of = of.map(|(value, count)| (format!("v{value:06}"), count));
        Counts {
            of: of.collect(),
            ..Counts::default()
        }
    }

    #[test]
    fn the_most_frequent_come_first_and_equal_ones_by_their_text() {
        let counted = counts([(1, 2), (2, 40), (3, 2)].into_iter());
        let of = |value: &str, count| (value.to_owned(), count);
        let expected = ValueCounts {
            values: vec![of("v000002", 40), of("v000001", 2)],
            exact: true,
        };
        assert_eq!(counted.most_frequent(2, 9, 9), expected);
        let estimated = counts([(2, 41)].into_iter()).most_frequent(2, 90, 9);
        let expected = ValueCounts {
            values: vec![of("v000002", 410)],
            exact: false,
        };
        assert_eq!(estimated, expected);
    }

    #[test]
    fn of_too_many_values_the_frequent_ones_stay() {
        let mut some = counts((0..VALUES).map(|value| (value, 1)));
        some.give_up_rarest();
        assert!(!some.incomplete);
        let mut many = counts((0..=VALUES).map(|value| (value, if value < 30 { 9 } else { 1 })));
        many.give_up_rarest();
        assert_eq!((many.of.len(), many.incomplete), (30, true));
    }
}
