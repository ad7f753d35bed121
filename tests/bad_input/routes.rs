//! Routes that are none, and methods that a route does not have: each part of
//! the service answers in its own envelope.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::{Answer, Answering as _};

use crate::bad_input::unchanged::Unchanged;

#[track_caller]
fn assert_envelope(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["error"], json!(true));
    assert!(answer.json()["message"].is_string());
}

#[track_caller]
fn assert_problem(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(answer.json()["status"], json!(status));
    assert!(answer.json()["detail"].is_string());
}

#[track_caller]
fn assert_page(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
}

#[tokio::test]
async fn an_unknown_route_is_404_in_the_envelope_of_its_part() {
    let service = Unchanged::start().await;
    for path in [
        "/v2/",
        "/v2/interactions",
        "/v2/interactions/data/",
        "/v2/interactions/data/x",
    ] {
        assert_envelope(&service.get(path).answer().await, 404);
    }
    for path in ["/nowhere", "/", "/index.php", "//tags"] {
        let answer = service.admin(Method::GET, path, json!(null)).await;
        assert_problem(&answer, 404);
    }
    for path in [
        "/",
        "/nowhere",
        "/favicon.ico",
        "/admin",
        "/v3/interactions/data",
    ] {
        assert_page(&service.get(path).answer().await, 404);
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_method_that_the_route_does_not_have_is_405_and_says_which_it_has() {
    let service = Unchanged::start().await;
    for method in [
        Method::GET,
        Method::HEAD,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
    ] {
        let answer = service
            .request(method.clone(), "/v2/interactions/data")
            .answer()
            .await;
        if method != Method::HEAD {
            assert_envelope(&answer, 405);
        }
        assert_eq!(answer.header("allow"), Some("POST, OPTIONS"));
    }
    for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
        let answer = service.request(method, "/v2/interactions/rk_payload?rk=x");
        let answer = answer.answer().await;
        assert_envelope(&answer, 405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    }
    for method in [Method::POST, Method::PUT, Method::TRACE] {
        let answer = service.admin(method, "/tags/1", json!(null)).await;
        assert_problem(&answer, 405);
        assert!(
            answer
                .header("allow")
                .is_some_and(|allow| allow.contains("GET"))
        );
    }
    for path in ["/health", "/ready", "/metrics", "/stand-in"] {
        let request = service.post(path).bearer_auth(service.admin_token());
        assert_page(&request.answer().await, 405);
    }
    service.assert_unchanged().await;
}
