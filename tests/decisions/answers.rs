//! What a tap is answered with.

use serde_json::{Value, json};
use tapdesk_tests::client::TapResult;
use tapdesk_tests::{TestService, TestTag};

#[tokio::test]
async fn a_redirect_is_302_no_store_and_without_a_referrer() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 302);
    assert_eq!(tap.answer.header("cache-control"), Some("no-store"));
    assert_eq!(tap.answer.header("referrer-policy"), Some("no-referrer"));
}

#[tokio::test]
async fn rk_is_set_in_the_targets_query_and_query_and_fragment_are_kept() {
    let service = TestService::start().await;
    for (target, before, after) in [
        ("https://owner.example", "https://owner.example/?rk=", ""),
        ("https://owner.example/a", "https://owner.example/a?rk=", ""),
        (
            "https://owner.example/a?b=1",
            "https://owner.example/a?b=1&rk=",
            "",
        ),
        (
            "https://owner.example/a?b=1#c",
            "https://owner.example/a?b=1&rk=",
            "#c",
        ),
        (
            "https://owner.example/#/app?x=1",
            "https://owner.example/?rk=",
            "#/app?x=1",
        ),
        (
            "https://owner.example/?rk=old&b=1",
            "https://owner.example/?rk=",
            "&b=1",
        ),
        (
            "http://owner.example:8080/",
            "http://owner.example:8080/?rk=",
            "",
        ),
    ] {
        let tag = service.tag_to(target, Value::Null).await;
        let tap = service.tap(&tag.path()).await;
        let expected = format!("{before}{}{after}", tap.key());
        assert_eq!(tap.location, Some(expected), "{target}");
    }
}

#[tokio::test]
async fn rk_is_not_added_where_the_target_carries_the_macro() {
    let service = TestService::start().await;
    let tag = service
        .tag_to("https://owner.example/{{ interaction:rk }}/x", Value::Null)
        .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.rk, None);
    let location = tap.location.expect("a redirect");
    let rk = location
        .strip_prefix("https://owner.example/")
        .and_then(|rest| rest.strip_suffix("/x"))
        .expect("the macro's place");
    assert!(service.payload(rk).await.is_object());
}

#[tokio::test]
async fn an_unknown_slug_is_404_a_plain_page_and_nothing_recorded() {
    let service = TestService::start().await;
    let tap = service.tap("/t/nobody-knows-me").await;
    assert_page(&tap, 404);
    let metrics = service.metrics().await;
    assert!(!metrics.contains("tapdesk_taps_total"), "{metrics}");
}

#[tokio::test]
async fn a_deleted_tag_is_an_unknown_one() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let key = service.tap(&tag.path()).await;
    let deleted = service
        .admin(reqwest::Method::DELETE, &tag.admin_path(), Value::Null)
        .await;
    assert_eq!(deleted.status, 204, "{}", deleted.body);
    assert_page(&service.tap(&tag.path()).await, 404);
    assert_eq!(service.payload(key.key()).await, json!([]));
    let update = service.update(key.key(), json!({"registered": "true"}));
    assert_eq!(update.await.status, 400);
}

#[tokio::test]
async fn a_tag_without_an_experience_is_200_not_set_up_yet_verified_and_recorded() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"experience_id": null}))
        .await;
    let tap = service.tap(&inlay.url(&tag)).await;
    assert_page(&tap, 200);
    assert!(tap.answer.body.contains("not set up yet"));
    assert_recorded_without_key(&service, &tag).await;
}

#[tokio::test]
async fn an_experience_that_was_never_published_is_none() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let draft = service
        .experience(json!({
            "name": "Draft", "kind": "redirect", "target_url": "https://owner.example/", "draft": true
        }))
        .await;
    service
        .admin_patch(&tag.admin_path(), json!({"experience_id": draft}))
        .await;
    assert_page(&service.tap(&inlay.url(&tag)).await, 200);
    assert_recorded_without_key(&service, &tag).await;
}

#[tokio::test]
async fn an_archived_tag_is_410_verified_and_recorded() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"status": "archived"}))
        .await;
    assert_page(&service.tap(&inlay.url(&tag)).await, 410);
    assert_recorded_without_key(&service, &tag).await;
}

#[tokio::test]
async fn a_failed_verification_still_redirects_with_a_key_whose_payload_says_so() {
    let service = TestService::start().await;
    let (tag, _) = service.bottle().await;
    let tap = service.tap(&format!("{}?uid=0&token=0", tag.path())).await;
    assert_eq!(tap.status, 302);
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        json!(false)
    );
}

#[tokio::test]
async fn a_change_of_the_tag_is_seen_by_the_very_next_tap() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    assert_eq!(service.tap(&tag.path()).await.status, 302);
    for (patch, status) in [
        (json!({"status": "archived"}), 410),
        (json!({"status": "active"}), 302),
        (json!({"experience_id": null}), 200),
    ] {
        service.admin_patch(&tag.admin_path(), patch).await;
        assert_eq!(service.tap(&tag.path()).await.status, status);
    }
}

/// A plain page for people, that holds no key and may be kept by nobody.
#[track_caller]
fn assert_page(tap: &TapResult, status: u16) {
    assert_eq!(tap.status, status, "{}", tap.answer.body);
    let html = tap.answer.header("content-type");
    assert_eq!(html, Some("text/html; charset=utf-8"));
    assert_eq!(tap.answer.header("cache-control"), Some("no-store"));
    assert_eq!((&tap.location, &tap.cookie), (&None, &None));
}

async fn assert_recorded_without_key(service: &TestService, tag: &TestTag) {
    assert_eq!(service.scan_count(tag).await, 1);
    assert_eq!(service.taps("verified").await, 1);
}
