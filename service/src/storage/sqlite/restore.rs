//! A database from a backup. All checks are made on a copy beside the place it
//! is to take; until then nothing that is there is touched.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use serde_json::json;
use url::Url;

use super::backup::NOTE;
use super::expired_keys;
use super::fold::BY_ID;
use super::lock::Lock;
use super::migrate::{self, OpenError, beside};
use super::{audit, schema};
use crate::audit::{Ends, Note};
use crate::caller::{Actor, Caller};
use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::private_file;
use crate::scope::Reach;
use crate::storage::backups::SCHEDULE;
use crate::storage::plane;
use crate::storage::transfer::mark;
use crate::storage::{BackupContent, BackupNote};

/// A database, and what SQLite keeps beside it.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

/// The version of the schema that has encodings.
const ENCODING: u32 = 4;

/// A backup that was found sound, ready to take its place. Dropped, it is gone.
pub struct Restore {
    target: PathBuf,
    draft: Draft,
    /// What the backup tells of itself; `None` for any other copy of a database.
    pub note: Option<BackupNote>,
    /// How many tags it holds.
    pub tags: u64,
    /// How many interactions it holds.
    pub interactions: u64,
    /// Any inlay's key in its stored form: what the wrapping key must open.
    pub wrapped_key: Option<Vec<u8>>,
    _lock: Lock,
}

