//! Opening a database file: what it is, whether it is sound, which version it
//! has. A file that is not ours, empty, damaged or newer is left untouched.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use url::Url;

use super::connection::{self, APPLICATION_ID, SQLITE_AT_LEAST};
use super::{any_wrapped_key, transfer};
use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::private_file;
use crate::storage::Examination;
use crate::storage::transfer::mark;

refinery::embed_migrations!("migrations/sqlite");

/// Why a database cannot be opened. Each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process owns it.
    #[error("{} is in use by another Tapdesk. Close that one, or choose another database.", .0.display())]
    Taken(PathBuf),
    /// It has no content at all.
    #[error(
        "{} is empty. A Tapdesk database is never empty, so something went wrong with this file. \
         Restore a backup, or move the file away to start with a new database.", .0.display()
    )]
    Empty(PathBuf),
    /// It belongs to another program.
    #[error("{} is not a Tapdesk database. It was left as it is; choose another path.", .0.display())]
    Foreign(PathBuf),
    /// Its content is damaged.
    #[error("{file} is damaged ({what}). It was left as it is; restore a backup.", file = .0.display(), what = .1)]
    Damaged(PathBuf, String),
    /// A newer version of this program made it.
    #[error(
        "{} was made by a newer Tapdesk (format {found}, this one knows {known}). \
         It was left as it is; use the newer version.", .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this program knows.
        known: u32,
    },
    /// Its file has several names.
    #[error(
        "{} has more than one name (hard links), and SQLite's log stands beside one of them alone. \
         Remove the other names, or make them copies.", .0.display()
    )]
    SeveralNames(PathBuf),
    /// A backup brings a schema that is not ours.
    #[error("{file} is no backup of Tapdesk: {what}, unlike any database of ours. Nothing was changed; restore another one.",
        file = .0.display(), what = .1)]
    OtherSchema(PathBuf, String),
    /// Everything in it was moved to another database.
    #[error(
        "{file} was moved to {to} at {at}: serve that one, for each would accept a tap that the other has accepted. \
         To go back to what is in this file all the same, restore it into a new database: \
         tapdesk-service restore {file}.", file = .path.display()
    )]
    Moved {
        /// The file.
        path: PathBuf,
        /// Where everything is now.
        to: String,
        /// Since when.
        at: Timestamp,
    },
    /// A move to here was not finished.
    #[error(
        "A move into {} was not finished. Start migrate-store again with the same --from and --to, \
         and it goes on where it was.", .0.display()
    )]
    Unfinished(PathBuf),
    /// The SQLite this program was built with is too old to be safe.
    #[error("SQLite {0} can lose committed writes; 3.51.3 or newer is needed.")]
    OldSqlite(&'static str),
    /// The file system refused.
    #[error("{file} cannot be opened: {error}.", file = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
    /// A migration failed; the database is as it was before.
    #[error("The database could not be upgraded and is as it was: {0}")]
    Migration(String),
    /// SQLite refused.
    #[error("The database cannot be opened: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl OpenError {
    /// The file is damaged, by SQLite's own verdict of several lines.
    pub(super) fn damaged(path: &Path, verdict: &str) -> Self {
        let finding = verdict.lines().find(|line| !line.starts_with("***"));
        Self::Damaged(path.to_owned(), finding.unwrap_or(verdict).to_owned())
    }

    /// The same said of the file at `path`, of which another one is a copy.
    pub(super) fn naming(self, path: &Path) -> Self {
        let path = path.to_owned();
        match self {
            Self::Empty(_) => Self::Empty(path),
            Self::Foreign(_) => Self::Foreign(path),
            Self::Damaged(_, what) => Self::Damaged(path, what),
            Self::Newer { found, known, .. } => Self::Newer { path, found, known },
            Self::Unfinished(_) => Self::Unfinished(path),
            Self::OtherSchema(_, what) => Self::OtherSchema(path, what),
            other => other,
        }
    }
}

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
        if found < newest_known() {
            back_up(&connection, path, found, now)?;
            run(ours(), &mut connection)?;
        }
        Ok(connection)
    } else {
        create(path, |connection| make_secrets(connection, entropy))?;
        Ok(connection::writer(path)?)
    }
}

