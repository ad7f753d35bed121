//! How many blocks a cipher worked on, for the tests: whoever sends a code must learn nothing from
//! the time of the answer, and the work tells more reliably than a clock.

use std::cell::Cell;

thread_local! {
    static BLOCKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts blocks.
pub(super) fn count(blocks: usize) {
    BLOCKS.set(BLOCKS.get() + blocks);
}

/// How many blocks `work` takes, and its result.
pub(super) fn of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = BLOCKS.get();
    let result = work();
    (BLOCKS.get() - before, result)
}
