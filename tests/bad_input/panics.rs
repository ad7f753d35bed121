//! A panicking handler: its client gets a response, and other clients notice nothing. The panic
//! comes from the test's own clock and source of randomness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::clock::{Clock, SystemClock, Timestamp};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::storage::StorageError;
use tapdesk_tests::{Answering as _, TestService, eventually};

/// A clock and a source of randomness that can be made to panic.
#[derive(Debug, Default)]
struct Hostile(AtomicBool);

impl Hostile {
    fn set(&self, hostile: bool) {
        self.0.store(hostile, Ordering::SeqCst);
    }

    fn act(&self) {
        assert!(!self.0.load(Ordering::SeqCst), "a test's own panic");
    }
}

impl Clock for Hostile {
    fn now(&self) -> Timestamp {
        self.act();
        SystemClock::start().now()
    }
}

impl Entropy for Hostile {
    fn fill(&self, buffer: &mut [u8]) {
        self.act();
        OsEntropy.fill(buffer);
    }
}

#[tokio::test]
async fn a_handler_that_panics_answers_500_in_the_envelope_of_its_part() {
    let hostile = Arc::new(Hostile::default());
    let service = TestService::start_with(|options| {
        options.clock = Some(Arc::clone(&hostile) as _);
        options.entropy = Arc::clone(&hostile) as _;
    })
    .await;
    let tag = service.redirecting_tag(Value::Null).await;
    hostile.set(true);

    let admin = service
        .admin(
            Method::POST,
            "/tokens",
            json!({"name": "script", "scopes": ["admin"]}),
        )
        .await;
    assert_eq!(admin.status, 500, "{}", admin.body);
    assert_eq!(
        admin.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(admin.json()["status"], 500);
    let public = service
        .get("/v2/interactions/rk_payload?rk=bm90LWEta2V5")
        .answer()
        .await;
    assert_eq!(public.status, 500, "{}", public.body);
    assert_eq!(public.json()["error"], true);
    assert_eq!(public.header("access-control-allow-origin"), Some("*"));
    let page = service.tap(&tag.path()).await;
    assert_eq!(page.status, 500);
    let kind = page.answer.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("text/html"), "{kind}");
    assert!(!page.answer.body.contains("a test's own panic"));

    hostile.set(false);
    assert_eq!(service.tap(&tag.path()).await.status, 302);
    let metrics = service.get("/metrics").bearer_auth(service.admin_token());
    let metrics = metrics.answer().await;
    assert!(
        metrics.body.contains("tapdesk_request_panics_total 3"),
        "{}",
        metrics.body
    );
}

#[tokio::test]
async fn an_operation_that_panics_in_storage_is_counted() {
    let service = TestService::start().await;
    let edit = service
        .service()
        .storage
        .edit_settings(Box::new(|_| panic!("a test's own panic")));
    let panicked = edit.await.unwrap_err();
    assert!(matches!(panicked, StorageError::Panicked), "{panicked}");
    service.tag(json!({"name": "After it"})).await;
    let ready = eventually("the service is ready", async || {
        let ready = service.get("/ready").answer().await;
        (ready.status == 200).then_some(ready)
    })
    .await;
    assert_eq!(ready.json()["status"], "ready");
    let metrics = service.get("/metrics").bearer_auth(service.admin_token());
    let metrics = metrics.answer().await;
    assert!(
        metrics.body.contains("tapdesk_storage_panics_total 1"),
        "{}",
        metrics.body
    );
}