/// Refuses to serve what was moved to another database.
fn refuse_moved(path: &Path) -> Result<(), OpenError> {
    let connection = open_read_only(path)?;
    let mark = transfer::mark_of(&connection)?;
    match mark.and_then(|mark| mark::left_for(&mark)) {
        None => Ok(()),
        Some((to, at)) => Err(OpenError::Moved {
            path: path.to_owned(),
            to,
            at,
        }),
    }
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

/// Whether the file at `path` is a sound database that this program can serve.
/// Nothing is written to it, and its owner may be at work.
pub fn examine(path: &Path) -> Result<Examination, OpenError> {
    let examination = look_into(path)?;
    refuse_moved(path)?;
    Ok(examination)
}

/// The same of one that need not be served: it may have been moved elsewhere.
pub(super) fn look_into(path: &Path) -> Result<Examination, OpenError> {
    check_header(path)?;
    let damaged = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            OpenError::Damaged(path.to_owned(), error.to_string())
        }
        _ => OpenError::Sqlite(error),
    };
    // A query that cannot be asked of a database of ours: its schema is not what it was.
    let unlike_ours = |error| match damaged(error) {
        OpenError::Sqlite(error) => OpenError::Damaged(path.to_owned(), error.to_string()),
        other => other,
    };
    let connection = open_read_only(path).map_err(damaged)?;
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    if size <= CHECKED_AT_START {
        let verdict: String = connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))
            .map_err(damaged)?;
        if verdict != "ok" {
            return Err(OpenError::damaged(path, &verdict));
        }
    }
    let format = connection
        .query_row(
            "SELECT max(version) FROM refinery_schema_history",
            [],
            |row| row.get(0),
        )
        .map_err(unlike_ours)?;
    let known = newest_known();
    if format > known {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found: format,
            known,
        });
    }
    let moved = transfer::mark_of(&connection).map_err(unlike_ours)?;
    if moved.is_some_and(|mark| mark::is_unfinished(&mark)) {
        return Err(OpenError::Unfinished(path.to_owned()));
    }
    Ok(Examination {
        format,
        wrapped_key: any_wrapped_key(&connection).map_err(unlike_ours)?,
        newest_at: newest_interaction(&connection).map_err(unlike_ours)?,
    })
}

fn newest_interaction(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    connection
        .query_row(
            "SELECT at FROM interactions WHERE NOT simulated ORDER BY id DESC LIMIT 1",
            [],
            |row| row.get(0).map(Timestamp::from_millis),
        )
        .optional()
}

/// Largest database that is checked page by page at every start.
const CHECKED_AT_START: u64 = 256 * 1024 * 1024;

/// Whether the SQLite this program was built with is safe: its version.
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

/// Makes a new database beside `path`, with what `fill` puts there, and moves it
/// there when it is whole: a start that is cut short leaves no half of one.
pub(super) fn create(
    path: &Path,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), OpenError> {
    let io = |error| OpenError::Io(path.to_owned(), error);
    let draft = beside(path, ".new");
    for leftover in [
        draft.clone(),
        beside(path, ".new-wal"),
        beside(path, ".new-shm"),
    ] {
        match std::fs::remove_file(&leftover) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    private_file::create_empty(&draft).map_err(io)?;
    let mut connection = Connection::open(&draft)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    run(ours(), &mut connection)?;
    fill(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    private_file::rename_new(&draft, path).map_err(io)?;
    private_file::sync_folder_of(path).map_err(io)
}

/// Whether the file is a database of ours: its application id (SQLite file format, section 1.3).
fn check_header(path: &Path) -> Result<(), OpenError> {
    let io = |error| OpenError::Io(path.to_owned(), error);
    if path.metadata().map_err(io)?.len() == 0 {
        return Err(OpenError::Empty(path.to_owned()));
    }
    // Asked of SQLite: a file that is opened and closed here loses the locks that
    // this process may have on it through SQLite.
    let ours = match application_id(path) {
        Ok(id) => id == APPLICATION_ID,
        // Nobody can be at work on such a file, so it may be looked into.
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                starts_as_ours(path).map_err(io)?
            }
            _ => return Err(error.into()),
        },
    };
    if ours {
        Ok(())
    } else {
        Err(OpenError::Foreign(path.to_owned()))
    }
}

