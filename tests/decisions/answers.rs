//! Responses to a tap.

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::client::TapResult;
use tapdesk_tests::{Answering as _, TestService, TestTag};

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
async fn a_reload_of_not_set_up_yet_is_another_tap() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"experience_id": null}))
        .await;
    let url = inlay.url(&tag);
    for reason in ["verified", "replayed"] {
        let request = service.get(&url).header("cache-control", "max-age=0");
        let answer = request.answer().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.header("set-cookie").is_none(), "there is no key");
        let page = service.admin_get("/interactions?limit=1").await;
        assert_eq!(page["items"][0]["reason"], reason);
    }
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

/// A plain page for people that contains no key and must not be cached.
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

/// Values that a visitor may write: 4 KiB each, and three times as long in a URL.
fn long() -> String {
    "/".repeat(4096)
}

/// The text of a step in the newest interaction's trace.
async fn step(service: &TestService, name: &str) -> String {
    let id = service.last_interaction().await;
    let traced = service.admin_get(&format!("/interactions/{id}")).await;
    let steps = traced["steps"].as_array().expect("steps");
    let step = steps.iter().find(|step| step["name"] == name);
    let detail = step.expect("the step")["detail"].as_str();
    detail.expect("words").to_owned()
}

#[tokio::test]
async fn a_location_has_at_most_3584_bytes_whatever_a_visitor_writes() {
    let service = TestService::start().await;
    let target = "https://owner.example/{{tag:variable:a}}?b={{tag:variable:b || \"none\"}}&sku={{tag:attribute:sku}}#f";
    let variables = json!({"a": "", "b": "", "c": ""});
    let more = json!({"variables": variables, "attributes": {"sku": "A-1"}});
    let tag = service.tag_to(target, more).await;
    let tap = service.tap(&tag.path()).await;
    let update = service.update(tap.key(), json!({"a": long(), "b": long()}));
    update.await.expect(200);
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 302);
    let expected = format!("https://owner.example/?b=none&sku=A-1&rk={}#f", tap.key());
    assert_eq!(tap.location, Some(expected));
    let redirect = step(&service, "redirect").await;
    assert!(
        redirect.ends_with(
            "the URL is limited to 3584 bytes; left out: tag:variable:a, tag:variable:b"
        ),
        "{redirect}"
    );
    // A short value has room next to a long one, and a complete tap has no message.
    service
        .admin_patch(
            &tag.admin_path(),
            json!({"variables": {"a": "x", "b": long()}}),
        )
        .await;
    let tap = service.tap(&tag.path()).await;
    let location = tap.location.expect("a redirect");
    assert!(
        location.starts_with("https://owner.example/x?b=none&"),
        "{location}"
    );
    service
        .admin_patch(
            &tag.admin_path(),
            json!({"variables": {"a": "x", "b": "y"}}),
        )
        .await;
    service.tap(&tag.path()).await;
    assert!(!step(&service, "redirect").await.contains("left out"));
}

#[tokio::test]
async fn a_rule_is_held_to_the_same_room() {
    let service = TestService::start().await;
    let experience = service
        .experience(json!({
            "name": "Rules", "kind": "redirect", "target_url": "https://owner.example/",
            "rules": [{
                "when": [{"type": "verification", "any_of": ["not_checked"]}],
                "target_url": "https://owner.example/rule?a={{tag:variable:a}}",
            }],
        }))
        .await;
    let more = json!({"experience_id": experience, "variables": {"a": long()}});
    let tag = service.redirecting_tag(more).await;
    let tap = service.tap(&tag.path()).await;
    let expected = format!("https://owner.example/rule?a=&rk={}", tap.key());
    assert_eq!(tap.location, Some(expected));
    let redirect = step(&service, "redirect").await;
    assert!(redirect.ends_with("left out: tag:variable:a"), "{redirect}");
}

#[tokio::test]
async fn a_target_too_long_for_a_redirect_is_refused_when_it_is_saved() {
    let service = TestService::start().await;
    let target = format!("https://owner.example/{}", "ü".repeat(700));
    let body = json!({"name": "Long", "kind": "redirect", "target_url": target});
    let refused = service
        .admin(reqwest::Method::POST, "/experiences", body)
        .await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body.contains("at most 3584 bytes"),
        "{}",
        refused.body
    );
}

