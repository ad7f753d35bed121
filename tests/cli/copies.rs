//! Webhooks of a restored or moved database: the original may still send.

use std::fs;

use serde_json::{Value, json};
use tapdesk_tests::process::Launch;
use tapdesk_tests::{Reaction, Receiver, ServiceProcess, TestDatabase, TestTag, eventually};

use super::{BINARY, run, run_with};

const PRIVATE: (&str, &str) = ("TAPDESK_PRIVATE_WEBHOOKS", "1");

/// A service on a SQLite file, with a webhook that was sent a tap and waits for a retry.
struct Original {
    service: ServiceProcess,
    receiver: Receiver,
    tag: TestTag,
    /// The path of the webhook.
    webhook: String,
}

async fn original() -> Original {
    let launch = Launch::on_sqlite(BINARY).env(PRIVATE.0, PRIVATE.1);
    let service = launch.start().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let webhook = json!({"url": receiver.url(), "events": ["tap.not_checked"]});
    let webhook = service.admin_create("/webhooks", webhook).await;
    let webhook = format!("/webhooks/{}", webhook["id"]);
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    let log = format!("{webhook}/attempts");
    eventually("the attempt in the log", async || {
        let log = service.admin_get(&log).await;
        (!log["items"].as_array()?.is_empty()).then_some(())
    })
    .await;
    Original {
        service,
        receiver,
        tag,
        webhook,
    }
}

/// Asserts that a copy sends nothing until it is switched on, and then only events from that moment
/// on.
async fn begins_at_that_moment(copy: &ServiceProcess, webhook: &str, tag: &TestTag) {
    let receiver = Receiver::start().await;
    let shown = copy.admin_get(webhook).await;
    let state = (&shown["enabled"], &shown["disabled"], &shown["waiting"]);
    assert_eq!(state, (&json!(false), &json!("restored"), &json!(0)));
    copy.tap(&tag.path()).await;
    let on = json!({"url": receiver.url(), "enabled": true});
    let shown = copy.admin_patch(webhook, on).await;
    let state = (&shown["enabled"], &shown["disabled"], &shown["waiting"]);
    assert_eq!(state, (&json!(true), &Value::Null, &json!(0)));
    copy.tap(&tag.path()).await;
    let last = copy.last_interaction().await;
    receiver.wait_for(1).await;
    // A second tap shows that due deliveries were processed.
    copy.tap(&tag.path()).await;
    let arrived = receiver.wait_for(2).await;
    let mut arrived: Vec<_> = arrived
        .iter()
        .map(|one| one.json()["data"]["id"].clone())
        .collect();
    arrived.sort_by_key(Value::as_i64);
    assert_eq!(arrived, [json!(last), json!(copy.last_interaction().await)]);
}

#[tokio::test]
async fn a_restored_backup_sends_nothing_from_before() {
    let original = original().await;
    let service = &original.service;
    let passphrase = ("TAPDESK_PASSPHRASE", "correct horse battery");
    let environment = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
        passphrase,
    ];
    let path = service.launch().folder.path().join("copy.db");
    let backup = ["backup", path.to_str().unwrap()];
    let database = service.launch().database();
    run_with(&database, &environment, &backup).await.good();
    original.receiver.react(Reaction::status(200));

    let other = Launch::on_sqlite(BINARY).env(PRIVATE.0, PRIVATE.1);
    let restore = ["restore", path.to_str().unwrap()];
    run_with(&other.database(), &[passphrase], &restore)
        .await
        .good();
    let copy = other.start().await;
    begins_at_that_moment(&copy, &original.webhook, &original.tag).await;
}

#[tokio::test]
async fn a_moved_database_sends_nothing_from_before() {
    let original = original().await;
    let launch = original.service.launch().clone();
    original.service.terminate().await;
    let database = TestDatabase::create().await;
    let from = format!("sqlite:{}", launch.database().display());
    let there = ["migrate-store", "--from", &from, "--to", &database.url()];
    run(&launch.database(), &there).await.good();
    let key = launch.folder.path().join("inlay.key");
    let node = launch.clone().on(&database);
    let node = node.env("TAPDESK_KEY_FILE", key.to_str().unwrap());
    let service = node.start().await;
    begins_at_that_moment(&service, &original.webhook, &original.tag).await;
    service.terminate().await;

    // The same applies on the way back.
    let home = Launch::on_sqlite(BINARY).env(PRIVATE.0, PRIVATE.1);
    let to = format!("sqlite:{}", home.database().display());
    let back = ["migrate-store", "--from", &database.url(), "--to", &to];
    run(&home.database(), &back).await.good();
    fs::copy(&key, home.folder.path().join("inlay.key")).unwrap();
    let service = home.start().await;
    begins_at_that_moment(&service, &original.webhook, &original.tag).await;
}
