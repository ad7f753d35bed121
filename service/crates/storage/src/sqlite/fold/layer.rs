//! Entries in memory in front of a table.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::kinds::Entry;

/// Clean entries of one generation; there are two. An entry takes 40 to 110 bytes, so the three
/// tables together keep at most about 90 MB.
const CLEAN: usize = 1 << 18;

/// Parts of a generation. A map that grows moves all its entries while taps wait. A part moves
/// fewer, and the parts do not grow all at once.
const PARTS: u64 = 32;

/// Clean entries that were added one after the other.
struct Generation<E: Entry> {
    parts: Vec<HashMap<E::Key, E>>,
    len: usize,
}

impl<E: Entry> Default for Generation<E> {
    fn default() -> Self {
        Self {
            parts: (0..PARTS).map(|_| HashMap::new()).collect(),
            len: 0,
        }
    }
}

impl<E: Entry> Generation<E> {
    /// The part of a key. The parts' own hashes are keyed; this one need not be, because nobody
    /// chooses keys.
    fn part(key: &E::Key) -> usize {
        usize::try_from(mixed(E::number(key)) % PARTS).unwrap_or_default()
    }

    fn get(&self, key: &E::Key) -> Option<&E> {
        self.parts[Self::part(key)].get(key)
    }

    fn insert(&mut self, key: E::Key, entry: E) {
        let part = Self::part(&key);
        let former = self.parts[part].insert(key, entry);
        self.len += usize::from(former.is_none());
    }

    fn remove(&mut self, key: &E::Key) {
        // The map would hash the key even if it were empty.
        if self.len > 0 {
            let former = self.parts[Self::part(key)].remove(key);
            self.len -= usize::from(former.is_some());
        }
    }

    fn entries(&self) -> impl Iterator<Item = (&E::Key, &E)> {
        self.parts.iter().flatten()
    }

    /// Removes all entries, and keeps their memory.
    fn clear(&mut self) {
        self.parts.iter_mut().for_each(HashMap::clear);
        self.len = 0;
    }
}

/// Mixes the bits of a number (the end of `SplitMix64`). Without it, the parts of numbers in a row
/// would be equally large, and grow all at once.
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The newest entries of a table. Other entries equal their rows.
pub(in crate::sqlite) struct Layer<E: Entry> {
    /// Entries that are newer than their rows, in the order of the table.
    dirty: BTreeMap<E::Key, E>,
    /// Entries that equal their rows, in two generations: when the young one is full, the old one
    /// is dropped.
    young: Generation<E>,
    old: Generation<E>,
}

impl<E: Entry> Default for Layer<E> {
    fn default() -> Self {
        Self {
            dirty: BTreeMap::new(),
            young: Generation::default(),
            old: Generation::default(),
        }
    }
}

impl<E: Entry> Layer<E> {
    /// A layer of dirty entries, which must come in the order of their keys.
    pub(super) fn dirty(entries: impl IntoIterator<Item = (E::Key, E)>) -> Self {
        Self {
            dirty: entries.into_iter().collect(),
            ..Self::default()
        }
    }

    pub(super) fn get(&self, key: &E::Key) -> Option<E> {
        let clean = || self.young.get(key).or_else(|| self.old.get(key));
        self.dirty.get(key).or_else(clean).copied()
    }

    /// Every entry, dirty ones before clean ones. A key may appear twice: the first one counts.
    pub(super) fn entries(&self) -> impl Iterator<Item = (E::Key, E)> {
        let clean = self.young.entries().chain(self.old.entries());
        let all = self.dirty.iter().chain(clean);
        all.map(|(key, entry)| (*key, *entry))
    }

