//! The real binary, as a process of its own: its command line, faults, and
//! several nodes on one PostgreSQL database.

mod cli;
mod faults;
mod postgres;
