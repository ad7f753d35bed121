//! Restores a database from a backup. All checks use a copy next to the destination; until they
//! succeed, no existing file changes.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use serde_json::json;
use url::Url;
use zeroize::Zeroizing;

use super::backup::{NOTE, folder_beside};
use super::expired_keys;
use super::lock::Lock;
use super::migrate::{self, OpenError, beside};
use super::place::make_place;
use super::{audit, rows, schema, seal};
use crate::backups::{CONTENT, SCHEDULE};
use crate::catalogue::forget_progress;
use crate::shared;
use crate::transfer::mark;
use crate::{BackupContent, BackupNote, BackupSeal};
use domain::audit::{Ends, Note};
use domain::caller::{Actor, Caller};
use domain::clock::Timestamp;
use domain::entropy::{self, Entropy};
use domain::keyring::{BackupKey, Passphrase};
use domain::private_file;
use domain::scope::Reach;
use domain::tag_url;

/// Suffixes of the files of a database: those that SQLite keeps next to it, and its own.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

/// A backup that was found sound, ready to replace the database. Dropping it removes its copy.
pub struct Restore {
    target: PathBuf,
    draft: Draft,
    /// The backup's description of itself; `None` for another copy of a database.
    pub note: Option<BackupNote>,
    /// How many tags the backup contains.
    pub tags: u64,
    /// How many interactions the backup contains.
    pub interactions: u64,
    /// Any inlay's key in its stored form; the wrapping key must open it.
    pub wrapped_key: Option<Vec<u8>>,
    /// Its seal; `None` for another copy of a database, which cannot prove that it is unchanged.
    pub seal: Option<BackupSeal>,
    _lock: Lock,
}

/// Why the key in a backup is not available. The message of each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenKeyError {
    /// The key is sealed, and no passphrase was given.
    #[error("The backup contains the key that unlocks inlay keys, encrypted with a passphrase.")]
    NoPassphrase,
    /// The passphrase does not open the key.
    #[error("Wrong passphrase for this backup. Nothing was changed.")]
    WrongPassphrase,
    /// Another key made the seal than the one that the passphrase opens.
    #[error(
        "This backup is not as it was made: its seal does not fit its content. Nothing was changed; \
         restore another one."
    )]
    OtherSeal,
    /// A passphrase was given, but the backup is not sealed: anyone can make such a file.
    #[error(
        "This backup is not sealed with a passphrase, so nothing shows who made it. Nothing was \
         changed. If you trust the file, restore it without a passphrase."
    )]
    NotSealed,
}

