//! How often a one-time URL verifies, and the response to a reload.

use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TapResult, TestService, TestTag};

#[tokio::test]
async fn the_same_url_again_is_recorded_as_a_replay_with_a_key_of_its_own() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let (first, again) = (service.tap(&url).await, service.tap(&url).await);
    assert_ne!(first.rk, again.rk);
    assert_eq!(service.scan_count(&tag).await, 2);
    let (first, again) = (
        service.payload(first.key()).await,
        service.payload(again.key()).await,
    );
    assert_eq!(first["tag_verified"], json!(true));
    assert_eq!(again["tag_verified"], json!(false));
    assert_ne!(first["interaction_ids"], again["interaction_ids"]);
}

#[tokio::test]
async fn the_cookie_is_http_only_lax_for_this_path_and_300_seconds() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    let cookie = tap.answer.header("set-cookie").expect("one cookie");
    let mut attributes: Vec<_> = cookie.split("; ").skip(1).collect();
    attributes.sort_unstable();
    let path = format!("Path=/t/{}", tag.slug);
    assert_eq!(
        attributes,
        ["HttpOnly", "Max-Age=300", &path, "SameSite=Lax"]
    );
}

#[tokio::test]
async fn a_reload_with_the_cookie_repeats_the_answer_and_records_nothing_new() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let first = service.tap(&url).await;
    let cookie = first.cookie.clone().expect("a cookie");
    for _ in 0..3 {
        service.advance(60_000);
        let again = service.tap_with_cookie(&url, &cookie).await;
        assert_eq!(again.location, first.location);
        let payload = service.payload(again.key()).await;
        assert_eq!(payload["tag_verified"], json!(true));
    }
    assert_eq!(service.scan_count(&tag).await, 1);
}

#[tokio::test]
async fn a_repeated_answers_cookie_lives_only_as_long_as_its_key() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let cookie = service.tap(&url).await.cookie.expect("a cookie");
    service.advance(100_000);
    let again = service.tap_with_cookie(&url, &cookie).await;
    let cookie = again.answer.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("Max-Age=200;"), "{cookie}");
}

#[tokio::test]
async fn a_reload_after_the_keys_five_minutes_is_a_replay() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let cookie = service.tap(&url).await.cookie.expect("a cookie");
    service.advance(300_000);
    let again = service.tap_with_cookie(&url, &cookie).await;
    let payload = service.payload(again.key()).await;
    assert_eq!(payload["tag_verified"], json!(false));
    assert_eq!(service.taps("replayed").await, 1);
}

#[tokio::test]
async fn a_reload_after_a_restart_repeats_the_answer() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let first = service.tap(&url).await;
    let service = service.restart(1_000).await;
    let again = service
        .tap_with_cookie(&url, &first.cookie.expect("a cookie"))
        .await;
    assert_eq!(again.rk, first.rk);
}

#[tokio::test]
async fn the_cookie_repeats_no_other_url() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let first = service.tap(&inlay.url(&tag)).await;
    let cookie = first.cookie.clone().expect("a cookie");
    let next = service.tap_with_cookie(&inlay.url(&tag), &cookie).await;
    assert_ne!(next.rk, first.rk);
    let payload = service.payload(next.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
    assert_eq!(service.scan_count(&tag).await, 2);
}

#[tokio::test]
async fn the_cookie_of_one_tag_repeats_nothing_at_another() {
    let service = TestService::start().await;
    let (tag, _) = service.bottle().await;
    let (other, _) = service.bottle().await;
    let cookie = service.tap(&tag.path()).await.cookie.expect("a cookie");
    let elsewhere = service.tap_with_cookie(&other.path(), &cookie).await;
    assert_eq!(elsewhere.status, 302);
    assert_eq!(service.scan_count(&other).await, 1);
}

#[tokio::test]
async fn a_made_up_cookie_repeats_nothing() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    service.tap(&url).await;
    for value in ["", "x", &"A".repeat(44), &"z".repeat(4_000)] {
        let cookie = format!("tapdesk_tap={value}");
        let tap = service.tap_with_cookie(&url, &cookie).await;
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], json!(false), "{value}");
    }
}

#[tokio::test]
async fn a_reload_shows_the_version_of_the_experience_that_the_tap_showed() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/before").await;
    let tag = service
        .redirecting_tag(json!({"experience_id": experience}))
        .await;
    let first = service.tap(&tag.path()).await;
    let path = format!("/experiences/{experience}");
    service
        .admin_patch(&path, json!({"target_url": "https://owner.example/after"}))
        .await;
    let published = service
        .admin(reqwest::Method::POST, &format!("{path}/publish"), json!({}))
        .await;
    assert!(published.status < 300, "{}", published.body);
    let again = service
        .tap_with_cookie(&tag.path(), &first.cookie.expect("a cookie"))
        .await;
    assert_eq!(again.location, first.location);
    let next = service.tap(&tag.path()).await;
    assert!(
        next.location
            .is_some_and(|url| url.starts_with("https://owner.example/after"))
    );
}

