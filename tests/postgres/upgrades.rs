//! `kill -9` of a node during its first start, and during an upgrade from the first version. strace
//! sends the signal at a call that writes to the server.

use refinery::{Migration, Runner};
use tapdesk_tests::strace::can_trace;
use tapdesk_tests::{TestDatabase, length};
use tokio_postgres::Client;

use super::node;

/// The schema of the first version, by subject.
const FIRST: &str = concat!(
    include_str!("../../service/migrations/postgres/V1/tables.sql"),
    include_str!("../../service/migrations/postgres/V1/taps.sql"),
    include_str!("../../service/migrations/postgres/V1/retention.sql"),
    include_str!("../../service/migrations/postgres/V1/moved.sql"),
);
/// The system call with which the client sends.
const CALL: &str = "sendto";
/// The number of a thread's calls between two kills.
const APART: usize = 3;
/// The number of starts without a kill that end a test. Each start spreads its calls over its
/// threads differently, so a later call of one thread may come again.
const MISSES: usize = 3;

/// Creates the database like the first version, with rows.
async fn make_first_version(client: &mut Client) {
    let first = Migration::unapplied("V1__initial", FIRST).unwrap();
    Runner::new(&[first]).run_async(client).await.unwrap();
    let rows = include_str!("../fixtures/first_version.postgres.sql");
    client.batch_execute(rows).await.unwrap();
    // The fixture's secrets are too short for a service.
    let secrets = "UPDATE secrets SET value = sha256(convert_to(name, 'UTF8'))";
    client.batch_execute(secrets).await.unwrap();
}

/// Data that every upgrade keeps.
async fn rows(client: &Client) -> Vec<String> {
    let sql = "SELECT format('tag %s %s %s', id, slug, name) FROM tags
        UNION ALL SELECT format('%s %s=%s', tag_id, key, value) FROM properties
        UNION ALL SELECT format('token %s %s', name, hash) FROM tokens
        UNION ALL SELECT format('sheet %s %s', sheet_id, position) FROM sheet_rows
        ORDER BY 1";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn version(client: &Client) -> i32 {
    let newest = "SELECT max(version) FROM refinery_schema_history";
    client.query_one(newest, &[]).await.unwrap().get(0)
}

/// Every column and function of the schema, and its newest version.
async fn schema(client: &Client) -> (Vec<String>, i32) {
    let sql = "SELECT format('%s.%s %s', table_name, column_name, data_type)
            FROM information_schema.columns WHERE table_schema = 'public'
            AND table_name NOT LIKE 'interactions\\_%'
        UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = 'public'::REGNAMESPACE
        ORDER BY 1";
    let rows = client.query(sql, &[]).await.unwrap();
    (
        rows.iter().map(|row| row.get(0)).collect(),
        version(client).await,
    )
}

/// The schema of a database that was created without interruptions.
async fn newest() -> (Vec<String>, i32) {
    let database = TestDatabase::create().await;
    assert!(node(&database).start().await.terminate().await.success());
    schema(&database.look_into().await).await
}

#[tokio::test]
async fn a_first_start_that_is_killed_anywhere_is_begun_again() {
    if !can_trace() {
        return;
    }
    let newest = newest().await;
    let (mut kills, mut missed) = (0, 0);
    for nth in (1..).step_by(length(APART, 1)) {
        let database = TestDatabase::create().await;
        let node = node(&database);
        if !node.is_killed_in(CALL, nth).await {
            missed += 1;
            if missed == MISSES {
                break;
            }
            continue;
        }
        kills += 1;
        assert!(node.start().await.terminate().await.success(), "{nth}");
        assert_eq!(schema(&database.look_into().await).await, newest, "{nth}");
    }
    assert!(kills > 2, "{kills}");
}

#[tokio::test]
async fn an_upgrade_from_the_first_version_that_is_killed_anywhere_keeps_every_row() {
    if !can_trace() {
        return;
    }
    let (_, newest) = newest().await;
    let (mut kills, mut missed) = (0, 0);
    for nth in (1..).step_by(length(APART, 1)) {
        let database = TestDatabase::create().await;
        let mut client = database.look_into().await;
        make_first_version(&mut client).await;
        let before = rows(&client).await;
        assert!(before.len() > 200);
        let node = node(&database);
        if !node.is_killed_in(CALL, nth).await {
            missed += 1;
            if missed == MISSES {
                break;
            }
            continue;
        }
        kills += 1;
        assert!(node.start().await.terminate().await.success(), "{nth}");
        assert_eq!(version(&client).await, newest, "{nth}");
        assert_eq!(rows(&client).await, before, "{nth}");
    }
    assert!(kills > 2, "{kills}");
}
