//! Every operation that creates tags needs the scope for tags.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, TestService};

use super::{SCOPES, service, token};

fn needs_tags(answer: &Answer) {
    let problem = answer.expect(403);
    let refusal = (&problem["code"], &problem["scope"]);
    assert_eq!(refusal, (&json!("scope"), &json!("tags")));
}

async fn tags(service: &TestService) -> u64 {
    let counted = service.admin_get("/tags?count=true&simulated=all").await;
    counted["count"].as_u64().unwrap()
}

/// A request of each kind that can create tags.
fn requests(tag: i64) -> Vec<(Method, &'static str, Value)> {
    let pattern = json!({"name": "R", "planned": 3, "plan": {"pattern": "Bottle {n}"}});
    let with_tag = json!({"name": "R", "tag_ids": [tag], "plan": {"pattern": "Bottle {n}"}});
    let simulated = json!({"name": "Virtual"});
    vec![
        (Method::POST, "/encoding-runs", pattern),
        (Method::POST, "/encoding-runs", with_tag),
        (Method::POST, "/simulator/inlays", simulated),
        (Method::POST, "/tags", json!({"name": "New"})),
    ]
}

#[tokio::test]
async fn no_other_scope_creates_a_tag() {
    let service = service().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut before = tags(&service).await;
    for scope in SCOPES.into_iter().filter(|scope| *scope != "admin") {
        let client = token(&service, json!({"name": scope, "scopes": [scope]})).await;
        for (method, path, body) in requests(tag.id) {
            let answer = client.admin(method, path, body.clone()).await;
            let is_made = answer.status == 201;
            assert_eq!(
                is_made,
                scope == "tags" && path != "/encoding-runs",
                "{scope} {path}: {}",
                answer.body
            );
            if scope == "encode" && path == "/encoding-runs" {
                needs_tags(&answer);
            }
        }
        let made = if scope == "tags" { 2 } else { 0 };
        assert_eq!(tags(&service).await, before + made, "{scope}");
        before += made;
    }
    let both = json!({"name": "Both", "scopes": ["encode", "tags"]});
    let both = token(&service, both).await;
    for (method, path, body) in requests(tag.id) {
        both.admin(method, path, body).await.expect(201);
    }
}

#[tokio::test]
async fn who_may_only_encode_makes_no_run_larger() {
    let service = service().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let desk = json!({"name": "Desk", "scopes": ["encode", "read"]});
    let desk = token(&service, desk).await;
    let run = json!({"name": "R", "planned": 3, "plan": {"pattern": "Bottle {n}"}});
    let run = service.admin_create("/encoding-runs", run).await;
    let path = format!("/encoding-runs/{}", run["id"]);
    let change = async |body: Value| desk.admin(Method::PATCH, &path, body).await;
    needs_tags(&change(json!({"planned": 4})).await);
    needs_tags(&change(json!({"planned": null})).await);
    for body in [
        json!({"planned": 2, "name": "Smaller"}),
        json!({"closed": true}),
    ] {
        change(body).await.expect(200);
    }
    needs_tags(&change(json!({"closed": false})).await);
    service
        .admin_patch(&path, json!({"closed": false, "planned": 5}))
        .await;
    // A run of chosen tags creates none.
    let chosen = json!({"name": "R", "tag_ids": [tag.id]});
    let chosen = desk.admin_create("/encoding-runs", chosen).await;
    let path = format!("/encoding-runs/{}", chosen["id"]);
    for body in [json!({"closed": true}), json!({"closed": false})] {
        desk.admin_patch(&path, body).await;
    }
}
