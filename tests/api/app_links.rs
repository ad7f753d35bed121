//! `/.well-known/apple-app-site-association` and `/.well-known/assetlinks.json`.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

const APPLE: &str = "/.well-known/apple-app-site-association";
const ANDROID: &str = "/.well-known/assetlinks.json";

/// An app's file as `host` serves it.
async fn file(service: &TestService, path: &str, host: &str) -> Answer {
    let url = format!("{}{path}", service.base());
    service.get(&url).header("host", host).answer().await
}

async fn set(service: &TestService, links: Value) {
    let changes = json!({"app_links": links});
    service.admin_patch("/settings", changes).await;
}

/// The paths that iOS apps open at a host.
async fn paths(service: &TestService, host: &str) -> Vec<Value> {
    let file = file(service, APPLE, host).await.expect(200);
    let components = file["applinks"]["details"][0]["components"].clone();
    let components = components.as_array().expect("a list").iter();
    components.map(|component| component["/"].clone()).collect()
}

fn fingerprint() -> String {
    ["14"; 32].join(":")
}

#[tokio::test]
async fn apps_are_served_as_phones_read_them_at_their_host_and_at_no_other() {
    let service = TestService::start().await;
    assert_eq!(file(&service, APPLE, "tags.example").await.status, 404);
    let links = json!([
        {
            "host": "tags.example",
            "ios_app_ids": ["ABCDE12345.com.example.app", "ABCDE12345.com.example.app-test"],
            "paths": ["/t/*", "/w/?"],
        },
        {
            "host": "other.example",
            "android_apps": [{"package": "com.example.app", "sha256_cert_fingerprints": ["14".repeat(32)]}],
        },
    ]);
    set(&service, links).await;
    for host in ["tags.example", "TAGS.example.:8443"] {
        let answer = file(&service, APPLE, host).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        let expected = json!({"applinks": {"details": [{
            "appIDs": ["ABCDE12345.com.example.app", "ABCDE12345.com.example.app-test"],
            "components": [{"/": "/t/*"}, {"/": "/w/?"}],
        }]}});
        assert_eq!(answer.expect(200), expected);
    }
    let answer = file(&service, ANDROID, "other.example").await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let expected = json!([{
        "relation": ["delegate_permission/common.handle_all_urls"],
        "target": {
            "namespace": "android_app", "package_name": "com.example.app",
            "sha256_cert_fingerprints": [fingerprint()],
        },
    }]);
    assert_eq!(answer.expect(200), expected);
    for (path, host) in [
        (APPLE, "other.example"),
        (ANDROID, "tags.example"),
        (APPLE, "www.tags.example"),
        (ANDROID, "127.0.0.1"),
    ] {
        assert_eq!(file(&service, path, host).await.status, 404, "{host}{path}");
    }
    assert_eq!(service.post(APPLE).answer().await.status, 405);
    set(&service, Value::Null).await;
    assert_eq!(file(&service, APPLE, "tags.example").await.status, 404);
}

#[tokio::test]
async fn without_paths_an_app_opens_those_of_tags_at_the_host() {
    let service = TestService::start().await;
    let tag_url = json!({"tag_url": "https://tags.example/shop/t"});
    service.admin_patch("/settings", tag_url).await;
    let hosts = ["tags.example", "wine.example", "new.example"];
    let links: Vec<_> = hosts
        .map(|host| json!({"host": host, "ios_app_ids": ["ABCDE12345.com.example.app"]}))
        .to_vec();
    set(&service, json!(links)).await;
    assert_eq!(
        paths(&service, "tags.example").await,
        ["/shop/t/*", "/shop/T/*"]
    );
    for url in [
        "https://wine.example/{slug}?p={picc}&c={mac}",
        "https://wine.example/{slug}/more?p={picc}&c={mac}",
    ] {
        let template = json!({"name": url, "template": url, "technology": "ntag424dna"});
        service.admin_create("/url-templates", template).await;
    }
    assert_eq!(paths(&service, "wine.example").await, ["/*", "/*/more"]);
    assert_eq!(paths(&service, "new.example").await, ["/t/*", "/T/*"]);
}

#[tokio::test]
async fn apps_that_no_phone_would_find_are_refused_at_their_field() {
    let service = TestService::start().await;
    let before = service.admin_get("/settings").await;
    let app = json!({"package": "com.example.app", "sha256_cert_fingerprints": [fingerprint()]});
    let many = |count| vec![json!({"host": "a.example", "android_apps": [app]}); count];
    for (links, field) in [
        (
            json!([{"host": "https://a.example", "android_apps": [app]}]),
            "app_links[0].host",
        ),
        (json!([{"host": "a.example"}]), "app_links[0].host"),
        (json!(many(2)), "app_links[1].host"),
        (json!(many(1_000)), "app_links"),
        (
            json!([{"host": "a.example", "ios_app_ids": vec!["ABCDE12345.a"; 1_000]}]),
            "app_links[0].ios_app_ids",
        ),
        (
            json!([{"host": "a.example", "ios_app_ids": ["<b>"]}]),
            "app_links[0].ios_app_ids[0]",
        ),
        (
            json!([{"host": "a.example", "android_apps": [app], "paths": ["javascript:"]}]),
            "app_links[0].paths[0]",
        ),
    ] {
        let changes = json!({"app_links": links});
        let answer = service.admin(Method::PATCH, "/settings", changes).await;
        let problem = answer.expect(422);
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    assert_eq!(service.admin_get("/settings").await, before);
}
