//! `/admin/v1/experiences`.

mod images;
mod variables;
mod versions;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, TestService};

fn redirect(name: &str, target: &str) -> Value {
    json!({"name": name, "kind": "redirect", "target_url": target})
}

fn page(text: &str) -> Value {
    json!({"name": "Welcome", "kind": "studio", "blocks": [{"type": "heading", "text": text}]})
}

/// Where a tap of the tag leads, without the rolling key.
async fn destination(service: &TestService, path: &str) -> String {
    let tap = service.tap(path).await;
    let location = tap.location.expect("the tag redirects");
    location
        .split(['?', '&'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Publishes an older version of the experience 1 again.
async fn roll_back(service: &TestService, version: u32) -> Answer {
    let version = json!({"version": version});
    service
        .admin(Method::POST, "/experiences/1/rollback", version)
        .await
}

async fn refused(service: &TestService, method: Method, path: &str, body: Value) -> String {
    let problem = service.admin(method, path, body).await.expect(422);
    problem["detail"].as_str().expect("a sentence").to_owned()
}

#[tokio::test]
async fn a_new_experience_is_version_1_and_shown_with_all_its_members() {
    let service = TestService::start().await;
    let created = service
        .admin_create(
            "/experiences",
            redirect("Register", "https://owner.example/a"),
        )
        .await;
    let expected = json!({
        "id": 1, "name": "Register", "kind": "redirect", "target_url": "https://owner.example/a",
        "published_version": 1, "draft": false, "tags": 0,
        "created_at": "2026-01-01T12:00:00Z", "updated_at": "2026-01-01T12:00:00Z",
    });
    assert_eq!(created, expected);
    assert_eq!(service.admin_get("/experiences/1").await, expected);
}

#[tokio::test]
async fn a_redirect_leads_to_http_or_https_and_nowhere_else() {
    let service = TestService::start().await;
    service.redirect("https://owner.example/").await;
    for target in [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//owner.example/",
        "owner.example",
        "https://{{tag:data:host}}/",
        "https://owner.example@evil.example/",
        "{{tag:variable:url}}",
        "https://owner.example/\r\nx: y",
        "",
    ] {
        let words = refused(
            &service,
            Method::POST,
            "/experiences",
            redirect("R", target),
        )
        .await;
        assert!(words.contains("target URL"), "{target}: {words}");
        let patch = json!({"target_url": target});
        let words = refused(&service, Method::PATCH, "/experiences/1", patch).await;
        assert!(words.contains("target URL"), "{target}: {words}");
    }
    let experience = service.admin_get("/experiences/1").await;
    assert_eq!(experience["target_url"], "https://owner.example/");
}

#[tokio::test]
async fn what_an_experience_cannot_be_is_refused_in_words() {
    let service = TestService::start().await;
    let target = "https://owner.example/";
    let deep = (0..5).fold(json!({"type": "divider"}), |inner, _| {
        json!({"type": "condition", "when": {"type": "scan_count", "at_least": 1}, "blocks": [inner]})
    });
    for (experience, words) in [
        (
            json!({"name": "R", "kind": "redirect"}),
            "needs a target_url",
        ),
        (json!({"name": "S", "kind": "studio"}), "needs blocks"),
        (
            json!({"name": "R", "target_url": target}),
            "missing field `kind`",
        ),
        (
            json!({"kind": "redirect", "target_url": target}),
            "missing field `name`",
        ),
        (redirect("", target), "needs a name of 1 to 200 characters"),
        (
            redirect("a\u{0}b", target),
            "needs a name of 1 to 200 characters",
        ),
        (
            redirect(&"a".repeat(201), target),
            "needs a name of 1 to 200 characters",
        ),
        (
            json!({"name": "R", "kind": "video", "target_url": target}),
            "unknown variant `video`",
        ),
        (
            json!({"name": "R", "kind": "redirect", "target_url": target, "blocks": []}),
            "no blocks",
        ),
        (
            json!({"name": "R", "kind": "redirect", "target": target}),
            "unknown field `target`",
        ),
        (
            json!({"name": "S", "kind": "studio", "blocks": [{"type": "sound"}]}),
            "Block 1 (sound)",
        ),
        (
            json!({"name": "S", "kind": "studio", "blocks": [deep]}),
            "at most 4 deep",
        ),
        (
            json!({"name": "S", "kind": "studio", "blocks": [{"type": "button", "label": "x", "url": "javascript:x"}]}),
            "A link begins with http://, https://, mailto: or tel:",
        ),
    ] {
        let refusal = refused(&service, Method::POST, "/experiences", experience).await;
        assert!(refusal.contains(words), "{refusal}");
    }
    assert_eq!(
        service.admin_get("/experiences").await,
        json!({"items": [], "next": null})
    );

    service.redirect(target).await;
    for (patch, words) in [
        (
            json!({"kind": "studio", "target_url": null, "blocks": []}),
            "does not change",
        ),
        (json!({"target_url": null}), "needs a target_url"),
        (json!({"name": null}), "missing field `name`"),
        (json!({"id": 2}), "unknown field `id`"),
    ] {
        let refusal = refused(&service, Method::PATCH, "/experiences/1", patch).await;
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[tokio::test]
async fn experiences_are_searched_by_name_and_kind_and_tell_where_they_are_used() {
    let service = TestService::start().await;
    for (name, target) in [("Register", "a"), ("50% off", "b"), ("register_all", "c")] {
        let target = format!("https://owner.example/{target}");
        service.experience(redirect(name, &target)).await;
    }
    service.experience(page("Hello")).await;
    service
        .tag(json!({"name": "One", "experience_id": 1}))
        .await;
    service
        .tag(json!({"name": "Two", "experience_id": 1}))
        .await;

    for (query, ids) in [
        ("", json!([1, 2, 3, 4])),
        ("?q=REG", json!([1, 3])),
        ("?q=%25", json!([2])),
        ("?q=_", json!([3])),
        ("?kind=studio", json!([4])),
        ("?q=reg&kind=studio", json!([])),
    ] {
        let list = service.admin_get(&format!("/experiences{query}")).await;
        let items = list["items"].as_array().expect("a list");
        let found: Vec<_> = items.iter().map(|item| item["id"].clone()).collect();
        assert_eq!(json!(found), ids, "{query}");
    }
    let first = service.admin_get("/experiences?limit=1&count=true").await;
    assert_eq!(
        (&first["items"][0]["tags"], &first["count"]),
        (&json!(2), &json!(4))
    );
    let next = first["next"].as_str().expect("there are more");
    let second = service
        .admin_get(&format!("/experiences?limit=1&after={next}"))
        .await;
    assert_eq!(second["items"][0]["id"], 2);
    assert_eq!(second["items"][0]["tags"], 0);
}

#[tokio::test]
async fn an_experience_is_deleted_once_no_tag_leads_to_it() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let delete = || service.admin(Method::DELETE, "/experiences/1", Value::Null);
    let one = delete().await.expect(409);
    assert_eq!(
        one["detail"],
        "One tag leads to this experience. Assign it another one first."
    );
    let other = service
        .tag(json!({"name": "Two", "experience_id": 1}))
        .await;
    let two = delete().await.expect(409);
    assert_eq!(
        two["detail"],
        "2 tags lead to this experience. Assign them another one first."
    );
    for tag in [tag, other] {
        service
            .admin_patch(&tag.admin_path(), json!({"experience_id": null}))
            .await;
    }
    assert_eq!(delete().await.status, 204);
    delete().await.expect(404);
    for path in ["", "/versions", "/images"] {
        let path = format!("/experiences/1{path}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(404);
    }
    let listed = service.admin_get("/experiences").await;
    assert_eq!(listed["items"], json!([]));
}

#[tokio::test]
async fn a_preview_shows_where_a_tap_would_lead_and_records_nothing() {
    let service = TestService::start().await;
    let target =
        "https://owner.example/{{tag:attribute:sku}}?v={{interaction:verification:result}}";
    service.redirect("https://owner.example/published").await;
    service
        .admin_patch("/experiences/1", json!({"target_url": target}))
        .await;
    let tag = service
        .tag(json!({"name": "Bottle", "attributes": {"sku": "A/1"}, "experience_id": 1}))
        .await;
    for (verification, result) in [
        ("verified", "true"),
        ("not_verified", "false"),
        ("not_checked", ""),
    ] {
        let tap = json!({"tag_id": tag.id, "verification": verification});
        let preview = service
            .admin(Method::POST, "/experiences/1/preview", tap)
            .await
            .expect(200);
        let location = format!("https://owner.example/A%2F1?v={result}&rk=ROLLING_KEY");
        assert_eq!(preview, json!({"kind": "redirect", "location": location}));
    }
    assert_eq!(service.scan_count(&tag).await, 0);

    service.experience(page("Hello {{tag:name}}")).await;
    let tap = json!({"tag_id": tag.id, "verification": "verified"});
    let preview = service
        .admin(Method::POST, "/experiences/2/preview", tap)
        .await
        .expect(200);
    assert_eq!(preview["kind"], "studio");
    let html = preview["html"].as_str().expect("a page");
    assert!(html.contains(">Hello Bottle</h1>"), "{html}");
    let other = json!({
        "tag_id": tag.id, "verification": "verified",
        "content": {"kind": "studio", "blocks": [{"type": "heading", "text": "Unsaved"}]},
    });
    let preview = service
        .admin(Method::POST, "/experiences/2/preview", other)
        .await
        .expect(200);
    let html = preview["html"].as_str().expect("a page");
    assert!(html.contains(">Unsaved</h1>"), "{html}");

    let nobody = json!({"tag_id": 99, "verification": "verified"});
    let refused = service
        .admin(Method::POST, "/experiences/1/preview", nobody)
        .await
        .expect(409);
    assert_eq!(refused["detail"], "There is no tag 99.");
}

#[tokio::test]
async fn every_template_is_an_experience_to_begin_with() {
    let service = TestService::start().await;
    let light = service
        .admin_get("/experiences/templates?scheme=light")
        .await;
    let items = light["items"].as_array().expect("templates");
    assert_eq!(items.len(), 10);
    for template in items {
        let html = template["html"].as_str().expect("a page");
        assert!(
            html.contains("<h1") && !html.contains("prefers-color-scheme:dark"),
            "{html}"
        );
        let experience = template["experience"].clone();
        let id = service.experience(experience).await;
        let tag = service
            .tag(json!({"name": "Bottle", "experience_id": id, "variables": template["variables"]}))
            .await;
        let tap = service.tap(&tag.path()).await;
        assert_eq!(tap.status, 200);
        assert!(tap.answer.body.len() < 30 * 1024);
    }
}