impl Restore {
    /// Copies the backup at `source` beside `target` and checks it. `target`
    /// belongs to this value from now on: no service can open it.
    pub fn prepare(source: &Path, target: &Path) -> Result<Self, OpenError> {
        private_file::make_folder_of(target)
            .map_err(|error| OpenError::Io(target.to_owned(), error))?;
        let lock = Lock::take(target)?;
        let target = lock.database();
        let draft = Draft::copy(source, target)?;
        let examination = migrate::look_into(&draft.0).map_err(|error| error.naming(source))?;
        let connection = Connection::open(&draft.0)?;
        schema::check(&connection, source, examination.format)?;
        let verdict: String =
            connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
        if verdict != "ok" {
            return Err(OpenError::damaged(source, &verdict));
        }
        let note: Option<String> = connection
            .query_row(
                "SELECT value FROM settings WHERE name = ?1",
                [NOTE],
                |row| row.get(0),
            )
            .optional()?;
        // A database that was moved elsewhere is served again by this.
        connection.execute(
            "DELETE FROM settings WHERE name IN (?1, ?2)",
            [NOTE, mark::NAME],
        )?;
        switch_webhooks_off(&connection)?;
        // The original may still make and remove them.
        connection.execute(
            "UPDATE settings SET value = json_set(value, '$.files', json('[]')) WHERE name = ?1",
            [SCHEDULE],
        )?;
        // Any copy of a database: an upgrade of an older one expires them.
        if examination.format >= BY_ID {
            expired_keys::expire_all(&connection)?;
        }
        if examination.format >= ENCODING {
            retire_roots(&connection)?;
        }
        let (tags, interactions) = connection.query_row(
            "SELECT (SELECT count(*) FROM tags WHERE deleted_at IS NULL),
                    (SELECT count(*) FROM interactions)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        // Whatever stands in a log beside it belongs into the file that is moved.
        connection.pragma_update(None, "journal_mode", "DELETE")?;
        connection.close().map_err(|(_, error)| error)?;
        let note = note.and_then(|json| serde_json::from_str(&json).ok());
        Ok(Self {
            target: target.to_owned(),
            draft,
            note,
            tags,
            interactions,
            wrapped_key: examination.wrapped_key,
            _lock: lock,
        })
    }

    /// Notes in the audit log who restored the backup, and how far the log of the database that is
    /// replaced had come: what it says since the backup is in the file that is moved aside alone.
    pub fn record(
        &self,
        actor: Actor,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<(), OpenError> {
        let connection = Connection::open(&self.draft.0)?;
        if !connection.table_exists(None, "audit_ends")? {
            // The version of the backup had none.
            return Ok(());
        }
        let ends = audit::ends(&connection)?;
        // One that cannot be read is told by nothing more.
        let replaced = untouched(&self.target).and_then(|replaced| audit::ends(&replaced).ok());
        let head = |ends: &Ends| {
            let (id, hash) = ends.head;
            json!({"row": id, "hash": base16ct::lower::encode_string(&hash)})
        };
        let restored = json!({
            "made_at": self.note.as_ref().map(|note| note.at),
            "log": head(&ends),
            "replaced_log": replaced.as_ref().map(head),
        });
        let caller = Caller::new(
            actor,
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            ("backup.restore".into(), "backup".to_owned()),
            Reach::EVERYTHING,
            entropy::bytes(entropy),
        );
        let row = plane::audit::next(ends.head, now, &caller, Some(Note::done(&restored)));
        let tx = connection.unchecked_transaction()?;
        audit::add(&tx, ends, &row)?;
        tx.commit()?;
        connection.close().map_err(|(_, error)| error.into())
    }

    /// Puts the backup in its place. What was there is moved aside, and where to
    /// is the answer.
    pub fn finish(self, now: Timestamp) -> Result<Option<PathBuf>, OpenError> {
        let aside = out_of_the_way(&self.target, now)?;
        private_file::rename_new(&self.draft.0, &self.target)
            .and_then(|()| private_file::sync_folder_of(&self.target))
            .map_err(|error| OpenError::Io(self.target.clone(), error))?;
        Ok(aside)
    }
}

/// A database that is read and left as it is. Where there is no log, SQLite would leave an empty one, unless
/// it is told that nobody changes the file.
fn untouched(path: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let mut url = Url::from_file_path(std::path::absolute(path).ok()?).ok()?;
    if !private_file::is_there(&beside(path, "-wal")) {
        url.set_query(Some("immutable=1"));
    }
    Connection::open_with_flags(url.as_str(), flags).ok()
}

/// Restores the backup at `source` into a folder beside it, and removes that again: what it has.
pub(super) fn rehearse(source: &Path, now: Timestamp) -> Result<BackupContent, OpenError> {
    let io = |error| OpenError::Io(source.to_owned(), error);
    let folder = source.parent().unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new()
        .prefix(".tapdesk-check-")
        .tempdir_in(folder)
        .map_err(io)?;
    let target = folder.path().join("tapdesk.db");
    let restore = Restore::prepare(source, &target)?;
    let content = BackupContent {
        note: restore.note.clone(),
        tags: restore.tags,
        interactions: restore.interactions,
        wrapped_key: restore.wrapped_key.clone(),
    };
    restore.finish(now)?;
    migrate::examine(&target)?;
    folder.close().map_err(io)?;
    Ok(content)
}

/// The original may still deliver: what both sent would be there twice.
fn switch_webhooks_off(connection: &Connection) -> rusqlite::Result<()> {
    for table in ["webhook_states", "webhook_types"] {
        // An older version has none.
        if connection.table_exists(None, table)? {
            connection.execute(&format!("DELETE FROM {table}"), [])?;
        }
    }
    Ok(())
}

/// What was encoded after the backup is not in it: its roots only open chips from now on, so that
/// no generation of keys is used twice, and no encoding goes on.
fn retire_roots(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "UPDATE encoding_roots SET retired_at = coalesce(backed_up_at, created_at) WHERE retired_at IS NULL;
         UPDATE encodings SET state = 'abandoned', progress = NULL
         WHERE state NOT IN ('verified', 'rejected', 'abandoned', 'reset')",
    )
}

/// Moves the database at `path` aside, so that a new one can take its place;
/// answers where to. Refused where another process owns it.
pub fn move_aside(path: &Path, now: Timestamp) -> Result<Option<PathBuf>, OpenError> {
    let lock = Lock::take(path)?;
    let path = lock.database();
    let aside = out_of_the_way(path, now)?;
    private_file::sync_folder_of(path).map_err(|error| OpenError::Io(path.to_owned(), error))?;
    Ok(aside)
}

fn out_of_the_way(path: &Path, now: Timestamp) -> Result<Option<PathBuf>, OpenError> {
    let suffix = format!(".replaced-at-{}", now.unix_seconds());
    let aside = private_file::unused_name(path, &suffix, |name| {
        PARTS
            .iter()
            .any(|part| private_file::is_there(&beside(name, part)))
    });
    let moved =
        move_whole(path, &aside, || {}).map_err(|error| OpenError::Io(path.to_owned(), error))?;
    Ok(moved.then_some(aside))
}

/// Moves the database at `path` and its log, so that a crash at any point leaves no database
/// without its log: the log is copied, the database renamed, and only then the first log
/// removed. `between` is called between two steps. Answers whether there was anything.
fn move_whole(path: &Path, aside: &Path, between: impl Fn()) -> io::Result<bool> {
    let log = beside(path, "-wal");
    if !private_file::is_there(path) {
        // A log alone is what a crash left behind the rename, or what a person did: kept.
        return if_there(private_file::rename_new(&log, &beside(aside, "-wal")));
    }
    if private_file::is_there(&log) {
        copy_new(&log, &beside(aside, "-wal"))?;
        private_file::sync_folder_of(aside)?;
    }
    between();
    private_file::rename_new(path, aside)?;
    private_file::sync_folder_of(aside)?;
    between();
    // The memory that processes share is made from the log by whoever opens it next.
    for part in ["-wal", "-shm"] {
        if_there(std::fs::remove_file(beside(path, part)))?;
    }
    Ok(true)
}

/// Whether there was something to be done.
fn if_there(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies a file to a path that has none yet. It is on disk when this returns.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut read = File::open(from)?;
    private_file::create_empty(to)?;
    let mut write = File::options().write(true).open(to)?;
    io::copy(&mut read, &mut write)?;
    write.sync_all()
}

/// The copy that is checked. Dropped before it took its place, it is removed.
struct Draft(PathBuf);

impl Draft {
    fn copy(source: &Path, target: &Path) -> Result<Self, OpenError> {
        let draft = Self(beside(target, ".restoring"));
        draft.remove();
        for part in ["", "-wal"] {
            let (from, to) = (beside(source, part), beside(&draft.0, part));
            if part == "-wal" && !private_file::is_there(&from) {
                continue;
            }
            copy_new(&from, &to).map_err(|error| OpenError::Io(from, error))?;
        }
        Ok(draft)
    }

