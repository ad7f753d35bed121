//! Files that are no database for this version: `doctor`, `serve` and `restore` say the same of
//! each, with the way out, and change nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Stdio;

use rusqlite::Connection;
use tokio::process::Command;

use super::{BINARY, launch, run_with};

/// An address at which no service answers, and the doctor tries to listen.
const NOWHERE: (&str, &str) = ("TAPDESK_LISTEN", "127.0.0.1:0");

fn execute(database: &Path, sql: &str) {
    let connection = Connection::open(database).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
}

/// A later version: it has another format, and other tables.
fn later(database: &Path) {
    let sql =
        "INSERT INTO refinery_schema_history VALUES (999, 'later', '2030-01-01T00:00:00Z', '0');
               DROP TABLE audit; DROP TABLE settings; DROP TABLE inlays; DROP TABLE notifications";
    execute(database, sql);
}

fn empty(database: &Path) {
    fs::write(database, b"").unwrap();
}

fn folder(database: &Path) {
    fs::remove_file(database).unwrap();
    fs::create_dir(database).unwrap();
}

fn noise(database: &Path) {
    fs::write(database, [0xa5; 8192]).unwrap();
}

/// Half of a download.
fn cut(database: &Path) {
    let whole = fs::read(database).unwrap();
    fs::write(database, &whole[..whole.len() / 2]).unwrap();
}

/// Puts something else in the place of a database.
type Spoil = fn(&Path);

#[tokio::test]
async fn each_command_names_a_file_that_is_no_database_for_it_and_the_way_out() {
    let cases: [(Spoil, &str, &str); 5] = [
        (later, "newer Tapdesk (format 999", "use the newer version"),
        (empty, "is empty", "Restore a backup"),
        (folder, "is a folder", "Name the file in it"),
        (noise, "is not a Tapdesk database", "choose another path"),
        (cut, "is damaged", "restore a backup"),
    ];
    for (spoil, what, way_out) in cases {
        let launch = launch();
        launch.start().await.terminate().await;
        let database = launch.database();
        spoil(&database);
        let names = |said: &str| {
            assert!(said.contains(what) && said.contains(way_out), "{said}");
            let is_damaged = what == "is damaged";
            assert_eq!(said.contains("damaged"), is_damaged, "{said}");
        };

        let report = run_with(&database, &[NOWHERE], &["doctor"]).await.stdout;
        let line = |part: &str| {
            let line = report.lines().find(|line| line[6..].starts_with(part));
            line.unwrap_or_else(|| panic!("no {part}: {report}"))
        };
        assert!(line("Database").starts_with("FAIL"), "{report}");
        names(line("Database"));
        for part in ["Audit log", "Backups", "Notifications"] {
            let line = line(part);
            assert!(
                line.starts_with("warn") && line.contains("Not checked"),
                "{report}"
            );
        }
        names(&run_with(&database, &[NOWHERE], &["serve"]).await.refused());
        let other = super::launch();
        let path = database.to_string_lossy();
        let restore = ["restore", path.as_ref()];
        names(&run_with(&other.database(), &[], &restore).await.refused());
        assert!(!other.database().exists());
    }
}

#[tokio::test]
async fn a_folder_in_the_place_of_the_database_is_not_moved_aside() {
    let made = launch();
    made.start().await.terminate().await;
    let backup = made.database();
    let other = launch();
    fs::create_dir(other.database()).unwrap();
    let path = backup.to_string_lossy();
    let restore = ["restore", path.as_ref(), "--replace"];
    let said = run_with(&other.database(), &[], &restore).await.refused();
    assert!(said.contains("is a folder"), "{said}");
    assert!(other.database().is_dir());
}

#[tokio::test]
async fn a_database_of_an_older_version_is_to_be_upgraded_and_not_damaged() {
    let launch = launch();
    launch.start().await.terminate().await;
    let older = "UPDATE refinery_schema_history SET version = 0; DROP TABLE audit";
    execute(&launch.database(), older);
    let report = run_with(&launch.database(), &[NOWHERE], &["doctor"]).await;
    let report = report.stdout;
    assert!(report.contains("warn  Database"), "{report}");
    assert!(report.contains("made by an older Tapdesk"), "{report}");
    assert!(
        report.contains("warn  Audit log    Not checked"),
        "{report}"
    );
    assert!(!report.contains("damaged"), "{report}");
}

/// The output of a command as a user who has no rights beyond those of the files, which root has.
async fn without_rights(database: &Path, arguments: &[&str]) -> String {
    let is_root = database.parent().unwrap().metadata().unwrap().uid() == 0;
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all", BINARY]);
        command
    } else {
        Command::new(BINARY)
    };
    let output = command
        .args(arguments)
        .env("TAPDESK_DATABASE", format!("sqlite:{}", database.display()))
        .env(NOWHERE.0, NOWHERE.1)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .concat()
}

#[tokio::test]
async fn a_database_of_another_user_is_left_to_that_user() {
    let launch = launch();
    launch.start().await.terminate().await;
    let database = launch.database();
    let folder = launch.folder.path();
    let other = super::launch();
    let place = format!("sqlite:{}", other.database().display());
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    // Neither is the file readable, nor can anything be written beside a readable one.
    for (of_file, of_folder) in [(0o000, 0o700), (0o400, 0o500)] {
        set(&database, of_file);
        set(folder, of_folder);
        let report = without_rights(&database, &["doctor"]).await;
        let served = without_rights(&database, &["serve"]).await;
        let backup = database.to_string_lossy();
        let mut all = vec![report, served];
        // A file that can be read can be restored.
        if of_file == 0 {
            let restore = ["restore", backup.as_ref(), "--database", place.as_str()];
            all.push(without_rights(&database, &restore).await);
        }
        set(folder, 0o700);
        for said in all {
            assert!(
                said.contains("Work as the user who owns the database."),
                "{said}"
            );
            assert!(
                !said.contains("damaged") && !said.contains("immutable"),
                "{said}"
            );
        }
    }
}
