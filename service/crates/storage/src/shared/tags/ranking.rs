//! Tags ordered by their taps, in memory.
//!
//! A table in such an order would make each tap write to further pages. So the order is kept here
//! instead, is rebuilt from changes, and serves the pages of lists.

use std::collections::HashMap;

use crate::{TagOrder, TagPlace};
use domain::clock::Timestamp;
use domain::id::TagId;

/// How often visitors tapped a tag, and when anybody tapped it last.
pub(crate) type Taps = (u64, Timestamp);

/// The compared value, and the tag's id.
type Entry = (i64, i64);

/// Tags in both orders, as of one moment. It takes 33 bytes for each tag that was ever tapped.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    by_scans: Vec<Entry>,
    by_last: Vec<Entry>,
    /// One bit for each id: whether the tag is in `by_scans`, because a visitor tapped it.
    visited: Vec<u64>,
    /// One bit for each id: whether the tag is in `by_last`, because anybody tapped it.
    tapped: Vec<u64>,
    /// The highest id of any tag.
    newest: i64,
}

impl Ranking {
    /// Builds the ranking from all `taps`; no tag has an id above `newest`, which is 0 without tags.
    pub(crate) fn new(taps: &[(TagId, Taps)], newest: i64) -> Self {
        let entries = |key: Key| {
            let entries = taps.iter().map(|(id, taps)| (key(taps), id.get()));
            let mut entries: Vec<_> = entries.filter(|(key, _)| *key != NEVER).collect();
            entries.sort_unstable();
            entries
        };
        let bits = |key: Key| {
            let ids = taps.iter().map(|(id, taps)| (*id, key(taps) != NEVER));
            with_bits(Vec::new(), ids, newest)
        };
        Self {
            by_scans: entries(scans),
            by_last: entries(last),
            visited: bits(scans),
            tapped: bits(last),
            newest,
        }
    }

    /// A copy of the ranking, updated with the tags that were tapped since.
    pub(crate) fn with(&self, taps: &HashMap<TagId, Taps>, newest: i64) -> Self {
        let bits = |before: &[u64], key: Key| {
            let ids = taps.iter().map(|(id, taps)| (*id, key(taps) != NEVER));
            with_bits(before.to_vec(), ids, newest)
        };
        Self {
            by_scans: merged(&self.by_scans, taps, scans),
            by_last: merged(&self.by_last, taps, last),
            visited: bits(&self.visited, scans),
            tapped: bits(&self.tapped, last),
            newest,
        }
    }

    /// The highest id of any tag at the time of the ranking; 0 without tags.
    pub(crate) const fn newest(&self) -> i64 {
        self.newest
    }

    /// The tags after `after` in an order by taps, each with its place.
    pub(crate) fn tags<'a>(
        &'a self,
        order: TagOrder,
        after: Option<&TagPlace>,
    ) -> Box<dyn Iterator<Item = (TagId, TagPlace)> + Send + 'a> {
        let by_scans = matches!(order, TagOrder::Scans | TagOrder::ScansDescending);
        let (tapped, bits) = if by_scans {
            (&self.by_scans, &self.visited)
        } else {
            (&self.by_last, &self.tapped)
        };
        let place = move |(key, id): Entry| {
            let id = TagId::new(id);
            let place = match (by_scans, key) {
                (true, key) => TagPlace::Scans(key.max(0).unsigned_abs(), id),
                (false, NEVER) => TagPlace::LastScan(None, id),
                (false, key) => TagPlace::LastScan(Some(Timestamp::from_millis(key)), id),
            };
            (id, place)
        };
        let never = if by_scans { 0 } else { NEVER };
        let after = after.and_then(entry);
        if order.descends() {
            let end = after.map_or(tapped.len(), |after| {
                tapped.partition_point(|entry| *entry < after)
            });
            let last = match after {
                Some((key, id)) if key == never => id - 1,
                _ => self.newest,
            };
            let untapped = (1..=last).rev().filter(|id| !is_set(bits, *id));
            let untapped = untapped.map(move |id| (never, id));
            Box::new(
                tapped[..end]
                    .iter()
                    .rev()
                    .copied()
                    .chain(untapped)
                    .map(place),
            )
        } else {
            let begin = after.map_or(0, |after| tapped.partition_point(|entry| *entry <= after));
            let first = match after {
                Some((key, id)) if key == never => id.saturating_add(1),
                Some(_) => i64::MAX,
                None => 1,
            };
            let untapped = (first..=self.newest).filter(|id| !is_set(bits, *id));
            let untapped = untapped.map(move |id| (never, id));
            Box::new(untapped.chain(tapped[begin..].iter().copied()).map(place))
        }
    }
}

fn is_set(bits: &[u64], id: i64) -> bool {
    bit(id).is_some_and(|(word, bit)| bits.get(word).is_some_and(|word| word & bit > 0))
}

/// The value for the last tap of a tag that was never tapped.
const NEVER: i64 = -1;

fn entry(place: &TagPlace) -> Option<Entry> {
    match place {
        TagPlace::Scans(scans, id) => Some((i64::try_from(*scans).unwrap_or(i64::MAX), id.get())),
        TagPlace::LastScan(last, id) => Some((last.map_or(NEVER, Timestamp::millis), id.get())),
        TagPlace::Created(_) | TagPlace::Name(..) | TagPlace::Attribute(..) => None,
    }
}

