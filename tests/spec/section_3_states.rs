//! Section 3: states of a rolling key, and values of `tag_verified`.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

#[tokio::test]
async fn an_issued_key_expires_after_5_minutes_and_is_then_invalid_for_both_operations() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service.advance(5 * 60 * 1000);
    assert_eq!(service.payload(tap.key()).await, json!([]));
    let answer = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    assert_eq!(answer.status, 400);
    assert_eq!(
        service.variable(&tag, "registered").await.as_deref(),
        Some("false")
    );
}

#[tokio::test]
async fn a_consumed_key_is_rejected_by_the_update_operation() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let first = service.update(tap.key(), json!({"registered": "once"}));
    assert_eq!(first.await.status, 200);
    let second = service.update(tap.key(), json!({"registered": "twice"}));
    assert_eq!(second.await.status, 400);
    assert_eq!(
        service.variable(&tag, "registered").await.as_deref(),
        Some("once")
    );
}
