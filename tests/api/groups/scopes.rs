//! Which tokens see and change groups.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

use super::group;

async fn token(service: &TestService, scopes: &[&str], more: Value) -> Client {
    let mut token = json!({"name": "A token", "scopes": scopes});
    if let (Some(token), Value::Object(more)) = (token.as_object_mut(), more) {
        token.extend(more);
    }
    let created = service.admin_create("/tokens", token).await;
    Client::new(service.base(), created["token"].as_str().unwrap())
}

#[tokio::test]
async fn reading_groups_needs_read_and_changing_them_tags() {
    let service = TestService::start().await;
    let id = group(&service, "batch", None, Value::Null).await;
    let tag = service.tag(json!({"name": "Bottle", "group_id": id})).await;
    let reader = token(&service, &["read"], Value::Null).await;
    let writer = token(&service, &["tags"], Value::Null).await;
    let path = format!("/groups/{id}");
    let effective = format!("{}/effective", tag.admin_path());
    let new = json!({"kind": "folder", "name": "New"});
    for (method, path, body, scope) in [
        (Method::GET, "/groups", Value::Null, "read"),
        (Method::GET, &path, Value::Null, "read"),
        (Method::GET, &effective, Value::Null, "read"),
        (Method::POST, "/groups", new, "tags"),
        (Method::PATCH, &path, json!({"name": "Other"}), "tags"),
    ] {
        for (client, holds) in [(&reader, "read"), (&writer, "tags")] {
            let answer = client.admin(method.clone(), path, body.clone()).await;
            let expected = if holds == scope { 200..300 } else { 403..404 };
            assert!(
                expected.contains(&answer.status),
                "{method} {path} with {holds}: {}",
                answer.body
            );
        }
    }
}

/// A change of a group could affect tags of other experiences.
#[tokio::test]
async fn a_token_for_some_experiences_sees_no_groups_and_the_tags_that_groups_lead_there() {
    let service = TestService::start().await;
    let (mine, others) = (
        service.redirect("https://owner.example/mine").await,
        service.redirect("https://owner.example/others").await,
    );
    let led = group(&service, "batch", None, json!({"experience_id": mine})).await;
    let elsewhere = group(&service, "batch", None, json!({"experience_id": others})).await;
    let tag = |group: i64| json!({"name": "Bottle", "group_id": group});
    let within = service.tag(tag(led)).await;
    let without = service.tag(tag(elsewhere)).await;
    let limited = json!({"experience_ids": [mine]});
    let limited = token(&service, &["read", "tags"], limited).await;
    let groups = limited.admin_get("/groups").await;
    assert_eq!(groups["items"], json!([]));
    let path = format!("/groups/{led}");
    let changes = json!({"name": "Other"});
    limited
        .admin(Method::PATCH, &path, changes)
        .await
        .expect(404);
    let seen = limited.admin_get("/tags").await;
    let seen: Vec<_> = seen["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| &tag["id"])
        .collect();
    assert_eq!(seen, [&json!(within.id)]);
    let rename = json!({"name": "Renamed"});
    limited
        .admin_patch(&within.admin_path(), rename.clone())
        .await;
    let refused = limited
        .admin(Method::PATCH, &without.admin_path(), rename)
        .await;
    refused.expect(404);
    for (changes, status) in [
        (json!({"group_id": elsewhere}), 409),
        (json!({"group_id": null}), 422),
        (json!({"group_id": null, "experience_id": mine}), 200),
    ] {
        let path = within.admin_path();
        let answer = limited.admin(Method::PATCH, &path, changes.clone()).await;
        assert_eq!(answer.status, status, "{changes}: {}", answer.body);
    }
}
