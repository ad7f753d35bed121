//! Imports that are killed half way.

use std::fmt::Write as _;

use reqwest::Method;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tapdesk_tests::{Answering as _, Launch, TryAnswering as _, eventually, within_attempts};

use super::launch;

const ROWS: i64 = 4_000;

fn file() -> String {
    (0..ROWS).fold(
        "slug,name,variable:registered\n".to_owned(),
        |mut file, row| {
            let _ = writeln!(file, "bottle-{row:06},Bottle {row},");
            file
        },
    )
}

/// The number of rows of `table` in the file, which the service is using.
fn count(launch: &Launch, table: &str) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(launch.database(), flags).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Kills the service once `table` has rows of an import. Returns the number of tags after the next
/// start has cleaned up.
async fn killed_once_there_are(table: &str) -> i64 {
    let launch = killed_in_an_import("?on_error=abort", table).await;
    let service = launch.start().await;
    eventually("the import is at its end", async || {
        (count(service.launch(), "imports") == 0).then_some(())
    })
    .await;
    assert_eq!(count(service.launch(), "import_rows"), 0);
    count(service.launch(), "tags")
}

/// Kills the service once `table` has rows of an import with this query.
async fn killed_in_an_import(query: &str, table: &str) -> Launch {
    let service = launch().start().await;
    let request = service.admin_request(Method::POST, &format!("/tags/import{query}"));
    let request = request.header("content-type", "text/csv").body(file());
    let importing = tokio::spawn(async move { request.try_answer().await.is_ok() });
    eventually("the import is at work", async || {
        let is_at_work = count(service.launch(), table) > 0;
        (is_at_work || importing.is_finished()).then_some(())
    })
    .await;
    let launch = service.kill().await;
    let _ = importing.await;
    launch
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_is_killed_before_it_is_decided_leaves_nothing() {
    // On a busy machine, it may be decided before it is killed.
    within_attempts(10, async || {
        match killed_once_there_are("import_rows").await {
            0 => Ok(()),
            ROWS => Err("decided before"),
            part => panic!("{part} of {ROWS} rows are left"),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_is_killed_once_it_is_decided_is_finished() {
    assert_eq!(killed_once_there_are("tags").await, ROWS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_row_by_row_that_is_killed_leaves_its_first_rows_and_can_go_on() {
    let launch = killed_in_an_import("", "tags").await;
    let service = launch.start().await;
    let stored = count(service.launch(), "tags");
    assert!(stored > 0 && stored % 100 == 0, "{stored}");
    let last = format!("tags WHERE slug = 'bottle-{:06}'", stored - 1);
    assert_eq!(count(service.launch(), &last), 1, "no row is left out");
    let found = "tags_search WHERE tags_search MATCH 'bot'";
    assert_eq!(count(service.launch(), found), stored, "each is found");
    // The header is row 1.
    let query = format!("/tags/import?after_row={}", stored + 1);
    let request = service.admin_request(Method::POST, &query);
    let request = request.header("content-type", "text/csv").body(file());
    let result: Value = request.answer().await.expect(200);
    assert_eq!(result["created"], ROWS - stored);
    assert_eq!(count(service.launch(), "tags"), ROWS);
}
