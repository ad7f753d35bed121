//! Section 7: the envelope of errors, and their statuses.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

#[tokio::test]
async fn row_payload_retrieval_an_invalid_or_expired_key_answers_200_and_an_empty_array() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(service.payload("never issued").await, json!([]));
    service.advance(300_000);
    assert_eq!(service.payload(tap.key()).await, json!([]));
}

#[tokio::test]
async fn row_tag_variable_update_all_four_conditions_have_one_body() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let data = json!({"registered": "true"});
    let (consumed, unknown, expired) = (
        service.tap(&tag.path()).await,
        service.tap(&tag.path()).await,
        service.tap(&tag.path()).await,
    );
    service
        .update(consumed.key(), data.clone())
        .await
        .expect(200);
    let mut answers = vec![
        service.update("never issued", data.clone()).await,
        service.update(consumed.key(), data.clone()).await,
        service
            .update(unknown.key(), json!({"unknown": "true"}))
            .await,
    ];
    service.advance(300_000);
    answers.push(service.update(expired.key(), data).await);
    for answer in answers {
        assert_eq!(answer.status, 400);
        assert_eq!(
            answer.json(),
            json!({"error": true, "message": "Invalid rolling key"})
        );
    }
}

#[tokio::test]
async fn the_400_body_has_error_and_message_whatever_is_wrong() {
    let service = TestService::start().await;
    let answer = service.update_record(&json!({"rolling_key": ""})).await;
    assert_eq!(answer.status, 400);
    let body = answer.json();
    assert_eq!(body["error"], json!(true));
    assert!(body["message"].is_string());
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(2));
}
