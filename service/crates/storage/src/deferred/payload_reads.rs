//! Reads of payloads, noted in memory until they are written with later commits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::clock::Timestamp;
use domain::id::InteractionId;
use domain::interaction::RecordedReads;

/// Payload reads that are not stored yet: for each payload, the reads since the last write.
#[derive(Default)]
pub(crate) struct PayloadReads(Mutex<HashMap<i64, RecordedReads>>);

/// Payloads whose reads are kept between two writes; reads of further payloads are not noted.
const PAYLOAD_READS_MAX: usize = 100_000;

impl PayloadReads {
    pub(crate) fn note(&self, id: InteractionId, at: Timestamp) {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = reads.len() >= PAYLOAD_READS_MAX;
        if let Some(read) = reads.get_mut(&id.get()) {
            read.reads = read.reads.saturating_add(1);
        } else if !full {
            reads.insert(
                id.get(),
                RecordedReads {
                    first_at: at,
                    reads: 1,
                },
            );
        }
    }

    /// The unwritten reads of one payload.
    pub(crate) fn pending(&self, id: InteractionId) -> Option<RecordedReads> {
        let reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.get(&id.get()).copied()
    }

    /// Takes all notes, to store them.
    pub(crate) fn take(&self) -> Vec<(i64, RecordedReads)> {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *reads).into_iter().collect()
    }
}