#[tokio::test]
async fn a_target_that_is_a_macro_without_a_url_is_not_set_up_and_issues_no_key() {
    let service = TestService::start().await;
    for value in ["", "not a URL", "javascript:alert(1)"] {
        let more = json!({"attributes": {"url": value}});
        let tag = service.tag_to("{{tag:attribute:url}}", more).await;
        let mut inlay = service
            .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
            .await;
        let tap = service.tap(&inlay.url(&tag)).await;
        assert_page(&tap, 200);
        assert!(tap.answer.body.contains("not set up yet"));
        assert_eq!(service.scan_count(&tag).await, 1);
        let id = service.last_interaction().await;
        let traced = service.admin_get(&format!("/interactions/{id}")).await;
        assert_eq!(traced["tag_verified"], json!(true));
        assert_eq!(traced["key_issued"], json!(false));
        let why = "the target URL is tag:attribute:url, which is not a URL for this tag";
        assert_eq!(step(&service, "redirect").await, why);
        // Once it has a URL, the very next tap leads there.
        service
            .admin_patch(
                &tag.admin_path(),
                json!({"attributes": {"url": "https://owner.example/x"}}),
            )
            .await;
        let tap = service.tap(&inlay.url(&tag)).await;
        let expected = format!("https://owner.example/x?rk={}", tap.key());
        assert_eq!(tap.location, Some(expected));
    }
}

#[tokio::test]
async fn a_rule_whose_target_gives_no_url_is_passed_over() {
    let service = TestService::start().await;
    let rule =
        |to: &str| json!({"when": [{"type": "scan_count", "at_least": 1}], "target_url": to});
    for (target, attributes, leads) in [
        (
            "https://owner.example/default",
            json!({}),
            Some("https://owner.example/second"),
        ),
        (
            "https://owner.example/default",
            json!({"url": "https://owner.example/first"}),
            Some("https://owner.example/first"),
        ),
        // The default decides whether the tag counts as configured.
        (
            "{{tag:attribute:none}}",
            json!({"url": "https://owner.example/first"}),
            None,
        ),
    ] {
        let experience = service
            .experience(json!({
                "name": "Rules", "kind": "redirect", "target_url": target,
                "rules": [rule("{{tag:attribute:url}}"), rule("https://owner.example/second")],
            }))
            .await;
        let more = json!({"experience_id": experience, "attributes": attributes});
        let tag = service.redirecting_tag(more).await;
        let tap = service.tap(&tag.path()).await;
        match leads {
            Some(leads) => {
                let expected = format!("{leads}?rk={}", tap.key());
                assert_eq!(tap.location, Some(expected));
            }
            None => assert_page(&tap, 200),
        }
    }
}

#[tokio::test]
async fn allow_names_the_methods_that_the_tag_takes() {
    let service = TestService::start().await;
    let redirect = service.redirecting_tag(Value::Null).await;
    let page = service
        .experience(json!({"name": "Page", "kind": "studio", "blocks": []}))
        .await;
    let page = service
        .redirecting_tag(json!({"experience_id": page}))
        .await;
    for (tag, allowed) in [(redirect, "GET, HEAD"), (page, "GET, HEAD, POST")] {
        for method in ["PUT", "DELETE", "OPTIONS"] {
            let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
            let answer = service.request(method, &tag.path()).answer().await;
            assert_eq!(answer.status, 405);
            assert_eq!(answer.header("allow"), Some(allowed));
        }
        // If forms are accepted, a body of another type has the wrong type.
        let answer = service.post(&tag.path()).json(&json!({})).answer().await;
        let (status, allow) = match allowed {
            "GET, HEAD" => (405, Some(allowed)),
            _ => (415, None),
        };
        assert_eq!((answer.status, answer.header("allow")), (status, allow));
        assert_eq!(service.scan_count(&tag).await, 0);
    }
}
