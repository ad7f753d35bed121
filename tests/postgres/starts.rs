//! `kill -9` of a node during its first start, and while it replaces the functions of an older
//! program. strace sends the signal at a call that writes to the server.

use futures_util::future::join_all;
use tapdesk_tests::strace::can_trace;
use tapdesk_tests::{Launch, TestDatabase, length};
use tokio_postgres::Client;

use super::node;

/// The system call with which the client sends.
const CALL: &str = "sendto";
/// The number of a thread's calls between two kills.
const APART: usize = 3;
/// The number of starts without a kill that end a test. Each start spreads its calls over its
/// threads differently, so a later call of one thread may come again.
const MISSES: usize = 3;
/// The number of nodes that start at the same time, because each waits for its server most of the
/// time.
const AT_ONCE: usize = 3;
/// Makes the functions of a database those of an older program: one that has another text, one that
/// is missing, and one that this program does not have.
const OLDER: &str = "UPDATE functions SET revision = 0;
    UPDATE functions SET digest = '' WHERE name IN ('week', 'tell_update');
    CREATE OR REPLACE FUNCTION week() RETURNS BIGINT LANGUAGE sql AS 'SELECT 7::BIGINT';
    DELETE FROM functions WHERE name = 'drop_due';
    DROP FUNCTION drop_due;
    INSERT INTO functions VALUES ('former', '', 0);
    CREATE FUNCTION former() RETURNS BIGINT LANGUAGE sql AS 'SELECT 7::BIGINT'";

/// Every column, function and trigger of the schema, and its version.
async fn schema(client: &Client) -> Vec<String> {
    let sql = "SELECT format('%s.%s %s', table_name, column_name, data_type)
            FROM information_schema.columns WHERE table_schema = 'public'
            AND table_name NOT LIKE 'interactions\\_%'
        UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = 'public'::REGNAMESPACE
        UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT format('version %s', version) FROM schema_versions
        UNION ALL SELECT format('%s %s', name, digest) FROM functions
        ORDER BY 1";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// The schema of a database that was created without interruptions.
async fn newest() -> Vec<String> {
    let database = TestDatabase::create().await;
    assert!(node(&database).start().await.terminate().await.success());
    schema(&database.look_into().await).await
}

/// Kills a node at one call after the other; each time, on a database that `prepare` prepares. The
/// next start then has to leave the newest schema.
async fn kill_anywhere(prepare: impl AsyncFn(&Launch, &Client)) {
    let newest = newest().await;
    let mut numbers = (1..).step_by(length(APART, 1));
    let (mut kills, mut missed) = (0, 0);
    while missed < MISSES {
        let some = numbers.by_ref().take(AT_ONCE);
        let killed = join_all(some.map(|nth| is_begun_again(nth, &newest, &prepare))).await;
        let of_these = killed.iter().filter(|killed| **killed).count();
        kills += of_these;
        missed += killed.len() - of_these;
    }
    assert!(kills > 2, "{kills}");
}

/// Kills a node at this call on a prepared database, and starts it again. Returns `false` if it
/// started before it was killed.
async fn is_begun_again(
    nth: usize,
    newest: &[String],
    prepare: &impl AsyncFn(&Launch, &Client),
) -> bool {
    let database = TestDatabase::create().await;
    let node = node(&database);
    prepare(&node, &database.look_into().await).await;
    if !node.is_killed_in(CALL, nth).await {
        return false;
    }
    assert!(node.start().await.terminate().await.success(), "{nth}");
    assert_eq!(schema(&database.look_into().await).await, newest, "{nth}");
    true
}

#[tokio::test]
async fn a_first_start_that_is_killed_anywhere_is_begun_again() {
    if can_trace() {
        kill_anywhere(async |_, _| {}).await;
    }
}

#[tokio::test]
async fn a_replacement_of_functions_that_is_killed_anywhere_is_begun_again() {
    if can_trace() {
        kill_anywhere(async |node, client| {
            assert!(node.start().await.terminate().await.success());
            client.batch_execute(OLDER).await.unwrap();
        })
        .await;
    }
}
