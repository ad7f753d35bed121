//! Tag variable update: cases that the specification leaves open.

use reqwest::Method;
use serde_json::{Map, Value, json};
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answer, Answering as _, TestService, TestTag};

const INVALID_KEY: &str = "Invalid rolling key";
const INVALID_BODY: &str = r#"{"error": true, "message": "Invalid rolling key"}"#;

/// A service, a tag of it, and a fresh rolling key.
async fn tapped(variables: Value) -> (TestService, TestTag, String) {
    let service = TestService::start().await;
    let tag = service
        .redirecting_tag(json!({"variables": variables}))
        .await;
    let rk = service.tap(&tag.path()).await.key().to_owned();
    (service, tag, rk)
}

/// Sends a body unchanged.
async fn send(service: &TestService, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    service
        .post("/v2/interactions/data")
        .header("content-type", content_type)
        .body(body.into())
        .answer()
        .await
}

/// Asserts a refusal in the envelope, with its own message.
#[track_caller]
fn assert_malformed(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    let body = answer.json();
    assert_eq!(body["error"], json!(true));
    let message = body["message"].as_str().expect("a message");
    assert!(!message.is_empty() && message != INVALID_KEY, "{message}");
}

#[tokio::test]
async fn all_keys_of_one_request_are_updated_or_none() {
    let (service, tag, rk) = tapped(json!({"a": "0", "b": "0"})).await;
    let refused = service
        .update(&rk, json!({"a": "1", "b": "1", "unknown": "1"}))
        .await;
    assert_eq!(refused.json()["message"], INVALID_KEY);
    assert_eq!(service.variable(&tag, "a").await.as_deref(), Some("0"));
    service
        .update(&rk, json!({"a": "1", "b": "1"}))
        .await
        .expect(200);
    assert_eq!(service.variable(&tag, "b").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_key_may_be_sent_in_its_full_form() {
    let (service, tag, rk) = tapped(json!({"registered": "false"})).await;
    service
        .update(&rk, json!({"tag:variable:registered": "true"}))
        .await
        .expect(200);
    let value = service.variable(&tag, "registered").await;
    assert_eq!(value.as_deref(), Some("true"));
}

#[tokio::test]
async fn the_same_variable_named_twice_is_malformed() {
    let (service, _, rk) = tapped(json!({"registered": "false"})).await;
    for data in [
        r#"{"registered": "1", "registered": "2"}"#,
        r#"{"registered": "1", "tag:variable:registered": "2"}"#,
        r#"{"registered": "1", "registere\u0064": "1"}"#,
    ] {
        let body = format!(r#"{{"rolling_key": "{}", "data": {data}}}"#, base64(&rk));
        assert_malformed(&send(&service, "application/json", body).await, 400);
    }
}

#[tokio::test]
async fn variable_keys_are_case_sensitive() {
    let (service, tag, rk) = tapped(json!({"registered": "false"})).await;
    let refused = service.update(&rk, json!({"Registered": "true"})).await;
    assert_eq!(refused.json()["message"], INVALID_KEY);
    let value = service.variable(&tag, "registered").await;
    assert_eq!(value.as_deref(), Some("false"));
}

#[tokio::test]
async fn a_key_that_no_variable_can_have_is_an_unknown_variable() {
    let (service, _, rk) = tapped(json!({"registered": "false"})).await;
    let too_long = "k".repeat(65);
    for key in ["", "with space", "ümlaut", "a/b", "tag:data:x", &too_long] {
        let refused = service.update(&rk, json!({key: "x"})).await;
        assert_eq!(refused.status, 400);
        assert_eq!(refused.json()["message"], INVALID_KEY, "{key}");
    }
}

#[tokio::test]
async fn every_character_of_a_variable_key_works() {
    let key = "AZaz09_.-";
    let longest = "k".repeat(64);
    let (service, tag, rk) = tapped(json!({key: "", longest.as_str(): ""})).await;
    let data = json!({key: "1", longest.as_str(): "1"});
    service.update(&rk, data).await.expect(200);
    let shown = service.admin_get(&tag.admin_path()).await;
    assert_eq!(shown["variables"], json!({key: "1", longest.as_str(): "1"}));
}

#[tokio::test]
async fn values_are_any_unicode_text() {
    let (service, tag, rk) = tapped(json!({"text": ""})).await;
    let text = "line one\r\nline two\ttab \u{1F377} \u{202E}rtl \u{FEFF} \u{FFFF} \u{1} \"quoted\" \\ é e\u{301}";
    service.update(&rk, json!({"text": text})).await.expect(200);
    assert_eq!(service.variable(&tag, "text").await.as_deref(), Some(text));
}

#[tokio::test]
async fn an_empty_value_is_a_value() {
    let (service, tag, rk) = tapped(json!({"text": "something"})).await;
    service.update(&rk, json!({"text": ""})).await.expect(200);
    assert_eq!(service.variable(&tag, "text").await.as_deref(), Some(""));
}

#[tokio::test]
async fn nul_and_lone_surrogates_are_malformed() {
    let (service, tag, rk) = tapped(json!({"text": "before"})).await;
    for value in [r"\u0000", r"a\u0000b", r"\ud83c", r"\udf77\ud83c"] {
        let body = format!(
            r#"{{"rolling_key": "{}", "data": {{"text": "{value}"}}}}"#,
            base64(&rk)
        );
        assert_malformed(&send(&service, "application/json", body).await, 400);
    }
    assert_eq!(
        service.variable(&tag, "text").await.as_deref(),
        Some("before")
    );
    service
        .update(&rk, json!({"text": "after"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn any_other_json_type_an_empty_data_or_a_missing_member_is_malformed_and_consumes_nothing() {
    let (service, _, rk) = tapped(json!({"text": ""})).await;
    let rolling_key = base64(&rk);
    for record in [
        json!({"rolling_key": rolling_key, "data": {}}),
        json!({"rolling_key": rolling_key, "data": {"text": 1}}),
        json!({"rolling_key": rolling_key, "data": {"text": null}}),
        json!({"rolling_key": rolling_key, "data": {"text": ["x"]}}),
        json!({"rolling_key": rolling_key, "data": {"text": {"x": "y"}}}),
        json!({"rolling_key": rolling_key, "data": "text"}),
        json!({"rolling_key": rolling_key}),
        json!({"data": {"text": "x"}}),
        json!({"rolling_key": 1, "data": {"text": "x"}}),
        json!([]),
        json!([rolling_key, {"text": "x"}]),
        json!("text"),
        json!(null),
    ] {
        assert_malformed(&service.update_record(&record).await, 400);
    }
    service.update(&rk, json!({"text": "x"})).await.expect(200);
}

#[tokio::test]
async fn a_body_that_is_not_json_is_malformed() {
    let (service, _, rk) = tapped(json!({"text": ""})).await;
    let good = format!(
        r#"{{"rolling_key": "{}", "data": {{"text": "x"}}}}"#,
        base64(&rk)
    );
    for body in [
        Vec::new(),
        b"rolling_key=x".to_vec(),
        good.as_bytes()[..good.len() - 1].to_vec(),
        format!("{good} trailing").into_bytes(),
        [b"\xFF\xFE", good.as_bytes()].concat(),
        good.replace("\"x\"", "\"\u{1}\"").into_bytes(),
        vec![b'['; 60_000],
    ] {
        assert_malformed(&send(&service, "application/json", body).await, 400);
    }
    assert_eq!(send(&service, "application/json", good).await.status, 200);
}

#[tokio::test]
async fn a_wrong_content_type_is_415() {
    let (service, _, rk) = tapped(json!({"text": ""})).await;
    let body = format!(
        r#"{{"rolling_key": "{}", "data": {{"text": "x"}}}}"#,
        base64(&rk)
    );
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "text/plain; application/json",
        "",
    ] {
        let answer = send(&service, content_type, body.clone()).await;
        assert_malformed(&answer, 415);
    }
    let none = service.post("/v2/interactions/data").body(body.clone());
    assert_malformed(&none.answer().await, 415);
    let answer = send(&service, "Application/JSON; charset=utf-8", body).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_body_over_64_kib_is_413() {
    let (service, _, rk) = tapped(json!({"text": ""})).await;
    let body = format!(
        r#"{{"rolling_key": "{}", "data": {{"text": "x"}}}}"#,
        base64(&rk)
    );
    let padded = |length: usize| body.clone() + &" ".repeat(length - body.len());
    assert_malformed(
        &send(&service, "application/json", padded(64 * 1024 + 1)).await,
        413,
    );
    let answer = send(&service, "application/json", padded(64 * 1024)).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn over_64_keys_is_413() {
    let variables = |count: usize| -> Map<String, Value> {
        (0..count)
            .map(|i| (format!("key{i}"), json!("x")))
            .collect()
    };
    let (service, tag, rk) = tapped(variables(65).into()).await;
    let too_many = service.update(&rk, variables(65).into()).await;
    assert_malformed(&too_many, 413);
    service.update(&rk, variables(64).into()).await.expect(200);
    assert_eq!(service.variable(&tag, "key63").await.as_deref(), Some("x"));
}

#[tokio::test]
async fn a_value_over_4_kib_is_413() {
    let (service, tag, rk) = tapped(json!({"text": ""})).await;
    // Bytes count, not characters.
    for value in ["x".repeat(4_097), "é".repeat(2_049)] {
        let answer = service.update(&rk, json!({"text": value})).await;
        assert_malformed(&answer, 413);
    }
    let longest = "é".repeat(2_048);
    service
        .update(&rk, json!({"text": longest}))
        .await
        .expect(200);
    assert_eq!(service.variable(&tag, "text").await, Some(longest));
}

#[tokio::test]
async fn a_tag_that_is_no_longer_assigned_gets_the_400_body() {
    let (service, tag, rk) = tapped(json!({"text": ""})).await;
    service
        .admin_patch(&tag.admin_path(), json!({"experience_id": null}))
        .await;
    let refused = service.update(&rk, json!({"text": "x"})).await;
    assert_eq!(
        (refused.status, refused.json()["message"].as_str()),
        (400, Some(INVALID_KEY))
    );
}

#[tokio::test]
async fn a_variable_that_was_deleted_after_the_tap_gets_the_400_body() {
    let (service, tag, rk) = tapped(json!({"text": ""})).await;
    service
        .admin_patch(&tag.admin_path(), json!({"variables": {"text": null}}))
        .await;
    let refused = service.update(&rk, json!({"text": "x"})).await;
    assert_eq!(
        (refused.status, refused.json()["message"].as_str()),
        (400, Some(INVALID_KEY))
    );
    assert_eq!(service.variable(&tag, "text").await, None);
}

#[tokio::test]
async fn a_variable_that_was_predefined_after_the_tap_can_be_updated() {
    let (service, tag, rk) = tapped(json!({})).await;
    service
        .admin_patch(&tag.admin_path(), json!({"variables": {"late": ""}}))
        .await;
    service.update(&rk, json!({"late": "x"})).await.expect(200);
}

#[tokio::test]
async fn a_key_from_a_failed_verification_may_update_unless_the_tag_requires_verified() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let forged = format!("{}?uid=1&token=2", tag.path());
    let tap = service.tap(&forged).await;
    service
        .update(tap.key(), json!({"registered": "1"}))
        .await
        .expect(200);
    service
        .admin_patch(&tag.admin_path(), json!({"updates_require_verified": true}))
        .await;
    let tap = service.tap(&forged).await;
    let refused = service.update(tap.key(), json!({"registered": "2"})).await;
    assert_eq!(
        (refused.status, refused.json()["message"].as_str()),
        (400, Some(INVALID_KEY))
    );
    let tap = service.tap(&inlay.url(&tag)).await;
    service
        .update(tap.key(), json!({"registered": "3"}))
        .await
        .expect(200);
    let value = service.variable(&tag, "registered").await;
    assert_eq!(value.as_deref(), Some("3"));
}

#[tokio::test]
async fn a_refused_update_names_its_reason_in_a_header_only() {
    let (service, tag, rk) = tapped(json!({"registered": "false"})).await;
    let refused = async |rk: &str, data: Value| {
        let answer = service.update(rk, data).await;
        assert_eq!((answer.status, &*answer.body), (400, INVALID_BODY));
        let exposed = answer.header("access-control-expose-headers");
        assert!(exposed.is_some_and(|exposed| exposed.contains("tapdesk-reason")));
        answer.header("tapdesk-reason").map(str::to_owned)
    };
    let unknown = Some("unknown_variable".to_owned());
    assert_eq!(refused(&rk, json!({"nobody": "1"})).await, unknown);
    assert_eq!(refused(&rk, json!({"no name": "1"})).await, unknown);
    let saved = service.update(&rk, json!({"registered": "true"})).await;
    assert_eq!((saved.status, saved.header("tapdesk-reason")), (200, None));
    let used = Some("used".to_owned());
    assert_eq!(refused(&rk, json!({"registered": "2"})).await, used);
    let expired = Some("expired".to_owned());
    let made_up = "k".repeat(44);
    assert_eq!(refused("x", json!({"registered": "2"})).await, expired);
    assert_eq!(refused(&made_up, json!({"registered": "2"})).await, expired);
    let late = service.tap(&tag.path()).await.key().to_owned();
    service.advance(300_000);
    assert_eq!(refused(&late, json!({"registered": "2"})).await, expired);
    let malformed = service.update(&rk, json!({})).await;
    assert_malformed(&malformed, 400);
    assert_eq!(malformed.header("tapdesk-reason"), None);
}

#[tokio::test]
async fn browsers_of_other_origins_may_call_both_operations() {
    let service = TestService::start().await;
    for path in ["/v2/interactions/data", "/v2/interactions/rk_payload"] {
        let preflight = service
            .request(Method::OPTIONS, path)
            .header("origin", "https://owner.example")
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "content-type,idempotency-key",
            );
        let preflight = preflight.answer().await;
        assert_eq!((preflight.status, preflight.body.as_str()), (204, ""));
        let header = |name| preflight.header(name).unwrap_or_default();
        assert_eq!(header("access-control-allow-origin"), "*");
        let allowed = header("access-control-allow-headers");
        assert!(allowed.contains("content-type") && allowed.contains("idempotency-key"));
        assert!(header("access-control-allow-methods").contains("POST"));
        assert_eq!(header("access-control-allow-credentials"), "");
    }
}

#[tokio::test]
async fn all_answers_are_no_store_and_readable_from_any_origin() {
    let (service, _, rk) = tapped(json!({"text": ""})).await;
    let answers = [
        service.update(&rk, json!({"unknown": "x"})).await,
        service.update(&rk, json!({"text": 1})).await,
        send(&service, "text/plain", "").await,
        send(&service, "application/json", vec![b' '; 70_000]).await,
        service.get("/v2/interactions/data").answer().await,
        service.get("/v2/nowhere").answer().await,
        service.update(&rk, json!({"text": "x"})).await,
    ];
    assert_eq!(
        answers.each_ref().map(|answer| answer.status),
        [400, 400, 415, 413, 405, 404, 200]
    );
    for answer in answers {
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
}
