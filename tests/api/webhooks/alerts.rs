//! Alerts for the operator.

use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Receiver, TestService, eventually};

use super::{start, tags_of, webhook};
use crate::api::database::execute;
use crate::api::events::Listener;

/// A service on SQLite that sends webhooks to this machine.
async fn on_sqlite() -> TestService {
    TestService::start_with(|options| {
        "sqlite".clone_into(&mut options.database);
        options.settings.private_webhooks = true;
    })
    .await
}

#[tokio::test]
async fn a_url_that_is_opened_again_and_again_is_told_once_and_a_few_times_are_not() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let events = json!({"events": ["alert.copied_url"]});
    let (id, _) = webhook(&service, &receiver, events).await;
    let (tag, mut inlay) = service.bottle().await;
    let (shared, copied) = (inlay.url(&tag), inlay.url(&tag));
    // The URL is opened once first, and then several more times.
    for _ in 0..9 {
        service.tap(&shared).await;
    }
    for _ in 0..20 {
        service.tap(&copied).await;
    }
    tapdesk_service::housekeeping::raise_alerts(service.service())
        .await
        .expect("the alert is raised");
    let arrived = receiver.wait_for(1).await[0].json();
    assert_eq!(arrived["type"], "alert.copied_url");
    assert_eq!(arrived["data"]["tag_id"], tag.id);
    assert_eq!(arrived["data"]["counter"], 2);
    assert!(arrived["data"]["message"].is_string(), "{arrived}");
    // The alert is sent once.
    service.tap(&copied).await;
    tapdesk_service::housekeeping::raise_alerts(service.service())
        .await
        .expect("nothing is left");
    let test = format!("/webhooks/{id}/test");
    super::post(&service, &test, Value::Null).await.expect(200);
    let arrived = receiver.wait_for(2).await;
    assert_eq!(arrived[1].json()["type"], "webhook.test");
}

/// The service measures the disk only with SQLite. A test cannot change the free space, but it can
/// change the limit.
#[tokio::test]
async fn sqlite_a_disk_with_little_room_is_told_once_and_again_after_there_was_room() {
    const MORE_THAN_ANY_DISK: u32 = 16 << 20;
    let service = on_sqlite().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let (id, _) = webhook(&service, &receiver, json!({"events": ["alert.disk_low"]})).await;
    let mut listener = Listener::at(&service, "").await;
    let look = async |mebibytes: u32| {
        let setting = json!({"disk_low_mebibytes": mebibytes});
        service.admin_patch("/settings", setting).await;
        tapdesk_service::housekeeping::raise_alerts(service.service())
            .await
            .expect("it is looked at");
    };
    let low =
        async || service.admin_get("/stats").await["attention"]["low_disk_mebibytes"].as_u64();
    assert_eq!(low().await, None);
    look(MORE_THAN_ANY_DISK).await;
    assert!(low().await.is_some(), "the overview says it, too");
    look(MORE_THAN_ANY_DISK).await;
    let arrived = receiver.wait_for(1).await[0].json();
    assert_eq!(arrived["type"], "alert.disk_low");
    assert_eq!(arrived["data"]["limit_mebibytes"], MORE_THAN_ANY_DISK);
    let free = arrived["data"]["free_mebibytes"]
        .as_u64()
        .expect("a number");
    assert!(
        (1..u64::from(MORE_THAN_ANY_DISK)).contains(&free),
        "{arrived}"
    );
    let (name, event) = listener.next().await.expect("an event");
    assert_eq!(
        (name.as_str(), &event["alert"]),
        ("alert", &arrived["type"])
    );
    assert_eq!(event["message"], arrived["data"]["message"]);
    // The second check sent no alert: the next event is the test.
    let test = format!("/webhooks/{id}/test");
    super::post(&service, &test, Value::Null).await.expect(200);
    assert_eq!(receiver.wait_for(2).await[1].json()["type"], "webhook.test");
    look(0).await;
    look(MORE_THAN_ANY_DISK).await;
    assert_eq!(
        receiver.wait_for(3).await[2].json()["type"],
        "alert.disk_low"
    );
}

