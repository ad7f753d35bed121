//! Updates that were refused though their key was good, noted in memory until
//! they are written with later commits: their owner alone can help, so the
//! interaction shows them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::UpdateRefusal;
use crate::clock::Timestamp;
use crate::id::InteractionId;
use crate::interaction::{RecordedRefusal, UpdateFault};

/// Refusals that are not written yet, the newest of each interaction.
#[derive(Default)]
pub(super) struct RefusedUpdates(Mutex<HashMap<i64, RecordedRefusal>>);

/// Interactions remembered between two writes; further ones go unnoted.
const REFUSED_UPDATES_MAX: usize = 10_000;

impl RefusedUpdates {
    pub(super) fn note(&self, id: InteractionId, at: Timestamp, refusal: &UpdateRefusal) {
        let Some((fault, variable)) = fault(refusal) else {
            return;
        };
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < REFUSED_UPDATES_MAX || refusals.contains_key(&id.0) {
            let refusal = RecordedRefusal {
                at,
                fault,
                variable,
            };
            refusals.insert(id.0, refusal);
        }
    }

    /// What was noted of one interaction.
    pub(super) fn pending(&self, id: InteractionId) -> Option<RecordedRefusal> {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.get(&id.0).cloned()
    }

    /// Everything noted so far, to be written.
    pub(super) fn take(&self) -> Vec<(i64, RecordedRefusal)> {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *refusals).into_iter().collect()
    }
}

/// What the owner can put right; a key that is wrong or consumed is nobody's fault.
fn fault(refusal: &UpdateRefusal) -> Option<(UpdateFault, Option<String>)> {
    match refusal {
        UpdateRefusal::InvalidKey | UpdateRefusal::Consumed | UpdateRefusal::SentBefore => None,
        UpdateRefusal::UnknownVariable(key) => {
            Some((UpdateFault::UnknownVariable, Some(key.to_string())))
        }
        UpdateRefusal::NotAssigned => Some((UpdateFault::NotAssigned, None)),
        UpdateRefusal::NotVerified => Some((UpdateFault::NotVerified, None)),
    }
}
