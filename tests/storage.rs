//! The tests that every storage backend must pass, and the tests of single backends.
//!
//! | Module | Subject |
//! |---|---|
//! | `story` | the conformance story: one chapter a subject, for any [`backend::Backend`] |
//! | `simulation` | seeded interleavings against a model, for any backend |
//! | `sqlite` | SQLite through both, and its own faults |
//! | `postgres` | PostgreSQL's own faults |
//!
//! To add a backend, add a factory, and a line next to SQLite's.

mod backend;
mod simulation;
#[macro_use]
mod story;
mod postgres;
mod sqlite;
