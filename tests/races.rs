//! What can race, raced: a counter, a key, a variable.

mod counters;
mod keys;
mod model;
