//! The newest state. The writer owns it, and all threads read it.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::{Changes, Stage, Staged};
use super::kinds::{Counter, Entry, Hour, Taps, Visit, Visitor};
use super::layer::Layer;
use super::pass::Pass;
use crate::StorageError;
use domain::id::{InteractionId, TagId};

/// Entries that a reader visits before it releases the lock for the writer: some 50 microseconds.
const STRETCH: usize = 1_000;

/// The part in memory of the state that follows from all committed taps.
#[derive(Default)]
pub(in crate::sqlite) struct State {
    pub(super) counters: Layer<Counter>,
    pub(super) visits: Layer<Visit>,
    pub(super) hours: Layer<Taps>,
    pub(super) order: Order,
    /// How often clean entries were dropped.
    drops: u64,
    failures: Failures,
}

/// Passes that were abandoned.
#[derive(Default)]
struct Failures {
    count: u64,
    /// The error of the last one.
    last: Option<StorageError>,
}

/// The progress of taps and of folding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// The highest id that an interaction ever had.
    pub(super) highest: i64,
    /// The rows contain the effects of all interactions up to this id.
    pub(super) mark: i64,
    /// The pass that is under way.
    pub(super) pass: Option<Pass>,
    /// How many passes are complete.
    pub(super) passes: u64,
}

impl State {
    /// The state that was read at a start: all unfolded entries, the highest id and the mark.
    pub(super) fn recovered(
        layers: (Layer<Counter>, Layer<Visit>, Layer<Taps>),
        highest: i64,
        mark: i64,
    ) -> Self {
        let (counters, visits, hours) = layers;
        Self {
            counters,
            visits,
            hours,
            order: Order {
                highest,
                mark,
                ..Order::default()
            },
            drops: 0,
            failures: Failures::default(),
        }
    }

    pub(super) fn dirty(&self) -> usize {
        self.counters.dirty_len() + self.visits.dirty_len() + self.hours.dirty_len()
    }

    fn take<E: Entry>(&mut self, staged: Staged<E>) {
        let mut drops = 0;
        let layer = E::layer_mut(self);
        for (key, stage) in staged {
            match stage {
                Stage::Dirty(entry) => layer.change(key, entry),
                Stage::Clean(entry) => drops += u64::from(layer.clean(key, entry)),
                Stage::Gone => {
                    layer.forget(&key);
                    // A reader that read the row before must read it again.
                    drops += if E::is_shown(&key) { 2 } else { 0 };
                }
            }
        }
        self.drops += drops;
    }
}

/// The state, shared between the writer and readers.
#[derive(Clone, Default)]
pub(in crate::sqlite) struct Folded(Arc<Mutex<State>>);

