//! Faults of the SQLite file: a disk that is full, power that fails, and a process that is
//! killed while it makes or upgrades the file.
//! A PostgreSQL server writes its files in a process of its own, so these tests
//! choose SQLite themselves.

mod disk;
mod durability;
mod folding;
mod imports;
mod reports;
mod upgrades;

use tapdesk_tests::Launch;

use super::REFUSALS_AS_THEY_ARE;

/// The binary in a new folder, on a SQLite file.
fn launch() -> Launch {
    let (name, value) = REFUSALS_AS_THEY_ARE;
    Launch::on_sqlite(super::BINARY).env(name, value)
}