#[tokio::test]
async fn the_cookie_is_secure_under_an_https_tag_url() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    for (tag_url, secure) in [
        ("https://tags.example/t", true),
        ("HTTPS://tags.example/t", true),
        ("http://tags.example/t", false),
    ] {
        let mut settings = (*service.service().settings()).clone();
        settings.tag_url = tag_url.to_owned();
        service.service().set_settings(settings);
        let tap = service.tap(&tag.path()).await;
        let cookie = tap.answer.header("set-cookie").expect("one cookie");
        assert_eq!(
            cookie.split("; ").any(|attribute| attribute == "Secure"),
            secure,
            "{tag_url}"
        );
    }
}

/// A tag with a static URL whose key is consumed: the tap, and its cookie.
async fn used(service: &TestService) -> (TestTag, TapResult, String) {
    let tag = service.redirecting_tag(Value::Null).await;
    let first = service.tap(&tag.path()).await;
    let update = service.update(first.key(), json!({"registered": "true"}));
    update.await.expect(200);
    let cookie = first.cookie.clone().expect("a cookie");
    (tag, first, cookie)
}

#[tokio::test]
async fn once_its_key_is_consumed_a_new_scan_of_a_static_url_is_a_new_interaction() {
    let service = TestService::start().await;
    let (tag, first, cookie) = used(&service).await;
    let second = service.tap_with_cookie(&tag.path(), &cookie).await;
    assert_ne!(second.rk, first.rk);
    assert_eq!(service.scan_count(&tag).await, 2);
    let update = service.update(second.key(), json!({"registered": "again"}));
    update.await.expect(200);
    // The cookie belongs to the second tap, so a reload repeats that.
    let cookie = second.cookie.clone().expect("a cookie");
    let reload = service.get(&tag.path()).header("cookie", cookie);
    let reload = reload.header("cache-control", "max-age=0").answer().await;
    assert_eq!(TapResult::of(reload).rk, second.rk);
    assert_eq!(service.scan_count(&tag).await, 2);
}

#[tokio::test]
async fn a_reload_of_a_static_url_repeats_its_answer_though_its_key_is_consumed() {
    let service = TestService::start().await;
    let (tag, first, cookie) = used(&service).await;
    for (name, value) in [
        ("cache-control", "max-age=0"),
        ("cache-control", "no-cache"),
        ("cache-control", "no-transform, Max-Age=0"),
        ("pragma", "no-cache"),
    ] {
        let reload = service.get(&tag.path()).header("cookie", &cookie);
        let reload = TapResult::of(reload.header(name, value).answer().await);
        assert_eq!(reload.rk, first.rk, "{name}: {value}");
    }
    assert_eq!(service.scan_count(&tag).await, 1);
}

#[tokio::test]
async fn a_pages_own_address_repeats_its_answer_and_is_a_tap_without_the_cookie() {
    let service = TestService::start().await;
    let (tag, first, cookie) = used(&service).await;
    let marked = format!("{}?again", tag.path());
    let back = service.tap_with_cookie(&marked, &cookie).await;
    assert_eq!(back.rk, first.rk);
    assert_eq!(service.scan_count(&tag).await, 1);
    let shared = service.tap(&marked).await;
    assert_ne!(shared.rk, first.rk);
    assert_eq!(service.scan_count(&tag).await, 2);
}

#[tokio::test]
async fn until_its_key_is_consumed_a_new_scan_of_a_static_url_repeats_the_answer() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let first = service.tap(&tag.path()).await;
    let cookie = first.cookie.clone().expect("a cookie");
    let second = service.tap_with_cookie(&tag.path(), &cookie).await;
    assert_eq!(second.rk, first.rk);
    assert_eq!(service.scan_count(&tag).await, 1);
}

#[tokio::test]
async fn a_one_time_url_repeats_its_answer_though_its_key_is_consumed() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let first = service.tap(&url).await;
    let update = service.update(first.key(), json!({"registered": "true"}));
    update.await.expect(200);
    let cookie = first.cookie.clone().expect("a cookie");
    let again = service.tap_with_cookie(&url, &cookie).await;
    assert_eq!(again.rk, first.rk);
    assert_eq!(service.scan_count(&tag).await, 1);
}
