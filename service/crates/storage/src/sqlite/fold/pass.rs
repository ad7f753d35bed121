//! A pass over the dirty entries, in slices.

use std::time::Duration;

use super::changes::{Folding, Stage};
use super::kinds::{Counter, Entry, Hour, Taps, Visit, Visitor};
use crate::StorageError;
use domain::clock::Stopwatch;
use domain::id::InlayId;

/// Rows between two checks of the time and of the dirty entries.
const STEP: usize = 32;

/// A pass that is under way: table by table, each in the order of its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    at: LastFolded,
    /// The highest id of an interaction when the pass began: only effects up to it are certain to
    /// be in the rows when the pass ends.
    up_to: i64,
}

/// The last key that was folded.
#[derive(Clone, Copy, Debug)]
enum LastFolded {
    Counters(Option<InlayId>),
    Visits(Option<Visitor>),
    Hours(Option<Hour>),
}

impl Pass {
    pub(super) const fn up_to(highest: i64) -> Self {
        Self {
            at: LastFolded::Counters(None),
            up_to: highest,
        }
    }
}

/// How much of a pass is done at once.
#[derive(Clone, Copy, Debug)]
pub(in crate::sqlite) struct Slice {
    /// At least this many rows, if there are as many, regardless of the time.
    pub(in crate::sqlite) least: usize,
    /// At most this many rows.
    pub(in crate::sqlite) rows: usize,
    /// At most this long, plus one step.
    pub(in crate::sqlite) time: Duration,
}

impl Slice {
    /// Short enough that a tap does not notice it.
    pub(in crate::sqlite) const SHORT: Self = Self {
        least: 1,
        rows: usize::MAX,
        time: Duration::from_millis(2),
    };
    /// A slice may be this long when no tap is waiting.
    pub(in crate::sqlite) const LONG: Self = Self {
        least: 1,
        rows: usize::MAX,
        time: Duration::from_millis(20),
    };
}

impl Folding<'_> {
    /// Continues the pass that is under way, if there is one. Returns whether more is left.
    pub(in crate::sqlite) fn fold(&mut self, slice: Slice) -> Result<bool, StorageError> {
        let stopwatch = Stopwatch::start();
        let step = slice.rows.min(STEP);
        let mut rows = 0;
        while rows < slice.rows && (rows < slice.least || stopwatch.elapsed() < slice.time) {
            let Some(pass) = self.changes.order.pass else {
                return Ok(false);
            };
            let at = match pass.at {
                LastFolded::Counters(after) => match self.step::<Counter>(after, step)? {
                    Some(last) => LastFolded::Counters(Some(last)),
                    None => LastFolded::Visits(None),
                },
                LastFolded::Visits(after) => match self.step::<Visit>(after, step)? {
                    Some(last) => LastFolded::Visits(Some(last)),
                    None => LastFolded::Hours(None),
                },
                LastFolded::Hours(after) => {
                    let Some(last) = self.step::<Taps>(after, step)? else {
                        self.finish(pass)?;
                        return Ok(false);
                    };
                    LastFolded::Hours(Some(last))
                }
            };
            self.changes.order.pass = Some(Pass { at, ..pass });
            rows += step;
        }
        Ok(true)
    }

    /// Folds the next few entries after `after`. Returns the key of the last one, `None` if there
    /// was none.
    fn step<E: Entry>(
        &mut self,
        after: Option<E::Key>,
        rows: usize,
    ) -> Result<Option<E::Key>, StorageError> {
        let keys: Vec<_> = {
            let state = self.folded.state();
            E::layer(&state).dirty_keys(after).take(rows).collect()
        };
        for key in &keys {
            let staged = E::staged(&self.changes).get(key);
            if !matches!(staged, Some(Stage::Clean(_) | Stage::Gone))
                && let Some(entry) = self.peek::<E>(*key)
            {
                self.put(*key, entry)?;
            }
        }
        Ok(keys.last().copied())
    }

    fn finish(&mut self, pass: Pass) -> Result<(), StorageError> {
        if pass.up_to != self.changes.order.mark {
            self.move_mark(pass.up_to)?;
        }
        self.changes.order.pass = None;
        self.changes.order.passes += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::Folded;
    use super::*;
    use crate::sqlite::in_memory;
    use domain::interaction::Reason;

    /// Folds one slice in its own transaction. Returns whether more is left.
    fn fold(connection: &Connection, folded: &Folded, slice: Slice) -> bool {
        let mut folding = Folding::new(connection, folded);
        if !folded.folds() {
            folding.begin_pass();
        }
        let more = folding.fold(slice).unwrap();
        folded.publish(folding.into_changes());
        more
    }

    #[test]
    fn a_slice_has_no_more_rows_than_its_time_allows_and_as_many_as_it_must() {
        const DIRTY: usize = 10_000;
        let connection = in_memory();
        let folded = Folded::default();
        let mut taps = Folding::new(&connection, &folded);
        for number in 0..10_000 {
            let hour = Hour {
                number,
                reason: Reason::Verified,
                simulated: false,
            };
            taps.set(hour, Taps(1));
        }
        folded.publish(taps.into_changes());
        let slice = Slice {
            time: Duration::ZERO,
            ..Slice::SHORT
        };
        // The pass first visits the tables of counters and of visitors, which are empty.
        assert!(fold(&connection, &folded, slice));
        assert!(fold(&connection, &folded, slice));
        assert_eq!(folded.dirty(), DIRTY);
        assert!(fold(&connection, &folded, slice));
        assert_eq!(folded.dirty(), DIRTY - STEP);
        let least = Slice {
            least: 100,
            ..slice
        };
        assert!(fold(&connection, &folded, least));
        assert_eq!(
            folded.dirty(),
            DIRTY - STEP - 100usize.next_multiple_of(STEP)
        );
        while fold(&connection, &folded, least) {}
        assert_eq!(folded.dirty(), 0);
    }
}
