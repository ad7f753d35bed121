//! Section 4.2: update tag variables. Bodies are compared byte for byte.

use serde_json::{Value, json};
use tapdesk_tests::{Answer, TestService};

const UPDATED: &str = r#"{"success": true, "message": "User Data updated"}"#;
const INVALID: &str = r#"{"error": true, "message": "Invalid rolling key"}"#;

#[track_caller]
fn assert_answer(answer: &Answer, status: u16, body: &str) {
    assert_eq!((answer.status, answer.body.as_str()), (status, body));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn a_valid_key_and_existing_variables_answer_200() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let answer = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    assert_answer(&answer, 200, UPDATED);
}

#[tokio::test]
async fn an_invalid_key_answers_400() {
    let service = TestService::start().await;
    let answer = service
        .update(&"A".repeat(44), json!({"registered": "true"}))
        .await;
    assert_answer(&answer, 400, INVALID);
}

#[tokio::test]
async fn a_consumed_key_answers_400_with_the_same_body() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let data = json!({"registered": "true"});
    service.update(tap.key(), data.clone()).await.expect(200);
    let answer = service.update(tap.key(), data).await;
    assert_answer(&answer, 400, INVALID);
}

#[tokio::test]
async fn an_expired_key_answers_400_with_the_same_body() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service.advance(300_000);
    let answer = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    assert_answer(&answer, 400, INVALID);
}

#[tokio::test]
async fn an_unknown_variable_answers_400_with_the_same_body() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let answer = service.update(tap.key(), json!({"unknown": "true"})).await;
    assert_answer(&answer, 400, INVALID);
}
