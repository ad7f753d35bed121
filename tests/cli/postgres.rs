//! The real binary on PostgreSQL.

use serde_json::json;
use tapdesk_tests::{Launch, TestDatabase};

use super::{BINARY, launch, run_with};

#[tokio::test]
async fn a_node_without_a_key_says_what_it_cannot_do_and_does_the_rest() {
    let database = TestDatabase::create().await;
    let node = Launch::on_sqlite(BINARY).on(&database).start().await;
    let tag = node.redirecting_tag(json!({})).await;
    assert_eq!(node.tap(&tag.path()).await.status, 302);
    let inlay = json!({
        "uid": "04DE5F1EACC040", "technology": "ntag424dna", "mirror": "plain", "file_key": "00".repeat(15) + "01"
    });
    let refused = node.admin(reqwest::Method::POST, "/inlays", inlay).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(
        refused.body.contains("TAPDESK_KEY_FILE"),
        "{}",
        refused.body
    );
}

#[tokio::test]
async fn the_doctor_looks_at_a_database_without_changing_it() {
    let database = TestDatabase::create().await;
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::REGNAMESPACE";
    let folder = tempfile::tempdir().unwrap();
    let url = database.url();
    let environment = [("TAPDESK_DATABASE", url.as_str())];
    let looked = run_with(folder.path(), &environment, &["doctor"]).await;
    assert!(looked.stdout.contains("is empty"), "{looked:?}");
    let client = database.look_into().await;
    let count: i64 = client.query_one(tables, &[]).await.unwrap().get(0);
    assert_eq!(count, 0);

    launch().on(&database).start().await.terminate().await;
    let looked = run_with(folder.path(), &environment, &["doctor"]).await;
    assert!(
        looked.stdout.contains("is a Tapdesk database and answers"),
        "{looked:?}"
    );

    let drop = "DROP TABLE sheet_rows, payload_reads";
    client.batch_execute(drop).await.unwrap();
    let looked = run_with(folder.path(), &environment, &["doctor"]).await;
    let tables = "lacks tables of its format: payload_reads, sheet_rows";
    assert!(looked.stdout.contains(tables), "{looked:?}");
}

#[tokio::test]
async fn one_flipped_byte_of_the_audit_log_is_named_by_its_row() {
    let database = TestDatabase::create().await;
    let node = launch().on(&database).start().await;
    for name in ["a", "b", "c"] {
        node.tag(json!({"name": name})).await;
    }
    let client = database.look_into().await;
    let flip = "UPDATE audit SET object = 'tags/9' WHERE id = 2";
    client.batch_execute(flip).await.unwrap();
    let problem = node.admin_get("/audit/check").await["problem"].clone();
    let changed = "Row 2 of the audit log was changed";
    assert!(problem.as_str().unwrap().starts_with(changed), "{problem}");
    node.terminate().await;

    let folder = tempfile::tempdir().unwrap();
    let url = database.url();
    let environment = [("TAPDESK_DATABASE", url.as_str())];
    let looked = run_with(folder.path(), &environment, &["doctor"]).await;
    let shown = format!("FAIL  Audit log    {changed}");
    assert!(looked.stdout.contains(&shown), "{looked:?}");
}

#[tokio::test]
async fn an_older_database_is_upgraded_only_by_the_command_for_it() {
    let database = TestDatabase::create().await;
    let node = launch().on(&database);
    node.start().await.terminate().await;
    let client = database.look_into().await;
    let (newest, older) = ("1 + max(version)", "max(version) - 1");
    let set = async |version: &str| {
        let sql = format!(
            "UPDATE schema_versions SET version = v FROM (SELECT {version} AS v FROM schema_versions) AS it
             WHERE version = (SELECT max(version) FROM schema_versions)"
        );
        client.batch_execute(&sql).await.unwrap();
    };
    let url = database.url();
    let environment = [("TAPDESK_DATABASE", url.as_str())];
    let folder = tempfile::tempdir().unwrap();
    let upgrade = async || run_with(folder.path(), &environment, &["upgrade-database"]).await;

    set(older).await;
    let (status, said) = node.start_in_vain().await;
    assert_eq!(status.code(), Some(1));
    assert!(
        said.contains("pg_dump") && said.contains("upgrade-database"),
        "{said}"
    );
    let looked = run_with(folder.path(), &environment, &["doctor"]).await;
    let line = looked.stdout.lines().find(|line| line.contains("Database"));
    let line = line.unwrap_or_default();
    assert!(
        line.starts_with("FAIL") && line.contains("was made by an older Tapdesk"),
        "{looked:?}"
    );
    assert_eq!(looked.code, Some(1));
    // The first migration cannot run twice: that of a real older version would succeed.
    let refused = upgrade().await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let unchanged = "could not be upgraded and is as it was";
    assert!(refused.stderr.contains(unchanged), "{refused:?}");

    set(newest).await;
    assert!(upgrade().await.good().contains("already"));
    node.start().await;
}

#[tokio::test]
async fn the_doctor_does_not_call_a_part_sound_that_another_version_wrote() {
    let database = TestDatabase::create().await;
    launch().on(&database).start().await.terminate().await;
    let client = database.look_into().await;
    let folder = tempfile::tempdir().unwrap();
    let url = database.url();
    let environment = [("TAPDESK_DATABASE", url.as_str())];
    for (change, of, way_out) in [
        (
            "UPDATE schema_versions SET version = 99",
            "newer Tapdesk",
            "use the newer version",
        ),
        (
            "DELETE FROM schema_versions",
            "older Tapdesk",
            "upgrade-database",
        ),
    ] {
        client.batch_execute(change).await.unwrap();
        client
            .batch_execute("DROP TABLE IF EXISTS audit CASCADE")
            .await
            .unwrap();
        let looked = run_with(folder.path(), &environment, &["doctor"]).await;
        let report = looked.stdout;
        let mut lines = report.lines();
        let line = lines.find(|line| line.starts_with("FAIL  Database"));
        let line = line.unwrap_or_else(|| panic!("{report}"));
        assert!(line.contains(of) && line.contains(way_out), "{line}");
        for part in ["Audit log", "Notifications"] {
            let unchecked = format!("warn  {part:<12} Not checked");
            assert!(report.contains(&unchecked), "{report}");
        }
    }
}
