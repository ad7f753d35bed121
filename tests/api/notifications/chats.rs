//! Chats: the incoming webhooks of Slack, Mattermost and Rocket.Chat.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Receiver};

use super::{HOUR, alert, due, notification, start};

const MINUTE: i64 = HOUR / 60;

#[tokio::test]
async fn a_chat_gets_a_text_and_is_tried_again_like_a_webhook() {
    let (service, _server) = start().await;
    let chat = Receiver::start().await;
    let secret = format!("{}/T0/secret-of-the-chat", chat.url());
    let path = notification(&service, json!({"channel": {"chat": secret}})).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["channel"], json!({"chat": secret}));
    chat.react(Reaction::status(503));
    alert(&service, None).await;
    due(&service).await;
    chat.react(Reaction::status(200));
    let failed = service.admin_get(&path).await["failures"].clone();
    assert_eq!(failed[0]["recipient"], Value::Null);
    assert_eq!(failed[0]["given_up"], false);
    service.advance(HOUR);
    due(&service).await;
    let requests = chat.received();
    assert_eq!(requests.len(), 2);
    let body: Value = serde_json::from_slice(&requests[1].body).expect("JSON");
    let text = body["text"].as_str().expect("a text");
    assert!(
        text.contains("A one-time URL is opened repeatedly"),
        "{text}"
    );
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(requests[1].header("webhook-signature"), "");
    // The audit log has the origin only.
    let audit = service.admin_get("/audit").await.to_string();
    assert!(!audit.contains("secret-of-the-chat"), "{audit}");
    let trial = format!("{path}/test");
    let tested = service.admin(Method::POST, &trial, Value::Null).await;
    assert_eq!(tested.expect(200)["delivered"], true);
    // A chat that is gone is not asked again for the same message.
    chat.react(Reaction::status(404));
    service.advance(2 * HOUR);
    alert(&service, None).await;
    due(&service).await;
    assert_eq!(chat.received().len(), 4);
    service.advance(24 * HOUR);
    due(&service).await;
    assert_eq!(chat.received().len(), 4);
}

#[tokio::test]
async fn a_message_that_a_chat_may_have_is_not_posted_again_within_an_hour() {
    let (service, _server) = start().await;
    let chat = Receiver::start().await;
    let path = notification(&service, json!({"channel": {"chat": chat.url()}})).await;
    alert(&service, None).await;
    for (posts, reaction) in [(1, Reaction::status(504)), (2, Reaction::HangUp)] {
        chat.react(reaction);
        due(&service).await;
        assert_eq!(chat.received().len(), posts);
        service.advance(59 * MINUTE);
        due(&service).await;
        assert_eq!(chat.received().len(), posts);
        service.advance(MINUTE);
    }
    chat.react(Reaction::status(200));
    due(&service).await;
    assert_eq!(chat.received().len(), 3);
    let shown = service.admin_get(&path).await;
    assert_eq!(
        (&shown["waiting"], &shown["failures"]),
        (&json!(0), &json!([]))
    );
}

#[tokio::test]
async fn the_pause_that_a_chat_asks_for_is_kept() {
    let (service, _server) = start().await;
    let chat = Receiver::start().await;
    notification(&service, json!({"channel": {"chat": chat.url()}})).await;
    let later = vec![("retry-after", "1800".to_owned())];
    chat.react(Reaction::Answer(429, later, String::new()));
    alert(&service, None).await;
    due(&service).await;
    chat.react(Reaction::status(200));
    service.advance(29 * MINUTE);
    due(&service).await;
    assert_eq!(chat.received().len(), 1);
    service.advance(2 * MINUTE);
    due(&service).await;
    assert_eq!(chat.received().len(), 2);
}
