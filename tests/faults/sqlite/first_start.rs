//! `kill -9` during a first start. strace sends the signal at a system call that reaches the disk, so
//! that the moments are the same in each run.

use rusqlite::Connection;
use tapdesk_tests::strace::can_trace;
use tapdesk_tests::{eventually, length};

use super::launch;

/// Calls that change a file, a name, or the data that survives a power failure, with the number of
/// each between two kills: a start writes about 200 pages, and syncs 16 times.
const CALLS: [(&str, usize); 5] = [
    ("pwrite64", 41),
    ("fdatasync", 5),
    ("unlink", 3),
    ("ftruncate", 2),
    ("renameat2", 1),
];

fn texts(file: &Connection, sql: &str) -> Vec<String> {
    let mut select = file.prepare(sql).unwrap();
    let texts = select.query_map([], |row| row.get(0)).unwrap();
    texts.map(Result::unwrap).collect()
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

#[tokio::test]
async fn a_first_start_that_is_killed_anywhere_is_begun_again() {
    if !can_trace() {
        return;
    }
    let newest = newest().await;
    let mut kills = 0;
    for (call, apart) in CALLS {
        for nth in (1..).step_by(length(apart, 1)) {
            let launch = launch();
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
            assert_eq!(schema(&file), newest);
            assert_eq!(
                texts(&file, "SELECT name FROM secrets"),
                ["client", "key_mask"]
            );
        }
    }
    assert!(kills > 10, "{kills}");
}
