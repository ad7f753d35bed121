//! `changed`: events about resources that anybody has changed.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

use super::Listener;

/// A change of the resource with this id, or of several if it is null.
fn change(kind: &str, id: &Value) -> (String, Value) {
    (kind.to_owned(), id.clone())
}

async fn token(service: &TestService, token: Value) -> Client {
    let created = service.admin_create("/tokens", token).await;
    Client::new(service.base(), created["token"].as_str().unwrap())
}

async fn listen(client: &Client) -> Listener {
    Listener::of(client.admin_request(Method::GET, "/events")).await
}

#[tokio::test]
async fn a_change_is_told_with_its_kind_and_id_and_a_request_without_one_is_not() {
    let service = TestService::start().await;
    let mut listener = Listener::at(&service, "?simulated=true").await;
    let tag = service
        .admin_create("/tags", json!({"name": "Bottle 41"}))
        .await;
    let of_tag = change("tags", &tag["id"]);
    assert_eq!(listener.next_change().await, of_tag, "it was created");
    let path = format!("/tags/{}", tag["id"]);
    service
        .admin_patch(&path, json!({"name": "Bottle 42"}))
        .await;
    assert_eq!(listener.next_change().await, of_tag);
    // Neither a read, nor an export, which the audit log mentions, nor a refused request.
    service.admin_get(&path).await;
    let export = service.admin_request(Method::GET, "/tags/export");
    let export = export.send().await.unwrap();
    assert_eq!(export.status(), 200);
    export.bytes().await.unwrap();
    let refused = service.admin(Method::PATCH, &path, json!({"slug": "a/b"}));
    refused.await.expect(422);
    let folder = json!({"kind": "folder", "name": "Wines"});
    let group = service.admin_create("/groups", folder).await;
    assert_eq!(
        listener.next_change().await,
        change("groups", &group["id"]),
        "and nothing in between"
    );
}

#[tokio::test]
async fn a_change_of_many_rows_is_told_once() {
    // More than one commit of a bulk change.
    const TAGS: usize = 450;
    let service = TestService::start().await;
    let mut listener = Listener::at(&service, "").await;
    let marker = service.tag(json!({"name": "Bottle 41"})).await;
    let of_marker = change("tags", &marker.id.into());
    assert_eq!(listener.next_change().await, of_marker);
    let many = change("tags", &Value::Null);
    let rows: Vec<String> = (0..TAGS).map(|n| format!("bottle-{n}\n")).collect();
    let rows = rows.concat();
    let import = service
        .admin_request(Method::POST, "/tags/import")
        .header("content-type", "text/csv")
        .body(format!("name\n{rows}"));
    let import = import.send().await.unwrap();
    assert_eq!(import.status(), 200);
    import.bytes().await.unwrap();
    assert_eq!(listener.next_change().await, many);
    let archive = json!({"action": "status", "status": "archived", "select": {"filter": {}}});
    let done = service.admin(Method::POST, "/tags/bulk", archive).await;
    assert_eq!(done.expect(200)["selected"], TAGS + 1);
    service
        .admin_patch(&marker.admin_path(), json!({"name": "Bottle 42"}))
        .await;
    assert_eq!(listener.next_change().await, many);
    assert_eq!(listener.next_change().await, of_marker);
}

#[tokio::test]
async fn a_payload_that_was_read_changes_its_interaction() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let id = service.last_interaction().await;
    let mut listener = Listener::at(&service, "").await;
    service.payload(tap.key()).await;
    let expected = change("interactions", &id.into());
    assert_eq!(listener.next_change().await, expected);
    let path = format!("/interactions/{id}");
    assert_eq!(
        service.admin_get(&path).await["payload_reads"]["reads"],
        1,
        "the event comes after it"
    );
}

#[tokio::test]
async fn an_update_with_a_wrong_key_changes_no_interaction() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let mut listener = Listener::at(&service, "").await;
    service.advance(300_000);
    let data = json!({"registered": "true"});
    service.update(tap.key(), data).await.expect(400);
    let folder = json!({"kind": "folder", "name": "Wines"});
    let group = service.admin_create("/groups", folder).await;
    let expected = change("groups", &group["id"]);
    assert_eq!(listener.next_change().await, expected);
}

