//! The real binary, as a process of its own: its command line, faults,
//! several nodes on one PostgreSQL database, and several servers of that.
//!
//! `failover` waits more than all others, and is among the first to begin.

mod cli;
mod failover;
mod faults;
mod postgres;
