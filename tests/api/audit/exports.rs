//! Each export leaves an audit row, because exported data is out of the service's reach.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use crate::api::submissions::{Form, send};

#[tokio::test]
async fn each_export_leaves_a_row_with_what_it_asked_for() {
    let service = TestService::start().await;
    let sheet = service
        .admin_create(
            "/sheets",
            json!({"name": "Delivery", "expected": {"tag_verified": true}}),
        )
        .await;
    let run = json!({"name": "Roll", "planned": 3, "plan": {"pattern": "Bottle {n:04}"}});
    let run = service.admin_create("/encoding-runs", run).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let tap = json!({"id": service.last_interaction().await});
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let order = json!({"name": "Autumn", "tag_ids": [tag.id]});
    let order = service.admin_create("/factory-orders", order).await;
    let document = tapdesk_service::openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let mut seen = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(operation) = item.get("get") else {
            continue;
        };
        let exports = operation["security"][0]["token"] == json!(["export"]);
        if !exports && !path.ends_with("/export") {
            continue;
        }
        let of = if path.starts_with("/admin/v1/sheets") {
            &sheet
        } else if path.starts_with("/admin/v1/interactions") {
            &tap
        } else if path.starts_with("/admin/v1/factory-orders") {
            &order
        } else {
            &run
        };
        let path = path.replace("{id}", &of["id"].to_string());
        let path = path.strip_prefix("/admin/v1").expect("a path of the API");
        let answer = service.admin(Method::GET, path, Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let row = service.admin_get("/audit?limit=1").await["items"][0].clone();
        assert_eq!(row["object"], path[1..], "{row}");
        let action = row["action"].as_str().unwrap();
        let is_named = [".export", ".report.pdf"]
            .iter()
            .any(|end| action.ends_with(end));
        assert!(is_named, "{row}");
        assert_eq!(row["address"], "127.0.0.1");
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
    let before = service.admin_get("/audit?limit=1").await["items"][0]["id"].clone();
    // A refused export leaves no row, and neither does any other reading call.
    service
        .admin(Method::GET, "/interactions/export?columns=x", Value::Null)
        .await
        .expect(422);
    service.admin_get("/interactions").await;
    let after = service.admin_get("/audit?limit=1").await["items"][0]["id"].clone();
    assert_eq!(before, after);
}

#[tokio::test]
async fn the_headers_of_an_export_are_no_export() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let newest = async || service.admin_get("/audit?limit=1").await["items"][0]["id"].clone();
    for path in [
        "/audit/export",
        "/audit/export?format=csv",
        "/interactions/export",
        "/submissions/export",
        "/submissions/export?format=jsonl",
        "/tags/export",
    ] {
        let before = newest().await;
        let request = |method: Method| service.admin_request(method, path).send();
        let head = request(Method::HEAD).await.expect("an answer");
        assert_eq!(head.status(), 200, "{path}");
        let headers = head.headers().clone();
        assert_eq!(head.bytes().await.expect("no body").len(), 0, "{path}");
        assert_eq!(newest().await, before, "{path}");
        let whole = request(Method::GET).await.expect("an answer");
        for (name, value) in whole.headers() {
            if !["date", "transfer-encoding"].contains(&name.as_str()) {
                assert_eq!(headers.get(name), Some(value), "{path}: {name}");
            }
        }
        assert!(!whole.bytes().await.expect("a file").is_empty());
        let after = newest().await.as_i64().unwrap();
        assert_eq!(after, before.as_i64().unwrap() + 1, "{path}");
    }
}

#[tokio::test]
async fn whom_an_export_searched_for_is_not_in_the_log() {
    let service = TestService::start().await;
    let path = "/submissions/export?format=jsonl&q=ada%40example.com&value=ada%40example.com";
    let export = service.admin(Method::GET, path, Value::Null).await;
    assert_eq!(export.status, 200);
    let row = service.admin_get("/audit?limit=1").await["items"][0].clone();
    let expected = json!({"format": "jsonl", "q": "(left out)", "value": "(left out)"});
    assert_eq!(row["after"], expected);
    assert_eq!(
        service.admin_get("/audit/check").await["problem"],
        Value::Null
    );
}
