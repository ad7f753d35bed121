//! Changes of a notification: alerts and messages of its former settings.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Receiver, TestService};

use super::{HOUR, alert, due, notification, sent, start};
use crate::api::database::rows;

async fn group(service: &TestService, name: &str) -> Value {
    let group = json!({"kind": "product", "name": name});
    service.admin_create("/groups", group).await["id"].clone()
}

#[tokio::test]
async fn a_shorter_pause_between_alerts_counts_from_the_change_on() {
    let (service, server) = start().await;
    let path = notification(&service, json!({"every": "week"})).await;
    alert(&service, None).await;
    sent(&service, &server, 1).await;
    alert(&service, None).await;
    service.advance(2 * HOUR);
    sent(&service, &server, 1).await;
    service.admin_patch(&path, json!({"every": null})).await;
    sent(&service, &server, 1).await;
    service.advance(HOUR);
    sent(&service, &server, 2).await;
}

#[tokio::test]
async fn alerts_of_a_former_group_are_not_sent() {
    let (service, server) = start().await;
    let (first, second) = (group(&service, "Red").await, group(&service, "White").await);
    let path = notification(&service, json!({"group_id": first})).await;
    alert(&service, Some(&first)).await;
    sent(&service, &server, 1).await;
    alert(&service, Some(&first)).await;
    sent(&service, &server, 1).await;
    service
        .admin_patch(&path, json!({"group_id": second}))
        .await;
    service.advance(HOUR);
    sent(&service, &server, 1).await;
    let tag = alert(&service, Some(&second)).await;
    let mails = sent(&service, &server, 2).await;
    let named = format!("Tag {tag}.");
    assert!(mails[1].readable().contains(&named), "{mails:?}");
}

#[tokio::test]
async fn a_message_of_a_former_chat_is_not_posted_to_another_one() {
    let (service, _server) = start().await;
    let (first, second) = (Receiver::start().await, Receiver::start().await);
    let chat = |receiver: &Receiver| json!({"channel": {"chat": receiver.url()}});
    let path = notification(&service, chat(&first)).await;
    first.react(Reaction::status(503));
    alert(&service, None).await;
    due(&service).await;
    service.admin_patch(&path, chat(&second)).await;
    service.advance(2 * HOUR);
    due(&service).await;
    assert_eq!((first.received().len(), second.received().len()), (1, 0));
    alert(&service, None).await;
    due(&service).await;
    assert_eq!((first.received().len(), second.received().len()), (1, 1));
}

#[tokio::test]
async fn a_group_that_a_notification_is_limited_to_is_not_deleted() {
    let (service, _server) = start().await;
    let id = group(&service, "Grand Cru").await;
    let path = notification(&service, json!({"group_id": id})).await;
    let group = format!("/groups/{id}");
    let refused = service.admin(Method::DELETE, &group, Value::Null).await;
    let refused = refused.expect(409);
    assert_eq!(refused["code"], "in_use");
    let words = "One notification is only about this group.";
    assert!(refused.to_string().contains(words), "{refused}");
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    deleted.expect(204);
    let deleted = service.admin(Method::DELETE, &group, Value::Null).await;
    deleted.expect(204);
}

#[tokio::test]
async fn failures_stay_when_a_notification_is_switched_off_and_on() {
    let (service, server) = start().await;
    server.refuse("anna@example.com", "550 5.1.1 No such user");
    let path = notification(&service, Value::Null).await;
    alert(&service, None).await;
    sent(&service, &server, 0).await;
    for enabled in [false, true] {
        let changed = service
            .admin_patch(&path, json!({"enabled": enabled}))
            .await;
        assert_eq!(changed["failures"][0]["given_up"], true, "{changed}");
    }
}

#[tokio::test]
async fn the_messages_of_a_deleted_notification_are_removed() {
    let (service, mut server) = start().await;
    let path = notification(&service, Value::Null).await;
    let other = notification(&service, Value::Null).await;
    alert(&service, None).await;
    sent(&service, &server, 2).await;
    server.go_down();
    service.advance(HOUR);
    alert(&service, None).await;
    due(&service).await;
    assert_eq!(rows(&service, "notification_deliveries").await, 4);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    deleted.expect(204);
    assert_eq!(
        rows(&service, "notification_deliveries WHERE waits").await,
        1
    );
    let swept = tapdesk_service::housekeeping::sweep(service.service()).await;
    swept.expect("old messages are removed");
    assert_eq!(rows(&service, "notification_messages").await, 2);
    assert_eq!(rows(&service, "notification_deliveries").await, 2);
    let shown = service.admin_get(&other).await;
    assert_eq!(shown["waiting"], 1);
}
