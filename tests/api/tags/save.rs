//! Creating, changing and deleting one tag.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, TestService};

use super::all;

#[tokio::test]
async fn a_deleted_tag_is_gone_everywhere_and_its_slug_stays_its_own() {
    let service = TestService::start().await;
    let tag = service
        .redirecting_tag(json!({"slug": "cellar-door"}))
        .await;
    let path = tag.admin_path();
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    for (method, path, body) in [
        (Method::GET, path.clone(), Value::Null),
        (Method::PATCH, path.clone(), json!({"name": "x"})),
        (Method::DELETE, path.clone(), Value::Null),
        (Method::PUT, format!("{path}/data/k"), json!({"value": "v"})),
        (
            Method::DELETE,
            format!("{path}/variables/registered"),
            Value::Null,
        ),
    ] {
        let answer = service.admin(method.clone(), &path, body).await;
        assert_eq!(answer.status, 404, "{method} {path}");
    }
    assert_eq!(service.tap(&tag.path()).await.status, 404);
    assert!(all(&service, "/tags?simulated=all", 50).await.is_empty());
    assert_eq!(all(&service, "/tags?deleted=true", 50).await.len(), 1);
    let again = json!({"name": "Another", "slug": "cellar-door"});
    let refused = service
        .admin(Method::POST, "/tags", again)
        .await
        .expect(409);
    assert!(
        refused["detail"].as_str().unwrap().contains("cellar-door"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_slug_that_can_be_guessed_is_saved_with_a_warning() {
    let service = TestService::start().await;
    let warning = "tapdesk-warning";
    let short = json!({"name": "Bottle", "slug": "k3v9qa"});
    let created = service.admin(Method::POST, "/tags", short).await;
    created.expect(201);
    assert!(created.header(warning).unwrap().contains("guessed"));
    let path = format!("/tags/{}", created.json()["id"]);
    for (changes, warned) in [
        (json!({"title": "A bottle"}), false),
        (json!({"slug": "k3v9qa-longer"}), false),
        (json!({"slug": "k3v9qb"}), true),
    ] {
        let answer = service.admin(Method::PATCH, &path, changes.clone()).await;
        answer.expect(200);
        let says = answer.header(warning).unwrap_or_default();
        assert_eq!(says.contains("guessed"), warned, "{changes}");
    }
    let generated = service
        .admin(Method::POST, "/tags", json!({"name": "Bottle"}))
        .await;
    assert_eq!(generated.header(warning), None);
}

/// A slug that became random would break the printed and encoded URLs.
#[tokio::test]
async fn a_member_that_cannot_be_empty_refuses_null() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    let experience = service
        .experience(json!({"name": "Page", "kind": "studio", "blocks": []}))
        .await;
    let sheet = service
        .admin_create("/sheets", json!({"name": "Delivery", "planned": 5}))
        .await;
    let master = json!({"name": "Cellar", "key": "0123456789abcdef0123456789abcdef", "derivation": {"scheme": "an10922", "input": "01{uid}"}});
    let master = service.admin_create("/master-keys", master).await;
    service
        .admin_patch(
            &tag.admin_path(),
            json!({"status": "archived", "verifier_enabled": false}),
        )
        .await;
    let tag = tag.admin_path();
    let experience = format!("/experiences/{experience}");
    let sheet = format!("/sheets/{}", sheet["id"]);
    let inlay = format!("/inlays/{}", inlay.id);
    let master = format!("/master-keys/{}", master["id"]);
    let of_tags = [
        "slug",
        "name",
        "status",
        "verifier_enabled",
        "updates_require_verified",
        "track_location",
        "has_qr_code",
    ];
    let of_tags = of_tags.iter().map(|member| (&tag, *member));
    let others = [
        (&experience, "name"),
        (&experience, "kind"),
        (&sheet, "name"),
        (&sheet, "closed"),
        (&inlay, "mac_from"),
        (&inlay, "allow_factory_keys"),
        (&master, "name"),
    ];
    for (path, member) in of_tags.chain(others) {
        let before = service.admin_get(path).await;
        let changes = json!({member: null});
        let refused = service.admin(Method::PATCH, path, changes).await;
        let problem = refused.expect(422);
        assert!(problem["detail"].as_str().unwrap().len() > 20, "{problem}");
        assert_eq!(service.admin_get(path).await, before, "{path} {member}");
    }
    for (path, member) in [
        (&tag, "title"),
        (&tag, "description"),
        (&tag, "experience_id"),
        (&tag, "location"),
        (&tag, "attributes"),
        (&tag, "data"),
        (&tag, "variables"),
        (&tag, "widget_settings"),
        (&experience, "theme"),
        (&sheet, "planned"),
        (&inlay, "tag_id"),
        (&inlay, "mirror"),
    ] {
        service.admin_patch(path, json!({member: null})).await;
    }
    for setting in ["app_id", "retention_months", "rate_limit", "hosts"] {
        service
            .admin_patch("/settings", json!({setting: null}))
            .await;
    }
}

/// A page whose form writes more variables than a warning lists.
async fn page(service: &TestService) -> i64 {
    let fields: Vec<_> = (1..=7)
        .map(|number| json!({"variable": format!("answer_{number}"), "label": "Answer", "kind": "text"}))
        .collect();
    let form = json!({"type": "form", "fields": fields, "submit_label": "Send"});
    let page = json!({"name": "Page", "kind": "studio", "blocks": [form]});
    service.experience(page).await
}

#[tokio::test]
async fn a_tag_that_is_assigned_without_what_the_page_writes_is_saved_with_a_warning() {
    let service = TestService::start().await;
    let page = page(&service).await;
    let warning = |answer: &Answer| answer.header("tapdesk-warning").map(str::to_owned);
    let assign = json!({"experience_id": page, "add_variables": false});
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    let answer = service
        .admin(Method::PATCH, &tag.admin_path(), assign.clone())
        .await;
    answer.expect(200);
    let said = warning(&answer).expect("a warning");
    let way_out = format!("/admin/v1/experiences/{page}/missing-variables");
    for part in ["the tag lacks", "answer_1", "answer_5 and 2 more", &way_out] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("answer_6"), "{said}");
    // This request assigned nothing.
    let renamed = json!({"name": "Bottle 42"});
    let answer = service
        .admin(Method::PATCH, &tag.admin_path(), renamed)
        .await;
    assert_eq!(warning(&answer), None);

    let created = json!({"name": "Bottle 43", "experience_id": page, "add_variables": false});
    let created = service.admin(Method::POST, "/tags", created).await;
    created.expect(201);
    assert!(warning(&created).is_some_and(|said| said.contains("answer_1")));
    let bulk = json!({
        "action": "assign", "select": {"filter": {}}, "experience_id": page, "add_variables": false,
    });
    let answer = service
        .admin(Method::POST, "/tags/bulk", bulk.clone())
        .await;
    answer.expect(200);
    let said = warning(&answer).expect("a warning");
    assert!(said.contains("2 of its tags lack: answer_1"), "{said}");

    let path = format!("/experiences/{page}/missing-variables");
    service
        .admin(Method::POST, &path, Value::Null)
        .await
        .expect(200);
    let answer = service.admin(Method::POST, "/tags/bulk", bulk).await;
    assert_eq!(warning(&answer), None);
    let answer = service
        .admin(Method::PATCH, &tag.admin_path(), assign)
        .await;
    assert_eq!(warning(&answer), None);
}
