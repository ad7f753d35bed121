//! What every backend of the storage must pass, and what is one backend's alone.
//!
//! | Module | Subject |
//! |---|---|
//! | `story` | the conformance story: one chapter a subject, for any [`backend::Backend`] |
//! | `simulation` | seeded interleavings against a model, for any backend |
//! | `sqlite` | SQLite through both, and its own faults |
//! | `postgres` | PostgreSQL's own faults |
//!
//! A further backend is one more factory, and one more line beside SQLite's.

mod backend;
mod simulation;
#[macro_use]
mod story;
mod postgres;
mod sqlite;
