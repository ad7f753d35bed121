//! Upgrades a database file to the newest schema, after a backup.

use std::path::Path;

use rusqlite::Connection;

use super::copy::back_up;
use super::{OpenError, newest_of, run};
use domain::clock::Timestamp;

/// Upgrades the database at `path`, of version `found`, to the newest of these migrations. Nothing
/// changes before a backup is on the disk.
pub(super) fn upgrade(
    migrations: refinery::Runner,
    connection: &mut Connection,
    path: &Path,
    found: u32,
    now: Timestamp,
) -> Result<(), OpenError> {
    if found < newest_of(&migrations) {
        back_up(connection, path, found, now)?;
        run(migrations, connection)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    use domain::entropy::OsEntropy;
    use tapdesk_tests::length::length;

    use super::super::tests::{counts, runner, schema};
    use super::super::{beside, create, examine, make_secrets, newest_known};
    use super::*;
    use crate::sqlite::connection;
    use crate::sqlite::restore::Restore;
    use crate::sqlite::seal::check_backup;

    /// The next version, which changes old rows and writes many new ones.
    const NEXT: &str = "ALTER TABLE tags ADD COLUMN later TEXT NOT NULL DEFAULT 'new';
        UPDATE tags SET title = title || '!';
        CREATE TABLE later AS SELECT a.* FROM properties a, (SELECT 1 UNION SELECT 2);
        DROP TABLE tokens;";

    /// Rows that the former program reads when it restores its backup: tags with two variables.
    const ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :tags)
        INSERT INTO tags (slug, name, title, description, language_code, status, verifier_enabled,
            updates_require_verified, track_location, has_qr_code, simulated, widget_settings, created_at,
            updated_at, folded)
        SELECT 'bottle-' || i, 'Ä ' || i, i, '', 'en_US', 'active', 1, 0, 0, 0, 0, '{}', i, i, '' FROM n;
        INSERT INTO properties (tag_id, class, key, value)
        SELECT id, 'variable', key, hex(zeroblob(100)) FROM tags, (SELECT 'a' AS key UNION SELECT 'b');";

    /// Where the process that is killed finds its database.
    const DATABASE: &str = "TAPDESK_TEST_UPGRADE";

    /// Creates a database of the present version.
    fn create_filled(path: &Path, tags: u32) {
        let rows = ROWS.replace(":tags", &tags.to_string());
        create(path, |connection| {
            make_secrets(connection, &OsEntropy)?;
            connection.execute_batch(&rows)
        })
        .unwrap();
    }

    /// Opens the database at `path` as a program with the next version does.
    fn open_next(path: &Path) -> Result<Connection, OpenError> {
        let found = examine(path)?.format;
        let mut connection = connection::writer(path)?;
        let now = Timestamp::from_millis(5_000);
        upgrade(runner(&[NEXT]), &mut connection, path, found, now)?;
        Ok(connection)
    }

    /// The files beside the database whose names begin like this after its own.
    fn files(path: &Path, beginning: &str) -> Vec<PathBuf> {
        let beginning = beside(path, beginning);
        let beginning = beginning.to_str().unwrap();
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.to_str().unwrap().starts_with(beginning))
            .collect();
        paths.sort();
        paths
    }

    /// The texts that the next version changes.
    fn titles(connection: &Connection) -> String {
        let sql = "SELECT group_concat(title ORDER BY id) FROM tags";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    type Content = ((Vec<String>, Vec<u32>), BTreeMap<String, u64>, String);

    fn content(path: &Path) -> Content {
        let connection = Connection::open(path).unwrap();
        (
            schema(&connection),
            counts(&connection),
            titles(&connection),
        )
    }

    /// Restores the only backup in the place of the upgraded database, as the former program does.
    fn go_back(path: &Path) {
        let backups = files(path, ".before-upgrade-");
        assert_eq!(backups.len(), 1, "{backups:?}");
        check_backup(&backups[0]).unwrap();
        let restore = Restore::prepare(&backups[0], path).unwrap();
        let aside = restore.finish(Timestamp::from_millis(6_000)).unwrap();
        assert!(aside.is_some());
        assert_eq!(examine(path).unwrap().format, newest_known());
    }

    #[test]
    fn an_upgrade_keeps_all_rows_and_the_former_program_restores_its_backup() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        create_filled(&path, 100);
        let before = content(&path);

        let connection = open_next(&path).unwrap();
        let mut rows = counts(&connection);
        let mut expected = before.1.clone();
        assert_eq!(rows.remove("later"), Some(2 * expected["properties"]));
        expected.remove("tokens");
        assert_eq!(rows, expected);
        assert_ne!(titles(&connection), before.2);
        drop(connection);

        let said = examine(&path).unwrap_err().to_string();
        let backup = beside(&path, ".before-upgrade-from-1-at-5");
        let way_back = format!(
            "tapdesk-service restore {} --database sqlite:{} --replace",
            backup.display(),
            path.display()
        );
        assert!(said.contains("newer Tapdesk"), "{said}");
        assert!(said.contains(&way_back), "{said}");

        go_back(&path);
        let after = content(&path);
        assert_eq!((after.0, after.2), (before.0, before.2));
        // And forward once more. A restore changes the content, so it has a backup of its own.
        drop(open_next(&path).unwrap());
        assert_eq!(files(&path, ".before-upgrade-").len(), 2);
    }

    #[test]
    fn a_backup_of_which_a_bit_was_changed_is_no_way_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        create_filled(&path, 5);
        drop(open_next(&path).unwrap());
        let backup = files(&path, ".before-upgrade-").remove(0);
        let mut bytes = std::fs::read(&backup).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&backup, bytes).unwrap();
        let refused = Restore::prepare(&backup, &path).err().unwrap();
        assert!(matches!(refused, OpenError::Damaged(..)), "{refused}");
    }

    /// This test's program, which only upgrades the database at `path`, by way of `sh`.
    fn child(path: &Path, before: &str) -> Child {
        let test = "sqlite::migrate::upgrade::tests::killed_anywhere_it_has_lost_nothing";
        Command::new("sh")
            .args(["-c", &format!("{before} exec \"$@\""), "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", test])
            .env(DATABASE, path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// How many bytes an upgrade has written: to its backup, under both of its names, and to the
    /// log.
    fn written(path: &Path) -> u64 {
        let mut files = files(path, ".before-upgrade");
        files.push(beside(path, "-wal"));
        let sizes = files
            .iter()
            .filter_map(|file| Some(file.metadata().ok()?.len()));
        sizes.sum()
    }

    #[test]
    fn killed_anywhere_it_has_lost_nothing() {
        if let Some(path) = std::env::var_os(DATABASE) {
            // The messages of the process go to whoever started it.
            drop(open_next(Path::new(&path)).unwrap());
            return;
        }
        let origin = tempfile::tempdir().unwrap();
        let original = origin.path().join("tapdesk.db");
        create_filled(&original, 1_000);
        let before = content(&original);
        let upgraded = origin.path().join("upgraded.db");
        std::fs::copy(&original, &upgraded).unwrap();
        let connection = open_next(&upgraded).unwrap();
        let all = written(&upgraded);
        drop(connection);
        let after = content(&upgraded);

        let kills = length(3, 100);
        for kill in 1..=kills {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("tapdesk.db");
            std::fs::copy(&original, &path).unwrap();
            let mut child = child(&path, "");
            // The last one may come after the end.
            while written(&path) < all * kill / (kills + 1) {
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::yield_now();
            }
            child.kill().unwrap();
            child.wait().unwrap();

            // SQLite completes or forgets the transaction. A change without a backup is not there.
            let found = content(&path);
            if found == after {
                assert_eq!(files(&path, ".before-upgrade-").len(), 1);
            } else {
                assert_eq!(found, before, "killed at {kill} of {kills}");
                drop(open_next(&path).unwrap());
                assert_eq!(content(&path), after);
            }
            assert!(files(&path, ".before-upgrade.new").is_empty());
            go_back(&path);
        }
    }

    #[test]
    fn without_room_for_the_backup_nothing_is_upgraded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        create_filled(&path, 500);
        let before = content(&path);
        let blocks = path.metadata().unwrap().len() / 512;
        // The shell counts files in blocks of 512 bytes: half of the backup fits, then writes fail.
        let limit = format!("trap '' XFSZ; ulimit -f {};", blocks / 2);
        let output = child(&path, &limit).wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(said.contains("NotBackedUp"), "{said}");
        assert!(files(&path, ".before-upgrade").is_empty());
        assert_eq!(content(&path), before);
        // With room it is upgraded.
        drop(open_next(&path).unwrap());
        assert_eq!(files(&path, ".before-upgrade-").len(), 1);
    }
}
