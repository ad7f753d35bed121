//! The newest state, owned by the writer and read by all.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::{Changes, Stage, Staged};
use super::kinds::{Counter, Entry, Hour, Taps, Visit, Visitor};
use super::layer::Layer;
use super::pass::Pass;
use crate::id::{InteractionId, TagId};
use crate::storage::StorageError;

/// What follows from all committed taps, as far as it is in memory.
#[derive(Default)]
pub(in crate::storage::sqlite) struct State {
    pub(super) counters: Layer<Counter>,
    pub(super) visits: Layer<Visit>,
    pub(super) hours: Layer<Taps>,
    pub(super) order: Order,
    /// How often clean entries were dropped.
    drops: u64,
}

/// Where taps and the fold stand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// The highest id that an interaction ever had.
    pub(super) highest: i64,
    /// What follows from interactions up to this id is in the rows.
    pub(super) mark: i64,
    /// The pass that is under way.
    pub(super) pass: Option<Pass>,
    /// How many passes are done.
    pub(super) passes: u64,
}

impl State {
    /// What was read at a start: everything that is not folded, the highest id and the mark.
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
                    // Who read the row before must read it again.
                    drops += 2;
                }
            }
        }
        self.drops += drops;
    }
}

/// The state, shared between the writer and readers.
#[derive(Clone, Default)]
pub(in crate::storage::sqlite) struct Folded(Arc<Mutex<State>>);

impl Folded {
    pub(super) fn new(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of `key`, if it is in memory; else its row is right, provided that it is
    /// read *after* this, or within [`Self::exactly`].
    pub(in crate::storage::sqlite) fn get<E: Entry>(&self, key: E::Key) -> Option<E> {
        E::layer(&self.state()).get(&key)
    }

    /// The newest interaction of a tag, if it is in memory.
    pub(in crate::storage::sqlite) fn newest(&self, tag: TagId) -> Option<InteractionId> {
        let visit: Option<Visit> = self.get(Visitor::everyone(tag));
        visit.map(|visit| visit.last_interaction)
    }

    /// What is known of all clients together, for each tag that is newer than its row.
    pub(in crate::storage::sqlite) fn everyone(&self) -> Vec<(TagId, Visit)> {
        let state = self.state();
        let entries = state.visits.dirty_entries();
        let all = entries.filter(|(visitor, _)| visitor.is_everyone());
        all.map(|(visitor, visit)| (visitor.tag(), visit)).collect()
    }

    /// The taps of these hours that are in memory. Rows are to be read after this.
    pub(in crate::storage::sqlite) fn hours(
        &self,
        hours: &RangeInclusive<i64>,
    ) -> HashMap<Hour, Taps> {
        let state = self.state();
        let mut found = HashMap::new();
        for (hour, taps) in state.hours.entries() {
            if hours.contains(&hour.number) {
                found.entry(hour).or_insert(taps);
            }
        }
        found
    }

    /// Runs `read`, which reads rows and then looks here for newer entries, until its answer
    /// is exact. Between the two an entry may be folded, and be dropped when two further
    /// generations of clean ones have come: then it was missed in both places.
    pub(in crate::storage::sqlite) fn exactly<T>(
        &self,
        mut read: impl FnMut() -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        loop {
            let drops = self.state().drops;
            let found = read()?;
            if self.state().drops < drops + 2 {
                return Ok(found);
            }
        }
    }

    /// How many entries are newer than their rows.
    pub(in crate::storage::sqlite) fn dirty(&self) -> usize {
        self.state().dirty()
    }

    /// Whether a pass is under way.
    pub(in crate::storage::sqlite) fn folds(&self) -> bool {
        self.state().order.pass.is_some()
    }

    /// How many passes are done.
    pub(in crate::storage::sqlite) fn passes(&self) -> u64 {
        self.state().order.passes
    }

    /// Takes over what a transaction came to. It is committed, and not told yet.
    pub(in crate::storage::sqlite) fn publish(&self, changes: Changes) {
        let mut state = self.state();
        state.order = changes.order;
        state.take(changes.counters);
        state.take(changes.visits);
        state.take(changes.hours);
    }

    /// Gives up a pass. The next one begins at the first key again.
    pub(in crate::storage::sqlite) fn abandon_pass(&self) {
        self.state().order.pass = None;
    }
}
