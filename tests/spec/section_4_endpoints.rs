//! Section 4: the two operations, their conditions, statuses and bodies.

use serde_json::json;
use tapdesk_tests::TestService;

#[tokio::test]
async fn a_payload_call_with_an_invalid_key_answers_200_and_an_empty_array() {
    let service = TestService::start().await;
    let answer = service.payload_answer("bm90IGEga2V5").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "[]"));
}

#[tokio::test]
async fn an_update_with_an_invalid_key_answers_400_and_the_one_body() {
    let service = TestService::start().await;
    let answer = service
        .update("not a key", json!({"registered": "true"}))
        .await;
    assert_eq!(answer.status, 400);
    assert_eq!(
        answer.json(),
        json!({"error": true, "message": "Invalid rolling key"})
    );
}
