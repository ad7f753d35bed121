//! `/admin/v1/demo`: demonstration data, created and removed in one call.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

async fn demo(service: &TestService, method: Method) -> Value {
    service
        .admin(method, "/demo", Value::Null)
        .await
        .expect(200)
}

/// Slugs of all simulated tags.
async fn slugs(service: &TestService) -> Vec<String> {
    let tags = service.admin_get("/tags?simulated=true").await;
    let items = tags["items"].as_array().unwrap().iter();
    items
        .map(|tag| tag["slug"].as_str().unwrap().to_owned())
        .collect()
}

async fn count(service: &TestService, path: &str) -> usize {
    let list = service.admin_get(path).await;
    list["items"].as_array().unwrap().len()
}

const SLUGS: [&str; 3] = ["demo-bottle", "demo-jacket", "demo-poster"];

#[tokio::test]
async fn demo_data_is_made_once_and_removed_in_one_go() {
    let service = TestService::start().await;
    for _ in 0..2 {
        let made = demo(&service, Method::POST).await;
        assert_eq!(made["made"], true);
        let shown = made["tags"].as_array().unwrap().iter();
        let shown: Vec<_> = shown.map(|tag| tag["slug"].as_str().unwrap()).collect();
        assert_eq!(shown, SLUGS);
        assert_eq!(slugs(&service).await, SLUGS);
        assert_eq!(count(&service, "/simulator/inlays").await, 2);
        assert_eq!(count(&service, "/tags").await, 0, "none of it is real");

        let again = demo(&service, Method::POST).await;
        assert_eq!(again, json!({"made": false, "tags": made["tags"]}));
        assert_eq!(slugs(&service).await, SLUGS);

        let removed = demo(&service, Method::DELETE).await;
        assert_eq!(removed, json!({"tags": 3}));
        for path in ["/tags?simulated=all", "/simulator/inlays", "/experiences"] {
            assert_eq!(count(&service, path).await, 0, "{path}");
        }
        let removed = demo(&service, Method::DELETE).await;
        assert_eq!(removed, json!({"tags": 0}));
    }
}

#[tokio::test]
async fn two_at_once_make_it_once() {
    let service = TestService::start().await;
    let (one, other) = tokio::join!(demo(&service, Method::POST), demo(&service, Method::POST));
    assert_ne!(one["made"], other["made"]);
    assert_eq!(count(&service, "/experiences").await, 1);
    assert_eq!(count(&service, "/simulator/inlays").await, 2);
}

#[tokio::test]
async fn what_is_missing_of_it_is_made_again() {
    let service = TestService::start().await;
    let made = demo(&service, Method::POST).await;
    let bottle = format!("/tags/{}", made["tags"][0]["id"]);
    let inlays = service.admin_get("/simulator/inlays").await;
    let jacket = format!("/simulator/inlays/{}", inlays["items"][1]["id"]);
    for path in [bottle.as_str(), &jacket] {
        service
            .admin(Method::DELETE, path, Value::Null)
            .await
            .expect(204);
    }
    let again = demo(&service, Method::POST).await;
    assert_eq!(again, json!({"made": true, "tags": made["tags"]}));
    assert_eq!(slugs(&service).await, SLUGS);
    assert_eq!(count(&service, "/simulator/inlays").await, 2);
    assert_eq!(count(&service, "/experiences").await, 1);
}

#[tokio::test]
async fn what_is_the_owners_is_neither_taken_nor_removed() {
    let service = TestService::start().await;
    let own = service
        .tag(json!({"slug": "demo-poster", "name": "Poster"}))
        .await;
    let refused = service.admin(Method::POST, "/demo", Value::Null).await;
    let refused = refused.expect(409);
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("demo-poster"), "{detail}");

    // By now a real tag leads to the experience of the demonstration.
    let experiences = service.admin_get("/experiences").await;
    let experience = &experiences["items"][0]["id"];
    let path = format!("/tags/{}", own.id);
    let leads = json!({"experience_id": experience});
    service.admin(Method::PATCH, &path, leads).await.expect(200);

    let removed = demo(&service, Method::DELETE).await;
    assert_eq!(removed, json!({"tags": 2}));
    assert_eq!(count(&service, "/experiences").await, 1);
    let own = service.admin_get(&path).await;
    assert_eq!(own["slug"], "demo-poster");
    assert_eq!(&own["experience_id"], experience);
}
