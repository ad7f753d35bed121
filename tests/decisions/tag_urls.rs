//! The tap: its path, and `uid` and `token` as an NTAG 424 DNA mirrors them.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::virtual_inlay::OneTimeCode;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;

#[tokio::test]
async fn a_generated_slug_is_10_random_lower_case_base36_characters() {
    let service = TestService::start().await;
    let first = service.tag(json!({"name": "One"})).await.slug;
    let second = service.tag(json!({"name": "Two"})).await.slug;
    let base36 = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    for slug in [&first, &second] {
        assert!(slug.len() == 10 && slug.chars().all(base36), "{slug}");
    }
    assert_ne!(first, second);
}

#[tokio::test]
async fn an_owners_slug_is_1_to_64_of_the_unreserved_characters_of_a_url() {
    let service = TestService::start().await;
    for slug in [
        "abcdef",
        "a-b-c-1",
        "UPPER-case",
        "a.b_c~d",
        &"z".repeat(64),
    ] {
        let tag = service.tag(json!({"name": "Good", "slug": slug})).await;
        assert_eq!(tag.slug, slug);
    }
    for slug in ["", ".", &"z".repeat(65), "with space", "über-tag"] {
        let tag = json!({"name": "Bad", "slug": slug});
        let answer = service.admin(Method::POST, "/tags", tag).await;
        assert_eq!(answer.status, 422, "{slug:?}");
    }
}

#[tokio::test]
async fn a_slug_is_unique() {
    let service = TestService::start().await;
    let tag = json!({"name": "Bottle", "slug": "bottle-41"});
    service.tag(tag.clone()).await;
    assert_eq!(service.admin(Method::POST, "/tags", tag).await.status, 409);
}

#[tokio::test]
async fn the_plain_mirror_is_14_hex_digits_and_6_for_the_counter_plus_16_for_the_mac() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let code = inlay.code_at(0x1234);
    assert_eq!((code.uid.len(), code.token.len()), (14, 22));
    assert_eq!(code.uid, inlay.chip.uid.to_string());
    assert!(code.token.starts_with("001234"), "MSB first");
    let tap = service.tap(&tag.with(&code)).await;
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        json!(true)
    );
}

#[tokio::test]
async fn the_encrypted_mirror_is_32_hex_digits_and_16_for_the_mac() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let code = inlay.code();
    assert_eq!((code.uid.len(), code.token.len()), (32, 16));
    let tap = service.tap(&tag.with(&code)).await;
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        json!(true)
    );
}

#[tokio::test]
async fn hex_digits_are_read_in_either_case() {
    let service = TestService::start().await;
    for (mirror, mac_from) in [
        (Mirror::Plain, MacFrom::Uid),
        (Mirror::Encrypted, MacFrom::Uid),
    ] {
        let tag = service.redirecting_tag(Value::Null).await;
        let mut inlay = service.rolling_inlay(&tag, mirror, mac_from).await;
        let OneTimeCode { uid, token } = inlay.code();
        let lower = OneTimeCode {
            uid: uid.to_lowercase(),
            token: token.to_lowercase(),
        };
        let tap = service.tap(&tag.with(&lower)).await;
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], json!(true), "{mirror}");
    }
}

#[tokio::test]
async fn other_parameters_beside_the_code_do_not_matter() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag).replace('?', "?utm_source=poster&");
    let tap = service.tap(&format!("{url}&x=1")).await;
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        json!(true)
    );
}
