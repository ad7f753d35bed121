//! The rules that set `tag_verified`, in order, and the reason for each value.

use serde_json::{Value, json};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::OneTimeCode;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::{TestService, TestTag};

/// Taps `url` and checks `tag_verified` in the payload and the reason in the metrics.
async fn tap_is(service: &TestService, url: &str, verified: Value, reason: &str) {
    let before = service.taps(reason).await;
    let tap = service.tap(url).await;
    assert_eq!(tap.status, 302, "a failed verification still redirects");
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], verified, "{url}");
    assert_eq!(service.taps(reason).await, before + 1, "{reason}");
}

fn tampered(tag: &TestTag, OneTimeCode { uid, token }: &OneTimeCode) -> String {
    let (last, kept) = (token.len() - 1, &token[..token.len() - 1]);
    let other = if token[last..] == *"0" { "1" } else { "0" };
    tag.with(&OneTimeCode {
        uid: uid.clone(),
        token: format!("{kept}{other}"),
    })
}

#[tokio::test]
async fn first_a_verifier_that_is_off_makes_it_null_even_for_a_genuine_code() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"verifier_enabled": false}))
        .await;
    tap_is(&service, &inlay.url(&tag), Value::Null, "verifier_off").await;
    let malformed = format!("{}?uid=1", tag.path());
    tap_is(&service, &malformed, Value::Null, "verifier_off").await;
}

#[tokio::test]
async fn second_no_code_at_a_tag_without_a_rolling_inlay_is_null() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    tap_is(&service, &tag.path(), Value::Null, "static").await;
}

#[tokio::test]
async fn second_no_code_at_a_tag_with_a_static_inlay_is_null() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let inlay = json!({"uid": "04112233445566", "technology": "ntag213", "tag_id": tag.id});
    service.inlay(inlay).await;
    tap_is(&service, &tag.path(), Value::Null, "static").await;
}

#[tokio::test]
async fn second_no_code_at_a_tag_marked_has_qr_code_is_null() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"has_qr_code": true}))
        .await;
    tap_is(&service, &tag.path(), Value::Null, "static").await;
    tap_is(&service, &inlay.url(&tag), json!(true), "verified").await;
}

#[tokio::test]
async fn third_an_authentic_code_with_a_higher_counter_is_true() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    for _ in 0..3 {
        tap_is(&service, &inlay.url(&tag), json!(true), "verified").await;
    }
}

#[tokio::test]
async fn third_a_jump_of_the_counter_is_accepted() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    let at = |counter| tag.with(&inlay.code_at(counter));
    tap_is(&service, &at(5), json!(true), "verified").await;
    tap_is(&service, &at(40), json!(true), "verified").await;
}

#[tokio::test]
async fn fourth_no_code_at_a_tag_whose_inlay_makes_them_is_false() {
    let service = TestService::start().await;
    let (tag, _) = service.bottle().await;
    tap_is(&service, &tag.path(), json!(false), "no_code").await;
}

#[tokio::test]
async fn fourth_half_a_code_is_malformed_and_false() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let OneTimeCode { uid, token } = inlay.code();
    for query in [
        format!("uid={uid}"),
        format!("token={token}"),
        format!("uid={uid}&token="),
        format!("uid=&token={token}"),
        "uid&token".to_owned(),
    ] {
        let url = format!("{}?{query}", tag.path());
        tap_is(&service, &url, json!(false), "malformed").await;
    }
}

#[tokio::test]
async fn fourth_a_code_of_a_wrong_shape_is_malformed_and_false() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let OneTimeCode { uid, token } = inlay.code();
    for (uid, token) in [
        (uid[1..].to_owned(), token.clone()),
        (format!("{uid}0"), token.clone()),
        (uid.clone(), token[1..].to_owned()),
        (uid.clone(), format!("{token}000000")),
        (uid.replacen(char::is_alphanumeric, "G", 1), token.clone()),
        (uid.clone(), token.replacen(char::is_alphanumeric, "%20", 1)),
        ("%00".repeat(32), token.clone()),
    ] {
        let url = format!("{}?uid={uid}&token={token}", tag.path());
        tap_is(&service, &url, json!(false), "malformed").await;
    }
}

