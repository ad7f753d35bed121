//! The real binary on PostgreSQL.

use serde_json::json;
use tapdesk_tests::client::Answering as _;
use tapdesk_tests::eventually;
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::{Launch, TestDatabase};

use super::{BINARY, launch, run_with};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[tokio::test]
async fn any_node_answers_what_another_began() {
    let database = TestDatabase::create().await;
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("inlay.key");
    std::fs::write(&key, KEY).unwrap();
    // Ten minutes apart, and both wrong.
    let node = |skew| {
        let launch = launch().on(&database);
        launch
            .env("TAPDESK_KEY_FILE", key.to_str().unwrap())
            .env("TAPDESK_TEST_CLOCK", "1")
            .env("TAPDESK_TEST_SKEW", skew)
    };
    let one = node("-300000").start().await;
    let other = node("300000").start().await;
    assert_eq!(one.get("/ready").answer().await.status, 200);

    let (tag, mut inlay) = one.bottle().await;
    let tapped = other.tap(&inlay.url(&tag)).await;
    let rk = tapped.rk.expect("a key");
    assert_eq!(one.payload(&rk).await["tag_verified"], true);
    let updated = one.update(&rk, json!({"registered": "yes"})).await;
    assert_eq!(updated.status, 200, "{}", updated.body);
    assert_eq!(
        other.update(&rk, json!({"registered": "no"})).await.status,
        400
    );
    assert_eq!(
        other.variable(&tag, "registered").await.as_deref(),
        Some("yes")
    );

    // Settings of one hold for the other.
    one.admin_patch("/settings", json!({"app_id": 7})).await;
    eventually("the other node has the setting", || async {
        let rk = other.tap(&tag.path()).await.rk.unwrap();
        (other.payload(&rk).await["app_id"] == 7).then_some(())
    })
    .await;
    assert_eq!(one.terminate().await.code(), Some(0));
    assert_eq!(other.tap(&inlay.url(&tag)).await.status, 302);
}

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
async fn a_node_waits_for_its_database_and_goes_on_by_itself() {
    let cluster = Cluster::start(&["fsync=off"]);
    let database = cluster.create_database().await;
    let node = launch().on(&database).start().await;
    let tag = node
        .redirecting_tag(json!({"variables": {"registered": "no"}}))
        .await;
    let rk = node.tap(&tag.path()).await.rk.expect("a key");
    cluster.stop();
    let away = eventually("the node is not ready", || async {
        let ready = node.get("/ready").answer().await;
        (ready.status == 503).then_some(ready)
    })
    .await;
    assert_eq!(away.headers["retry-after"], "1");
    assert_eq!(node.get("/health").answer().await.status, 200);
    let tap = node.tap(&tag.path()).await.answer;
    assert_eq!(
        (tap.status, &tap.headers["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    let update = node.update(&rk, json!({"registered": "yes"})).await;
    assert_eq!(update.status, 503, "{}", update.body);

    cluster.go_on();
    eventually("the node is ready", || async {
        (node.get("/ready").answer().await.status == 200).then_some(())
    })
    .await;
    assert_eq!(node.tap(&tag.path()).await.status, 302);
    let update = node.update(&rk, json!({"registered": "yes"})).await;
    assert_eq!(update.status, 200, "{}", update.body);
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
    assert!(looked.stdout.contains("is ours, and answers"), "{looked:?}");
}
