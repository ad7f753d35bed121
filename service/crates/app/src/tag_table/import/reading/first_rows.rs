//! Finds texts that occur in more than one row of a large file, in little memory.

use std::hash::{BuildHasher as _, RandomState};

/// The first row of each text. A million texts would take a hundred megabytes, so only their 64-bit
/// hashes are kept, with a random key. Two of a million texts have equal hashes in one of
/// 10,000,000 files.
///
/// It never grows, because the number of rows is known: a map that grows takes three times the
/// memory meanwhile.
pub(super) struct FirstRows {
    hash: RandomState,
    /// Number of places, an eighth more than there can be texts.
    places: usize,
    /// The hash at each place, 0 for none. A hash is at the place that it chooses, or at the next
    /// one that is free. There are no places before the first text.
    hashes: Vec<u64>,
    /// The row at each place.
    rows: Vec<u32>,
}

impl FirstRows {
    /// For at most `most` texts.
    pub(super) fn of(most: usize) -> Self {
        Self {
            hash: RandomState::new(),
            places: most + most / 8 + 1,
            hashes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The hash of a text, never 0.
    pub(super) fn key(&self, text: &[u8]) -> u64 {
        self.hash.hash_one(text).max(1)
    }

    /// The row that was added for a text with this hash.
    pub(super) fn row(&self, key: u64) -> Option<u32> {
        if self.hashes.is_empty() {
            return None;
        }
        let place = self.place(key);
        (self.hashes[place] == key).then(|| self.rows[place])
    }

    /// Adds a text that has no row yet.
    pub(super) fn add(&mut self, key: u64, row: u32) {
        if self.hashes.is_empty() {
            self.hashes = vec![0; self.places];
            self.rows = vec![0; self.places];
        }
        let place = self.place(key);
        self.hashes[place] = key;
        self.rows[place] = row;
    }

    /// The place of a hash, or the free one where it belongs.
    fn place(&self, key: u64) -> usize {
        let chosen = key % self.places as u64;
        let mut place = usize::try_from(chosen).unwrap_or_default();
        while self.hashes[place] != 0 && self.hashes[place] != key {
            place = (place + 1) % self.places;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_texts_has_its_own_row() {
        let mut first = FirstRows::of(10_000);
        let text = |row: u32| row.to_string().into_bytes();
        for row in 0..10_000 {
            let key = first.key(&text(row));
            assert_eq!(first.row(key), None, "{row}");
            first.add(key, row);
        }
        for row in 0..10_000 {
            assert_eq!(first.row(first.key(&text(row))), Some(row));
        }
        assert_eq!(first.row(first.key(b"another")), None);
    }

    #[test]
    fn hashes_that_choose_the_same_place_are_kept_apart() {
        let mut first = FirstRows::of(3);
        let places = first.places as u64;
        let keys = [places - 1, 2 * places - 1, 3 * places - 1];
        for (row, key) in (7..).zip(keys) {
            first.add(key, row);
        }
        let rows: Vec<_> = keys.iter().map(|key| first.row(*key)).collect();
        assert_eq!(rows, [Some(7), Some(8), Some(9)]);
        assert_eq!(first.row(4 * places - 1), None);
    }
}
