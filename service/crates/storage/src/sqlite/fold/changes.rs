//! The effects of one of the writer's transactions on the folded state. They are visible only after
//! the commit, and are dropped if it fails.

use std::collections::BTreeMap;
use std::ops::Bound;

use rusqlite::Connection;

use super::kinds::{Counter, Entry, Taps, Visit, Visitor};
use super::pass::Pass;
use super::state::{Folded, Order};
use crate::StorageError;
use domain::clock::Timestamp;
use domain::id::{InlayId, InteractionId, TagId};

/// An entry as a transaction changes it.
#[derive(Clone, Copy, Debug)]
pub(in crate::sqlite) enum Stage<E> {
    /// The entry is newer than its row.
    Dirty(E),
    /// The entry equals its row.
    Clean(E),
    /// The entry is not in memory: only its row counts, if there is one.
    Gone,
}

pub(in crate::sqlite) type Staged<E> = BTreeMap<<E as Entry>::Key, Stage<E>>;

/// The changes of one transaction to the folded state.
pub(in crate::sqlite) struct Changes {
    pub(super) counters: Staged<Counter>,
    pub(super) visits: Staged<Visit>,
    pub(super) hours: Staged<Taps>,
    pub(super) order: Order,
}

/// The folded state as a transaction sees it, including its own changes.
pub(in crate::sqlite) struct Folding<'a> {
    pub(super) connection: &'a Connection,
    pub(super) folded: &'a Folded,
    pub(super) changes: Changes,
}

impl<'a> Folding<'a> {
    pub(in crate::sqlite) fn new(connection: &'a Connection, folded: &'a Folded) -> Self {
        let changes = Changes {
            counters: BTreeMap::new(),
            visits: BTreeMap::new(),
            hours: BTreeMap::new(),
            order: folded.state().order,
        };
        Self {
            connection,
            folded,
            changes,
        }
    }

    /// The transaction's changes, to publish after its commit.
    pub(in crate::sqlite) fn into_changes(self) -> Changes {
        self.changes
    }

    /// The entry of `key`, from memory or from its row.
    pub(in crate::sqlite) fn get<E: Entry>(
        &mut self,
        key: E::Key,
    ) -> Result<Option<E>, StorageError> {
        if let Some(entry) = self.peek(key) {
            return Ok(Some(entry));
        }
        let loaded = E::load(self.connection, key)?.map(|(entry, _)| entry);
        if let Some(entry) = loaded {
            E::staged_mut(&mut self.changes).insert(key, Stage::Clean(entry));
        }
        Ok(loaded)
    }

    /// The entry of `key`, if it is in memory; otherwise its row is current.
    pub(in crate::sqlite) fn peek<E: Entry>(&self, key: E::Key) -> Option<E> {
        match E::staged(&self.changes).get(&key) {
            Some(Stage::Dirty(entry) | Stage::Clean(entry)) => Some(*entry),
            Some(Stage::Gone) => None,
            None => self.folded.get(key),
        }
    }

    /// Sets an entry. Its row is written later.
    pub(in crate::sqlite) fn set<E: Entry>(&mut self, key: E::Key, entry: E) {
        E::staged_mut(&mut self.changes).insert(key, Stage::Dirty(entry));
    }

    /// Sets an entry, and writes its row at once.
    pub(in crate::sqlite) fn put<E: Entry>(
        &mut self,
        key: E::Key,
        entry: E,
    ) -> Result<(), StorageError> {
        entry.store(self.connection, key, self.changes.order.highest)?;
        E::staged_mut(&mut self.changes).insert(key, Stage::Clean(entry));
        Ok(())
    }

    /// Reserves the id of the next interaction. The caller sets the effects of the interaction
    /// after this.
    pub(in crate::sqlite) const fn next(&mut self) -> InteractionId {
        self.changes.order.highest += 1;
        InteractionId::new(self.changes.order.highest)
    }

