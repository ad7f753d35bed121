//! Opens and upgrades a database file. A file that is foreign, empty, damaged or newer stays
//! untouched.

mod copy;
mod error;
mod examine;
mod upgrade;

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::connection::{self, APPLICATION_ID, SQLITE_AT_LEAST};
use domain::clock::Timestamp;
use domain::entropy::{self, Entropy};
use domain::private_file;
pub use error::OpenError;
pub use examine::{
    Content, backup_schedule, certificate_states, check_audit, check_rows, content, examine,
    has_audit_row, notification_trouble, stored_settings,
};
pub(super) use examine::{look_into, starts_as_ours};
use upgrade::upgrade;

/// The first version of the schema, by subject.
const FIRST: &str = concat!(
    include_str!("../../../../migrations/sqlite/V1/administration.sql"),
    include_str!("../../../../migrations/sqlite/V1/tags.sql"),
    include_str!("../../../../migrations/sqlite/V1/inlays.sql"),
    include_str!("../../../../migrations/sqlite/V1/experiences.sql"),
    include_str!("../../../../migrations/sqlite/V1/taps.sql"),
    include_str!("../../../../migrations/sqlite/V1/reports.sql"),
    include_str!("../../../../migrations/sqlite/V1/batches.sql"),
    include_str!("../../../../migrations/sqlite/V1/encoding.sql"),
    include_str!("../../../../migrations/sqlite/V1/webhooks.sql"),
    include_str!("../../../../migrations/sqlite/V1/notifications.sql"),
    include_str!("../../../../migrations/sqlite/V1/certificates.sql"),
);

/// The migrations of all versions in their order. A release only appends to them.
const MIGRATIONS: &[(&str, &str)] = &[("V1__initial", FIRST)];

/// Opens the database for writing, new or existing, with the newest schema.
pub(super) fn open(
    path: &Path,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<Connection, OpenError> {
    check_sqlite()?;
    if path
        .try_exists()
        .map_err(|error| OpenError::Io(path.to_owned(), error))?
    {
        let found = examine(path)?.format;
        let mut connection = connection::writer(path)?;
        upgrade(ours(), &mut connection, path, found, now)?;
        Ok(connection)
    } else {
        create(path, |connection| make_secrets(connection, entropy))?;
        Ok(connection::writer(path)?)
    }
}

/// Checks that the SQLite of this program is safe; returns its version.
pub fn check_sqlite() -> Result<&'static str, OpenError> {
    version_gate(rusqlite::version_number(), rusqlite::version())
}

