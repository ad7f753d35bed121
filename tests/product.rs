//! The product seen from outside, in one process with its tests. They are one binary, because each
//! binary costs a link of the whole service.

mod api;
mod bad_input;
mod decisions;
mod documents;
mod encoding;
mod inlay;
mod macros;
mod public_cases;
mod races;
mod spec;
mod storage;
mod studio;
