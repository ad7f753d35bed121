//! The state that follows from the history: the counters of inlays, the taps and visitors of tags,
//! and the taps of each hour.
//!
//! A tap only appends its interaction. The interactions are the truth. The writer owns the state
//! that follows from them: it computes the state in memory, and writes it to its tables later
//! (*folds* it): rarely, in the order of keys, in short slices between groups of commands. Three
//! numbers make that exact, wherever it is interrupted:
//!
//! * An interaction's id is its place in the order of commits, because the writer assigns it.
//! * A row's `folded_to` is the id of the last tap that it may contain. It contains every earlier
//!   tap of its key, and no later one.
//! * The mark is an id, too. The rows contain the effects of all interactions up to it. It moves
//!   when a pass over all dirty keys ends.
//!
//! So a start reads the interactions after the mark, and skips for each row the taps that the row
//! already contains.

mod changes;
mod kinds;
mod layer;
mod pass;
mod recover;
mod state;

pub(super) use changes::{Changes, Folding};
pub(super) use kinds::{Counter, Hour, Taps, Visit, Visitor};
pub(super) use pass::Slice;
pub(super) use recover::{recover, settle_file};
pub(super) use state::Folded;

use std::time::Duration;

/// How long the effects of taps may stay only in memory. With the pause of housekeeping, which
/// wakes an idle writer, lists sorted by taps are at most 30 s old.
pub(super) const EVERY: Duration = Duration::from_secs(20);
