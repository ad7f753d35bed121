//! Variables that a page writes, and tags without them.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::page;

/// A page with a form for a name, and a conditional button that claims the product.
fn asking() -> Value {
    json!({"name": "Ask", "kind": "studio", "blocks": [
        {"type": "form", "submit_label": "Send",
         "fields": [{"label": "Name", "kind": "text", "variable": "owner"}]},
        {"type": "condition", "when": {"type": "variable_empty", "variable": "read_only"},
         "blocks": [{"type": "variable_button", "label": "Mine", "variable": "claimed", "value": "true"}]},
    ]})
}

#[tokio::test]
async fn tags_that_lack_what_a_page_writes_are_named_and_get_it() {
    let service = TestService::start().await;
    let id = service.experience(asking()).await;
    let path = format!("/experiences/{id}/missing-variables");
    let lacking = async || service.admin_get(&path).await;
    let expected = |variables: Value, tags: u64| json!({"experience_id": id, "experience_name": "Ask", "variables": variables, "tags": tags});
    assert_eq!(lacking().await, expected(json!([]), 0));

    let with = |variables: Value| json!({"name": "Bottle", "experience_id": id, "variables": variables, "add_variables": false});
    let one = service.tag(with(json!({}))).await;
    let other = service.tag(with(json!({"owner": "Anna"}))).await;
    let whole = service
        .tag(with(json!({"owner": "", "claimed": "false"})))
        .await;
    let archived = service.tag(with(json!({}))).await;
    let archived_path = format!("/tags/{}", archived.id);
    service
        .admin_patch(&archived_path, json!({"status": "archived"}))
        .await;
    let both = expected(json!(["claimed", "owner"]), 2);
    assert_eq!(lacking().await, both);
    assert_eq!(
        service.admin_get("/experiences/missing-variables").await,
        json!({"items": [both]})
    );
    let asked = format!("{path}?tag_id={}", whole.id);
    assert_eq!(
        service.admin_get(&asked).await,
        expected(json!([]), 0),
        "before it is assigned"
    );

    let added = service.admin(Method::POST, &path, Value::Null).await;
    assert_eq!(added.expect(200), json!({"tags": 2, "more": false}));
    assert_eq!(lacking().await, expected(json!([]), 0));
    let variables = async |tag: i64| {
        let tag = service.admin_get(&format!("/tags/{tag}")).await;
        tag["variables"].clone()
    };
    assert_eq!(variables(one.id).await, json!({"claimed": "", "owner": ""}));
    assert_eq!(
        variables(other.id).await,
        json!({"claimed": "", "owner": "Anna"}),
        "what is there stays"
    );
    assert_eq!(variables(archived.id).await, json!({}));
    service
        .admin(
            Method::POST,
            "/experiences/999/missing-variables",
            Value::Null,
        )
        .await
        .expect(404);
}

#[tokio::test]
async fn what_a_draft_would_write_is_missing_only_once_it_is_published() {
    let service = TestService::start().await;
    let id = service.experience(page("Welcome")).await;
    service
        .tag(json!({"name": "Bottle", "experience_id": id}))
        .await;
    let path = format!("/experiences/{id}");
    let blocks = json!({"blocks": asking()["blocks"]});
    service
        .admin_patch(&format!("{path}?publish=false"), blocks.clone())
        .await;
    let missing = format!("{path}/missing-variables");
    assert_eq!(service.admin_get(&missing).await["tags"], 0);
    let published = format!("{path}/publish");
    service
        .admin(Method::POST, &published, Value::Null)
        .await
        .expect(200);
    assert_eq!(service.admin_get(&missing).await["tags"], 1);
}
