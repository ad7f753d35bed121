//! `ETag` and `If-Match`: nobody overwrites a change that another person saved in the meantime.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

/// A request that succeeds only if the resource still has this `etag`.
async fn matching(
    service: &TestService,
    method: Method,
    path: &str,
    etag: &str,
    body: Value,
) -> Answer {
    let request = service.admin_request(method, path).header("if-match", etag);
    match body {
        Value::Null => request.answer().await,
        body => request.json(&body).answer().await,
    }
}

async fn etag(service: &TestService, path: &str) -> String {
    let answer = service.admin(Method::GET, path, Value::Null).await;
    answer.expect(200);
    answer.header("etag").expect("an ETag").to_owned()
}

/// One of each editable resource, with two different changes.
async fn resources(service: &TestService) -> Vec<(String, Value, Value)> {
    let (tag, inlay) = service.bottle().await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": []});
    let experience = service.experience(page).await;
    let sheet = json!({"name": "Delivery"});
    let sheet = service.admin_create("/sheets", sheet).await;
    let master = json!({"name": "Cellar", "key": "0123456789abcdef0123456789abcdef", "derivation": {"scheme": "an10922", "input": "01{uid}"}});
    let master = service.admin_create("/master-keys", master).await;
    let named = |name: &str| json!({"name": name});
    vec![
        (tag.admin_path(), named("A"), json!({"status": "archived"})),
        (format!("/experiences/{experience}"), named("A"), named("B")),
        (
            format!("/inlays/{}", inlay.id),
            json!({"tag_id": null}),
            json!({"file_key": "0123456789abcdef0123456789abcdef"}),
        ),
        (
            format!("/master-keys/{}", master["id"]),
            named("A"),
            named("B"),
        ),
        (
            format!("/sheets/{}", sheet["id"]),
            named("A"),
            json!({"closed": true}),
        ),
        (
            "/settings".to_owned(),
            json!({"app_id": 7}),
            json!({"app_id": 8}),
        ),
    ]
}

