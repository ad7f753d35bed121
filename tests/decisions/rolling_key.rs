//! The rolling key: its form, its lifetime, and the requests that consume it.

use std::collections::HashSet;

use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answer, Answering as _, TestService, TestTag};

async fn tag(service: &TestService) -> TestTag {
    service.redirecting_tag(Value::Null).await
}

fn registered() -> Value {
    json!({"registered": "true"})
}

#[tokio::test]
async fn a_key_has_44_characters_of_a_to_z_in_both_cases_and_0_to_9() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut keys = HashSet::new();
    for _ in 0..50 {
        let rk = service.tap(&tag.path()).await.key().to_owned();
        assert_eq!(rk.len(), 44);
        assert!(rk.bytes().all(|b| b.is_ascii_alphanumeric()), "{rk}");
        assert!(!base64(&rk).contains(['+', '/']));
        keys.insert(rk);
    }
    assert_eq!(keys.len(), 50);
}

#[tokio::test]
async fn base64_is_accepted_in_both_alphabets_with_and_without_padding() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let encoded = base64(service.tap(&tag.path()).await.key());
    // The Base64 of a rolling key has no character in which the two alphabets differ.
    let bare = encoded.trim_end_matches('=');
    for text in [encoded.as_str(), bare] {
        assert!(service.payload_answer(text).await.json().is_object());
        let record = json!({"rolling_key": text, "data": {"unknown": "x"}});
        // The variable is refused, which shows that the key itself was accepted.
        assert_eq!(service.update_record(&record).await.status, 400);
    }
    let record = json!({"rolling_key": bare, "data": registered()});
    service.update_record(&record).await.expect(200);
}

#[tokio::test]
async fn a_raw_key_is_not_accepted() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(service.payload_answer(tap.key()).await.json(), json!([]));
    let record = json!({"rolling_key": tap.key(), "data": registered()});
    assert_eq!(service.update_record(&record).await.status, 400);
}

#[tokio::test]
async fn a_key_is_valid_at_299_999_seconds_and_expired_at_300() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    service.advance(299_999);
    assert!(service.payload(tap.key()).await.is_object());
    service.advance(1);
    assert_eq!(service.payload(tap.key()).await, json!([]));
    let update = service.update(tap.key(), registered()).await;
    assert_eq!(update.status, 400);
}

#[tokio::test]
async fn a_key_outlives_a_restart() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    let service = service.restart(1_000).await;
    assert!(service.payload(tap.key()).await.is_object());
    service.update(tap.key(), registered()).await.expect(200);
}

#[tokio::test]
async fn after_a_start_with_an_earlier_wall_clock_older_keys_count_as_expired_for_good() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let old = service.tap(&tag.path()).await;
    let service = service.restart(-1).await;
    for _ in 0..2 {
        assert_eq!(service.payload(old.key()).await, json!([]));
        let update = service.update(old.key(), registered()).await;
        assert_eq!(update.status, 400);
        service.advance(1_000);
    }
}

#[tokio::test]
async fn after_a_start_with_an_earlier_wall_clock_the_service_goes_on() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let service = service.restart(-86_400_000).await;
    let tap = service.tap(&inlay.url(&tag)).await;
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
    service.update(tap.key(), registered()).await.expect(200);
}

#[tokio::test]
async fn payload_retrieval_never_consumes_a_key() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    for _ in 0..5 {
        assert!(service.payload(tap.key()).await.is_object());
    }
    service.update(tap.key(), registered()).await.expect(200);
}

#[tokio::test]
async fn a_consumed_key_still_reads_the_payload_until_it_expires() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    service.update(tap.key(), registered()).await.expect(200);
    service.advance(299_999);
    assert!(service.payload(tap.key()).await.is_object());
    service.advance(1);
    assert_eq!(service.payload(tap.key()).await, json!([]));
}

#[tokio::test]
async fn a_refused_update_does_not_consume_the_key() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    for data in [
        json!({"unknown": "x"}),
        json!({"registered": "x", "unknown": "x"}),
        json!({"registered": 7}),
        json!({"registered": "x".repeat(4_097)}),
        json!({}),
    ] {
        let refused = service.update(tap.key(), data).await;
        assert!((400..500).contains(&refused.status));
    }
    let variable = service.variable(&tag, "registered").await;
    assert_eq!(variable.as_deref(), Some("false"));
    service.update(tap.key(), registered()).await.expect(200);
}