    fn remove(&self) {
        for part in PARTS {
            // What is not there need not be removed; what cannot be is said by the copy.
            let _ = std::fs::remove_file(beside(&self.0, part));
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// How many notes the database at `path` has, those in its log included.
    fn notes(path: &Path) -> i64 {
        let connection = Connection::open(path).unwrap();
        let count = "SELECT count(*) FROM notes";
        connection.query_row(count, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_crash_at_any_point_leaves_no_database_without_its_log() {
        for crash in 1..=3 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("made.db");
            let connection = Connection::open(&path).unwrap();
            let made = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                CREATE TABLE notes (text); INSERT INTO notes VALUES ('in the log alone')";
            connection.execute_batch(made).unwrap();
            // As a crash of the service leaves it: what is in the log is nowhere else.
            let (path, left) = (folder.path().join("tapdesk.db"), path);
            for part in ["", "-wal"] {
                std::fs::copy(beside(&left, part), beside(&path, part)).unwrap();
            }
            let aside = folder.path().join("aside.db");
            let step = Cell::new(0);
            let moved = catch_unwind(AssertUnwindSafe(|| {
                let between = || {
                    step.set(step.get() + 1);
                    assert!(step.get() != crash, "a test's own crash");
                };
                move_whole(&path, &aside, between).unwrap()
            }));
            assert_eq!(moved.is_ok(), crash == 3);
            let whole = [&path, &aside].map(|file| file.exists().then(|| notes(file)));
            assert_eq!(whole.into_iter().flatten().collect::<Vec<_>>(), [1]);
        }
    }
}
