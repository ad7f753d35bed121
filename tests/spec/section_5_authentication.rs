//! Section 5: the rolling key is the only proof of access.

use serde_json::{Value, json};
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answering as _, TestService};

#[tokio::test]
async fn neither_operation_requires_a_credential() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    // The client's public calls have no Authorization header and no cookie.
    assert!(service.payload(tap.key()).await.is_object());
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_credential_replaces_no_rolling_key() {
    let service = TestService::start().await;
    let answer = service
        .post("/v2/interactions/data")
        .bearer_auth(service.admin_token())
        .json(&json!({"rolling_key": base64("nothing"), "data": {"registered": "true"}}))
        .answer()
        .await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn scanning_a_qr_code_yields_a_key_that_authenticates_as_a_tap_does() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({"has_qr_code": true})).await;
    let scan = service.tap(&tag.path()).await;
    let payload = service.payload(scan.key()).await;
    assert_eq!(payload["tag_verified"], Value::Null);
    service
        .update(scan.key(), json!({"registered": "true"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn the_update_operation_is_open_to_anyone_who_holds_a_valid_key() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let somebody_else = service
        .post("/v2/interactions/data")
        .header("user-agent", "an owner's server")
        .json(&json!({"rolling_key": base64(tap.key()), "data": {"registered": "true"}}));
    somebody_else.answer().await.expect(200);
}
