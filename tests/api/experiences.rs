//! `/admin/v1/experiences`.

mod images;
mod macros;
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

/// The destination of a tap, without the rolling key.
async fn destination(service: &TestService, path: &str) -> String {
    let tap = service.tap(path).await;
    let location = tap.location.expect("the tag redirects");
    location
        .split(['?', '&'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Publishes an older version of experience 1 again.
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
async fn tags_that_lead_to_an_experience_by_a_group_are_counted() {
    let service = TestService::start().await;
    let page = service.redirect("https://owner.example/a").await;
    let other = service.redirect("https://owner.example/b").await;
    let product = json!({"kind": "product", "name": "Wine", "experience_id": page});
    let product = service.admin_create("/groups", product).await["id"].clone();
    let batch = json!({"kind": "batch", "name": "L03", "parent_id": product});
    let batch = service.admin_create("/groups", batch).await["id"].clone();
    for tag in [
        json!({"name": "A", "group_id": product}),
        json!({"name": "B", "group_id": batch}),
        json!({"name": "C", "group_id": batch, "experience_id": other}),
        json!({"name": "D", "experience_id": page}),
        json!({"name": "E"}),
    ] {
        service.admin_create("/tags", tag).await;
    }
    let counts = async || {
        let list = service.admin_get("/experiences").await;
        let items = list["items"].as_array().expect("a list").iter();
        let counts: Vec<_> = items.map(|item| item["tags"].clone()).collect();
        json!(counts)
    };
    assert_eq!(counts().await, json!([3, 1]));
    let shown = service.admin_get(&format!("/experiences/{page}")).await;
    assert_eq!(shown["tags"], 3);
    let filter = format!("/tags?experience_id={page}&count=true");
    assert_eq!(service.admin_get(&filter).await["count"], 3);
    let changed = json!({"experience_id": other});
    service
        .admin_patch(&format!("/groups/{batch}"), changed)
        .await;
    assert_eq!(counts().await, json!([2, 2]));
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
async fn a_preview_needs_no_tag_and_shows_states_and_the_places_of_blocks() {
    let service = TestService::start().await;
    let blocks = json!([
        {"type": "heading", "text": "{{tag:title}}, {{tag:attribute:sku}}"},
        {"type": "condition", "when": {"type": "variable_filled", "variable": "owner"},
         "blocks": [{"type": "text", "text": "Of {{tag:variable:owner}}"}],
         "otherwise": [{"type": "divider"}, {"type": "text", "text": "Nobody's"}]},
        {"type": "condition", "when": {"type": "scan_count", "at_least": 2},
         "blocks": [{"type": "text", "text": "Again"}]},
    ]);
    let page = json!({"name": "Page", "kind": "studio", "blocks": blocks});
    service.experience(page).await;
    let preview = async |tap: Value| {
        let preview = service
            .admin(Method::POST, "/experiences/1/preview", tap)
            .await
            .expect(200);
        let html = preview["html"].as_str().expect("a page").to_owned();
        html[html.find("<main").expect("a body")..].to_owned()
    };

    let sample = json!({"name": "Bottle", "title": "Bottle 41", "attributes": {"sku": "B-41"}});
    let first = preview(json!({"sample": sample, "verification": "verified"})).await;
    for part in [
        r#"<h1 data-block="0" dir="auto">Bottle 41, B-41</h1>"#,
        r#"<hr data-block="1.otherwise.0">"#,
        r#"data-block="1.otherwise.1" dir="auto"><p>Nobody's</p>"#,
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(!first.contains("Again"), "{first}");

    let tag = service
        .tag(json!({"name": "Jug", "experience_id": 1, "variables": {"owner": ""}}))
        .await;
    for of in [json!({"tag_id": tag.id}), json!({"sample": sample})] {
        let mut tap =
            json!({"verification": "verified", "scan_count": 2, "variables": {"owner": "Ada"}});
        for (key, value) in of.as_object().expect("an object") {
            tap[key] = value.clone();
        }
        let second = preview(tap).await;
        for part in [
            r#"data-block="1.blocks.0" dir="auto"><p>Of Ada</p>"#,
            r#"data-block="2.blocks.0" dir="auto"><p>Again</p>"#,
        ] {
            assert!(second.contains(part), "{part}: {second}");
        }
    }
    assert_eq!(service.scan_count(&tag).await, 0);
    let shown = service.tap(&tag.path()).await;
    assert!(
        !shown.answer.body.contains("data-block"),
        "{}",
        shown.answer.body
    );

    for tap in [
        json!({"verification": "verified"}),
        json!({"verification": "verified", "tag_id": tag.id, "sample": sample}),
    ] {
        let refused = service
            .admin(Method::POST, "/experiences/1/preview", tap)
            .await
            .expect(422);
        assert_eq!(refused["errors"][0]["field"], "tag_id");
    }

    // A redirect fills its macros from the sample, too.
    service
        .redirect("https://owner.example/{{tag:attribute:sku}}")
        .await;
    let redirect = service
        .admin(
            Method::POST,
            "/experiences/2/preview",
            json!({"sample": sample, "verification": "verified"}),
        )
        .await
        .expect(200);
    assert_eq!(
        redirect["location"],
        "https://owner.example/B-41?rk=ROLLING_KEY"
    );
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

#[tokio::test]
async fn templates_are_in_the_language_that_is_asked_for() {
    let service = TestService::start().await;
    let path = "/experiences/templates";
    let english = service.admin_get(path).await;
    assert_eq!(english["language"], "en");
    assert_eq!(english["languages"].as_array().map(Vec::len), Some(12));
    for (asked, language, title, lang) in [
        ("de-AT", "de", "Produktregistrierung", r#"lang="de""#),
        ("ar", "ar", "تسجيل المنتج", r#"lang="ar" dir="rtl""#),
        ("fi", "en", "Product registration", r#"lang="en""#),
    ] {
        let templates = service.admin_get(&format!("{path}?language={asked}")).await;
        let first = &templates["items"][0];
        assert_eq!(templates["language"], language, "{asked}");
        assert_eq!(first["title"], title, "{asked}");
        assert_eq!(first["experience"]["name"], title, "{asked}");
        assert!(
            first["html"]
                .as_str()
                .is_some_and(|html| html.contains(lang))
        );
        assert_eq!(first["variables"], english["items"][0]["variables"]);
        let id = service.experience(first["experience"].clone()).await;
        let tag = service
            .tag(json!({"name": "Lampe", "experience_id": id, "language_code": language}))
            .await;
        let button = first["experience"]["blocks"][1]["otherwise"][1]["submit_label"].clone();
        let page = service.tap(&tag.path()).await.answer.body;
        assert!(page.contains(lang), "{page}");
        assert!(page.contains(button.as_str().expect("a label")), "{page}");
    }
    for malformed in [
        "",
        "d",
        "de_AT",
        "de-",
        "deutsch-und-mehr-als-das-ist-es-nicht",
    ] {
        let path = format!("{path}?language={malformed}");
        let refused = service.admin(Method::GET, &path, Value::Null).await;
        let refused = refused.expect(422);
        assert_eq!(refused["errors"][0]["field"], "language", "{malformed}");
    }
}
