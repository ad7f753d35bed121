//! All tables and columns that a move copies, defined once for both backends. A test compares them
//! with the migrations of both.

mod administration;
mod batches;
mod configuration;
mod encoding;
mod taps;
mod webhooks;

use super::table::Table;

/// PostgreSQL's tables that are not moved: its time and its epoch, which start again; the progress
/// of webhooks in its order of commits, without which they are off; and counts for reports, which
/// are computed again from the moved rows.
pub const LEFT_OUT_POSTGRES: &[&str] = &[
    "clock",
    "configuration",
    "moved_history",
    "webhook_types",
    "webhook_states",
    "report_counts",
    "report_mark",
    "report_updates",
];

/// SQLite's tables that are not moved: its index of tags, which is built again; the progress of
/// folding, because all taps are folded; the progress of webhooks; and counts for reports, which
/// are computed again.
pub const LEFT_OUT_SQLITE: &[&str] = &[
    "tags_search",
    "folded",
    "webhook_types",
    "webhook_states",
    "report_counts",
    "report_mark",
    "report_updates",
];

/// The tables of a database that are not in `found`, in the order of a move. `own` are the tables
/// that only its kind of database has.
pub fn missing(own: &[&'static str], found: &[String]) -> Vec<&'static str> {
    let names = tables().map(|table| table.name);
    names
        .chain(own.iter().copied())
        .filter(|name| found.iter().all(|one| one != name))
        .collect()
}

/// All tables by subject, in the order of a move.
static SUBJECTS: [&[Table]; 6] = [
    administration::TABLES,
    configuration::TABLES,
    taps::TABLES,
    batches::TABLES,
    webhooks::TABLES,
    encoding::TABLES,
];

/// All tables, in the order of a move.
pub fn tables() -> impl Iterator<Item = &'static Table> + Clone {
    SUBJECTS.into_iter().flatten()
}

/// The table of secrets, by which a move recognises its source.
pub fn secrets() -> &'static Table {
    &administration::TABLES[0]
}
