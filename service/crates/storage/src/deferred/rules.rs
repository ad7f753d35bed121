//! The redirect rules that taps followed, noted in memory until a later commit stores them. A
//! separate row for each tap would cost a second commit before the visitor is redirected.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::experience::LedBy;
use domain::id::InteractionId;

/// Rules that are not stored yet, by tap.
#[derive(Default)]
pub(crate) struct Rules(Mutex<HashMap<i64, LedBy>>);

/// Taps kept between two writes, which take at most some megabytes; rules of further taps are not
/// noted.
const RULES_MAX: usize = 100_000;

impl Rules {
    pub(crate) fn note(&self, id: InteractionId, rule: LedBy) {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rules.len() < RULES_MAX {
            rules.insert(id.get(), rule);
        }
    }

    /// The unwritten rule of one tap.
    pub(crate) fn pending(&self, id: InteractionId) -> Option<LedBy> {
        let rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rules.get(&id.get()).copied()
    }

    /// Takes all notes, to store them.
    pub(crate) fn take(&self) -> Vec<(i64, LedBy)> {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rules).into_iter().collect()
    }
}
