//! Counts the blocks that a cipher processed, for the tests. Response times must reveal nothing to
//! the sender of a code, and this count is more reliable than a clock.

use std::cell::Cell;

thread_local! {
    static BLOCKS: Cell<usize> = const { Cell::new(0) };
}

/// Adds `blocks` to the count of this thread.
pub fn count(blocks: usize) {
    BLOCKS.set(BLOCKS.get() + blocks);
}

/// How many blocks were counted on this thread.
pub fn so_far() -> usize {
    BLOCKS.get()
}

/// The number of blocks that `work` processes, and its result.
pub fn of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = BLOCKS.get();
    let result = work();
    (BLOCKS.get() - before, result)
}
