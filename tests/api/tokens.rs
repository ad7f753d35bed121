//! `/admin/v1/tokens`.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Client, PATIENCE, RawClient, TestService, eventually};

#[tokio::test]
async fn a_token_opens_the_admin_api_until_it_is_deleted() {
    let service = TestService::start().await;
    let created = service
        .admin_create("/tokens", json!({"name": "Script", "scopes": ["admin"]}))
        .await;
    let token = created["token"].as_str().unwrap();
    assert!(
        token.starts_with("tapdesk_") && token.len() >= 32,
        "{token}"
    );
    let script = Client::new(service.base(), token);
    script.admin_get("/tokens").await;

    let path = format!("/tokens/{}", created["id"]);
    assert_eq!(
        service
            .admin(Method::DELETE, &path, Value::Null)
            .await
            .status,
        204
    );
    script
        .admin(Method::GET, "/tokens", Value::Null)
        .await
        .expect(401);
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(404);
}

/// A new token, and the path that deletes it.
async fn new_token(service: &TestService) -> (Client, String) {
    let created = service.admin_create("/tokens", json!({"name": "Script", "scopes": ["admin"]}));
    let created = created.await;
    let token = created["token"].as_str().unwrap();
    let path = format!("/tokens/{}", created["id"]);
    (Client::new(service.base(), token), path)
}

#[tokio::test]
async fn a_deleted_tokens_event_stream_ends_and_others_go_on() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let (script, path) = new_token(&service).await;
    let (other, _) = new_token(&service).await;
    let listen = async |client: &Client| {
        let request = client.admin_request(Method::GET, "/events");
        request.send().await.unwrap()
    };
    let (mut script, mut other) = (listen(&script).await, listen(&other).await);
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    let ended = async { while script.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("the stream of the deleted token ends");
    service.tap(&tag.path()).await;
    let mut shown = String::new();
    // The stream also has comments that keep it open, and the change of the tokens.
    while !shown.contains("event: interaction") {
        let chunk = other.chunk().await.unwrap().expect("an event");
        shown += &String::from_utf8_lossy(&chunk);
    }
}

/// A request whose head has a valid token, and whose body arrives after the token was deleted.
#[tokio::test]
async fn a_request_that_a_deleted_token_began_is_not_carried_out() {
    let service = TestService::start().await;
    let (script, path) = new_token(&service).await;
    let body = r#"{"name": "Back door", "scopes": ["admin"]}"#;
    let mut client = RawClient::connect(service.authority()).await;
    client
        .send(format!(
            "POST /admin/v1/tokens HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             authorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{{",
            script.admin_token(),
            body.len()
        ))
        .await;
    // When another request on a later connection has been answered, this one has arrived.
    script.admin_get("/tokens").await;
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    let said = client.read_to_end().await;
    assert_eq!(statuses(&said), [401], "{said}");
    assert_eq!(service.admin_get("/tokens").await["items"], json!([]));
}

#[tokio::test]
async fn a_token_is_shown_once_alone() {
    let service = TestService::start().await;
    let created = service
        .admin(
            Method::POST,
            "/tokens",
            json!({"name": "Script", "scopes": ["admin"]}),
        )
        .await;
    assert_eq!(created.header("cache-control"), Some("no-store"));
    let token = created.json()["token"].as_str().unwrap().to_owned();
    let listed = service.admin(Method::GET, "/tokens", Value::Null).await;
    assert!(!listed.body.contains(&token));
    let expected = json!({"items": [
        {
            "id": created.json()["id"], "name": "Script", "scopes": ["admin"], "experience_ids": null, "group_ids": null,
            "expires_at": null, "last_used_at": null, "created_at": "2026-01-01T12:00:00Z",
        }
    ], "next": null});
    assert_eq!(listed.expect(200), expected);
}

#[tokio::test]
async fn a_token_needs_a_name() {
    let service = TestService::start().await;
    for body in [
        json!({}),
        json!({"name": ""}),
        json!({"name": " "}),
        json!({"name": "a\u{0}b"}),
        json!({"name": "a".repeat(201)}),
        json!({"name": 1}),
        json!({"name": "Script", "token": "mine"}),
    ] {
        let mut body = body;
        body["scopes"] = json!(["admin"]);
        service
            .admin(Method::POST, "/tokens", body)
            .await
            .expect(422);
    }
    assert_eq!(service.admin_get("/tokens").await["items"], json!([]));
}

/// A token for one purpose must not get all rights because a member is missing.
#[tokio::test]
async fn a_token_has_no_scopes_by_default() {
    let service = TestService::start().await;
    for body in [
        json!({"name": "prometheus"}),
        json!({"name": "prometheus", "scopes": null}),
        json!({"name": "prometheus", "scopes": []}),
    ] {
        let refused = service.admin(Method::POST, "/tokens", body.clone()).await;
        let problem = refused.expect(422);
        assert!(problem.to_string().contains("scopes"), "{body}: {problem}");
    }
    assert_eq!(service.admin_get("/tokens").await["items"], json!([]));
}

#[tokio::test]
async fn a_scraper_reads_metrics_with_scope_read_and_changes_nothing() {
    let service = TestService::start().await;
    let token = json!({"name": "prometheus", "scopes": ["read"]});
    let created = service.admin_create("/tokens", token).await;
    let scraper = Client::new(service.base(), created["token"].as_str().unwrap());
    eventually("the metrics say that the database is up", async || {
        let metrics = scraper.metrics().await;
        metrics.contains("\ntapdesk_database_up 1\n").then_some(())
    })
    .await;
    for (method, path) in [
        (Method::POST, "/tags"),
        (Method::POST, "/tokens"),
        (Method::POST, "/backup"),
    ] {
        let refused = scraper.admin(method, path, json!({"name": "x"})).await;
        assert_eq!(refused.expect(403)["code"], "scope", "{path}");
    }
}

#[tokio::test]
async fn tokens_are_listed_page_by_page_and_survive_a_restart() {
    let service = TestService::start().await;
    for name in ["a", "b", "c"] {
        service
            .admin_create("/tokens", json!({"name": name, "scopes": ["read"]}))
            .await;
    }
    let service = service.restart(0).await;
    let first = service.admin_get("/tokens?limit=2").await;
    let names = |page: &Value| {
        let items = page["items"].as_array().unwrap();
        items
            .iter()
            .map(|token| token["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["a", "b"]);
    let after = first["next"].as_str().unwrap();
    let second = service
        .admin_get(&format!("/tokens?limit=2&after={after}"))
        .await;
    assert_eq!(names(&second), ["c"]);
    assert_eq!(second["next"], Value::Null);
}