/// The id in the file as it stands, whatever is in a log beside it: nothing is
/// locked, and no file is made beside it, for it may be another program's.
fn application_id(path: &Path) -> rusqlite::Result<i32> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = Url::from_file_path(&path).map_err(|()| rusqlite::Error::InvalidPath(path))?;
    uri.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri.as_str(), flags)?;
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Whether a file that SQLite cannot read begins as a database of ours does: then it is damaged.
fn starts_as_ours(path: &Path) -> io::Result<bool> {
    let mut header = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut header)?;
    Ok(header.len() == 100
        && header.starts_with(b"SQLite format 3\0")
        && header[68..72] == APPLICATION_ID.to_be_bytes())
}

/// All migrations of this program.
pub(super) fn ours() -> refinery::Runner {
    migrations::runner()
}

pub(super) fn newest_known() -> u32 {
    ours()
        .get_migrations()
        .iter()
        .map(|migration| migration.version().unsigned_abs())
        .max()
        .unwrap_or_default()
}

/// Copies the database as it is before an upgrade touches it. An upgrade that
/// fails leaves the database as it was, so each attempt would make the same copy:
/// it is kept once.
fn back_up(
    connection: &Connection,
    path: &Path,
    version: u32,
    now: Timestamp,
) -> Result<(), OpenError> {
    let draft = beside(path, ".before-upgrade.new");
    let io = |error| OpenError::Io(draft.clone(), error);
    match std::fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
        _ => {}
    }
    private_file::create_empty(&draft).map_err(io)?;
    connection.execute("VACUUM INTO ?1", [draft.to_string_lossy()])?;
    let beginning = format!(".before-upgrade-from-{version}-at-");
    let kept = if let Some(same) = same_content(&draft, path, &beginning).map_err(io)? {
        std::fs::remove_file(&draft).map_err(io)?;
        same
    } else {
        File::open(&draft)
            .and_then(|copy| copy.sync_all())
            .map_err(io)?;
        let suffix = format!("{beginning}{}", now.unix_seconds());
        let name = private_file::unused_name(path, &suffix, private_file::is_there);
        private_file::rename_new(&draft, &name).map_err(io)?;
        private_file::sync_folder_of(&name).map_err(io)?;
        name
    };
    tracing::info!(
        "the database is being upgraded; {} is a copy from before",
        kept.display()
    );
    Ok(())
}

/// The file beside `path` whose name goes on with `beginning`, and which holds what `copy` holds.
fn same_content(copy: &Path, path: &Path, beginning: &str) -> io::Result<Option<PathBuf>> {
    let beginning = beside(path, beginning);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    for entry in std::fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let candidate = entry?.path();
        let is_one = candidate
            .file_name()
            .zip(beginning.file_name())
            .is_some_and(|(name, beginning)| {
                name.as_encoded_bytes()
                    .starts_with(beginning.as_encoded_bytes())
            });
        if is_one && are_same(copy, &candidate)? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

fn are_same(one: &Path, other: &Path) -> io::Result<bool> {
    const PIECE: usize = 64 * 1024;
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        ours.clear();
        theirs.clear();
        let piece = u64::try_from(PIECE).unwrap_or(u64::MAX);
        (&mut one).take(piece).read_to_end(&mut ours)?;
        (&mut other).take(piece).read_to_end(&mut theirs)?;
        if ours != theirs {
            return Ok(false);
        }
        if ours.is_empty() {
            return Ok(true);
        }
    }
}

