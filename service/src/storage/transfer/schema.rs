//! Every table and column that is moved, said once for both backends. A test
//! compares it with their migrations.

mod administration;
mod batches;
mod configuration;
mod encoding;
mod taps;
mod webhooks;

use super::table::Table;

/// PostgreSQL's tables that are not moved: its time and its epoch, which start again, how far
/// webhooks are in its order of commits, without which they are off, and counts for reports, which
/// are made again from the rows that are moved.
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

/// SQLite's tables that are not moved: its index of tags, which is made again, and how far
/// taps are folded, which is all of them; how far webhooks are; and counts for reports, which are
/// made again.
pub const LEFT_OUT_SQLITE: &[&str] = &[
    "tags_search",
    "folded",
    "webhook_types",
    "webhook_states",
    "report_counts",
    "report_mark",
    "report_updates",
];

/// The tables of a database that are not in `found`, in the order in which they are moved.
/// `own` are those of its kind alone.
pub fn missing(own: &[&'static str], found: &[String]) -> Vec<&'static str> {
    let names = tables().map(|table| table.name);
    names
        .chain(own.iter().copied())
        .filter(|name| found.iter().all(|one| one != name))
        .collect()
}

/// Tables by subject, in the order in which they are moved.
static SUBJECTS: [&[Table]; 6] = [
    administration::TABLES,
    configuration::TABLES,
    taps::TABLES,
    batches::TABLES,
    webhooks::TABLES,
    encoding::TABLES,
];

/// Every table, in the order in which they are moved.
pub fn tables() -> impl Iterator<Item = &'static Table> + Clone {
    SUBJECTS.into_iter().flatten()
}

/// The table of the secrets, by which a move knows its source again.
pub fn secrets() -> &'static Table {
    &administration::TABLES[0]
}
