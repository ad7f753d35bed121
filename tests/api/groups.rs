//! `/admin/v1/groups`.

mod found;
mod images;
mod limited;
mod list;
mod many;
mod model;
mod races;
mod save;
mod scopes;
mod size;
mod tree;
mod webhooks;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, TestService};

/// Creates a group of this kind. `more` adds or replaces members. Returns its id.
async fn group(service: &TestService, kind: &str, parent: Option<i64>, more: Value) -> i64 {
    let answer = try_group(service, kind, parent, more).await;
    answer.expect(201)["id"].as_i64().unwrap()
}

async fn try_group(service: &TestService, kind: &str, parent: Option<i64>, more: Value) -> Answer {
    let mut group = json!({"kind": kind, "name": format!("A {kind}"), "parent_id": parent});
    if let (Some(group), Value::Object(more)) = (group.as_object_mut(), more) {
        group.extend(more);
    }
    service.admin(Method::POST, "/groups", group).await
}

async fn patch(service: &TestService, id: i64, changes: Value) -> Answer {
    service
        .admin(Method::PATCH, &format!("/groups/{id}"), changes)
        .await
}

async fn delete(service: &TestService, id: i64) -> Answer {
    let path = format!("/groups/{id}");
    service.admin(Method::DELETE, &path, Value::Null).await
}

async fn tag_count(service: &TestService, id: i64) -> Value {
    let group = service.admin_get(&format!("/groups/{id}")).await;
    group["tag_count"].clone()
}
