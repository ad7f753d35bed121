//! What traces show of requests that wait for no commit of their own. It is noted in memory, and becomes
//! rows with a later commit.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::payload_reads::PayloadReads;
use super::refused_updates::RefusedUpdates;
use crate::id::InteractionId;
use crate::interaction::{RecordedReads, RecordedRefusal};

#[derive(Default)]
pub(super) struct Notes {
    pub(super) payload_reads: PayloadReads,
    pub(super) refused_updates: RefusedUpdates,
    /// A trace is of what is noted and of what is stored. A note that became a row between the two looks
    /// would be told twice, or not at all.
    moving: RwLock<()>,
}

/// What is noted of one interaction.
pub(super) struct Noted {
    pub(super) payload_reads: Option<RecordedReads>,
    pub(super) refused_update: Option<RecordedRefusal>,
}

impl Notes {
    pub(super) fn of(&self, id: InteractionId) -> Noted {
        Noted {
            payload_reads: self.payload_reads.pending(id),
            refused_update: self.refused_updates.pending(id),
        }
    }

    /// Until it is dropped, no note becomes a row.
    pub(super) async fn stay(&self) -> RwLockReadGuard<'_, ()> {
        self.moving.read().await
    }

    /// Until it is dropped, notes may become rows, and traces wait.
    pub(super) async fn move_on(&self) -> RwLockWriteGuard<'_, ()> {
        self.moving.write().await
    }
}
