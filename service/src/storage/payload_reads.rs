//! Reads of payloads, noted in memory until they are written with later commits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::id::InteractionId;
use crate::interaction::RecordedReads;

/// Payload reads that are not written yet: of each payload those since they were last written.
#[derive(Default)]
pub(super) struct PayloadReads(Mutex<HashMap<i64, RecordedReads>>);

/// Payloads whose reads are remembered between two writes; further ones go unnoted.
const PAYLOAD_READS_MAX: usize = 100_000;

impl PayloadReads {
    pub(super) fn note(&self, id: InteractionId, at: Timestamp) {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = reads.len() >= PAYLOAD_READS_MAX;
        if let Some(read) = reads.get_mut(&id.0) {
            read.reads = read.reads.saturating_add(1);
        } else if !full {
            reads.insert(
                id.0,
                RecordedReads {
                    first_at: at,
                    reads: 1,
                },
            );
        }
    }

    /// What was noted of one payload.
    pub(super) fn pending(&self, id: InteractionId) -> Option<RecordedReads> {
        let reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.get(&id.0).copied()
    }

    /// Everything noted so far, to be written.
    pub(super) fn take(&self) -> Vec<(i64, RecordedReads)> {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *reads).into_iter().collect()
    }
}
