//! Backs up the database before an upgrade changes it.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::{OpenError, beside};
use crate::sqlite::place::{self, folder_of};
use crate::sqlite::seal;
use domain::clock::Timestamp;
use domain::private_file;

/// The name of a backup continues that of its database with this, the version and [`AT`].
const FROM: &str = ".before-upgrade-from-";
/// Between the version in the name of a backup, and its time in seconds.
const AT: &str = "-at-";

/// Why a backup failed, in words of the system or of SQLite.
type Failure = Box<dyn Error>;

/// Copies the database before an upgrade changes it, and checks the copy. A failed upgrade leaves
/// the database as it was, so each attempt would make the same copy: it is kept only once.
///
/// # Errors
///
/// [`OpenError::NotBackedUp`]; no part of a copy stays.
pub(super) fn back_up(
    connection: &Connection,
    path: &Path,
    version: u32,
    now: Timestamp,
) -> Result<(), OpenError> {
    let draft = beside(path, ".before-upgrade.new");
    let failed = |why: Failure| OpenError::NotBackedUp(path.to_owned(), why.to_string());
    let kept = check_space(path, place::free_space(path))
        .and_then(|()| make(connection, &draft))
        .and_then(|()| keep(&draft, path, version, now));
    if kept.is_err() {
        // A full disk must not stay full. The first error matters more than this one.
        let _ = remove(&draft);
    }
    let kept = kept.map_err(failed)?;
    tracing::info!(
        "the database is being upgraded; {} is a backup from before",
        kept.display()
    );
    Ok(())
}

/// The newest backup beside the database at `path` that a program can open which knows the versions
/// up to `known`.
pub(super) fn backup_of(path: &Path, known: u32) -> Option<PathBuf> {
    let beginning = beside(path, FROM);
    let beginning = beginning.file_name()?.to_str()?;
    let backups = std::fs::read_dir(folder_of(path)).ok()?.filter_map(|file| {
        let file = file.ok()?;
        let name = file.file_name();
        let (version, at) = name.to_str()?.strip_prefix(beginning)?.split_once(AT)?;
        let version: u32 = version.parse().ok()?;
        // Several of one second have a number behind it.
        let (seconds, number) = at.split_once('-').unwrap_or((at, "1"));
        let at: (i64, u32) = (seconds.parse().ok()?, number.parse().ok()?);
        (version <= known).then(|| (version, at, file.path()))
    });
    backups.max().map(|(.., backup)| backup)
}

/// Refuses to begin if the disk has less room than the database takes: a copy that fills it would
/// stop the former version, too.
fn check_space(path: &Path, free: Option<u64>) -> Result<(), Failure> {
    /// Bytes in a megabyte.
    const MB: u64 = 1_000_000;
    let log = beside(path, "-wal").metadata();
    let needed = path.metadata()?.len() + log.map_or(0, |log| log.len());
    match free {
        Some(free) if free < needed => Err(format!(
            "it needs {} MB on the disk, and {} MB are free",
            needed.div_ceil(MB),
            free / MB
        )
        .into()),
        _ => Ok(()),
    }
}

/// Writes a copy with a checksum to `draft`.
fn make(connection: &Connection, draft: &Path) -> Result<(), Failure> {
    remove(draft)?;
    private_file::create_empty(draft)?;
    connection.execute("VACUUM INTO ?1", [draft.to_string_lossy()])?;
    check(connection, draft)?;
    let mut copy = File::options().read(true).write(true).open(draft)?;
    seal::append(&mut copy, None)?;
    Ok(copy.sync_all()?)
}

/// Checks each page of the copy, and that its tables have as many rows as those of the database.
fn check(connection: &Connection, draft: &Path) -> Result<(), Failure> {
    let copy = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let verdict: String = copy.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if verdict != "ok" {
        return Err(verdict.into());
    }
    let mut tables = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?;
    let tables = tables.query_map([], |row| row.get(0))?;
    for table in tables {
        let table: String = table?;
        if count(connection, &table)? != count(&copy, &table)? {
            return Err(format!("the copy has other rows in its table {table}").into());
        }
    }
    Ok(())
}

