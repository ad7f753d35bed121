//! The states of a database when a node starts on it.

use futures_util::future::join_all;
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::storage::postgres::{Address, OpenError, PostgresStorage, Time};
use tapdesk_tests::TestDatabase;

use super::clock;

async fn open(database: &TestDatabase) -> Result<PostgresStorage, OpenError> {
    let address = Address::parse(&database.url(), |_| None).unwrap();
    PostgresStorage::open(address, clock(), Time::Its, &OsEntropy).await
}

/// Every table, column and key in the database, and its secrets.
async fn content(database: &TestDatabase) -> Vec<String> {
    let rows = database
        .look_into()
        .await
        .query(
            "SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns
             WHERE table_schema = 'public'
             UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
            &[],
        )
        .await
        .unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn nodes_that_start_together_on_an_empty_database_agree() {
    let database = TestDatabase::create().await;
    let nodes = join_all((0..8).map(|_| open(&database))).await;
    for node in nodes {
        node.unwrap();
    }
    let secrets = "SELECT count(*), count(DISTINCT value) FROM secrets";
    let secrets = database.look_into().await.query_one(secrets, &[]).await;
    let secrets = secrets.unwrap();
    assert_eq!((secrets.get(0), secrets.get(1)), (2_i64, 2_i64));

    let before = content(&database).await;
    assert!(before.len() > 100, "{before:?}");
    open(&database).await.unwrap();
    assert_eq!(content(&database).await, before);
}

#[tokio::test]
async fn another_programs_database_is_left_as_it_is() {
    let database = TestDatabase::create().await;
    let client = database.look_into().await;
    client
        .batch_execute("CREATE TABLE orders (id INTEGER)")
        .await
        .unwrap();
    let error = open(&database).await.err().unwrap();
    assert!(matches!(error, OpenError::Foreign(_)), "{error}");
    assert_eq!(content(&database).await, ["orders.id integer"]);
}

#[tokio::test]
async fn a_newer_programs_database_is_left_as_it_is() {
    let database = TestDatabase::create().await;
    open(&database).await.unwrap();
    let client = database.look_into().await;
    client
        .batch_execute(
            "UPDATE schema_versions SET version = 9999
             WHERE version = (SELECT max(version) FROM schema_versions)",
        )
        .await
        .unwrap();
    let before = content(&database).await;
    let error = open(&database).await.err().unwrap();
    assert!(
        matches!(error, OpenError::Newer { found: 9999, .. }),
        "{error}"
    );
    assert_eq!(content(&database).await, before);
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_named_without_its_password() {
    let url = "postgres://me:secret@127.0.0.1:1/tapdesk";
    let address = Address::parse(url, |_| None).unwrap();
    let error = PostgresStorage::open(address, clock(), Time::Its, &OsEntropy).await;
    let error = error.err().unwrap();
    assert!(matches!(error, OpenError::Unreachable(..)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("tapdesk at 127.0.0.1") && !text.contains("secret"),
        "{text}"
    );
}
