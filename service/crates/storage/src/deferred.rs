//! Trace data of requests that do not wait for a commit of their own. It is noted in memory, and
//! stored with a later commit.

mod payload_reads;
mod refused_updates;
mod rules;

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use domain::experience::LedBy;
use domain::id::InteractionId;
use domain::interaction::{RecordedReads, RecordedRefusal};
use payload_reads::PayloadReads;
use refused_updates::RefusedUpdates;
use rules::Rules;

#[derive(Default)]
pub(super) struct Deferred {
    pub(super) payload_reads: PayloadReads,
    pub(super) refused_updates: RefusedUpdates,
    pub(super) rules: Rules,
    /// A trace combines notes in memory with stored rows. A note that became a row between the two
    /// reads would be shown twice, or not at all.
    moving: RwLock<()>,
}

/// The notes of one interaction.
pub(super) struct Noted {
    pub(super) payload_reads: Option<RecordedReads>,
    pub(super) refused_update: Option<RecordedRefusal>,
    pub(super) rule: Option<LedBy>,
}

impl Deferred {
    pub(super) fn of(&self, id: InteractionId) -> Noted {
        Noted {
            payload_reads: self.payload_reads.pending(id),
            refused_update: self.refused_updates.pending(id),
            rule: self.rules.pending(id),
        }
    }

    /// Keeps notes from becoming rows until the guard is dropped.
    pub(super) async fn stay(&self) -> RwLockReadGuard<'_, ()> {
        self.moving.read().await
    }

    /// Lets notes become rows until the guard is dropped; traces wait meanwhile.
    pub(super) async fn move_on(&self) -> RwLockWriteGuard<'_, ()> {
        self.moving.write().await
    }
}
