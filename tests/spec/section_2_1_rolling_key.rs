//! Section 2.1: the rolling key.

use serde_json::Value;
use tapdesk_tests::TestService;
use tapdesk_tests::client::base64;

#[tokio::test]
async fn the_key_is_received_in_the_redirect_as_the_query_parameter_rk() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    assert!(service.tap(&tag.path()).await.rk.is_some());
}

#[tokio::test]
async fn the_key_is_sent_to_the_service_base64_encoded() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let found = service.payload_answer(&base64(tap.key())).await;
    assert!(found.json().is_object());
}

#[tokio::test]
async fn the_encoded_form_may_end_in_padding() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let encoded = base64(tap.key());
    assert!(encoded.ends_with('='), "44 characters leave padding");
    for text in [encoded.clone(), encoded.replace('=', "%3D")] {
        assert!(service.payload_answer(&text).await.json().is_object());
    }
}

#[tokio::test]
async fn the_key_lives_5_minutes_from_interaction_time() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service.advance(299_999);
    assert!(service.payload(tap.key()).await.is_object());
    service.advance(1);
    assert_eq!(service.payload(tap.key()).await, Value::Array(vec![]));
}
