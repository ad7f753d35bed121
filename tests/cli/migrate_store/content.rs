//! A database with rows in every table, and a digest of a database. Both are written independently
//! of the service, so that they contain everything, even data that a move forgets.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

/// A search in the index of tags.
const SEARCHED: &str = "'\"ao \" AND \"ttl\" AND \"le-\"'";

/// Fills the database at `path`, which no service uses. `now` is in milliseconds since the Unix
/// epoch.
pub(super) fn fill(path: &Path, tags: u32, interactions: u32, now: i64) {
    let sql = include_str!("../../fixtures/every_table.sql")
        .replace(":tags", &tags.to_string())
        .replace(":interactions", &interactions.to_string())
        .replace(":now", &now.to_string());
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(&format!("BEGIN; {sql} COMMIT;"))
        .unwrap();
}

/// Condition of the audit row that a moved database contains.
const MOVED: &str = "action = 'database.move'";

/// The ends of an audit log before the database was moved: without the hash of the newest row,
/// which is the row of the move.
fn ends(side: &str) -> String {
    format!(
        "SELECT id, anchor, anchor_hash,
             head - (SELECT count(*) FROM {side}.audit WHERE {MOVED}) FROM {side}.audit_ends"
    )
}

/// Tables of the database at `path`, without those of SQLite's indexes of texts and the schema's version.
fn tables(database: &Connection) -> Vec<String> {
    let mut tables = database
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_search_%'
             AND name <> 'refinery_schema_history' ORDER BY name",
        )
        .unwrap();
    let names = tables.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

/// The number of rows of each table, and a digest of all their values.
pub(super) fn content(path: &Path) -> BTreeMap<String, (u64, String)> {
    let database = Connection::open(path).unwrap();
    let mut content = BTreeMap::new();
    for table in tables(&database) {
        let sql = match table.as_str() {
            "settings" => "SELECT * FROM settings WHERE name <> 'move' ORDER BY 1".to_owned(),
            "tags_search" => format!("SELECT rowid FROM tags_search({SEARCHED}) ORDER BY 1"),
            "inlays_search" => "SELECT rowid FROM inlays_search ORDER BY 1".to_owned(),
            "audit" => format!("SELECT * FROM audit WHERE NOT {MOVED} ORDER BY id"),
            "audit_ends" => ends("main"),
            "tokens" | "tags" | "inlays" | "interactions" => {
                format!("SELECT * FROM {table} ORDER BY id")
            }
            "sqlite_sequence" => "SELECT * FROM sqlite_sequence ORDER BY name".to_owned(),
            _ => format!("SELECT * FROM {table}"),
        };
        let mut rows = database.prepare(&sql).unwrap();
        let columns = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        let (mut count, mut digest) = (0, Sha256::new());
        while let Some(row) = rows.next().unwrap() {
            count += 1;
            for column in 0..columns {
                let (kind, bytes) = match row.get_ref(column).unwrap() {
                    ValueRef::Null => (0, Vec::new()),
                    ValueRef::Integer(number) => (1, number.to_le_bytes().to_vec()),
                    ValueRef::Real(number) => (2, number.to_le_bytes().to_vec()),
                    ValueRef::Text(text) => (3, text.to_vec()),
                    ValueRef::Blob(bytes) => (4, bytes.to_vec()),
                };
                digest.update([kind]);
                digest.update(bytes.len().to_le_bytes());
                digest.update(bytes);
            }
        }
        content.insert(
            table,
            (count, format!("{:x?}", digest.finalize().as_slice())),
        );
    }
    content
}

/// The number of rows of each table.
pub(super) fn counts(path: &Path) -> BTreeMap<String, u64> {
    let database = Connection::open(path).unwrap();
    let counts = tables(&database).into_iter().map(|table| {
        let count = database.query_row(&counted(&table), [], |row| row.get(0));
        (table, count.unwrap())
    });
    counts.collect()
}

fn counted(table: &str) -> String {
    match table {
        "settings" => "SELECT count(*) FROM settings WHERE name <> 'move'".to_owned(),
        "tags_search" => format!("SELECT count(*) FROM tags_search({SEARCHED})"),
        "audit" => format!("SELECT count(*) FROM audit WHERE NOT {MOVED}"),
        _ => format!("SELECT count(*) FROM {table}"),
    }
}

/// Asserts that [`content`] is equal for two databases, faster if they are large: both sides have
/// as many rows, and no row that the other lacks.
pub(super) fn assert_same(one: &Path, other: &Path) {
    assert_eq!(counts(one), counts(other));
    let database = Connection::open(one).unwrap();
    database
        .execute("ATTACH ?1 AS other", [other.to_string_lossy()])
        .unwrap();
    for table in tables(&database) {
        let rows = |side: &str| match table.as_str() {
            "settings" => format!("SELECT * FROM {side}.settings WHERE name <> 'move'"),
            "tags_search" => format!("SELECT rowid FROM {side}.tags_search({SEARCHED})"),
            "inlays_search" => format!("SELECT rowid FROM {side}.inlays_search"),
            "audit" => format!("SELECT * FROM {side}.audit WHERE NOT {MOVED}"),
            "audit_ends" => ends(side),
            _ => format!("SELECT * FROM {side}.{table}"),
        };
        let missing = format!(
            "SELECT count(*) FROM ({} EXCEPT {})",
            rows("main"),
            rows("other")
        );
        let missing: u64 = database.query_row(&missing, [], |row| row.get(0)).unwrap();
        assert_eq!(missing, 0, "{table}");
    }
}