/// Some of its steps are operations that each database implements by itself.
#[tokio::test]
async fn an_erasure_is_told_once_and_that_of_a_visitor_may_change_several_interactions() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let tap = service.last_interaction().await;
    let mut listener = Listener::at(&service, "").await;
    let of_many = change("interactions", &Value::Null);
    for (path, expected) in [
        (format!("/interactions/{tap}/visitor"), of_many.clone()),
        (
            format!("{}/traces", tag.admin_path()),
            change("tags", &tag.id.into()),
        ),
        ("/interactions/no-tag/traces".to_owned(), of_many),
    ] {
        let erased = service.admin(Method::DELETE, &path, Value::Null).await;
        assert!(erased.status < 300, "{path}: {}", erased.body);
        assert_eq!(listener.next_change().await, expected, "{path}");
    }
}

#[tokio::test]
async fn a_token_is_told_of_kinds_that_it_may_read() {
    let service = TestService::start_with(|options| {
        options.settings.private_webhooks = true;
    })
    .await;
    let reader = token(&service, json!({"name": "Reader", "scopes": ["read"]})).await;
    let hooks = json!({"name": "Hooks", "scopes": ["read", "webhooks"]});
    let hooks = token(&service, hooks).await;
    let mut readers = listen(&reader).await;
    let mut both = listen(&hooks).await;
    let mut admins = Listener::at(&service, "").await;
    service
        .admin_patch("/settings", json!({"retention_months": 12}))
        .await;
    let webhook = json!({"url": "http://127.0.0.1:9/", "events": ["tap.verified"]});
    let webhook = service.admin_create("/webhooks", webhook).await;
    let tag = service
        .admin_create("/tags", json!({"name": "Bottle 41"}))
        .await;
    let settings = change("settings", &Value::Null);
    let webhook = change("webhooks", &webhook["id"]);
    let tag = change("tags", &tag["id"]);
    assert_eq!(admins.next_change().await, settings);
    for listener in [&mut admins, &mut both] {
        assert_eq!(listener.next_change().await, webhook);
    }
    for listener in [&mut admins, &mut both, &mut readers] {
        assert_eq!(listener.next_change().await, tag);
    }
}

#[tokio::test]
async fn a_limited_token_is_told_of_changes_within_its_reach() {
    let service = TestService::start().await;
    let page =
        |name: &str| json!({"name": name, "kind": "redirect", "target_url": "https://a.example/"});
    let own = service.experience(page("Own")).await;
    let other = service.experience(page("Other")).await;
    let tag = |experience: i64| json!({"name": "Bottle", "experience_id": experience});
    let own_tag = service.tag(tag(own)).await;
    let other_tag = service.tag(tag(other)).await;
    let shop = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [own]});
    let shop = token(&service, shop).await;
    let mut listener = listen(&shop).await;
    let renamed = json!({"name": "Renamed"});
    service
        .admin_patch(&other_tag.admin_path(), renamed.clone())
        .await;
    service
        .admin_patch(&format!("/experiences/{other}"), renamed.clone())
        .await;
    // A change of many tags does not say which.
    let archive = json!({"action": "status", "status": "archived", "select": {"filter": {}}});
    let done = service.admin(Method::POST, "/tags/bulk", archive).await;
    done.expect(200);
    let folder = json!({"kind": "folder", "name": "Wines"});
    service.admin_create("/groups", folder).await;
    service
        .admin_patch(&format!("/experiences/{own}"), renamed.clone())
        .await;
    service.admin_patch(&own_tag.admin_path(), renamed).await;
    let expected = change("experiences", &own.into());
    assert_eq!(listener.next_change().await, expected);
    let expected = change("tags", &own_tag.id.into());
    assert_eq!(listener.next_change().await, expected);
}