impl Folded {
    pub(super) fn new(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of `key`, if it is in memory. Otherwise its row is current, provided that it is
    /// read *after* this call, or within [`Self::exactly`].
    pub(in crate::sqlite) fn get<E: Entry>(&self, key: E::Key) -> Option<E> {
        E::layer(&self.state()).get(&key)
    }

    /// The newest interaction of a tag, if it is in memory.
    pub(in crate::sqlite) fn newest(&self, tag: Option<TagId>) -> Option<InteractionId> {
        let visit: Option<Visit> = self.get(Visitor::everyone(tag));
        visit.map(|visit| visit.last_interaction)
    }

    /// The taps of all clients together, for each tag that is newer than its row. The caller must
    /// read rows after this, because they contain entries that are folded meanwhile.
    pub(in crate::sqlite) fn everyone(&self) -> Vec<(TagId, Visit)> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let entries: Vec<_> = {
                let state = self.state();
                state.visits.dirty_entries(after).take(STRETCH).collect()
            };
            let Some((last, _)) = entries.last() else {
                return found;
            };
            after = Some(*last);
            let all = entries.iter().filter(|(visitor, _)| visitor.is_everyone());
            found.extend(all.filter_map(|(visitor, visit)| Some((visitor.tag()?, *visit))));
        }
    }

    /// The taps of these hours that are in memory. The caller must read rows after this.
    pub(in crate::sqlite) fn hours(&self, hours: &RangeInclusive<i64>) -> HashMap<Hour, Taps> {
        let state = self.state();
        let mut found = HashMap::new();
        for (hour, taps) in state.hours.entries() {
            if hours.contains(&hour.number) {
                found.entry(hour).or_insert(taps);
            }
        }
        found
    }

    /// Repeats `read`, which reads rows and then looks here for newer entries, until its result is
    /// exact. Between the two, an entry may be folded, and then dropped after two more generations
    /// of clean entries, so that `read` misses it in both places. Inconsistent data may have the
    /// same cause, so an error counts no more than a result.
    pub(in crate::sqlite) fn exactly<T>(
        &self,
        mut read: impl FnMut() -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        loop {
            let drops = self.state().drops;
            let found = read();
            if self.state().drops < drops + 2 {
                return found;
            }
        }
    }

    /// The highest id that a committed interaction ever had; 0 before the first.
    pub(in crate::sqlite) fn highest(&self) -> i64 {
        self.state().order.highest
    }

    /// How many entries are newer than their rows.
    pub(in crate::sqlite) fn dirty(&self) -> usize {
        self.state().dirty()
    }

    /// Whether a pass is under way.
    pub(in crate::sqlite) fn folds(&self) -> bool {
        self.state().order.pass.is_some()
    }

    /// How many passes are complete.
    pub(in crate::sqlite) fn passes(&self) -> u64 {
        self.state().order.passes
    }

    /// Applies the changes of a transaction, after its commit and before it is acknowledged.
    pub(in crate::sqlite) fn publish(&self, changes: Changes) {
        let mut state = self.state();
        state.order = changes.order;
        state.take(changes.counters);
        state.take(changes.visits);
        state.take(changes.hours);
    }

    /// Abandons a pass because of `error`. The next one starts at the first key.
    pub(in crate::sqlite) fn abandon_pass(&self, error: &StorageError) {
        let mut state = self.state();
        state.order.pass = None;
        state.failures.count += 1;
        state.failures.last = Some(error.clone());
    }

    /// How many passes were abandoned.
    pub(super) fn failures(&self) -> u64 {
        self.state().failures.count
    }

    /// The error of the last abandoned pass, if there were more than `failures`.
    pub(in crate::sqlite) fn failed_since(&self, failures: u64) -> Option<StorageError> {
        let state = self.state();
        let last = state.failures.last.as_ref();
        last.filter(|_| state.failures.count > failures).cloned()
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::Folding;
    use super::*;
    use domain::clock::Timestamp;
    use domain::interaction::ClientId;

    const TAG: TagId = TagId::new(7);

    fn client(number: u8) -> Visitor {
        Visitor::client(Some(TAG), ClientId([number; 16]))
    }

    fn visit(at: i64) -> Visit {
        Visit::and(None, Timestamp::from_millis(at), InteractionId::new(at))
    }

    /// Runs `change` as a transaction that needs no table.
    fn change(folded: &Folded, change: impl FnOnce(&mut Folding<'_>)) {
        let connection = Connection::open_in_memory().unwrap();
        let mut folding = Folding::new(&connection, folded);
        change(&mut folding);
        folded.publish(folding.into_changes());
    }

    #[test]
    fn what_is_read_while_an_entry_goes_is_read_again_even_if_it_was_an_error() {
        let folded = Folded::default();
        let forget = |visitor| change(&folded, |folding| folding.forget(visitor));
        let read = |going: Visitor, first: Result<i32, StorageError>| {
            let mut reads = 0;
            let answer = folded.exactly(|| {
                reads += 1;
                if reads > 1 {
                    return Ok(reads);
                }
                forget(going);
                first.clone()
            });
            (answer.ok(), reads)
        };
        let unreadable = || Err(StorageError::Failed("it does not fit".to_owned()));
        let everyone = Visitor::everyone(Some(TAG));
        assert_eq!(read(everyone, Ok(1)), (Some(2), 2));
        assert_eq!(read(everyone, unreadable()), (Some(2), 2));
        // Only the writer reads the entry of a single client.
        assert_eq!(read(client(1), Ok(1)), (Some(1), 1));
        assert_eq!(read(client(1), unreadable()), (None, 1));
    }

    #[test]
    fn clients_without_rows_are_forgotten_in_steps_and_those_of_other_tags_stay() {
        let folded = Folded::default();
        let (before, after) = (TagId::new(TAG.get() - 1), TagId::new(TAG.get() + 1));
        change(&folded, |folding| {
            for tag in [before, TAG, after] {
                folding.set(Visitor::everyone(Some(tag)), visit(1));
                for number in 1..=5 {
                    folding.set(Visitor::client(Some(tag), ClientId([number; 16])), visit(1));
                }
            }
        });
        change(&folded, |folding| {
            // One client that came in this transaction, and one whose row it removes.
            folding.set(client(6), visit(2));
            folding.forget(client(1));
            for gone in [2, 2, 1, 0] {
                assert_eq!(folding.forget_unfolded_clients(Some(TAG), 2), gone);
            }
        });
        assert_eq!(folded.dirty(), 13);
        let of_tag = (1..=6).filter_map(|number| folded.get::<Visit>(client(number)));
        assert_eq!(of_tag.count(), 0);
        assert_eq!(folded.get(Visitor::everyone(Some(TAG))), Some(visit(1)));
    }

    #[test]
    fn all_tags_that_are_newer_than_their_rows_are_found_in_stretches() {
        let folded = Folded::default();
        let many = i64::try_from(STRETCH).unwrap() * 2 + 1;
        change(&folded, |folding| {
            for tag in 1..=many {
                let id = Some(TagId::new(tag));
                folding.set(Visitor::everyone(id), visit(tag));
                folding.set(Visitor::client(id, ClientId([1; 16])), visit(tag));
            }
        });
        let found = folded.everyone();
        let expected = (1..=many).map(|tag| (TagId::new(tag), visit(tag)));
        assert!(found.into_iter().eq(expected));
    }
}
