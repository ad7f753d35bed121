//! Unknown routes, and methods that a route does not have: each part of the service answers in its
//! own envelope.

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
    // People open the host without a tag.
    assert_page(&service.get("/").answer().await, 200);
    for path in [
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
    for path in [
        "/health",
        "/ready",
        "/metrics",
        "/stand-in",
        "/kit/1",
        "/kit/1/tapdesk.js",
    ] {
        let request = service.post(path).bearer_auth(service.admin_token());
        assert_page(&request.answer().await, 405);
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_path_that_cannot_be_decoded_is_no_route_of_its_part() {
    let service = Unchanged::start().await;
    for path in [
        "/media/%ff",
        "/media/%zz",
        "/media/%00",
        "/t/%ff",
        "/%ff",
        "/stand-in/%ff",
        "/t/%c3%28/x",
    ] {
        assert_page(&service.get(path).answer().await, 404);
    }
    assert_envelope(&service.get("/v2/%ff").answer().await, 404);
    for path in [
        "/tags/%ff",
        "/inlays/%ff",
        "/interactions/%ff",
        "/tags/1/variables/%ff",
        "/experiences/1/images/%ff",
    ] {
        let answer = service.admin(Method::GET, path, json!(null)).await;
        // One of these routes has no GET; only the envelope matters here.
        assert_problem(&answer, if answer.status == 405 { 405 } else { 404 });
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn every_refusal_of_a_method_says_which_there_are() {
    let service = Unchanged::start().await;
    for path in [
        "/health",
        "/ready",
        "/stand-in",
        "/media/x",
        "/metrics",
        "/docs",
        "/docs/",
        "/docs/README.md",
        "/llms.txt",
        "/openapi.json",
    ] {
        let request = service.request(Method::DELETE, path);
        let answer = request.bearer_auth(service.admin_token()).answer().await;
        assert_eq!(answer.status, 405, "{path}");
        assert!(
            answer
                .header("allow")
                .is_some_and(|allow| allow.contains("GET")),
            "{path}: {:?}",
            answer.headers
        );
    }
    service.assert_unchanged().await;
}
