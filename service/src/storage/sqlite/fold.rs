//! What follows from the history: the counters of inlays, the scans and visitors of tags,
//! the taps of each hour.
//!
//! A tap appends its interaction and nothing else. The interactions are the truth; what
//! follows from them is decided in memory by the writer, which owns it, and is written
//! behind (*folded*): rarely, in the order of keys, in short slices between groups of
//! commands. Three numbers make that exact, wherever it is cut off:
//!
//! * An interaction's id is its place in the order of commits: the writer gives it.
//! * A row's `folded_to` is the id of the last tap that it may contain. It contains
//!   every earlier tap of its key, and no later one.
//! * The mark is an id, too. Whatever follows from interactions up to it is in the rows. It
//!   moves when a pass over all dirty keys is done.
//!
//! So a start reads the interactions after the mark, and leaves out of each row what the
//! row has already.

mod changes;
mod kinds;
mod layer;
mod pass;
mod recover;
mod state;

pub(super) use changes::{Changes, Folding};
pub(super) use kinds::{Counter, Hour, Taps, Visit, Visitor};
pub(super) use pass::Slice;
pub(super) use recover::{BY_ID, recover, settle_file, settle_older};
pub(super) use state::Folded;

use std::time::Duration;

/// How long what taps did may be in memory alone before it is folded. With the pause of
/// housekeeping, which wakes an idle writer, lists sorted by taps are at most 30 s old.
pub(super) const EVERY: Duration = Duration::from_secs(20);
