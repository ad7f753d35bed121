//! Checks that a database has exactly the schema that our migrations create. A trigger, a view or a
//! computed column that somebody added to a backup would run inside this program.

use std::collections::BTreeMap;
use std::path::Path;

use refinery::Target;
use rusqlite::Connection;

use super::OpenError;
use super::migrate;

/// The statements of a schema, by kind and name.
type Schema = BTreeMap<(String, String), String>;

/// Refuses the database at `path`, open as `connection`, if its schema is not that of `version`.
pub(super) fn check(connection: &Connection, path: &Path, version: u32) -> Result<(), OpenError> {
    let refused = |(kind, name): &(String, String), how: &str| {
        Err(OpenError::OtherSchema(
            path.to_owned(),
            format!("{how} the {kind} {name}"),
        ))
    };
    let found = read(connection)?;
    let expected = of_version(version)?;
    for (part, sql) in &found {
        match expected.get(part) {
            None => return refused(part, "it has"),
            Some(ours) if ours != sql => return refused(part, "it has another form of"),
            Some(_) => {}
        }
    }
    match expected.keys().find(|part| !found.contains_key(*part)) {
        Some(part) => refused(part, "it lacks"),
        None => Ok(()),
    }
}

fn of_version(version: u32) -> Result<Schema, OpenError> {
    let mut connection = Connection::open_in_memory()?;
    let target = Target::Version(version.cast_signed());
    migrate::run(migrate::ours().set_target(target), &mut connection)?;
    Ok(read(&connection)?)
}

/// Reads the schema without the parts that SQLite creates itself: indexes of keys, and the
/// statistics of `ANALYZE`.
fn read(connection: &Connection) -> rusqlite::Result<Schema> {
    let mut parts = connection.prepare(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL
         AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))",
    )?;
    let parts = parts.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    parts.collect()
}