/// The value that an order compares; [`NEVER`] if the tag counts as one that was never tapped.
type Key = fn(&Taps) -> i64;

fn scans((scans, _): &Taps) -> i64 {
    match scans {
        0 => NEVER,
        scans => i64::try_from(*scans).unwrap_or(i64::MAX),
    }
}

const fn last((_, last): &Taps) -> i64 {
    last.millis()
}

/// One bit for each id up to `newest`: those of `tags` as they say, and the others as in `bits`.
fn with_bits(
    mut bits: Vec<u64>,
    tags: impl Iterator<Item = (TagId, bool)>,
    newest: i64,
) -> Vec<u64> {
    bits.resize(usize::try_from(newest / 64 + 1).unwrap_or_default(), 0);
    for (id, is_set) in tags {
        if let Some((word, bit)) = bit(id.get())
            && let Some(word) = bits.get_mut(word)
        {
            *word = if is_set { *word | bit } else { *word & !bit };
        }
    }
    bits
}

/// The index of the word with the bit of an id, and the bit.
fn bit(id: i64) -> Option<(usize, u64)> {
    Some((usize::try_from(id / 64).ok()?, 1 << id.rem_euclid(64)))
}

/// `entries`, with the tags in `changed` moved to their new places.
fn merged(entries: &[Entry], changed: &HashMap<TagId, Taps>, key: Key) -> Vec<Entry> {
    let mut new: Vec<Entry> = changed
        .iter()
        .map(|(id, taps)| (key(taps), id.get()))
        .filter(|(key, _)| *key != NEVER)
        .collect();
    new.sort_unstable();
    let mut new = new.into_iter().peekable();
    let mut all = Vec::with_capacity(entries.len() + changed.len());
    let kept = entries.iter();
    for entry in kept.filter(|(_, id)| !changed.contains_key(&TagId::new(*id))) {
        while let Some(before) = new.next_if(|new| new < entry) {
            all.push(before);
        }
        all.push(*entry);
    }
    all.extend(new);
    all.shrink_to_fit();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taps(of: &[(i64, u64, i64)]) -> Vec<(TagId, Taps)> {
        let of = of.iter();
        of.map(|(id, scans, at)| (TagId::new(*id), (*scans, Timestamp::from_millis(*at))))
            .collect()
    }

    /// All ids in an order, read in pages of `limit`.
    fn ids(ranking: &Ranking, order: TagOrder, limit: usize) -> Vec<i64> {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let page: Vec<_> = ranking.tags(order, after.as_ref()).take(limit).collect();
            let Some((_, last)) = page.last() else {
                return ids;
            };
            after = Some(last.clone());
            ids.extend(page.iter().map(|(id, _)| id.get()));
        }
    }

    #[test]
    fn every_tag_is_there_once_in_each_order_whatever_the_pages_are() {
        let first = taps(&[(1, 3, 100), (4, 1, 300), (5, 3, 200)]);
        let ranking = Ranking::new(&first, 6);
        for limit in 1..=7 {
            let all = |order| ids(&ranking, order, limit);
            assert_eq!(all(TagOrder::Scans), [2, 3, 6, 4, 1, 5]);
            assert_eq!(all(TagOrder::ScansDescending), [5, 1, 4, 6, 3, 2]);
            assert_eq!(all(TagOrder::LastScan), [2, 3, 6, 1, 5, 4]);
            assert_eq!(all(TagOrder::LastScanDescending), [4, 5, 1, 6, 3, 2]);
        }
    }

    #[test]
    fn a_tag_that_only_staff_tapped_is_among_those_without_taps_and_has_a_last_one() {
        let first = taps(&[(1, 0, 100), (4, 1, 300), (5, 0, 200)]);
        let before = Ranking::new(&first, 6);
        let since = taps(&[(4, 0, 400), (5, 2, 500)]);
        let after = before.with(&since.into_iter().collect(), 6);
        for limit in 1..=7 {
            let all = |ranking, order| ids(ranking, order, limit);
            assert_eq!(all(&before, TagOrder::Scans), [1, 2, 3, 5, 6, 4]);
            assert_eq!(all(&before, TagOrder::ScansDescending), [4, 6, 5, 3, 2, 1]);
            assert_eq!(all(&before, TagOrder::LastScan), [2, 3, 6, 1, 5, 4]);
            assert_eq!(all(&after, TagOrder::Scans), [1, 2, 3, 4, 6, 5]);
            assert_eq!(all(&after, TagOrder::LastScan), [2, 3, 6, 1, 4, 5]);
        }
    }

    #[test]
    fn what_was_tapped_since_stands_at_its_new_place() {
        let ranking = Ranking::new(&taps(&[(1, 3, 100), (4, 1, 300)]), 130);
        let since = taps(&[(1, 4, 400), (130, 1, 500)]);
        let ranking = ranking.with(&since.into_iter().collect(), 131);
        let first = |order| {
            let tags = ranking.tags(order, None).take(4);
            tags.map(|(id, _)| id.get()).collect::<Vec<_>>()
        };
        assert_eq!(first(TagOrder::ScansDescending), [1, 130, 4, 131]);
        assert_eq!(first(TagOrder::LastScanDescending), [130, 1, 4, 131]);
        assert_eq!(first(TagOrder::LastScan), [2, 3, 5, 6]);
    }
}
