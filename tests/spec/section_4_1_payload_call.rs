//! Section 4.1: retrieve the interaction payload.

use serde_json::{Value, json};
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answering as _, TestService};

#[tokio::test]
async fn a_valid_key_within_its_5_minutes_answers_200_and_the_payload_object() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let answer = service.payload_answer(&base64(tap.key())).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(answer.json().is_object());
}

#[tokio::test]
async fn an_invalid_key_answers_200_and_an_empty_array() {
    let service = TestService::start().await;
    let answer = service.payload_answer(&base64(&"A".repeat(44))).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "[]"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn an_expired_key_answers_200_and_an_empty_array() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service.advance(300_000);
    let answer = service.payload_answer(&base64(tap.key())).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "[]"));
}

#[tokio::test]
async fn a_flow_example_posts_to_this_path_and_is_answered_alike() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let path = format!("/v2/interactions/rk_payload?rk={}", base64(tap.key()));
    let got = service.get(&path).answer().await;
    let posted = service.post(&path).answer().await;
    assert_eq!((posted.status, posted.json()), (200, got.json()));
    let invalid = service.post("/v2/interactions/rk_payload?rk=x").answer();
    assert_eq!(invalid.await.expect(200), json!([]));
}
