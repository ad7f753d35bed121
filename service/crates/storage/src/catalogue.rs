//! All tables and columns of both databases. The move between databases, the eraser, key rotation,
//! restores and `doctor` read it, so that a new table or secret is described once. Tests compare it
//! with the schemas of both.
//!
//! The modules have the same names as the files of the first schema version.

mod administration;
mod batches;
mod certificates;
mod encoding;
mod experiences;
mod inlays;
mod notifications;
mod reports;
mod table;
mod tags;
mod taps;
mod webhooks;

pub use table::{Backend, Column, Contents, Erasing, Kind, Table};

/// All tables by subject, in the order of a move.
static SUBJECTS: [&[Table]; 11] = [
    administration::TABLES,
    tags::TABLES,
    inlays::TABLES,
    experiences::TABLES,
    taps::TABLES,
    reports::TABLES,
    batches::TABLES,
    encoding::TABLES,
    webhooks::TABLES,
    notifications::TABLES,
    certificates::TABLES,
];

/// All tables of both databases, by subject.
pub fn tables() -> impl Iterator<Item = &'static Table> + Clone {
    SUBJECTS.into_iter().flatten()
}

/// The tables that a move copies, in its order.
pub fn moved() -> impl Iterator<Item = &'static Table> + Clone {
    tables().filter(|table| table.is_moved())
}

/// The table of secrets, by which a move recognises its source.
pub fn secrets() -> &'static Table {
    &administration::TABLES[0]
}

/// Statements that make a copied database begin without the progress of its original.
pub(crate) fn forget_progress() -> impl Iterator<Item = String> {
    let tables = tables().filter(|table| table.contents == Contents::Progress);
    tables.map(|table| format!("DELETE FROM {};", table.name))
}

/// The tables of a backend that are not in `found`.
pub(crate) fn missing(backend: Backend, found: &[String]) -> Vec<&'static str> {
    tables()
        .filter(|table| table.is_in(backend))
        .map(|table| table.name)
        .filter(|name| found.iter().all(|one| one != name))
        .collect()
}

#[cfg(test)]
pub(crate) use tests::{described, wrapped, wrapped_in};

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The columns of each table of a backend, with their kind; `None` for columns that only this
    /// backend has.
    pub(crate) fn described(backend: Backend) -> BTreeMap<String, BTreeMap<String, Option<Kind>>> {
        let columns = |table: &Table| {
            let shared = table.columns.iter();
            let stored = shared
                .filter(|column| backend == Backend::Postgres || column.derived.is_none())
                .map(|column| (column.name.to_owned(), Some(column.kind)));
            let own = match backend {
                Backend::Sqlite => table.sqlite_only,
                Backend::Postgres => table.postgres_only,
            };
            let own = own.iter().map(|name| ((*name).to_owned(), None));
            stored.chain(own).collect()
        };
        tables()
            .filter(|table| table.is_in(backend))
            .map(|table| (table.name.to_owned(), columns(table)))
            .collect()
    }

    /// All wrapped columns, as table and column.
    pub(crate) fn wrapped() -> BTreeSet<(String, String)> {
        let columns = tables().flat_map(|table| {
            let wrapped = table.columns.iter().filter(|column| column.wrapped);
            wrapped.map(|column| (table.name.to_owned(), column.name.to_owned()))
        });
        columns.collect()
    }

    /// The columns that a schema calls wrapped in their comments.
    pub(crate) fn wrapped_in(schema: &str) -> BTreeSet<(String, String)> {
        let mut columns = BTreeSet::new();
        let mut table = "";
        for line in schema.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some("CREATE"), Some("TABLE"), Some(name)) => table = name,
                (Some(column), ..) if line.contains("-- wrapped") => {
                    columns.insert((table.to_owned(), column.to_owned()));
                }
                _ => {}
            }
        }
        columns
    }

    #[test]
    fn a_table_is_described_once() {
        let names: BTreeSet<_> = tables().map(|table| table.name).collect();
        assert_eq!(names.len(), tables().count());
    }
}
