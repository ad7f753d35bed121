//! Section 2.3: `metadata`, member by member.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

use crate::spec::shape::{bare, full, members};

#[tokio::test]
async fn metadata_has_exactly_these_members_in_this_order() {
    for payload in [full().await, bare().await] {
        assert_eq!(
            members(&payload["metadata"]),
            [
                ("name", "string"),
                ("title", "string"),
                ("description", "string"),
                ("url", "string"),
                ("tag_id", "integer"),
                ("studio_id", "string"),
                ("widget_settings", "object"),
                ("language_code", "string"),
                ("verified", "string"),
                ("tag_verifier_enabled", "string"),
                ("device_id", "integer"),
            ]
        );
    }
}

#[tokio::test]
async fn row_name() {
    assert_eq!(full().await["metadata"]["name"], "Bottle 41");
}

#[tokio::test]
async fn row_title() {
    assert_eq!(full().await["metadata"]["title"], "Red wine");
}

#[tokio::test]
async fn row_description() {
    assert_eq!(full().await["metadata"]["description"], "From the south");
}

#[tokio::test]
async fn row_url() {
    let payload = full().await;
    assert_eq!(payload["metadata"]["url"], payload["expected"]["url"]);
}

#[tokio::test]
async fn row_tag_id() {
    let payload = full().await;
    assert_eq!(payload["metadata"]["tag_id"], payload["expected"]["tag_id"]);
}

#[tokio::test]
async fn row_studio_id_of_a_redirect_is_empty() {
    assert_eq!(full().await["metadata"]["studio_id"], "");
}

#[tokio::test]
async fn row_studio_id_is_the_studio_experiences_id_as_a_string() {
    let service = TestService::start().await;
    let studio = service
        .experience(json!({
            "name": "Welcome", "kind": "studio",
            "blocks": [{"type": "button", "label": "Go", "url": "https://owner.example/?rk={{interaction:rk}}"}],
        }))
        .await;
    let tag = service
        .redirecting_tag(json!({"experience_id": studio}))
        .await;
    let tap = service.tap(&tag.path()).await;
    let (_, rk) = tap
        .cookie
        .as_deref()
        .and_then(|cookie| cookie.split_once('='))
        .expect("a studio tap holds its key in the cookie");
    let payload = service.payload(rk).await;
    assert_eq!(payload["metadata"]["studio_id"], studio.to_string());
}

#[tokio::test]
async fn row_widget_settings_is_keyed_by_widget_each_value_an_object_possibly_empty() {
    let settings = json!({"map": {"zoom": 3}, "plain": {}});
    assert_eq!(full().await["metadata"]["widget_settings"], settings);
    assert_eq!(bare().await["metadata"]["widget_settings"], json!({}));
}

#[tokio::test]
async fn row_language_code() {
    assert_eq!(full().await["metadata"]["language_code"], "fr_FR");
}

#[tokio::test]
async fn row_verified_is_1_for_a_verified_tap_and_0_else() {
    assert_eq!(full().await["metadata"]["verified"], "1");
    assert_eq!(bare().await["metadata"]["verified"], "0");
}

#[tokio::test]
async fn row_tag_verifier_enabled_is_1_or_0() {
    assert_eq!(full().await["metadata"]["tag_verifier_enabled"], "1");
    let service = TestService::start().await;
    let tag = service
        .redirecting_tag(json!({"verifier_enabled": false}))
        .await;
    let tap = service.tap(&tag.path()).await;
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["metadata"]["tag_verifier_enabled"], "0");
    assert_eq!(payload["tag_verified"], Value::Null);
}

#[tokio::test]
async fn row_device_id_is_the_inlays_id_and_0_without_one() {
    let payload = full().await;
    assert_eq!(
        payload["metadata"]["device_id"],
        payload["expected"]["inlay_id"]
    );
    assert_eq!(bare().await["metadata"]["device_id"], 0);
}
