//! Section 2.2: the interaction payload, member by member.

use serde_json::json;

use crate::spec::shape::{bare, full, location, members};

#[tokio::test]
async fn the_payload_has_exactly_these_members_in_this_order() {
    let expected = |tag_verified| {
        [
            ("campaigns", "array"),
            ("metadata", "object"),
            ("app_id", "integer"),
            ("social", "object"),
            ("location", "object"),
            ("interaction_ids", "array"),
            ("impression_ids", "array"),
            ("track_location", "boolean"),
            ("payloads", "array"),
            ("tag_verified", tag_verified),
            ("device", "object"),
            ("rk", "string"),
        ]
    };
    assert_eq!(members(&full().await), expected("boolean"));
    assert_eq!(members(&bare().await), expected("null"));
}

#[tokio::test]
async fn row_campaigns_is_an_empty_array() {
    assert_eq!(full().await["campaigns"], json!([]));
}

#[tokio::test]
async fn row_app_id_is_an_integer() {
    assert_eq!(full().await["app_id"], json!(1));
}

#[tokio::test]
async fn row_social_contains_blacklist_an_object() {
    assert_eq!(full().await["social"], json!({"blacklist": {}}));
}

#[tokio::test]
async fn row_location_is_the_tags() {
    assert_eq!(full().await["location"], location());
}

#[tokio::test]
async fn row_interaction_ids_is_an_array_of_integers() {
    let payload = full().await;
    let ids = payload["interaction_ids"].as_array().expect("an array");
    assert!(!ids.is_empty() && ids.iter().all(serde_json::Value::is_i64));
}

#[tokio::test]
async fn row_impression_ids_is_an_array() {
    assert_eq!(full().await["impression_ids"], json!([]));
}

#[tokio::test]
async fn row_track_location_is_the_tags() {
    assert_eq!(full().await["track_location"], json!(true));
    assert_eq!(bare().await["track_location"], json!(false));
}

#[tokio::test]
async fn row_payloads_is_an_array() {
    assert_eq!(full().await["payloads"], json!([]));
}

#[tokio::test]
async fn row_tag_verified_is_boolean_or_null() {
    assert_eq!(full().await["tag_verified"], json!(true));
    assert_eq!(bare().await["tag_verified"], json!(null));
}

#[tokio::test]
async fn row_device_has_r_rd_and_country() {
    for payload in [full().await, bare().await] {
        assert_eq!(
            members(&payload["device"]),
            [("r", "boolean"), ("rd", "boolean"), ("country", "string")]
        );
    }
}

#[tokio::test]
async fn row_rk_is_the_key_in_its_un_encoded_form() {
    let payload = full().await;
    assert_eq!(payload["rk"], payload["expected"]["rk"]);
}