/// A missing table stands for a database that refuses writes for a while.
#[tokio::test]
async fn sqlite_writes_that_failed_are_told_once_they_succeed_again() {
    let service = on_sqlite().await;
    let receiver = Receiver::start().await;
    let events = json!({"events": ["alert.writer_failed"]});
    webhook(&service, &receiver, events).await;
    execute(&service, "ALTER TABLE submissions RENAME TO away").await;
    let _house = service.keep_house();
    eventually("a round that fails", async || {
        let failed = figure(&service, "housekeeping_failures_total").await;
        (failed > 0).then_some(())
    })
    .await;
    assert!(receiver.received().is_empty());
    execute(&service, "ALTER TABLE away RENAME TO submissions").await;
    let arrived = eventually("the alert", async || {
        receiver
            .received()
            .first()
            .map(tapdesk_tests::Received::json)
    })
    .await;
    assert_eq!(arrived["type"], "alert.writer_failed");
}

/// A missing table stands for a database that refuses writes for a while.
#[tokio::test]
async fn sqlite_an_alert_that_could_not_be_written_is_told_in_the_next_round() {
    let service = on_sqlite().await;
    let receiver = Receiver::start().await;
    let events = json!({"events": ["alert.copied_url"]});
    webhook(&service, &receiver, events).await;
    let mut copied = Vec::new();
    for _ in 0..2 {
        let (tag, mut inlay) = service.bottle().await;
        let url = inlay.url(&tag);
        service.open_as_copied(&url).await;
        copied.push(json!(tag.id));
    }
    execute(&service, "ALTER TABLE outbox RENAME TO away").await;
    let swept = tapdesk_service::housekeeping::raise_alerts(service.service()).await;
    swept.expect_err("no alert can be written");
    execute(&service, "ALTER TABLE away RENAME TO outbox").await;
    let _house = service.keep_house();
    let arrived = receiver.wait_for(2).await;
    assert_eq!(tags_of(&arrived), copied);
}

/// A missing table stands for rows that cannot be removed.
#[tokio::test]
async fn sqlite_a_removal_that_fails_delays_no_alert() {
    let service = on_sqlite().await;
    let receiver = Receiver::start().await;
    let events = json!({"events": ["alert.copied_url"]});
    webhook(&service, &receiver, events).await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    service.open_as_copied(&url).await;
    execute(&service, "ALTER TABLE unlisted_chips RENAME TO away").await;
    let swept = tapdesk_service::housekeeping::sweep(service.service()).await;
    swept.expect_err("the removal fails");
    let _house = service.keep_house();
    assert_eq!(tags_of(&receiver.wait_for(1).await), [json!(tag.id)]);
}

/// A missing table stands for a database that fails.
#[tokio::test]
async fn sqlite_delivery_that_fails_inside_the_service_is_measured_each_time() {
    let service = on_sqlite().await;
    let receiver = Receiver::start().await;
    webhook(&service, &receiver, Value::Null).await;
    let _house = service.keep_house();
    let tag = service.redirecting_tag(Value::Null).await;
    for round in 1..=2 {
        let before = figure(&service, "webhook_failures_total").await;
        execute(&service, "ALTER TABLE webhook_states RENAME TO away").await;
        eventually("a round that fails", async || {
            let failed = figure(&service, "webhook_failures_total").await;
            (failed > before).then_some(())
        })
        .await;
        execute(&service, "ALTER TABLE away RENAME TO webhook_states").await;
        service.tap(&tag.path()).await;
        receiver.wait_for(round).await;
    }
}

#[tokio::test]
async fn what_waits_and_for_how_long_is_measured() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    webhook(&service, &receiver, Value::Null).await;
    let tag = service.redirecting_tag(Value::Null).await;
    assert_eq!(figure(&service, "webhook_late_seconds").await, 0);
    // No delivery is running.
    service.tap(&tag.path()).await;
    service.advance(60_000);
    assert_eq!(figure(&service, "webhook_late_seconds").await, 60);
    assert_eq!(figure(&service, "webhook_deliveries_waiting").await, 0);
    // A failing endpoint is not an internal error.
    let _house = service.keep_house();
    receiver.wait_for(1).await;
    eventually("the failure is stored", async || {
        let waiting = figure(&service, "webhook_deliveries_waiting").await;
        let late = figure(&service, "webhook_late_seconds").await;
        (waiting == 1 && late == 0).then_some(())
    })
    .await;
}

/// A metric without labels.
async fn figure(service: &TestService, name: &str) -> u64 {
    let metrics = service.metrics().await;
    let start = format!("tapdesk_{name} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&start));
    let line = line.unwrap_or_else(|| panic!("no {name} in {metrics}"));
    line.parse().expect("a number")
}