#[tokio::test]
async fn what_another_one_changed_meanwhile_is_not_overwritten() {
    let service = TestService::start().await;
    for (path, theirs, mine) in resources(&service).await {
        let seen = etag(&service, &path).await;
        let changed = service.admin(Method::PATCH, &path, theirs).await;
        changed.expect(200);
        let now = changed.header("etag").expect("an ETag").to_owned();
        assert_ne!(now, seen, "{path}");

        let current = service.admin_get(&path).await;
        let refused = matching(&service, Method::PATCH, &path, &seen, mine.clone()).await;
        assert_eq!(
            refused.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(refused.header("etag"), Some(now.as_str()), "{path}");
        let problem = refused.expect(412);
        assert_eq!(problem["code"], "changed");
        if !path.starts_with("/sheets") {
            assert_eq!(problem["current"], current, "{path}");
        }
        assert_eq!(problem["current"]["name"], current["name"], "{path}");
        assert_eq!(service.admin_get(&path).await, current, "{path}");

        let saved = matching(&service, Method::PATCH, &path, &now, mine).await;
        saved.expect(200);
        assert_eq!(
            saved.header("etag"),
            Some(etag(&service, &path).await.as_str())
        );
    }
}

#[tokio::test]
async fn a_draft_that_another_one_changed_meanwhile_is_not_published() {
    let service = TestService::start().await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": [], "draft": true});
    let path = format!("/experiences/{}", service.experience(page).await);
    let publish = format!("{path}/publish");
    let seen = etag(&service, &path).await;
    let theirs = json!({"blocks": [{"type": "heading", "text": "Theirs"}]});
    service.admin_patch(&path, theirs).await;

    let refused = matching(&service, Method::POST, &publish, &seen, Value::Null).await;
    let problem = refused.expect(412);
    assert_eq!(problem["code"], "changed");
    assert_eq!(problem["current"], service.admin_get(&path).await);
    assert_eq!(problem["current"]["published_version"], Value::Null);

    let now = refused.header("etag").unwrap().to_owned();
    let published = matching(&service, Method::POST, &publish, &now, Value::Null).await;
    assert_eq!(published.expect(200)["published_version"], 1);
}

#[tokio::test]
async fn an_experience_that_another_one_changed_meanwhile_is_not_rolled_back() {
    let service = TestService::start().await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": []});
    let path = format!("/experiences/{}", service.experience(page).await);
    let rollback = format!("{path}/rollback");
    let blocks = |text: &str| json!({"blocks": [{"type": "heading", "text": text}]});
    let published = format!("{path}?publish=true");
    service.admin_patch(&published, blocks("Second")).await;
    let seen = etag(&service, &path).await;
    service.admin_patch(&published, blocks("Theirs")).await;

    let first = json!({"version": 1});
    let refused = matching(&service, Method::POST, &rollback, &seen, first.clone()).await;
    let problem = refused.expect(412);
    assert_eq!(problem["code"], "changed");
    assert_eq!(problem["current"], service.admin_get(&path).await);
    assert_eq!(problem["current"]["published_version"], 3);

    let now = refused.header("etag").unwrap().to_owned();
    let back = matching(&service, Method::POST, &rollback, &now, first).await;
    assert_eq!(back.expect(200)["published_version"], 4);
}

#[tokio::test]
async fn what_another_one_changed_meanwhile_is_not_deleted() {
    let service = TestService::start().await;
    let mut resources = resources(&service).await;
    // These two cannot be deleted.
    resources.retain(|(path, ..)| !path.starts_with("/sheets") && path != "/settings");
    for (path, theirs, _) in resources {
        let seen = etag(&service, &path).await;
        service.admin_patch(&path, theirs).await;
        let refused = matching(&service, Method::DELETE, &path, &seen, Value::Null).await;
        let problem = refused.expect(412);
        assert_eq!(problem["code"], "changed");
        assert_eq!(problem["current"], service.admin_get(&path).await);
        let now = refused.header("etag").unwrap().to_owned();
        for status in [204, 404] {
            let deleted = matching(&service, Method::DELETE, &path, &now, Value::Null).await;
            assert_eq!(deleted.status, status, "{path}");
        }
    }
}

#[tokio::test]
async fn what_visitors_and_taps_write_is_no_other_revision() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let paths = [
        tag.admin_path(),
        format!("/inlays/{}", inlay.id),
        "/experiences/1".to_owned(),
    ];
    let mut before = Vec::new();
    for path in &paths {
        before.push((service.admin_get(path).await, etag(&service, path).await));
    }
    service.advance(1_000);
    let tap = service.tap(&inlay.url(&tag)).await;
    let update = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    assert_eq!(update.status, 200);
    service.tag_to("https://owner.example/", Value::Null).await;
    for (path, (shown, seen)) in paths.iter().zip(before) {
        if path != "/experiences/1" {
            assert_ne!(service.admin_get(path).await, shown, "{path}");
        }
        assert_eq!(etag(&service, path).await, seen, "{path}");
    }
    // A property is not part of the tag's revision, nor the tag part of the property's.
    let seen = etag(&service, &tag.admin_path()).await;
    let put = format!("{}/data/colour", tag.admin_path());
    service
        .admin(Method::PUT, &put, json!({"value": "red"}))
        .await
        .expect(201);
    assert_eq!(etag(&service, &tag.admin_path()).await, seen);
}

