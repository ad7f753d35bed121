//! The configuration of endpoints.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Receiver, TestService, files_containing};

use super::{post, start, webhook};

#[tokio::test]
async fn an_endpoint_is_created_listed_changed_and_deleted() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (id, secret) = webhook(&service, &receiver, Value::Null).await;
    let path = format!("/webhooks/{id}");
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["enabled"], true);
    assert_eq!(shown["filter"], json!({"world": "live"}));
    assert!(shown.get("secret").is_none());
    assert_eq!(
        service.admin_get("/webhooks").await["items"],
        json!([shown])
    );
    let changed = service
        .admin_patch(&path, json!({"enabled": false, "events": ["tag.updated"]}))
        .await;
    assert_eq!(
        (&changed["enabled"], &changed["events"]),
        (&json!(false), &json!(["tag.updated"]))
    );
    assert_eq!(changed["disabled"], Value::Null);
    assert!(
        files_containing(
            service.folder(),
            secret.trim_start_matches("whsec_").as_bytes()
        )
        .is_empty()
    );
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    service
        .admin(Method::GET, &path, Value::Null)
        .await
        .expect(404);
}

#[tokio::test]
async fn what_an_endpoint_cannot_be_is_refused_with_its_field() {
    let service = TestService::start().await;
    let good = "https://example.com/hook";
    for (fields, field) in [
        (
            json!({"url": "http://127.0.0.1/", "events": ["tap.verified"]}),
            "url",
        ),
        (
            json!({"url": "http://2130706433/", "events": ["tap.verified"]}),
            "url",
        ),
        (
            json!({"url": "http://[::ffff:10.0.0.1]/", "events": ["tap.verified"]}),
            "url",
        ),
        (
            json!({"url": "https://user:word@example.com/", "events": ["tap.verified"]}),
            "url",
        ),
        (
            json!({"url": "ftp://example.com/", "events": ["tap.verified"]}),
            "url",
        ),
        (json!({"url": good, "events": []}), "events"),
        (json!({"url": good, "events": ["webhook.test"]}), "events"),
        (json!({"url": good, "events": ["tap.other"]}), "events[0]"),
        (
            json!({"url": good, "events": ["tap.verified"], "filter": []}),
            "filter",
        ),
        (
            json!({"url": good, "events": ["tap.verified"], "include": ["keys"]}),
            "include[0]",
        ),
        (
            json!({"url": good, "events": ["tap.verified"], "secret": "mine"}),
            "secret",
        ),
    ] {
        let refused = post(&service, "/webhooks", fields.clone())
            .await
            .expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{fields}");
    }
    let many: serde_json::Map<String, Value> =
        (0..11).map(|i| (i.to_string(), json!(""))).collect();
    let fields = json!({"url": good, "events": ["tap.verified"], "filter": {"attribute": many}});
    post(&service, "/webhooks", fields).await.expect(422);
}

#[tokio::test]
async fn requests_have_two_signatures_while_a_secret_is_rotated() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (id, before) = webhook(&service, &receiver, Value::Null).await;
    let path = format!("/webhooks/{id}/secrets");
    let rotated = post(&service, &path, json!({"keep_seconds": 60}))
        .await
        .expect(201);
    let after = rotated["secret"].as_str().expect("a secret").to_owned();
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    let requests = receiver.wait_for(1).await;
    requests[0].verify(&before);
    requests[0].verify(&after);
    service.advance(60_000);
    let tested = post(&service, &format!("/webhooks/{id}/test"), Value::Null)
        .await
        .expect(200);
    assert_eq!(
        (&tested["delivered"], &tested["status"]),
        (&json!(true), &json!(204))
    );
    let requests = receiver.wait_for(2).await;
    assert_eq!(
        requests[1].header("webhook-signature").split(' ').count(),
        1
    );
    requests[1].verify(&after);
    post(&service, &path, json!({"keep_seconds": 604_801}))
        .await
        .expect(422);
}
