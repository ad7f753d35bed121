//! Section 2.5: the tag variable update record.

use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::client::base64;

#[tokio::test]
async fn row_rolling_key_is_required_a_base64_string() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let data = json!({"registered": "true"});
    for record in [
        json!({"data": data}),
        json!({"rolling_key": 7, "data": data}),
        json!({"rolling_key": null, "data": data}),
        json!({"rolling_key": tap.key(), "data": data}),
    ] {
        assert_eq!(service.update_record(&record).await.status, 400, "{record}");
    }
    service
        .update_record(&json!({"rolling_key": base64(tap.key()), "data": data}))
        .await
        .expect(200);
}

#[tokio::test]
async fn row_data_is_required_an_object_of_strings() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let rolling_key = base64(tap.key());
    for record in [
        json!({"rolling_key": rolling_key}),
        json!({"rolling_key": rolling_key, "data": null}),
        json!({"rolling_key": rolling_key, "data": "registered"}),
        json!({"rolling_key": rolling_key, "data": ["registered"]}),
        json!({"rolling_key": rolling_key, "data": {"registered": true}}),
    ] {
        assert_eq!(service.update_record(&record).await.status, 400, "{record}");
    }
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn several_keys_may_be_sent_in_one_data_object() {
    let service = TestService::start().await;
    let variables = json!({"registered": "false", "owner": "", "year": "2025"});
    let tag = service
        .redirecting_tag(json!({"variables": variables}))
        .await;
    let tap = service.tap(&tag.path()).await;
    service
        .update(tap.key(), json!({"registered": "true", "owner": "Léa"}))
        .await
        .expect(200);
    let tag = service.admin_get(&tag.admin_path()).await;
    assert_eq!(
        tag["variables"],
        json!({"owner": "Léa", "registered": "true", "year": "2025"})
    );
}
