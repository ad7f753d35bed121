//! The largest possible number of endpoints.

use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::webhook::{ENDPOINTS_MAX, WebhookFields};
use tapdesk_tests::{Receiver, TestService};

use super::post;

/// Number of endpoints with a filter that the others do not have.
const WANTING: usize = 100;

/// Stores endpoints without the API, because ten thousand requests would take most of the test.
async fn endpoints(service: &TestService, many: usize, filter: Value) {
    let url = "http://127.0.0.1:1/nobody";
    let fields = json!({"url": url, "events": ["tap.not_checked"], "filter": filter});
    let fields: WebhookFields = serde_json::from_value(fields).expect("fields");
    let storage = &service.service().storage;
    stream::iter(0..many)
        .for_each_concurrent(32, async |_| {
            let stored = storage.insert_webhook(fields.clone(), vec![0; 64]).await;
            stored.expect("stored");
        })
        .await;
}

#[tokio::test]
async fn there_are_ten_thousand_endpoints_at_the_most_and_taps_go_on() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let most = usize::try_from(ENDPOINTS_MAX).expect("a number");
    let others = json!({"attribute": {"sku": "another"}});
    endpoints(&service, most - WANTING, others).await;
    for number in 0..WANTING {
        let url = format!("{}/{number}", receiver.url());
        let fields = json!({"url": url, "events": ["tap.not_checked"]});
        service.admin_create("/webhooks", fields).await;
    }
    let fields = json!({"url": receiver.url(), "events": ["tap.not_checked"]});
    let refused = post(&service, "/webhooks", fields.clone())
        .await
        .expect(409);
    assert_eq!(refused["code"], "too_many_webhooks");
    let detail = refused["detail"].as_str().expect("words");
    assert!(detail.contains("10000"), "{detail}");

    let tag = service.redirecting_tag(Value::Null).await;
    for _ in 0..3 {
        let tap = service.tap(&tag.path()).await;
        assert_eq!(tap.status, 302);
        assert!(tap.rk.is_some(), "it was recorded");
    }
    let arrived = receiver.wait_for(3 * WANTING).await;
    let mut paths: Vec<_> = arrived.iter().map(|one| one.path.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), WANTING, "each endpoint that wants it is told");
    // Deleting one makes room for another.
    let last = service.admin_get("/webhooks?limit=1").await["items"][0]["id"].clone();
    let path = format!("/webhooks/{last}");
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    post(&service, "/webhooks", fields).await.expect(201);
}
