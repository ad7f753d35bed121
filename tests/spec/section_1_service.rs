//! Section 1: the functions of the service.

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;

#[tokio::test]
async fn a_one_time_url_of_the_encrypted_mirror_shows_a_physical_tap() {
    taps_verify(Mirror::Encrypted, MacFrom::None).await;
}

#[tokio::test]
async fn a_one_time_url_of_the_encrypted_mirror_with_a_mac_over_the_uid_shows_a_physical_tap() {
    taps_verify(Mirror::Encrypted, MacFrom::Uid).await;
}

#[tokio::test]
async fn a_one_time_url_of_the_plain_mirror_shows_a_physical_tap() {
    taps_verify(Mirror::Plain, MacFrom::None).await;
}

#[tokio::test]
async fn a_one_time_url_of_the_plain_mirror_with_a_mac_over_the_uid_shows_a_physical_tap() {
    taps_verify(Mirror::Plain, MacFrom::Uid).await;
}

async fn taps_verify(mirror: Mirror, mac_from: MacFrom) {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut inlay = service.rolling_inlay(&tag, mirror, mac_from).await;
    for _ in 0..3 {
        let tap = service.tap(&inlay.url(&tag)).await;
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], json!(true));
    }
}

#[tokio::test]
async fn flow_2_a_tap_redirects_to_the_owners_domain_with_rk_in_the_query() {
    let service = TestService::start().await;
    let tag = service
        .tag_to("https://owner.example/form", Value::Null)
        .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 302);
    assert_eq!(
        tap.location,
        Some(format!("https://owner.example/form?rk={}", tap.key()))
    );
}

#[tokio::test]
async fn flow_2_a_macro_can_also_pass_the_key() {
    let service = TestService::start().await;
    let tag = service
        .tag_to("https://owner.example/?rk={{interaction:rk}}", Value::Null)
        .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(
        tap.location,
        Some(format!("https://owner.example/?rk={}", tap.key()))
    );
    assert_eq!(service.payload(tap.key()).await["rk"], json!(tap.rk));
}

#[tokio::test]
async fn flow_3_and_4_the_external_domain_reads_tag_verified_with_the_key() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let genuine = service.tap(&url).await;
    let copied = service.tap(&url).await;
    let printed = service.redirecting_tag(Value::Null).await;
    let printed = service.tap(&printed.path()).await;
    for (tap, expected) in [
        (genuine, json!(true)),
        (copied, json!(false)),
        (printed, json!(null)),
    ] {
        assert_eq!(service.payload(tap.key()).await["tag_verified"], expected);
    }
}

#[tokio::test]
async fn only_variables_can_be_edited_not_attributes_and_not_data() {
    let service = TestService::start().await;
    let tag = service
        .redirecting_tag(json!({"attributes": {"sku": "A-1"}, "data": {"colour": "red"}}))
        .await;
    for key in ["sku", "colour", "tag:attribute:sku", "tag:data:colour"] {
        let tap = service.tap(&tag.path()).await;
        let answer = service.update(tap.key(), json!({key: "changed"})).await;
        assert_eq!(answer.status, 400, "{key}");
        assert_eq!(answer.json()["message"], "Invalid rolling key", "{key}");
    }
    let tag = service.admin_get(&tag.admin_path()).await;
    assert_eq!(tag["attributes"], json!({"sku": "A-1"}));
    assert_eq!(tag["data"], json!({"colour": "red"}));
}

#[tokio::test]
async fn configuration_1_a_tag_without_an_experience_gets_no_key_to_update_with() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({"name": "Bare", "variables": {"registered": "false"}}))
        .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!((tap.status, tap.rk), (200, None));
}

#[tokio::test]
async fn configuration_1_a_studio_experience_does_as_well_as_a_redirect() {
    let service = TestService::start().await;
    let studio = service
        .experience(json!({
            "name": "Welcome", "kind": "studio",
            "blocks": [{"type": "text", "text": "key={{interaction:rk}}."}],
        }))
        .await;
    let tag = service
        .redirecting_tag(json!({"experience_id": studio}))
        .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 200);
    let (_, rest) = tap
        .answer
        .body
        .split_once("key=")
        .expect("the key is shown");
    let (rk, _) = rest.split_once('.').expect("the text ends");
    let answer = service.update(rk, json!({"registered": "true"})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn configuration_2_an_update_changes_the_value_of_an_existing_key() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
    assert_eq!(
        service.variable(&tag, "registered").await.as_deref(),
        Some("true")
    );
}

#[tokio::test]
async fn configuration_2_an_update_cannot_create_a_key() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let answer = service.update(tap.key(), json!({"owner": "me"})).await;
    assert_eq!(answer.status, 400);
    assert_eq!(service.variable(&tag, "owner").await, None);
}