/// Runs what is not applied yet in one transaction, the note of its version
/// included: an upgrade that is cut short leaves the database as it was.
pub(super) fn run(
    migrations: refinery::Runner,
    connection: &mut Connection,
) -> Result<(), OpenError> {
    migrations
        .set_grouped(true)
        .run(connection)
        .map(|_| ())
        .map_err(|error| OpenError::Migration(error.to_string()))
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_that_can_lose_committed_writes_is_refused() {
        assert!(matches!(
            version_gate(3_051_002, "3.51.2"),
            Err(OpenError::OldSqlite("3.51.2"))
        ));
        assert!(check_sqlite().is_ok());
    }

    /// The migrations of this program, and one for each of `more` behind them.
    fn runner(more: &[&str]) -> refinery::Runner {
        let mut all = ours().get_migrations().clone();
        for sql in more {
            let name = format!("V{}__later", all.len() + 1);
            all.push(refinery::Migration::unapplied(&name, sql).unwrap());
        }
        refinery::Runner::new(&all)
    }

    /// Every statement that made the schema, and the versions in its history.
    fn schema(connection: &Connection) -> (Vec<String>, Vec<u32>) {
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

    #[test]
    fn an_upgrade_that_fails_anywhere_leaves_the_database_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let mut connection = open(&path, Timestamp::default(), &crate::entropy::OsEntropy).unwrap();
        let before = schema(&connection);

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
            }
        }

        run(
            runner(&[&second.concat(), &third.concat()]),
            &mut connection,
        )
        .unwrap();
        assert_eq!(schema(&connection).1.len(), before.1.len() + 2);
    }

    #[test]
    fn the_copy_from_before_an_upgrade_is_a_database_of_that_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let connection = open(&path, Timestamp::default(), &crate::entropy::OsEntropy).unwrap();
        let secrets = "SELECT group_concat(hex(value)) FROM secrets";
        let read = |connection: &Connection| -> String {
            connection.query_row(secrets, [], |row| row.get(0)).unwrap()
        };

        back_up(&connection, &path, 1, Timestamp::from_millis(5_000)).unwrap();
        let copy = folder.path().join("tapdesk.db.before-upgrade-from-1-at-5");
        assert_eq!(examine(&copy).unwrap().format, newest_known());
        let copy = Connection::open(copy).unwrap();
        assert_eq!(read(&copy), read(&connection));
        assert_eq!(schema(&copy), schema(&connection));
    }

    #[test]
    fn attempts_at_an_upgrade_that_fails_leave_one_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let connection = open(&path, Timestamp::default(), &crate::entropy::OsEntropy).unwrap();
        let copies = || {
            let files = std::fs::read_dir(folder.path()).unwrap();
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = names
                .filter_map(|name| Some(name.split_once("before-upgrade")?.1.to_owned()))
                .collect();
            names.sort();
            names
        };
        let attempt = |seconds: i64| {
            back_up(
                &connection,
                &path,
                1,
                Timestamp::from_millis(seconds * 1_000),
            )
            .unwrap();
        };
        std::fs::write(
            folder.path().join("tapdesk.db.before-upgrade.new"),
            "cut short",
        )
        .unwrap();
        for seconds in [5, 5, 6] {
            attempt(seconds);
            assert_eq!(copies(), ["-from-1-at-5"]);
        }
        // What was written in between is another state, and none takes the place of another.
        let note = "INSERT INTO settings VALUES (?1, '')";
        for name in ["one", "two"] {
            connection.execute(note, [name]).unwrap();
            attempt(5);
        }
        assert_eq!(
            copies(),
            ["-from-1-at-5", "-from-1-at-5-2", "-from-1-at-5-3"]
        );
    }
}