#[tokio::test]
async fn fourth_a_wrong_mac_is_false() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let code = inlay.code();
    tap_is(&service, &tampered(&tag, &code), json!(false), "wrong_mac").await;
    tap_is(&service, &tag.with(&code), json!(true), "verified").await;
}

#[tokio::test]
async fn fourth_an_inlay_that_nobody_knows_is_false() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        let stranger = chip(mirror, MacFrom::None).code_at(1, [0; 5]);
        tap_is(
            &service,
            &tag.with(&stranger),
            json!(false),
            "unknown_inlay",
        )
        .await;
    }
}

#[tokio::test]
async fn fourth_another_tags_inlay_is_false_and_moves_no_counter() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let (other, _) = service.bottle().await;
    let code = inlay.code();
    let misplaced = other.with(&code);
    tap_is(&service, &misplaced, json!(false), "unknown_inlay").await;
    tap_is(&service, &tag.with(&code), json!(true), "verified").await;
}

#[tokio::test]
async fn fourth_a_replayed_code_is_false() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    tap_is(&service, &url, json!(true), "verified").await;
    tap_is(&service, &url, json!(false), "replayed").await;
}

#[tokio::test]
async fn fourth_a_code_out_of_order_is_false() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    let at = |counter| tag.with(&inlay.code_at(counter));
    tap_is(&service, &at(40), json!(true), "verified").await;
    for counter in [6, 20, 39] {
        tap_is(&service, &at(counter), json!(false), "out_of_order").await;
    }
    tap_is(&service, &at(41), json!(true), "verified").await;
}

#[tokio::test]
async fn duplicate_uid_or_token_parameters_are_malformed() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let OneTimeCode { uid, token } = inlay.code();
    for query in [
        format!("uid={uid}&uid={uid}&token={token}"),
        format!("uid={uid}&token={token}&token={token}"),
        format!("uid={uid}&token={token}&u%69d=0"),
    ] {
        let url = format!("{}?{query}", tag.path());
        tap_is(&service, &url, json!(false), "malformed").await;
    }
    let url = tag.with(&OneTimeCode { uid, token });
    tap_is(&service, &url, json!(true), "verified").await;
}

#[tokio::test]
async fn a_tag_may_have_several_inlays_each_with_its_own_counter() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut inlays = Vec::new();
    for mirror in [Mirror::Plain, Mirror::Encrypted, Mirror::Encrypted] {
        inlays.push(service.rolling_inlay(&tag, mirror, MacFrom::None).await);
    }
    for _ in 0..2 {
        for inlay in &mut inlays {
            let tap = service.tap(&inlay.url(&tag)).await;
            let payload = service.payload(tap.key()).await;
            assert_eq!(payload["tag_verified"], json!(true));
            assert_eq!(payload["metadata"]["device_id"], json!(inlay.id));
        }
    }
}

#[tokio::test]
async fn a_code_of_replaced_keys_no_longer_verifies_and_the_counter_starts_again() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    for _ in 0..5 {
        tap_is(&service, &inlay.url(&tag), json!(true), "verified").await;
    }
    let old = inlay.code();
    inlay.chip.keys = Keys {
        meta: inlay.chip.keys.meta,
        file: AesKey::from_bytes([0x5A; 16]),
    };
    let keys = chip_json(&inlay.chip);
    service
        .admin_patch(
            &format!("/inlays/{}", inlay.id),
            json!({"meta_key": keys["meta_key"], "file_key": keys["file_key"]}),
        )
        .await;
    tap_is(&service, &tag.with(&old), json!(false), "wrong_mac").await;
    let new = tag.with(&inlay.code_at(1));
    tap_is(&service, &new, json!(true), "verified").await;
}
