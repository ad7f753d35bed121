//! Bad input is answered with a clear 4xx in the right envelope. It never causes a 500 or a panic,
//! and nothing is written.

mod admin;
mod connections;
mod moving;
mod panics;
mod routes;
mod staff;
mod taps;
mod unchanged;
mod variants;
mod workbooks;
