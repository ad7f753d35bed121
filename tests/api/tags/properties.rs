//! Variables, data and attributes of a tag.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::all;

const CLASSES: [&str; 3] = ["variables", "data", "attributes"];

#[tokio::test]
async fn a_property_is_put_read_and_removed_in_each_class_alone() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    for class in CLASSES {
        let list = format!("{}/{class}", tag.admin_path());
        let path = format!("{list}/size");
        let value = json!({"value": format!("of {class},\nin two lines")});
        let put = service.admin(Method::PUT, &path, value.clone()).await;
        let etag = put.header("etag").unwrap();
        assert_eq!(
            put.expect(201),
            json!({"key": "size", "value": value["value"], "etag": etag})
        );
        service.admin(Method::PUT, &path, value).await.expect(200);
        assert_eq!(all(&service, &list, 1).await, [put.json()]);
    }
    for class in CLASSES {
        let path = format!("{}/{class}/size", tag.admin_path());
        service
            .admin(Method::DELETE, &path, Value::Null)
            .await
            .expect(204);
        service
            .admin(Method::DELETE, &path, Value::Null)
            .await
            .expect(404);
        let shown = service.admin_get(&tag.admin_path()).await;
        assert_eq!(shown[class], json!({}));
    }
}

#[tokio::test]
async fn properties_are_listed_by_key_and_page_by_page() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({"name": "Bottle", "data": {"c": "3", "a": "1", "b": "2", "d": "4"}}))
        .await;
    let list = format!("{}/data", tag.admin_path());
    for limit in [1, 3, 4, 500] {
        let keys = all(&service, &list, limit).await;
        let keys: Vec<_> = keys.iter().map(|item| item["key"].clone()).collect();
        assert_eq!(keys, ["a", "b", "c", "d"]);
    }
    let counted = service
        .admin_get(&format!("{list}?limit=1&count=true"))
        .await;
    assert_eq!(counted["count"], 4);
}

#[tokio::test]
async fn a_property_that_cannot_be_is_refused_in_words() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let path = |key: &str| format!("{}/variables/{key}", tag.admin_path());
    for (key, body, part) in [
        ("with%20space", json!({"value": ""}), "1 to 64 characters"),
        (&"k".repeat(65), json!({"value": ""}), "1 to 64 characters"),
        ("key", json!({"value": "a\0b"}), "without NUL"),
        ("key", json!({"value": "v".repeat(4097)}), "4096 bytes"),
        ("key", json!({"value": 1}), "invalid type"),
        ("key", json!({"valeu": ""}), "unknown field"),
    ] {
        let answer = service.admin(Method::PUT, &path(key), body).await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(part), "{key}: {detail}");
    }
    let value = json!({"value": "v".repeat(4096)});
    service
        .admin(Method::PUT, &path("key"), value)
        .await
        .expect(201);
    for (method, path) in [
        (Method::PUT, "/tags/999/data/key"),
        (Method::DELETE, "/tags/999/data/key"),
        (Method::GET, "/tags/999/data"),
    ] {
        let body = if method == Method::PUT {
            json!({"value": ""})
        } else {
            Value::Null
        };
        service.admin(method, path, body).await.expect(404);
    }
}

#[tokio::test]
async fn a_tag_has_at_most_256_keys_of_a_class() {
    let service = TestService::start().await;
    let data: serde_json::Map<_, _> = (0..256).map(|n| (format!("k{n}"), json!(""))).collect();
    let tag = service.tag(json!({"name": "Bottle", "data": data})).await;
    let put = |key: &'static str| {
        let path = format!("{}/data/{key}", tag.admin_path());
        let service = &service;
        async move {
            let value = json!({"value": "new"});
            service.admin(Method::PUT, &path, value).await
        }
    };
    let detail = put("one-more").await.expect(422)["detail"].clone();
    assert!(detail.as_str().unwrap().contains("256"), "{detail}");
    put("k255").await.expect(200);
}