impl Restore {
    /// Copies the backup at `source` next to `target` and checks it. From now on, this value holds
    /// the lock of `target`, so that no service can open it.
    pub fn prepare(source: &Path, target: &Path) -> Result<Self, OpenError> {
        make_place(target)?;
        for file in [source, target] {
            if file.is_dir() {
                return Err(OpenError::Folder(file.to_owned()));
            }
        }
        let lock = Lock::take(target)?;
        let target = lock.database();
        let (draft, seal) = Draft::copy(source, target)?;
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
        let note = note.map(|json| serde_json::from_str::<BackupNote>(&json));
        let note = note
            .transpose()
            .map_err(|_| OpenError::damaged(source, "what it says of itself is not readable"))?;
        match (&note, &seal) {
            (Some(_), None) => return Err(seal::without_end(source)),
            (Some(note), Some(seal)) if note.inlay_key.is_some() != seal.is_sealed() => {
                return Err(OpenError::damaged(source, "its seal is missing"));
            }
            _ => {}
        }
        if examination.format == migrate::newest_known() {
            rows::check(&connection, source)?;
        }
        // Restoring makes a moved database usable again. The results of tag URL checks are dropped,
        // because the addresses may lead to another computer.
        connection.execute(
            "DELETE FROM settings WHERE name IN (?1, ?2, ?3)",
            [NOTE, mark::NAME, tag_url::ROW],
        )?;
        // The original may still deliver webhooks, and receivers would get every event twice.
        connection.execute_batch(&forget_progress().collect::<String>())?;
        // The original database may still create and remove these backups.
        connection.execute(
            "UPDATE settings SET value = json_set(value, '$.files', json('[]')) WHERE name = ?1",
            [SCHEDULE],
        )?;
        // This file may be any copy of a database, so expire its keys.
        expired_keys::expire_all(&connection)?;
        connection.execute_batch(&shared::encodings::retire_all())?;
        let (tags, interactions) =
            connection.query_row(CONTENT, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        // The file is moved without its log, so put the log's content into it.
        connection.pragma_update(None, "journal_mode", "DELETE")?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(Self {
            target: target.to_owned(),
            draft,
            note,
            tags,
            interactions,
            wrapped_key: examination.wrapped_key,
            seal,
            _lock: lock,
        })
    }

    /// The wrapping key in the backup, after the passphrase opened it and the seal was found to
    /// match it; `None` if the backup does not contain the key.
    ///
    /// # Errors
    ///
    /// It also fails if a passphrase is given and there is no seal: whoever replaces a sealed
    /// backup cannot make a seal.
    pub fn open_key(
        &self,
        passphrase: Option<&Passphrase>,
    ) -> Result<Option<Zeroizing<[u8; 32]>>, OpenKeyError> {
        let sealed = self.note.as_ref().and_then(|note| note.inlay_key.as_ref());
        let (sealed, passphrase) = match (sealed, passphrase) {
            (None, None) => return Ok(None),
            (None, Some(_)) => return Err(OpenKeyError::NotSealed),
            (Some(_), None) => return Err(OpenKeyError::NoPassphrase),
            (Some(sealed), Some(passphrase)) => (sealed, passphrase),
        };
        let key = sealed.open(passphrase);
        let key = key.ok_or(OpenKeyError::WrongPassphrase)?;
        let seal_key = BackupKey::of(&key);
        if self.seal.is_some_and(|seal| seal.is_by(&seal_key)) {
            Ok(Some(key))
        } else {
            Err(OpenKeyError::OtherSeal)
        }
    }

    /// Records in the audit log who restored the backup, and the last row in the log of the
    /// replaced database: rows written since the backup exist only in the file that is moved aside.
    pub fn record(
        &self,
        actor: Actor,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<(), OpenError> {
        let connection = Connection::open(&self.draft.0)?;
        if !connection.table_exists(None, "audit_ends")? {
            // The backup's version had no audit log.
            return Ok(());
        }
        let ends = audit::ends(&connection)?;
        // A replaced database that cannot be read is not described further.
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
        let row = shared::audit::next(ends.head, now, &caller, Some(Note::done(&restored)));
        let tx = connection.unchecked_transaction()?;
        audit::add(&tx, ends, &row)?;
        tx.commit()?;
        connection.close().map_err(|(_, error)| error.into())
    }

    /// Moves the backup to its destination. Returns the path to which the replaced database was
    /// moved.
    pub fn finish(self, now: Timestamp) -> Result<Option<PathBuf>, OpenError> {
        let aside = out_of_the_way(&self.target, now)?;
        private_file::rename_new(&self.draft.0, &self.target)
            .and_then(|()| private_file::sync_folder_of(&self.target))
            .map_err(|error| OpenError::Io(self.target.clone(), error))?;
        Ok(aside)
    }
}

/// Opens a database for reading without changing it. If it has no log, SQLite would create an empty
/// one, unless the file is marked as immutable.
fn untouched(path: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let mut url = Url::from_file_path(std::path::absolute(path).ok()?).ok()?;
    if !private_file::is_there(&beside(path, "-wal")) {
        url.set_query(Some("immutable=1"));
    }
    Connection::open_with_flags(url.as_str(), flags).ok()
}

/// Restores the backup at `source` into a folder next to it, removes the folder again, and returns
/// the content.
pub(super) fn rehearse(source: &Path, now: Timestamp) -> Result<BackupContent, OpenError> {
    let io = |error| OpenError::Io(source.to_owned(), error);
    let folder = folder_beside(source).map_err(io)?;
    let target = folder.path().join("tapdesk.db");
    let restore = Restore::prepare(source, &target)?;
    let content = BackupContent {
        note: restore.note.clone(),
        tags: restore.tags,
        interactions: restore.interactions,
        wrapped_key: restore.wrapped_key.clone(),
        seal: restore.seal,
    };
    restore.finish(now)?;
    migrate::examine(&target)?;
    folder.close().map_err(io)?;
    Ok(content)
}

/// Removes the copy that a killed restore left next to `target`. The caller has the lock of `target`.
pub(super) fn remove_draft(target: &Path) {
    Draft::of(target).remove();
}

/// Moves the database at `path` aside, so that a new one can replace it, and returns its new path.
/// Fails if another process owns the database.
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
/// without its log: it copies the log, renames the database, and only then removes the first log.
/// It calls `between` between two steps. Returns whether a database existed.
fn move_whole(path: &Path, aside: &Path, between: impl Fn()) -> io::Result<bool> {
    let log = beside(path, "-wal");
    if !private_file::is_there(path) {
        // A log without a database was left by a crash after the rename, or by a person: it is
        // kept.
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
    // The next process that opens the database rebuilds the shared memory from the log.
    for part in ["-wal", "-shm"] {
        if_there(std::fs::remove_file(beside(path, part)))?;
    }
    Ok(true)
}

/// Turns a missing file into `false`.
fn if_there(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies a file to a path that must not exist. The copy is on disk when this returns.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut read = File::open(from)?;
    private_file::create_empty(to)?;
    let mut write = File::options().write(true).open(to)?;
    io::copy(&mut read, &mut write)?;
    write.sync_all()
}

/// The copy that is checked. It is removed if it is dropped before it replaces the database.
struct Draft(PathBuf);

impl Draft {
    fn of(target: &Path) -> Self {
        Self(beside(target, ".restoring"))
    }

    /// Checks the content while copying it, so that exactly the checked content is restored.
    fn copy(source: &Path, target: &Path) -> Result<(Self, Option<BackupSeal>), OpenError> {
        let draft = Self::of(target);
        draft.remove();
        let io = |error| OpenError::Io(draft.0.clone(), error);
        private_file::create_empty(&draft.0).map_err(io)?;
        let mut file = File::options().write(true).open(&draft.0).map_err(io)?;
        let seal = seal::copy(source, &mut file)?;
        file.sync_all().map_err(io)?;
        let log = beside(source, "-wal");
        // A backup has no log: a file of that name next to it belongs to something else.
        if seal.is_none() && private_file::is_there(&log) {
            copy_new(&log, &beside(&draft.0, "-wal")).map_err(|error| OpenError::Io(log, error))?;
        }
        Ok((draft, seal))
    }

    fn remove(&self) {
        for part in PARTS {
            // A missing file is fine; for one that cannot be removed, the copy fails.
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

    /// How many notes the database at `path` has, including those in its log.
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
            // The state after a crash of the service: some data is only in the log.
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