#[tokio::test]
async fn a_retry_of_an_update_that_succeeded_gets_the_400_body() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    service.update(tap.key(), registered()).await.expect(200);
    let retry = service.update(tap.key(), registered()).await;
    assert_eq!(retry.status, 400);
    assert_eq!(retry.json()["message"], "Invalid rolling key");
}

/// Sends an update with `Idempotency-Key` headers.
async fn update_as(service: &TestService, keys: &[&str], rk: &str, value: &str) -> Answer {
    let mut headers = HeaderMap::new();
    for key in keys {
        headers.append("idempotency-key", key.parse().expect("a header's value"));
    }
    let record = json!({"rolling_key": base64(rk), "data": {"registered": value}});
    let request = service.post("/v2/interactions/data").headers(headers);
    request.json(&record).answer().await
}

#[tokio::test]
async fn with_the_same_idempotency_key_the_same_key_and_body_the_stored_answer_comes_back() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    let first = update_as(&service, &["retry-1"], tap.key(), "true").await;
    assert_eq!(first.status, 200);
    service.advance(299_999);
    let again = update_as(&service, &["retry-1"], tap.key(), "true").await;
    assert_eq!((again.status, again.body), (200, first.body));
}

#[tokio::test]
async fn the_stored_answer_comes_back_after_a_restart() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    update_as(&service, &["retry-1"], tap.key(), "true").await;
    let service = service.restart(1_000).await;
    let again = update_as(&service, &["retry-1"], tap.key(), "true").await;
    assert_eq!(again.status, 200);
}

#[tokio::test]
async fn a_repeated_request_writes_nothing_twice() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let (first, second) = (
        service.tap(&tag.path()).await,
        service.tap(&tag.path()).await,
    );
    update_as(&service, &["retry-1"], first.key(), "first").await;
    service
        .update(second.key(), json!({"registered": "second"}))
        .await
        .expect(200);
    let again = update_as(&service, &["retry-1"], first.key(), "first").await;
    assert_eq!(again.status, 200);
    let variable = service.variable(&tag, "registered").await;
    assert_eq!(variable.as_deref(), Some("second"));
}

#[tokio::test]
async fn another_idempotency_key_another_body_or_none_gets_the_400_body() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    update_as(&service, &["retry-1"], tap.key(), "true").await;
    for (keys, value) in [
        (&["retry-2"][..], "true"),
        (&["retry-1"], "other"),
        (&[], "true"),
    ] {
        let answer = update_as(&service, keys, tap.key(), value).await;
        assert_eq!(answer.status, 400, "{keys:?} {value}");
        assert_eq!(answer.json()["message"], "Invalid rolling key");
    }
}

#[tokio::test]
async fn a_stored_answer_ends_with_the_keys_lifetime() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    update_as(&service, &["retry-1"], tap.key(), "true").await;
    service.advance(300_000);
    let again = update_as(&service, &["retry-1"], tap.key(), "true").await;
    assert_eq!(again.status, 400);
}

#[tokio::test]
async fn an_idempotency_key_that_is_empty_too_long_or_repeated_is_malformed() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let tap = service.tap(&tag.path()).await;
    let too_long = "k".repeat(256);
    for keys in [&[""][..], &[&too_long], &["retry-1", "retry-1"]] {
        let answer = update_as(&service, keys, tap.key(), "true").await;
        assert_eq!(answer.status, 400);
        assert_ne!(answer.json()["message"], "Invalid rolling key");
    }
    let longest = "k".repeat(255);
    let answer = update_as(&service, &[&longest], tap.key(), "true").await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn the_key_itself_is_in_no_file_of_the_service() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    let rk = tap.key().to_owned();
    service.payload(&rk).await;
    service.update(&rk, registered()).await.expect(200);
    let service = service.restart(1_000).await;
    for needle in [rk.as_str(), &base64(&rk), &rk[..33]] {
        let found = tapdesk_tests::files_containing(service.folder(), needle.as_bytes());
        assert_eq!(found, Vec::<std::path::PathBuf>::new());
    }
}
