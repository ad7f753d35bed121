//! Races for a counter, a key, or a variable.

mod counters;
mod keys;
mod model;
