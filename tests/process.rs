//! The real binary in its own process: its command line, faults, several nodes on one PostgreSQL
//! database, and several servers of that.
//!
//! `failover` takes the longest, so it is among the first to start.

mod cli;
mod failover;
mod faults;
mod postgres;