#[tokio::test]
async fn each_property_has_a_revision_of_its_own() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    for class in ["variables", "data", "attributes"] {
        let list = format!("{}/{class}", tag.admin_path());
        let path = format!("{list}/registered");
        let value = |value: &str| json!({"value": value});
        service.admin(Method::PUT, &path, value("false")).await;
        let seen = etag(&service, &path).await;
        let items = service.admin_get(&list).await;
        let listed = items["items"].as_array().unwrap().iter();
        let listed = listed.clone().find(|item| item["key"] == "registered");
        assert_eq!(listed.unwrap()["etag"], json!(seen));

        let changed = service.admin(Method::PUT, &path, value("true")).await;
        let now = changed.header("etag").unwrap().to_owned();
        let theirs = service.admin_get(&path).await;
        assert_eq!(
            theirs,
            json!({"key": "registered", "value": "true", "etag": now})
        );
        for (method, body) in [(Method::PUT, value("mine")), (Method::DELETE, Value::Null)] {
            let refused = matching(&service, method, &path, &seen, body).await;
            assert_eq!(refused.header("etag"), Some(now.as_str()));
            let problem = refused.expect(412);
            assert_eq!(problem["code"], "changed");
            assert_eq!(problem["current"], theirs);
        }
        assert_eq!(service.admin_get(&path).await, theirs);
        let saved = matching(&service, Method::PUT, &path, &now, value("mine")).await;
        assert_eq!(saved.expect(200)["value"], "mine");
        let now = etag(&service, &path).await;
        let gone = matching(&service, Method::DELETE, &path, &now, Value::Null).await;
        assert_eq!(gone.status, 204);
        // A deleted resource has changed, too: an edit does not create it again.
        let again = matching(&service, Method::PUT, &path, &now, value("mine")).await;
        assert_eq!(again.header("etag"), None);
        assert_eq!(again.expect(412)["current"], Value::Null);
        assert_eq!(
            service.admin(Method::GET, &path, Value::Null).await.status,
            404
        );
        let any = matching(&service, Method::PUT, &path, "*", value("mine")).await;
        assert_eq!(any.status, 412);
    }
    // A visitor's update changes the property.
    let path = format!("{}/variables/registered", tag.admin_path());
    service
        .admin(Method::PUT, &path, json!({"value": "false"}))
        .await;
    let seen = etag(&service, &path).await;
    let tap = service.tap(&inlay.url(&tag)).await;
    service
        .update(tap.key(), json!({"registered": "yes"}))
        .await;
    let put = matching(&service, Method::PUT, &path, &seen, json!({"value": "x"})).await;
    assert_eq!(put.expect(412)["current"]["value"], "yes");
}

#[tokio::test]
async fn if_match_is_optional_and_read_as_rfc_9110_says() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let path = tag.admin_path();
    let seen = etag(&service, &path).await;
    let name = |name: &str| json!({"name": name});
    let created = service.admin(Method::POST, "/tags", name("Other")).await;
    assert!(created.header("etag").is_some());
    for (given, status) in [
        (format!("\"another\", {seen}"), 200),
        ("*".to_owned(), 200),
        (format!("W/{seen}"), 412),
        ("\"another\"".to_owned(), 412),
        ("another".to_owned(), 422),
        (String::new(), 422),
    ] {
        let answer = matching(&service, Method::PATCH, &path, &given, name("Bottle")).await;
        assert_eq!(answer.status, status, "{given}");
    }
    let missing = matching(&service, Method::PATCH, "/tags/99", &seen, name("x")).await;
    assert_eq!(missing.status, 404);
}

/// Comparing and saving is one operation: if many clients saw the same revision, one of them saves.
#[tokio::test]
async fn of_many_who_saw_the_same_revision_one_saves() {
    let service = TestService::start().await;
    for (path, ..) in resources(&service).await {
        let seen = etag(&service, &path).await;
        let change = |n: usize| match path.as_str() {
            "/settings" => json!({"app_id": 100 + n}),
            path if path.starts_with("/inlays") => json!({"file_key": format!("{n:032}")}),
            _ => json!({"name": format!("Name {n}")}),
        };
        let edits = (1..=16).map(|n| matching(&service, Method::PATCH, &path, &seen, change(n)));
        let answers = futures_util::future::join_all(edits).await;
        let saved = answers.iter().filter(|answer| answer.status == 200).count();
        let refused = answers.iter().filter(|answer| answer.status == 412).count();
        assert_eq!((saved, refused), (1, 15), "{path}");
    }
}
