//! The product seen from outside, in one process with its tests: one binary,
//! because each costs a link of the whole service.

mod api;
mod bad_input;
mod decisions;
mod documents;
mod encoding;
mod inlay;
mod macros;
mod races;
mod spec;
mod storage;
mod studio;
