//! Updates that were refused despite a good key, noted in memory until a later commit stores them.
//! Only the owner can fix the cause, so the interaction shows them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::UpdateRefusal;
use domain::clock::Timestamp;
use domain::id::InteractionId;
use domain::interaction::{RecordedRefusal, UpdateFault};

/// Refused updates that are not stored yet: the newest of each interaction.
#[derive(Default)]
pub(crate) struct RefusedUpdates(Mutex<HashMap<i64, RecordedRefusal>>);

/// Interactions kept between two writes; refused updates of further ones are not noted.
const REFUSED_UPDATES_MAX: usize = 10_000;

impl RefusedUpdates {
    /// Returns whether it is noted. A refusal by a wrong key is not: anyone can name an interaction.
    pub(crate) fn note(&self, id: InteractionId, at: Timestamp, refusal: &UpdateRefusal) -> bool {
        let Some((fault, variable)) = fault(refusal) else {
            return false;
        };
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = refusals.len() < REFUSED_UPDATES_MAX || refusals.contains_key(&id.get());
        if fits {
            let refusal = RecordedRefusal {
                at,
                fault,
                variable,
            };
            refusals.insert(id.get(), refusal);
        }
        fits
    }

    /// The unwritten refused update of one interaction.
    pub(crate) fn pending(&self, id: InteractionId) -> Option<RecordedRefusal> {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.get(&id.get()).cloned()
    }

    /// Takes all notes, to store them.
    pub(crate) fn take(&self) -> Vec<(i64, RecordedRefusal)> {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *refusals).into_iter().collect()
    }
}

/// The fault that the owner can fix. `None` for a wrong or consumed key, which is nobody's fault.
fn fault(refusal: &UpdateRefusal) -> Option<(UpdateFault, Option<String>)> {
    match refusal {
        UpdateRefusal::InvalidKey
        | UpdateRefusal::Consumed
        | UpdateRefusal::SentBefore
        | UpdateRefusal::SeveralForms => None,
        UpdateRefusal::UnknownVariable(key) => {
            Some((UpdateFault::UnknownVariable, Some(key.to_string())))
        }
        UpdateRefusal::NotAssigned => Some((UpdateFault::NotAssigned, None)),
        UpdateRefusal::NotVerified => Some((UpdateFault::NotVerified, None)),
    }
}
