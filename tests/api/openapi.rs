//! The OpenAPI document: committed, served, and true to the routes.

use std::path::Path;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use tapdesk_tests::TestService;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/openapi.json");

fn document() -> String {
    let document = tapdesk_service::http::openapi();
    let mut text = document.to_pretty_json().expect("the document is JSON");
    text.push('\n');
    text
}

/// `UPDATE_OPENAPI=1` writes the document that is compared without it.
#[test]
fn the_committed_document_is_the_present_one() {
    let path = Path::new(COMMITTED);
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(path, document()).expect("the document can be written");
    }
    let committed = std::fs::read_to_string(path).expect("the document is committed");
    assert!(
        committed == document(),
        "service/openapi.json is old: run the tests once with UPDATE_OPENAPI=1"
    );
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    fn check(value: &Value, schemas: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let name = reference.rsplit('/').next().expect("a name");
                    assert!(schemas.get(name).is_some(), "{reference} leads nowhere");
                }
                members.values().for_each(|member| check(member, schemas));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, schemas)),
            _ => {}
        }
    }
    let document: Value = serde_json::from_str(&document()).expect("JSON");
    check(&document, &document["components"]["schemas"]);
}

#[tokio::test]
async fn the_document_and_its_reference_are_served_without_a_token() {
    let service = TestService::start().await;
    let served = service
        .get("/openapi.json")
        .send()
        .await
        .expect("an answer");
    assert_eq!(served.status(), StatusCode::OK);
    let served: Value = served.json().await.expect("JSON");
    let present: Value = serde_json::from_str(&document()).expect("JSON");
    assert_eq!(served, present);

    let reference = service.get("/docs").send().await.expect("an answer");
    assert_eq!(reference.status(), StatusCode::OK);
    let policy = reference.headers()["content-security-policy"]
        .to_str()
        .expect("text")
        .to_owned();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'nonce-"),
        "{policy}"
    );
    let page = reference.text().await.expect("text");
    let outside = ["http://", "https://", "src=\"//"];
    assert!(
        !outside.iter().any(|part| page.contains(part)),
        "the page needs no network"
    );
}

/// A route that is in the document and not in the router, or with another
/// method, answers 404 or 405 in the words for it.
#[tokio::test]
async fn every_operation_of_the_document_is_a_route() {
    let service = TestService::start().await;
    let document: Value = serde_json::from_str(&document()).expect("JSON");
    for (path, item) in document["paths"].as_object().expect("paths") {
        for name in item
            .as_object()
            .expect("operations")
            .keys()
            .filter(|name| *name != "parameters")
        {
            let method = Method::from_bytes(name.to_uppercase().as_bytes()).expect("a method");
            // No token: an admin route that exists asks for one before all else.
            let address = path.replace(['{', '}'], "");
            let answer = service
                .request(method.clone(), &address)
                .send()
                .await
                .expect("an answer");
            let expected: &[u16] = if path.starts_with("/admin/") {
                &[401, 429]
            } else if path == "/t/{slug}" || path == "/media/{name}" {
                &[404]
            } else {
                &[200, 415, 429]
            };
            let status = answer.status().as_u16();
            assert!(
                expected.contains(&status),
                "{method} {path} answered {status}"
            );
        }
    }
}
