//! PostgreSQL: its own faults.

mod opening;
