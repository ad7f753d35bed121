//! What concerns the SQLite file and what is made beside it: its backup, its
//! owner, its damages, the token and the key in files. PostgreSQL has none of
//! these, so these tests choose SQLite themselves.

mod backup;
mod doctor;
mod refusals;
mod secrets;
mod token;

use tapdesk_tests::Launch;

use super::{BINARY, run, run_at, run_with};

/// A service in a new folder, on a SQLite file.
fn launch() -> Launch {
    Launch::on_sqlite(BINARY)
}