    /// Entries newer than their rows, after `after`, in the order of their keys.
    pub(super) fn dirty_entries(&self, after: Option<E::Key>) -> impl Iterator<Item = (E::Key, E)> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.dirty
            .range((after, Bound::Unbounded))
            .map(|(key, entry)| (*key, *entry))
    }

    pub(super) fn dirty_len(&self) -> usize {
        self.dirty.len()
    }

    /// Dirty keys after `after`, in their order.
    pub(super) fn dirty_keys(&self, after: Option<E::Key>) -> impl Iterator<Item = E::Key> {
        self.dirty_entries(after).map(|(key, _)| key)
    }

    /// Stores an entry that is newer than its row.
    pub(super) fn change(&mut self, key: E::Key, entry: E) {
        if self.dirty.insert(key, entry).is_none() {
            self.forget_clean(&key);
        }
    }

    /// Stores an entry that equals its row. Returns whether older entries were dropped for it.
    pub(super) fn clean(&mut self, key: E::Key, entry: E) -> bool {
        self.dirty.remove(&key);
        self.young.insert(key, entry);
        let full = self.young.len >= CLEAN;
        if full {
            // Reuse the memory of the dropped generation: taps would wait while it is freed, and
            // while another one grows.
            std::mem::swap(&mut self.old, &mut self.young);
            self.young.clear();
        }
        full
    }

    /// Removes an entry, so that only its row counts.
    pub(super) fn forget(&mut self, key: &E::Key) {
        self.dirty.remove(key);
        self.forget_clean(key);
    }

    fn forget_clean(&mut self, key: &E::Key) {
        self.young.remove(key);
        self.old.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{Hour, Taps};
    use super::*;
    use domain::interaction::Reason;

    const fn key(number: i64) -> Hour {
        Hour {
            number,
            reason: Reason::Verified,
            simulated: false,
        }
    }

    #[test]
    fn memory_is_bounded_and_no_dirty_entry_is_dropped() {
        let many = i64::try_from(CLEAN).unwrap() * 3;
        let mut layer = Layer::<Taps>::default();
        layer.change(key(-1), Taps(7));
        let mut drops = 0;
        for hour in 0..many {
            drops += u32::from(layer.clean(key(hour), Taps(1)));
            assert!(layer.young.len + layer.old.len <= 2 * CLEAN);
        }
        assert_eq!(drops, 3);
        assert_eq!(layer.get(&key(-1)), Some(Taps(7)));
        assert_eq!(layer.get(&key(0)), None, "its row is right");
        assert_eq!(layer.get(&key(many - 1)), Some(Taps(1)));
        let largest = layer.old.parts.iter().map(HashMap::len).max();
        assert!(
            largest < Some(2 * CLEAN / layer.old.parts.len()),
            "{largest:?}"
        );
        assert_eq!(
            layer.old.parts.iter().map(HashMap::len).sum::<usize>(),
            layer.old.len
        );
    }

    #[test]
    fn the_parts_of_keys_in_a_row_differ_in_size() {
        let mut generation = Generation::<Taps>::default();
        for hour in 0..32_000 {
            generation.insert(key(hour), Taps(1));
        }
        let sizes = generation.parts.iter().map(HashMap::len);
        let (least, most) = (sizes.clone().min(), sizes.max());
        assert!(least > Some(800), "{least:?}");
        assert!(most < Some(1_200), "{most:?}");
        assert!(least < Some(970) && most > Some(1_030));
        for hour in 0..32_000 {
            generation.remove(&key(hour));
            generation.remove(&key(hour));
        }
        assert_eq!(generation.len, 0);
    }

    #[test]
    fn the_newest_entry_counts() {
        let mut layer = Layer::<Taps>::default();
        layer.clean(key(1), Taps(1));
        layer.change(key(1), Taps(2));
        assert_eq!(layer.entries().collect::<Vec<_>>(), [(key(1), Taps(2))]);
        layer.clean(key(1), Taps(3));
        assert_eq!((layer.get(&key(1)), layer.dirty_len()), (Some(Taps(3)), 0));
        layer.forget(&key(1));
        assert_eq!(layer.get(&key(1)), None);
    }
}
