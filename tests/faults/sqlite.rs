//! Faults of the SQLite file: a full disk, a power failure, and a process that is killed while it
//! creates the file. A PostgreSQL server writes its files in another process, so these
//! tests always use SQLite.

mod disk;
mod durability;
mod first_start;
mod folding;
mod imports;
mod places;
mod reports;

use tapdesk_tests::Launch;

use super::REFUSALS_AS_THEY_ARE;

/// A launch of the binary in a new folder, on a SQLite file.
fn launch() -> Launch {
    let (name, value) = REFUSALS_AS_THEY_ARE;
    Launch::on_sqlite(super::BINARY).env(name, value)
}
