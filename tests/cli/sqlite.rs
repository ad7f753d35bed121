//! The SQLite file and the files next to it: its backup, its owner, damage to it, and the files of
//! token and key. PostgreSQL has none of these, so these tests always use SQLite.

mod backup;
mod bucket;
mod doctor;
mod earlier;
mod refusals;
mod secrets;
mod token;
mod unusable;

use tapdesk_tests::Launch;

use super::{BINARY, run, run_at, run_with};

/// A service in a new folder, on a SQLite file.
fn launch() -> Launch {
    Launch::on_sqlite(BINARY)
}
