//! Bad input, and what it gets: a clear 4xx in the right envelope, never a 500,
//! never a panic, nothing written.

mod admin;
mod connections;
mod panics;
mod routes;
mod taps;
mod unchanged;
mod variants;
