//! Statements in the database of a service, for states that the API does not make.

use rusqlite::Connection;
use tapdesk_tests::TestService;

fn file(service: &TestService) -> Connection {
    let path = service.folder().join("tapdesk.db");
    Connection::open(path).expect("the database is there")
}

/// Runs SQL statements in the database of a service.
pub(super) async fn execute(service: &TestService, sql: &str) {
    match service.postgres() {
        None => file(service)
            .execute_batch(sql)
            .expect("the statement runs"),
        Some(database) => {
            let client = database.connect().await.expect("the server answers");
            let ran = client.batch_execute(sql).await;
            ran.expect("the statement runs");
        }
    }
}

/// The number of rows of a table.
pub(super) async fn rows(service: &TestService, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    match service.postgres() {
        None => {
            let counted = file(service).query_row(&sql, [], |row| row.get::<_, i64>(0));
            counted.expect("a count")
        }
        Some(database) => {
            let client = database.connect().await.expect("the server answers");
            client
                .query_one(sql.as_str(), &[])
                .await
                .expect("a count")
                .get(0)
        }
    }
}
