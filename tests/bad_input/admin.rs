//! Bodies and paths of the admin API.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _};

use crate::bad_input::unchanged::Unchanged;

#[track_caller]
fn assert_problem(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    let detail = &answer.json()["detail"];
    assert!(detail.as_str().is_some_and(|detail| !detail.is_empty()));
}

/// The paths that create resources, each with a valid body.
fn creations() -> [(&'static str, Value); 3] {
    [
        ("/tags", json!({"name": "Bottle"})),
        (
            "/experiences",
            json!({"name": "Go", "kind": "redirect", "target_url": "https://owner.example/"}),
        ),
        (
            "/inlays",
            json!({"uid": "04112233445566", "technology": "ntag213"}),
        ),
    ]
}

async fn send(service: &Unchanged, path: &str, content_type: &str, body: Vec<u8>) -> Answer {
    service
        .admin_request(Method::POST, path)
        .header("content-type", content_type)
        .body(body)
        .answer()
        .await
}

#[tokio::test]
async fn a_body_that_is_not_json_is_422() {
    let service = Unchanged::start().await;
    for (path, good) in creations() {
        let good = good.to_string();
        for body in [
            Vec::new(),
            b"name=x".to_vec(),
            good.as_bytes()[..good.len() - 1].to_vec(),
            format!("{good}{good}").into_bytes(),
            [b"\xEF\xBB\xBF", good.as_bytes()].concat(),
            good.replacen('"', r#""\ud800": "x", ""#, 1).into_bytes(),
            b"\x1f\x8b\x08\x00garbage".to_vec(),
            b"\xFF".repeat(1_000),
        ] {
            let answer = send(&service, path, "application/json", body).await;
            assert_problem(&answer, 422);
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn json_of_another_shape_is_422() {
    let service = Unchanged::start().await;
    for (path, good) in creations() {
        for body in [
            json!(null),
            json!([]),
            json!("x"),
            json!(1),
            json!([good]),
            json!({}),
        ] {
            let body = body.to_string().into_bytes();
            let answer = send(&service, path, "application/json", body).await;
            assert_problem(&answer, 422);
        }
        for member in good.as_object().expect("an object").keys() {
            for value in [json!(7), json!([]), json!({"a": 1}), json!("\0"), json!("")] {
                let mut bad = good.clone();
                bad[member] = value;
                let answer = service.admin(Method::POST, path, bad).await;
                assert_problem(&answer, 422);
            }
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn an_array_in_the_place_of_an_object_is_422() {
    let service = Unchanged::start().await;
    let page = |block| json!({"name": "Page", "kind": "studio", "blocks": [block]});
    for (path, body) in [
        (
            "/tags/bulk",
            json!({"select": {"filter": []}, "action": "delete"}),
        ),
        (
            "/tags/bulk",
            json!({"select": {"filter": [null, null]}, "action": "delete"}),
        ),
        ("/tags/bulk", json!(["delete", {"filter": {}}])),
        ("/tags", json!({"name": "x", "location": []})),
        ("/tags", json!({"name": "x", "location": {"venue": []}})),
        (
            "/tags",
            json!({"name": "x", "location": {"asset": {"type": [1]}}}),
        ),
        ("/sheets", json!({"name": "x", "expected": []})),
        ("/tokens", json!(["x"])),
        ("/experiences", page(json!(["divider"]))),
        ("/experiences", page(json!(["heading", "x"]))),
        (
            "/experiences",
            page(json!({"type": "table", "rows": [["a", "b"]]})),
        ),
    ] {
        let answer = service.admin(Method::POST, path, body).await;
        assert_problem(&answer, 422);
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn deep_json_is_422_without_a_stack_overflow() {
    let service = Unchanged::start().await;
    for (path, _) in creations() {
        for (open, close) in [("[", "]"), (r#"{"widget_settings":"#, "}")] {
            let depth = 100_000;
            let body = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let answer = send(&service, path, "application/json", body.into_bytes()).await;
            assert_problem(&answer, 422);
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_wrong_content_type_is_415() {
    let service = Unchanged::start().await;
    for (path, good) in creations() {
        for content_type in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/xml",
            "",
        ] {
            let answer = send(&service, path, content_type, good.to_string().into_bytes()).await;
            assert_problem(&answer, 415);
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_body_over_4_mib_is_413() {
    let service = Unchanged::start().await;
    for (path, good) in creations() {
        let mut body = good.to_string().into_bytes();
        body.resize(4 * 1024 * 1024 + 1, b' ');
        let answer = send(&service, path, "application/json", body).await;
        assert_problem(&answer, 413);
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn an_id_that_is_none_is_404() {
    let service = Unchanged::start().await;
    for resource in ["tags", "inlays", "experiences"] {
        for id in [
            "0",
            "-1",
            "999999",
            "9223372036854775807",
            "9223372036854775808",
            "1e3",
            "x",
            "%00",
            "1%20",
            "1%2F1",
            "0x1",
            "١",
        ] {
            let path = format!("/{resource}/{id}");
            for (method, body) in [
                (Method::GET, Value::Null),
                (Method::PATCH, json!({})),
                (Method::DELETE, Value::Null),
            ] {
                let answer = service.admin(method, &path, body).await;
                assert_problem(&answer, 404);
            }
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_query_that_makes_no_sense_is_422() {
    let service = Unchanged::start().await;
    for resource in ["tags", "inlays", "experiences"] {
        for query in [
            "limit=0",
            "limit=x",
            "limit=-1",
            "limit=100000000000",
            "after=%00",
            "after=nonsense",
        ] {
            let path = format!("/{resource}?{query}");
            let answer = service.admin(Method::GET, &path, Value::Null).await;
            assert_problem(&answer, 422);
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn texts_that_look_like_sql_are_texts() {
    let service = Unchanged::start().await;
    let name = "'); DROP TABLE tags; --";
    let tag = service.admin_create("/tags", json!({"name": name})).await;
    let shown = service.admin_get(&format!("/tags/{}", tag["id"])).await;
    assert_eq!(shown["name"], json!(name));
    for q in ["%27%20OR%201%3D1--", "%25", "_", "%5C", "%22", "*", "%00"] {
        let answer = service
            .admin(Method::GET, &format!("/tags?q={q}"), Value::Null)
            .await;
        assert!(
            answer.status == 200 || answer.status == 422,
            "{q}: {}",
            answer.body
        );
        let found = answer.json()["items"].as_array().map_or(0, Vec::len);
        assert!(found <= 1, "{q} found everything");
    }
}
