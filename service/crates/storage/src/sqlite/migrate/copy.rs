//! Copies the database before an upgrade changes it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{OpenError, beside};
use domain::clock::Timestamp;
use domain::private_file;

/// Copies the database before an upgrade changes it. A failed upgrade leaves the database as it
/// was, so each attempt would make the same copy: it is kept only once.
pub(super) fn back_up(
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

/// The file next to `path` whose name continues with `beginning`, if its content equals that of
/// `copy`.
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
        assert_eq!(examine(&copy).unwrap().format, newest_known());
        let copy = Connection::open(copy).unwrap();
        assert_eq!(read(&copy), read(&connection));
        assert_eq!(schema(&copy), schema(&connection));
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