fn count(connection: &Connection, table: &str) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM \"{table}\"");
    connection.query_row(&sql, [], |row| row.get(0))
}

/// Gives the copy its name, unless there is the same one already. Returns the name.
fn keep(draft: &Path, path: &Path, version: u32, now: Timestamp) -> Result<PathBuf, Failure> {
    let beginning = format!("{FROM}{version}{AT}");
    if let Some(same) = same_content(draft, path, &beginning)? {
        std::fs::remove_file(draft)?;
        return Ok(same);
    }
    let suffix = format!("{beginning}{}", now.unix_seconds());
    let name = private_file::unused_name(path, &suffix, private_file::is_there);
    private_file::rename_new(draft, &name)?;
    private_file::sync_folder_of(&name)?;
    Ok(name)
}

fn remove(draft: &Path) -> io::Result<()> {
    match std::fs::remove_file(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The file next to `path` whose name continues with `beginning`, if its content equals that of
/// `copy`.
fn same_content(copy: &Path, path: &Path, beginning: &str) -> io::Result<Option<PathBuf>> {
    let beginning = beside(path, beginning);
    for entry in std::fs::read_dir(folder_of(path))? {
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

#[cfg(test)]
mod tests {
    use super::super::tests::schema;
    use super::super::{examine, newest_known, open};
    use super::*;

    #[test]
    fn the_copy_from_before_an_upgrade_is_a_database_of_that_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let connection = open(&path, Timestamp::default(), &domain::entropy::OsEntropy).unwrap();
        let secrets = "SELECT group_concat(hex(value)) FROM secrets";
        let read = |connection: &Connection| -> String {
            connection.query_row(secrets, [], |row| row.get(0)).unwrap()
        };

        back_up(&connection, &path, 1, Timestamp::from_millis(5_000)).unwrap();
        let copy = folder.path().join("tapdesk.db.before-upgrade-from-1-at-5");
        seal::check_backup(&copy).unwrap();
        assert_eq!(examine(&copy).unwrap().format, newest_known());
        let copy = Connection::open(copy).unwrap();
        assert_eq!(read(&copy), read(&connection));
        assert_eq!(schema(&copy), schema(&connection));
    }

    #[test]
    fn a_disk_with_less_room_than_the_database_takes_gets_no_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        std::fs::write(&path, [0; 3_000]).unwrap();
        std::fs::write(beside(&path, "-wal"), [0; 2_000]).unwrap();
        let refused = check_space(&path, Some(4_999)).unwrap_err().to_string();
        assert_eq!(refused, "it needs 1 MB on the disk, and 0 MB are free");
        for enough in [Some(5_000), None] {
            check_space(&path, enough).unwrap();
        }
    }

    #[test]
    fn the_way_back_is_the_newest_backup_that_this_program_can_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        assert_eq!(backup_of(&path, 9), None);
        for name in [
            "tapdesk.db.before-upgrade-from-1-at-30",
            "tapdesk.db.before-upgrade-from-2-at-5",
            "tapdesk.db.before-upgrade-from-2-at-5-2",
            "tapdesk.db.before-upgrade-from-3-at-4",
            "tapdesk.db.before-upgrade-from-2-at-later",
            "tapdesk.db.before-upgrade.new",
            "other.db.before-upgrade-from-2-at-50",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for (known, name) in [(1, "1-at-30"), (2, "2-at-5-2"), (4, "3-at-4")] {
            let expected = beside(&path, &format!("{FROM}{name}"));
            assert_eq!(backup_of(&path, known), Some(expected));
        }
    }

    #[test]
    fn attempts_at_an_upgrade_that_fails_leave_one_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let connection = open(&path, Timestamp::default(), &domain::entropy::OsEntropy).unwrap();
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
        // A database that was written in between is another state; no copy replaces another.
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