    /// Starts a pass over all keys that are dirty now. A pass that is under way ends.
    pub(in crate::sqlite) fn begin_pass(&mut self) {
        // Only taps of earlier transactions count: those of this one are not dirty yet.
        let committed = self.folded.state().order.highest;
        self.changes.order.pass = Some(Pass::up_to(committed));
    }

    /// How many passes are complete.
    pub(in crate::sqlite) fn passes(&self) -> u64 {
        self.changes.order.passes
    }

    /// How many passes were abandoned.
    pub(in crate::sqlite) fn failures(&self) -> u64 {
        self.folded.failures()
    }

    /// Whether the rows contain the effects of the interaction `id`.
    pub(in crate::sqlite) fn is_folded(&self, id: i64) -> bool {
        id <= self.changes.order.mark
    }

    pub(super) fn move_mark(&mut self, mark: i64) -> Result<(), StorageError> {
        self.connection
            .prepare_cached("UPDATE folded SET up_to = ?1")?
            .execute([mark])?;
        self.changes.order.mark = mark;
        Ok(())
    }

    /// Writes an inlay's current counter into its row, and lets other statements change the row
    /// until the transaction ends: later taps start from the row.
    pub(in crate::sqlite) fn hand_over_counter(
        &mut self,
        inlay: InlayId,
    ) -> Result<(), StorageError> {
        if let Some(counter) = self.get::<Counter>(inlay)? {
            self.put(inlay, counter)?;
            self.changes.counters.insert(inlay, Stage::Gone);
        }
        Ok(())
    }

    /// Forgets a visitor whose row is being removed. Later taps may add the visitor again.
    pub(in crate::sqlite) fn forget(&mut self, visitor: Visitor) {
        self.changes.visits.insert(visitor, Stage::Gone);
    }

    /// Forgets at most `most` clients of a tag that are newer than their rows, and returns how
    /// many. The others are found by their rows: whoever removes a row forgets its client.
    pub(in crate::sqlite) fn forget_unfolded_clients(
        &mut self,
        tag: Option<TagId>,
        most: usize,
    ) -> usize {
        let staged = &self.changes.visits;
        let everyone = Visitor::everyone(tag);
        let going: Vec<_> = {
            let shared = self.folded.state();
            let dirty = shared.visits.dirty_keys(Some(everyone));
            let dirty = dirty.take_while(|visitor| visitor.tag() == tag);
            // Clients of taps in this transaction.
            let new = staged.range((Bound::Excluded(everyone), Bound::Unbounded));
            let new = new.map(|(visitor, _)| *visitor);
            let new = new.take_while(|visitor| visitor.tag() == tag);
            dirty
                .chain(new)
                .filter(|visitor| !matches!(staged.get(visitor), Some(Stage::Gone)))
                .take(most)
                .collect()
        };
        for visitor in &going {
            self.forget(*visitor);
        }
        going.len()
    }

    /// Forgets a visitor whose row is removed because it is older than `since`, unless a tap came
    /// that is not in the row yet.
    pub(in crate::sqlite) fn forget_if_before(&mut self, visitor: Visitor, since: Timestamp) {
        if self
            .peek::<Visit>(visitor)
            .is_some_and(|visit| visit.last_at < since)
        {
            self.forget(visitor);
        }
    }

    /// Forgets clients after `after` and up to `last` whose last tap is older than `since`, before
    /// they get rows. It examines at most `most`: only few clients stay unfolded for so long.
    pub(in crate::sqlite) fn forget_old_clients(
        &mut self,
        after: Option<Visitor>,
        last: Option<Visitor>,
        since: Timestamp,
        most: usize,
    ) {
        let old: Vec<_> = {
            let shared = self.folded.state();
            let clients = shared.visits.dirty_keys(after);
            clients
                .take_while(|visitor| last.is_none_or(|last| *visitor <= last))
                .take(most)
                .filter(|visitor| !visitor.is_everyone())
                .collect()
        };
        for visitor in old {
            self.forget_if_before(visitor, since);
        }
    }
}