fn version_gate(number: i32, text: &'static str) -> Result<&'static str, OpenError> {
    if number < SQLITE_AT_LEAST {
        Err(OpenError::OldSqlite(text))
    } else {
        Ok(text)
    }
}

fn make_secrets(connection: &Connection, entropy: &dyn Entropy) -> rusqlite::Result<()> {
    for name in ["key_mask", "client"] {
        let secret = entropy::bytes::<32>(entropy);
        connection.execute(
            "INSERT INTO secrets (name, value) VALUES (?1, ?2)",
            (name, secret),
        )?;
    }
    Ok(())
}

/// Creates a new database next to `path`, filled by `fill`, and renames it to `path` when it is
/// complete. So an interrupted start leaves no incomplete database, and a failed one leaves no
/// file.
pub(super) fn create(
    path: &Path,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), OpenError> {
    let draft = beside(path, ".new");
    let remove = || remove(&draft).map_err(|error| OpenError::Io(path.to_owned(), error));
    remove()?;
    let created = make(&draft, path, fill);
    if created.is_err() {
        // The first error matters more than that of a file that cannot be removed, either.
        let _ = remove();
    }
    created
}

/// Removes a database and its log.
fn remove(draft: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        match std::fs::remove_file(beside(draft, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn make(
    draft: &Path,
    path: &Path,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), OpenError> {
    let io = |error| OpenError::Io(path.to_owned(), error);
    private_file::create_empty(draft).map_err(io)?;
    let mut connection = Connection::open(draft)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // The first read maps the log's shared memory. Its error shows a drive that cannot share
    // memory.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    run(ours(), &mut connection)?;
    fill(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    private_file::rename_new(draft, path).map_err(io)?;
    private_file::sync_folder_of(path).map_err(io)
}

/// All migrations of this program.
pub(super) fn ours() -> refinery::Runner {
    let migrations = MIGRATIONS.iter().map(|(name, sql)| {
        refinery::Migration::unapplied(name, sql).expect("the name has a version")
    });
    refinery::Runner::new(&migrations.collect::<Vec<_>>())
}

pub(super) fn newest_known() -> u32 {
    newest_of(&ours())
}

fn newest_of(migrations: &refinery::Runner) -> u32 {
    migrations
        .get_migrations()
        .iter()
        .map(|migration| migration.version().unsigned_abs())
        .max()
        .unwrap_or_default()
}

/// Runs all pending migrations in one transaction, together with the notes of their versions: an
/// interrupted upgrade leaves the database as it was.
pub(super) fn run(
    migrations: refinery::Runner,
    connection: &mut Connection,
) -> Result<(), OpenError> {
    migrations
        .set_grouped(true)
        .run(connection)
        .map(|_| ())
        .map_err(|error| {
            let cause = error
                .source()
                .and_then(|cause| cause.downcast_ref::<rusqlite::Error>());
            if cause.is_some_and(connection::says_full) {
                OpenError::Full
            } else {
                OpenError::Migration(error.to_string())
            }
        })
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::catalogue::{Backend, Kind, described, moved, wrapped, wrapped_in};

    #[test]
    fn a_sqlite_that_can_lose_committed_writes_is_refused() {
        assert!(matches!(
            version_gate(3_051_002, "3.51.2"),
            Err(OpenError::OldSqlite("3.51.2"))
        ));
        assert!(check_sqlite().is_ok());
    }

    /// The migrations of this program, followed by one for each of `more`.
    pub(super) fn runner(more: &[&str]) -> refinery::Runner {
        let mut all = ours().get_migrations().clone();
        for (version, sql) in (newest_known() + 1..).zip(more) {
            let name = format!("V{version}__later");
            all.push(refinery::Migration::unapplied(&name, sql).unwrap());
        }
        refinery::Runner::new(&all)
    }

    /// Every statement of the schema, and the versions in its history.
    pub(super) fn schema(connection: &Connection) -> (Vec<String>, Vec<u32>) {
        fn all<T: rusqlite::types::FromSql>(connection: &Connection, sql: &str) -> Vec<T> {
            let mut select = connection.prepare(sql).unwrap();
            let rows = select.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        }
        (
            all(
                connection,
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
            ),
            all(
                connection,
                "SELECT version FROM refinery_schema_history ORDER BY version",
            ),
        )
    }

    /// A database with the newest schema, and with rows in every table that is moved.
    fn filled(path: &Path) -> Connection {
        let mut connection = Connection::open(path).unwrap();
        run(ours(), &mut connection).unwrap();
        make_secrets(&connection, &entropy::OsEntropy).unwrap();
        let rows = include_str!("../../../../../tests/fixtures/every_table.sql")
            .replace(":tags", "100")
            .replace(":interactions", "100")
            .replace(":now", "1700000000000");
        connection.execute_batch(&rows).unwrap();
        let counts = counts(&connection);
        for table in moved() {
            assert_ne!(counts[table.name], 0, "{}", table.name);
        }
        connection
    }

    /// How many rows each table has.
    pub(super) fn counts(connection: &Connection) -> BTreeMap<String, u64> {
        let names = names(connection).into_iter().map(|name| {
            let sql = format!("SELECT count(*) FROM {name}");
            let count = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            (name, count)
        });
        names.collect()
    }

    /// The tables, without those of SQLite, of its indexes of texts, and of the migrations.
    fn names(connection: &Connection) -> Vec<String> {
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND name NOT LIKE '%\\_search\\_%' ESCAPE '\\' AND name <> 'refinery_schema_history'";
        let mut tables = connection.prepare(tables).unwrap();
        let names = tables.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    }

    #[test]
    fn every_table_and_column_is_in_the_catalogue() {
        let mut connection = Connection::open_in_memory().unwrap();
        run(ours(), &mut connection).unwrap();
        let described = described(Backend::Sqlite);
        let found = names(&connection).into_iter().map(|table| {
            let columns = "SELECT name, type FROM pragma_table_info(?1)";
            let mut columns = connection.prepare(columns).unwrap();
            let columns = columns.query_map([&table], |row| Ok((row.get(0)?, row.get(1)?)));
            let columns = columns.unwrap().map(|column| {
                let (column, kind): (String, String) = column.unwrap();
                let known = described.get(&table).and_then(|table| table.get(&column));
                let kind = match (kind.as_str(), known) {
                    // The catalogue has no kinds for columns that only one of the databases has.
                    (_, Some(None)) => None,
                    ("INTEGER", Some(Some(Kind::Flag))) => Some(Kind::Flag),
                    ("INTEGER", _) => Some(Kind::Integer),
                    // The columns of the index of texts have no types.
                    ("TEXT" | "", _) => Some(Kind::Text),
                    ("BLOB", _) => Some(Kind::Bytes),
                    (other, _) => panic!("{table}.{column} is a {other}"),
                };
                (column, kind)
            });
            let columns: BTreeMap<_, _> = columns.collect();
            (table, columns)
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), described);
    }

    #[test]
    fn the_catalogue_knows_every_wrapped_column() {
        assert_eq!(wrapped_in(FIRST), wrapped());
    }

    #[test]
    fn an_upgrade_that_fails_anywhere_leaves_the_database_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let mut connection = filled(&path);
        let (before, rows) = (schema(&connection), counts(&connection));

        let second = ["CREATE TABLE a (x);", "ALTER TABLE tags ADD COLUMN y;"];
        let third = ["CREATE TABLE b (x);", "DROP TABLE tokens;"];
        let failing = "INSERT INTO nowhere VALUES (1);";
        for statement in 0..=2 {
            let cut = |whole: [&str; 2]| whole[..statement].concat() + failing;
            for steps in [
                vec![cut(second)],
                vec![second.concat(), cut(third)],
                vec![second.concat(), third.concat(), failing.to_owned()],
            ] {
                let steps: Vec<_> = steps.iter().map(String::as_str).collect();
                let error = run(runner(&steps), &mut connection).unwrap_err();
                assert!(matches!(error, OpenError::Migration(_)), "{error}");
                assert_eq!(schema(&connection), before);
                assert_eq!(counts(&connection), rows);
            }
        }

        run(
            runner(&[&second.concat(), &third.concat()]),
            &mut connection,
        )
        .unwrap();
        assert_eq!(schema(&connection).1.last(), Some(&(newest_known() + 2)));
        let kept = counts(&connection);
        for (table, count) in rows {
            let expected = (table != "tokens").then_some(&count);
            assert_eq!(kept.get(&table), expected, "{table}");
        }
    }
}
