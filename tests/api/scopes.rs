//! The rights of tokens: each route with each scope. The routes come from the OpenAPI document, so
//! new ones are tested automatically.

mod left;
mod limited;
mod runs;
mod verification;
mod webhooks;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, Client, PATIENCE, TestService};

/// All scopes that a token can have.
const SCOPES: [&str; 9] = [
    "read",
    "tags",
    "experiences",
    "publish",
    "encode",
    "keys",
    "webhooks",
    "export",
    "admin",
];

/// An operation of the admin API.
struct Operation {
    method: Method,
    /// The path below `/admin/v1`, or the whole path of a route outside of it.
    path: String,
    id: String,
    /// The scope that it needs; `None` if any token may call it.
    scope: Option<String>,
    /// Whether tokens that are limited to experiences may call it.
    bounded: bool,
}

fn operations() -> Vec<Operation> {
    let document = tapdesk_service::openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let operations = item.as_object().unwrap().iter();
        operations.filter_map(move |(method, operation)| {
            let scopes = operation["security"][0]["token"].as_array()?;
            Some(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                id: operation["operationId"].as_str().unwrap().to_owned(),
                scope: scopes
                    .first()
                    .map(|scope| scope.as_str().unwrap().to_owned()),
                bounded: operation["x-limited-tokens"].as_bool().expect("it is said"),
            })
        })
    });
    operations.collect()
}

/// A request to an operation, with `id` in place of each path parameter.
fn call(client: &Client, operation: &Operation, id: i64) -> RequestBuilder {
    let mut path = operation.path.clone();
    while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
        path.replace_range(start..=end, &id.to_string());
    }
    let request = client.request(operation.method.clone(), &path);
    request.bearer_auth(client.admin_token())
}

/// The status of a response. The body is not read, because an event stream does not end.
async fn status(request: RequestBuilder) -> u16 {
    request.send().await.expect("an answer").status().as_u16()
}

async fn service() -> TestService {
    // Without a limit, because these tests provoke refused requests.
    TestService::start_with(|options| {
        options.settings.rate_limit = None;
        options.settings.private_webhooks = true;
    })
    .await
}

async fn token(service: &TestService, token: Value) -> Client {
    let created = service.admin_create("/tokens", token).await;
    Client::new(service.base(), created["token"].as_str().unwrap())
}

