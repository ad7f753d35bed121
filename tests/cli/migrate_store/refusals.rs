//! Databases that are not moved, and the reasons.

use rusqlite::Connection;
use tapdesk_tests::{TestDatabase, eventually};

use super::content::{content, fill};
use super::{file, made, mark_in_file, migrate, sqlite};
use crate::cli::run;

const NOW: i64 = 1_790_000_000_000;

#[tokio::test]
async fn what_is_no_move_is_refused() {
    let launch = made().await;
    let from = sqlite(&launch.database());
    let other = sqlite(&file(&launch, "other.db"));
    let said = migrate(&from, &other).await.refused();
    assert!(
        said.contains("from SQLite to PostgreSQL, or back"),
        "{said}"
    );

    let secret = "postgres://me:secret@127.0.0.1/tapdesk";
    for (from, to) in [(from.as_str(), secret), (secret, from.as_str())] {
        let said = migrate(from, to).await.refused();
        assert!(
            said.contains("TAPDESK_TO") && !said.contains("secret"),
            "{said}"
        );
    }

    let nothing = sqlite(&file(&launch, "nothing.db"));
    let empty = TestDatabase::create().await;
    let said = migrate(&nothing, &empty.url()).await.refused();
    assert!(said.contains("nothing to move"), "{said}");
    let said = migrate(&empty.url(), &nothing).await.refused();
    assert!(said.contains("nothing to move"), "{said}");
    assert!(!file(&launch, "nothing.db").exists());
}

#[tokio::test]
async fn a_source_in_use_is_not_moved() {
    let database = TestDatabase::create().await;
    let service = crate::cli::launch().start().await;
    let from = sqlite(&service.launch().database());
    let said = migrate(&from, &database.url()).await.refused();
    assert!(said.contains("in use by another Tapdesk"), "{said}");

    let node = crate::cli::launch().on(&database).start().await;
    let looking = database.look_into().await;
    eventually("the node is known", || async {
        let locks =
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 5 AND mode = 'ShareLock'
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        looking.query_opt(locks, &[]).await.unwrap().map(drop)
    })
    .await;
    let back = file(service.launch(), "back.db");
    let said = migrate(&database.url(), &sqlite(&back)).await.refused();
    assert!(said.contains("in use by a service"), "{said}");
    assert!(!back.exists());
    assert_eq!(node.terminate().await.code(), Some(0));
    migrate(&database.url(), &sqlite(&back)).await.good();
}

#[tokio::test]
async fn a_destination_that_holds_something_else_is_left_as_it_is() {
    let (launch, other) = (made().await, made().await);
    let from = sqlite(&launch.database());
    let served = TestDatabase::create().await;
    other.clone().on(&served).start().await.terminate().await;
    let foreign = TestDatabase::create().await;
    let looking = foreign.look_into().await;
    looking
        .batch_execute("CREATE TABLE orders (id INTEGER)")
        .await
        .unwrap();
    for database in [&served, &foreign] {
        let said = migrate(&from, &database.url()).await.refused();
        assert!(said.contains("is not empty"), "{said}");
    }
    let before = content(&other.database());
    let said = migrate(&served.url(), &sqlite(&other.database())).await;
    assert!(said.refused().contains("is not empty"));
    assert_eq!(content(&other.database()), before);
    std::fs::write(file(&other, "notes.txt"), "notes").unwrap();
    let said = migrate(&served.url(), &sqlite(&file(&other, "notes.txt"))).await;
    assert!(said.refused().contains("is not empty"));

    let moved = TestDatabase::create().await;
    migrate(&from, &moved.url()).await.good();
    let said = migrate(&sqlite(&other.database()), &moved.url()).await;
    assert!(said.refused().contains("move of another database"));
}

#[tokio::test]
async fn another_version_of_the_schema_is_not_moved() {
    let launch = made().await;
    let from = sqlite(&launch.database());
    let empty = TestDatabase::create().await;
    let version = |version: i32| {
        let file = Connection::open(launch.database()).unwrap();
        let sql = "UPDATE refinery_schema_history SET version = ?1
             WHERE version = (SELECT max(version) FROM refinery_schema_history)";
        file.execute(sql, [version]).unwrap();
    };
    version(0);
    let said = migrate(&from, &empty.url()).await.refused();
    assert!(said.contains("older Tapdesk"), "{said}");
    version(99);
    let said = migrate(&from, &empty.url()).await.refused();
    assert!(said.contains("newer Tapdesk"), "{said}");

    let database = TestDatabase::create().await;
    launch.clone().on(&database).start().await.terminate().await;
    let looking = database.look_into().await;
    let back = file(&launch, "back.db");
    for (change, found) in [
        ("UPDATE schema_versions SET version = 99", "newer Tapdesk"),
        ("DELETE FROM schema_versions", "older Tapdesk"),
    ] {
        looking.batch_execute(change).await.unwrap();
        let said = migrate(&database.url(), &sqlite(&back)).await.refused();
        assert!(said.contains(found), "{said}");
        assert!(!back.exists());
    }
}

/// The state of a destination when everything is copied, and nothing compared.
const COMPARING: &str =
    "UPDATE settings SET value = json_set(value, '$.progress', 'comparing') WHERE name = 'move';
     DELETE FROM audit WHERE id = (SELECT head FROM audit_ends);
     UPDATE audit_ends SET head = head - 1,
         head_hash = (SELECT hash FROM audit WHERE audit.id = audit_ends.head - 1)";

#[tokio::test]
async fn a_difference_is_found_and_what_differs_is_not_served() {
    let launch = made().await;
    fill(&launch.database(), 20, 100, NOW);
    let database = TestDatabase::create().await;
    let from = sqlite(&launch.database());
    migrate(&from, &database.url()).await.good();
    let back = file(&launch, "back.db");
    let home = sqlite(&back);
    migrate(&database.url(), &home).await.good();
    let complete = mark_in_file(&back).unwrap();
    assert!(complete.contains("complete"), "{complete}");

    let change = |sql: &str| Connection::open(&back).unwrap().execute_batch(sql).unwrap();
    change(COMPARING);
    let said = run(&back, &["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(said.refused().contains("was not finished"));
    for (sql, undo, table) in [
        (
            "UPDATE counters SET last = last + 1 WHERE inlay_id = 7",
            "UPDATE counters SET last = last - 1 WHERE inlay_id = 7",
            "counters",
        ),
        (
            "CREATE TABLE kept AS SELECT * FROM former_slugs; DELETE FROM former_slugs",
            "INSERT INTO former_slugs SELECT * FROM kept; DROP TABLE kept",
            "former_slugs",
        ),
        (
            "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'tokens'",
            "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'tokens'",
            "tokens",
        ),
    ] {
        change(sql);
        let said = migrate(&database.url(), &home).await.refused();
        assert!(
            said.contains(&format!("table {table} is not the same")),
            "{said}"
        );
        change(undo);
    }
    migrate(&database.url(), &home).await.good();
    assert_eq!(content(&back), content(&launch.database()));

    // Taps on a source during its move must not be lost unnoticed.
    change(COMPARING);
    let looking = database.look_into().await;
    let tap = "UPDATE visits SET last_interaction = last_interaction + 1000; DELETE FROM interactions WHERE id = 100";
    looking.batch_execute(tap).await.unwrap();
    let said = migrate(&database.url(), &home).await.refused();
    assert!(said.contains("was used after the move began"), "{said}");
}
