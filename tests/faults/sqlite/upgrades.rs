//! `kill -9` during a first start, and during an upgrade of a database of the first version. strace
//! sends the signal at a system call that reaches the disk, so that the moments are the same in
//! each run.

use std::collections::BTreeMap;
use std::path::Path;

use refinery::Target;
use rusqlite::Connection;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::storage::sqlite::APPLICATION_ID;
use tapdesk_tests::strace::can_trace;
use tapdesk_tests::{Launch, eventually, length};

use super::launch;

refinery::embed_migrations!("migrations/sqlite");

/// Calls that change a file, a name, or the data that survives a power failure.
const CALLS: [&str; 5] = ["pwrite64", "fdatasync", "unlink", "ftruncate", "renameat2"];

/// Tables that every upgrade keeps, without those that housekeeping may empty in the meantime.
const KEPT: [&str; 14] = [
    "counters",
    "experience_versions",
    "experiences",
    "former_slugs",
    "images",
    "inlays",
    "interactions",
    "master_keys",
    "properties",
    "sheet_rows",
    "sheets",
    "tags",
    "tokens",
    "url_template_keys",
];

/// Columns of tables in the first version.
type Columns = Vec<(&'static str, Vec<String>)>;

fn texts(file: &Connection, sql: &str) -> Vec<String> {
    let mut select = file.prepare(sql).unwrap();
    let texts = select.query_map([], |row| row.get(0)).unwrap();
    texts.map(Result::unwrap).collect()
}

fn columns(file: &Connection) -> Columns {
    let of = |table| {
        // `seq` is the order of commits, on which later versions base their ids.
        let sql = format!("SELECT name FROM pragma_table_info('{table}') WHERE name <> 'seq'");
        (table, texts(file, &sql))
    };
    KEPT.map(of).into()
}

/// Every row of `columns`.
fn rows(file: &Connection, columns: &Columns) -> BTreeMap<&'static str, Vec<String>> {
    let rows = columns.iter().map(|(table, columns)| {
        let quoted: Vec<_> = columns
            .iter()
            .map(|name| format!("quote({name})"))
            .collect();
        let row = quoted.join(" || ',' || ");
        (
            *table,
            texts(file, &format!("SELECT {row} FROM {table} ORDER BY 1")),
        )
    });
    rows.collect()
}

/// The statements that created the schema, and the newest version in its history.
fn schema(file: &Connection) -> (Vec<String>, u32) {
    let statements = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let version = "SELECT max(version) FROM refinery_schema_history";
    let version = file.query_row(version, [], |row| row.get(0)).unwrap();
    (texts(file, statements), version)
}

/// The schema of a database that was created without interruptions.
async fn newest() -> (Vec<String>, u32) {
    let launch = launch();
    assert!(launch.start().await.terminate().await.success());
    schema(&Connection::open(launch.database()).unwrap())
}

/// Creates a database at `path` like the first version, with rows in every table.
fn make_first_version(path: &Path) {
    let mut file = Connection::open(path).unwrap();
    file.pragma_update(None, "application_id", APPLICATION_ID)
        .unwrap();
    file.pragma_update(None, "journal_mode", "WAL").unwrap();
    let first = migrations::runner().set_target(Target::Version(1));
    first.run(&mut file).unwrap();
    let now = SystemClock::start().now().millis();
    let fixture = include_str!("../../fixtures/first_version.sql")
        .replace(":tags", "100")
        .replace(":interactions", "200")
        .replace(":now", &now.to_string());
    // Housekeeping would finish the fixture's import.
    let rest = "DELETE FROM import_rows; DELETE FROM imports;";
    file.execute_batch(&format!("BEGIN; {fixture} {rest} COMMIT;"))
        .unwrap();
    for name in ["key_mask", "client"] {
        let secret = entropy::bytes::<32>(&OsEntropy);
        let insert = "INSERT INTO secrets (name, value) VALUES (?1, ?2)";
        file.execute(insert, (name, secret)).unwrap();
    }
}

/// Kills a service on the database that `prepared` creates, at one moment after the other, until no
/// moment before it listens is left. Another service then opens each database, and `check` examines
/// it. `apart` is the number of each of [`CALLS`] between two kills. Returns how often a service
/// was killed.
async fn killed(
    apart: [usize; CALLS.len()],
    prepared: impl Fn() -> Launch,
    check: impl Fn(&Connection),
) -> usize {
    let mut kills = 0;
    for (call, apart) in CALLS.into_iter().zip(apart) {
        for nth in (1..).step_by(length(apart, 1)) {
            let launch = prepared();
            if !launch.is_killed_in(call, nth).await {
                break;
            }
            kills += 1;
            let service = launch.start().await;
            eventually("it is ready", async || {
                let ready = service.get("/ready").send().await.unwrap();
                (ready.status() == 200).then_some(())
            })
            .await;
            assert!(service.terminate().await.success(), "{call} {nth}");
            let file = Connection::open(launch.database()).unwrap();
            let sound: String = file
                .pragma_query_value(None, "quick_check", |row| row.get(0))
                .unwrap();
            assert_eq!(sound, "ok", "{call} {nth}");
            check(&file);
        }
    }
    kills
}

#[tokio::test]
async fn a_first_start_that_is_killed_anywhere_is_begun_again() {
    if !can_trace() {
        return;
    }
    let newest = newest().await;
    // It writes about 200 pages, and syncs 16 times.
    let kills = killed([41, 5, 3, 2, 1], launch, |file| {
        assert_eq!(schema(file), newest);
        assert_eq!(
            texts(file, "SELECT name FROM secrets"),
            ["client", "key_mask"]
        );
    });
    let kills = kills.await;
    assert!(kills > 10, "{kills}");
}

#[tokio::test]
async fn an_upgrade_from_the_first_version_that_is_killed_anywhere_keeps_every_row() {
    if !can_trace() {
        return;
    }
    let (_, newest) = newest().await;
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first.db");
    make_first_version(&first);
    let (columns, before) = {
        let file = Connection::open(&first).unwrap();
        let columns = columns(&file);
        let before = rows(&file, &columns);
        (columns, before)
    };
    for (table, rows) in &before {
        assert!(!rows.is_empty(), "{table}");
    }
    let prepared = || {
        let launch = launch();
        std::fs::copy(&first, launch.database()).unwrap();
        launch
    };
    let kills = killed([3, 1, 1, 1, 1], prepared, |file| {
        assert_eq!(schema(file).1, newest);
        for (table, after) in rows(file, &columns) {
            assert_eq!(after, before[table], "{table}");
        }
    });
    let kills = kills.await;
    assert!(kills > 5, "{kills}");
}