#[tokio::test]
async fn each_operation_is_open_to_its_scope_and_to_admin_alone() {
    let service = service().await;
    let operations = operations();
    assert!(operations.len() > 80, "{}", operations.len());
    for scope in SCOPES {
        let client = token(&service, json!({"name": scope, "scopes": [scope]})).await;
        for operation in &operations {
            let Operation { method, path, .. } = operation;
            let request = call(&client, operation, 999_999);
            let needed = operation.scope.as_deref();
            if needed.is_none_or(|needed| [needed, "admin"].contains(&scope)) {
                let status = status(request).await;
                assert!(![401, 403].contains(&status), "{scope}: {method} {path}");
                continue;
            }
            let answer = request.answer().await;
            assert_eq!(answer.status, 403, "{scope}: {method} {path}");
            let problem = answer.json();
            assert_eq!(problem["code"], "scope", "{scope}: {method} {path}");
            assert_eq!(
                problem["scope"],
                needed.unwrap(),
                "{scope}: {method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn no_token_a_wrong_one_an_expired_and_a_revoked_one_open_nothing() {
    let service = service().await;
    let expires_at = "2026-01-01T13:00:00Z";
    let expired = token(
        &service,
        json!({"name": "Expired", "scopes": ["admin"], "expires_at": expires_at}),
    )
    .await;
    let revoked = service
        .admin_create("/tokens", json!({"name": "Revoked", "scopes": ["admin"]}))
        .await;
    expired.admin_get("/tags").await;
    service.advance(3_600_000);
    let path = format!("/tokens/{}", revoked["id"]);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    deleted.expect(204);
    let revoked = Client::new(service.base(), revoked["token"].as_str().unwrap());
    let wrong = Client::new(
        service.base(),
        "tapdesk_that-is-none-of-this-service-and-of-no-other",
    );
    for operation in operations() {
        for client in [&expired, &revoked, &wrong] {
            let answer = call(client, &operation, 1).answer().await;
            assert_eq!(
                answer.status, 401,
                "{} {}",
                operation.method, operation.path
            );
        }
        let path = operation.path.replace(['{', '}'], "");
        let answer = service
            .request(operation.method.clone(), &path)
            .answer()
            .await;
        assert_eq!(
            answer.status, 401,
            "{} {}",
            operation.method, operation.path
        );
    }
}

#[tokio::test]
async fn publishing_needs_its_scope_however_it_is_done() {
    let service = service().await;
    let draft = json!({"name": "R", "kind": "redirect", "target_url": "https://owner.example/"});
    let id = service.experience(draft.clone()).await;
    let editor = token(
        &service,
        json!({"name": "Editor", "scopes": ["experiences"]}),
    )
    .await;
    let refused = |answer: Answer| {
        let problem = answer.expect(403);
        assert_eq!(
            (&problem["code"], &problem["scope"]),
            (&json!("scope"), &json!("publish"))
        );
    };
    refused(
        editor
            .admin(Method::POST, "/experiences", draft.clone())
            .await,
    );
    let path = format!("/experiences/{id}?publish=true");
    refused(
        editor
            .admin(Method::PATCH, &path, json!({"name": "S"}))
            .await,
    );
    let mut draft = draft;
    draft["draft"] = true.into();
    editor.admin_create("/experiences", draft).await;
}

#[tokio::test]
async fn a_token_tells_what_it_may_do() {
    let service = service().await;
    let own = service.admin_get("/tokens/current").await;
    let expected = json!({"id": null, "name": "", "scopes": ["admin"], "experience_ids": null, "group_ids": null, "expires_at": null});
    assert_eq!(own, expected);
    let experience = service.redirect("https://owner.example/").await;
    let client = token(
        &service,
        json!({
            "name": "Shop", "scopes": ["tags", "read"], "experience_ids": [experience],
            "expires_at": "2027-01-01T00:00:00Z",
        }),
    )
    .await;
    let received = client.admin_get("/tokens/current").await;
    let expected = json!({
        "id": received["id"], "name": "Shop", "scopes": ["read", "tags"], "experience_ids": [experience], "group_ids": null,
        "expires_at": "2027-01-01T00:00:00Z",
    });
    assert_eq!(received, expected);
}

#[tokio::test]
async fn a_token_that_could_do_nothing_or_never_lived_is_refused() {
    let service = service().await;
    for (members, status) in [
        (json!({"scopes": []}), 422),
        (json!({"scopes": ["everything"]}), 422),
        (json!({"expires_at": "2026-01-01T12:00:00Z"}), 422),
        (json!({"expires_at": "tomorrow"}), 422),
        (json!({"experience_ids": [7]}), 409),
        (json!({"experience_ids": [0]}), 422),
    ] {
        let mut token = json!({"name": "Script", "scopes": ["read"]});
        token
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        let answer = service.admin(Method::POST, "/tokens", token).await;
        assert_eq!(answer.status, status, "{members}");
    }
}

#[tokio::test]
async fn the_last_use_of_a_token_is_noted_to_the_minute() {
    let service = service().await;
    let client = token(&service, json!({"name": "Script", "scopes": ["read"]})).await;
    let last_used = async || service.admin_get("/tokens").await["items"][0]["last_used_at"].clone();
    assert_eq!(last_used().await, Value::Null);
    for (after, seen) in [(0, "12:00:00"), (59_000, "12:00:00"), (1_000, "12:01:00")] {
        service.advance(after);
        client.admin_get("/tags").await;
        assert_eq!(last_used().await, format!("2026-01-01T{seen}Z"));
    }
}

#[tokio::test]
async fn a_stream_ends_with_the_time_of_its_token() {
    let service = service().await;
    let expires_at = "2026-01-01T13:00:00Z";
    let client = token(
        &service,
        json!({"name": "Screen", "scopes": ["read"], "expires_at": expires_at}),
    )
    .await;
    let request = client.admin_request(Method::GET, "/events");
    let mut stream = request.send().await.unwrap();
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    stream.chunk().await.unwrap().expect("an event");
    service.advance(3_600_000);
    let ended = async { while stream.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("the stream ends");
}

#[tokio::test]
async fn a_webhook_tells_nothing_that_its_token_may_not_read() {
    let service = service().await;
    let deaf = token(&service, json!({"name": "Deaf", "scopes": ["webhooks"]})).await;
    let both = json!({"name": "Both", "scopes": ["webhooks", "read"]});
    let both = token(&service, both).await;
    let webhook = |events: &[&str]| json!({"url": "https://hooks.example/", "events": events});
    let refused = |answer: Answer| {
        let problem = answer.expect(403);
        assert_eq!(
            (&problem["code"], &problem["scope"]),
            (&json!("scope"), &json!("read"))
        );
    };
    for events in [
        &["tap.verified"][..],
        &["submission.created", "alert.disk_low"],
    ] {
        refused(deaf.admin(Method::POST, "/webhooks", webhook(events)).await);
    }
    let mut with_uids = webhook(&["alert.inlay_guessed"]);
    with_uids["include"] = json!(["uid"]);
    refused(deaf.admin(Method::POST, "/webhooks", with_uids).await);
    let of_taps = both
        .admin_create("/webhooks", webhook(&["tap.verified"]))
        .await;
    let of_alerts = deaf
        .admin_create("/webhooks", webhook(&["alert.disk_low"]))
        .await;
    let path = |webhook: &Value| format!("/webhooks/{}", webhook["id"]);
    // The token may not redirect others' webhooks, nor make its own webhook send more than it may
    // read.
    let elsewhere = json!({"url": "https://elsewhere.example/"});
    refused(
        deaf.admin(Method::PATCH, &path(&of_taps), elsewhere.clone())
            .await,
    );
    refused(
        deaf.admin(
            Method::PATCH,
            &path(&of_taps),
            json!({"url": "https://elsewhere.example/", "events": ["alert.disk_low"]}),
        )
        .await,
    );
    refused(
        deaf.admin(
            Method::PATCH,
            &path(&of_alerts),
            json!({"events": ["tag.updated"]}),
        )
        .await,
    );
    deaf.admin_patch(&path(&of_alerts), elsewhere).await;
    both.admin_patch(&path(&of_alerts), json!({"events": ["tag.updated"]}))
        .await;
}

#[tokio::test]
async fn a_token_that_ends_makes_none_that_ends_later() {
    let service = service().await;
    let end = "2026-01-01T13:00:00Z";
    let maker = token(
        &service,
        json!({"name": "Guest", "scopes": ["admin"], "expires_at": end}),
    )
    .await;
    for (expires_at, status) in [
        (Value::Null, 422),
        (json!("2026-01-01T13:00:01Z"), 422),
        (json!("2027-01-01T00:00:00Z"), 422),
        (json!(end), 201),
        (json!("2026-01-01T12:30:00Z"), 201),
    ] {
        let new = json!({"name": "Another", "scopes": ["admin"], "expires_at": expires_at});
        let answer = maker.admin(Method::POST, "/tokens", new).await;
        assert_eq!(answer.status, status, "{expires_at}: {}", answer.body);
    }
    // Leaving the member out means the same as null.
    let answer = maker
        .admin(
            Method::POST,
            "/tokens",
            json!({"name": "Another", "scopes": ["admin"]}),
        )
        .await;
    let problem = answer.expect(422);
    assert!(problem.to_string().contains("expires_at"), "{problem}");
    // A token that does not expire may create both kinds.
    token(
        &service,
        json!({"name": "Guest", "scopes": ["admin"], "expires_at": end}),
    )
    .await;
    token(&service, json!({"name": "Always", "scopes": ["admin"]})).await;
}
