//! Statements in the database of a service, for states that the API does not make, or makes slowly.

use rusqlite::Connection;
use tapdesk_tests::{PATIENCE, TestService};

fn file(service: &TestService) -> Connection {
    let path = service.folder().join("tapdesk.db");
    let file = Connection::open(path).expect("the database is there");
    // The service may be writing.
    file.busy_timeout(PATIENCE).expect("it can wait");
    file
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

/// The number of rows of a table. A condition may follow its name.
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

/// Inserts tags into a group, because an import of as many takes seconds. Their slugs are
/// `inserted-1` and so on, and `updated_at` is 1. Searches do not find them.
pub(super) async fn insert_tags(service: &TestService, group: i64, count: usize) {
    let sql = format!(
        "WITH RECURSIVE series (n) AS
             (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {count})
         INSERT INTO tags (slug, name, title, description, language_code, status, group_id,
             verifier_enabled, updates_require_verified, track_location, has_qr_code, simulated,
             widget_settings, created_at, updated_at, folded)
         SELECT 'inserted-' || n, 'Bottle ' || n, '', '', '', 'active', {group},
             FALSE, FALSE, FALSE, FALSE, FALSE, '{{}}', 1, 1, ''
         FROM series ORDER BY n"
    );
    execute(service, &sql).await;
}
