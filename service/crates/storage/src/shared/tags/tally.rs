//! Counts values or keys in bounded memory and, if asked to, in a bounded time. Like an
//! [estimate](super::estimate), it goes through ranges of ids.

use std::collections::HashMap;
use std::hash::Hash;

use super::estimate::{ranges, spread, two_digits};
use super::select::Select;
use super::source::Source;
use super::wanted::Wanted;
use crate::shared::Query;
use crate::{StorageError, TagFilter};
use domain::scope::Reach;

/// Most items that are counted at a time. If there are more, the rarest are given up: an attribute
/// of which each tag has another value has no frequent ones.
const ITEMS: usize = 20_000;

/// The parts in which all tags that match a filter are counted or read.
pub(super) struct Parts<'a> {
    filter: &'a TagFilter,
    wanted: Wanted,
    source: Source,
    /// Number of ranges of ids; `None` if the tags are so few that they are one part.
    ranges: Option<u64>,
}

impl<'a> Parts<'a> {
    pub(super) async fn of(
        db: &mut dyn Query,
        filter: &'a TagFilter,
    ) -> Result<Self, StorageError> {
        let wanted = Wanted::of(db, filter).await?;
        let source = Source::of(db, filter, &wanted).await?;
        let ranges = ranges(db).await?;
        let whole = ranges <= 1 || source.has_few(db).await?;
        Ok(Self {
            filter,
            wanted,
            source,
            ranges: (!whole).then_some(ranges),
        })
    }

    /// How many parts there are.
    pub(super) fn number(&self) -> u64 {
        self.ranges.unwrap_or(1)
    }

    /// All parts, in an order of which any first few are spread over all ids.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> {
        spread(self.number())
    }

    /// Selects the tags of all parts.
    pub(super) fn select_all(&self, reach: &Reach) -> Select {
        Select::new(self.filter, &self.wanted, reach, self.source.clone())
    }

    /// Selects the tags of a part.
    pub(super) fn select(&self, reach: &Reach, part: u64) -> Select {
        let mut select = self.select_all(reach);
        if self.ranges.is_some() {
            select.range(part);
        }
        select
    }
}

/// How many tags have each item.
pub(super) struct Tally<T> {
    of: HashMap<T, u64>,
    /// Whether items were given up.
    incomplete: bool,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self {
            of: HashMap::new(),
            incomplete: false,
        }
    }
}

impl<T: Eq + Hash + Ord> Tally<T> {
    pub(super) fn add(&mut self, item: T, count: u64) {
        *self.of.entry(item).or_default() += count;
    }

    /// Gives up the rarest items if there are too many.
    pub(super) fn give_up_rarest(&mut self) {
        if self.of.len() > ITEMS {
            let mut counts: Vec<u64> = self.of.values().copied().collect();
            let (_, least, _) = counts.select_nth_unstable(ITEMS / 2);
            let least = *least;
            self.of.retain(|_, count| *count > least);
            self.incomplete = true;
        }
    }

    /// The most frequent items, at most `limit`, if `counted` of all `parts` were counted, and
    /// whether their counts are exact.
    pub(super) fn most_frequent(
        self,
        limit: usize,
        parts: u64,
        counted: u64,
    ) -> (Vec<(T, u64)>, bool) {
        let exact = counted == parts && !self.incomplete;
        let mut items: Vec<_> = self.of.into_iter().collect();
        items.sort_unstable_by(|(one, of_one), (other, of_other)| {
            of_other.cmp(of_one).then_with(|| one.cmp(other))
        });
        items.truncate(limit);
        if !exact {
            for (_, count) in &mut items {
                *count = two_digits(*count * parts / counted);
            }
        }
        (items, exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(of: impl Iterator<Item = (usize, u64)>) -> Tally<String> {
        let of = of.map(|(item, count)| (format!("v{item:06}"), count));
        Tally {
            of: of.collect(),
            ..Tally::default()
        }
    }

    #[test]
    fn the_most_frequent_come_first_and_equal_ones_by_their_text() {
        let counted = tally([(1, 2), (2, 40), (3, 2)].into_iter());
        let of = |item: &str, count| (item.to_owned(), count);
        let expected = (vec![of("v000002", 40), of("v000001", 2)], true);
        assert_eq!(counted.most_frequent(2, 9, 9), expected);
        let estimated = tally([(2, 41)].into_iter()).most_frequent(2, 90, 9);
        assert_eq!(estimated, (vec![of("v000002", 410)], false));
    }

    #[test]
    fn of_too_many_items_the_frequent_ones_stay() {
        let mut some = tally((0..ITEMS).map(|item| (item, 1)));
        some.give_up_rarest();
        assert!(!some.incomplete);
        let mut many = tally((0..=ITEMS).map(|item| (item, if item < 30 { 9 } else { 1 })));
        many.give_up_rarest();
        assert_eq!((many.of.len(), many.incomplete), (30, true));
    }
}
