//! Macros that can never be filled are refused when they are saved.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{page, redirect};

const MISSPELT: &str = "{{tag:atribute:sku}}";
const WORDS: &str = "There is no macro {{tag:atribute:sku}}. The nearest is {{tag:attribute:sku}}.";

fn form(label: &str, submit_label: &str) -> Value {
    json!({"type": "form", "submit_label": submit_label, "fields": [
        {"label": label, "kind": "text", "variable": "a"},
    ]})
}

/// The problem of a refused request: its field and its text.
async fn problem(
    service: &TestService,
    method: Method,
    path: &str,
    body: Value,
) -> (String, String) {
    let problem = service.admin(method, path, body).await.expect(422);
    let error = &problem["errors"][0];
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&error["field"]), text(&error["message"]))
}

#[tokio::test]
async fn a_misspelt_macro_is_refused_wherever_it_stands_with_the_nearest_name() {
    let service = TestService::start().await;
    let macros = MISSPELT;
    let url = format!("https://owner.example/?sn={macros}");
    let condition = |then: Value, otherwise: Value| {
        json!({"type": "condition", "when": {"type": "scan_count", "at_least": 1},
               "blocks": [then], "otherwise": [otherwise]})
    };
    let divider = json!({"type": "divider"});
    for block in [
        json!({"type": "heading", "text": macros}),
        json!({"type": "text", "text": format!("**Hello** {macros}")}),
        json!({"type": "text", "text": format!("[Shop]({url})")}),
        json!({"type": "button", "label": macros, "url": "https://owner.example/"}),
        json!({"type": "button", "label": "Shop", "url": url}),
        json!({"type": "button", "label": "Shop", "url": macros}),
        json!({"type": "button", "label": "Mail", "url": format!("mailto:a@b.example?subject={macros}")}),
        json!({"type": "video", "label": macros, "url": "https://owner.example/"}),
        json!({"type": "video", "label": "Film", "url": url}),
        json!({"type": "notice", "tone": "good", "title": macros}),
        json!({"type": "notice", "tone": "good", "title": "A", "text": macros}),
        json!({"type": "progress", "label": macros, "value": "1", "of": 2}),
        json!({"type": "progress", "label": "A", "value": macros, "of": 2}),
        json!({"type": "table", "rows": [{"key": macros, "value": "a"}]}),
        json!({"type": "table", "rows": [{"key": "a", "value": "b"}, {"key": "a", "value": macros}]}),
        form(macros, "Send"),
        form("Name", macros),
        json!({"type": "variable_button", "label": macros, "variable": "a", "value": "b"}),
        json!({"type": "variable_button", "label": "A", "variable": "a", "value": macros}),
        condition(json!({"type": "heading", "text": macros}), divider.clone()),
        condition(
            divider.clone(),
            condition(json!({"type": "heading", "text": macros}), divider.clone()),
        ),
    ] {
        let page = json!({"name": "P", "kind": "studio", "blocks": [{"type": "divider"}, block]});
        let (field, words) = problem(&service, Method::POST, "/experiences", page).await;
        assert_eq!(field, "blocks[1]", "{block}");
        assert!(words.ends_with(WORDS), "{block}: {words}");
        assert!(words.starts_with("Block 2 ("), "{block}: {words}");
    }
    for target in [&*url, macros] {
        let refused = problem(
            &service,
            Method::POST,
            "/experiences",
            redirect("R", target),
        )
        .await;
        assert_eq!(
            refused,
            ("target_url".to_owned(), WORDS.to_owned()),
            "{target}"
        );
        let rule = json!({"when": [{"type": "scan_count", "at_least": 1}], "target_url": target});
        let mut ruled = redirect("R", "https://owner.example/");
        ruled["rules"] = json!([rule]);
        let (field, words) = problem(&service, Method::POST, "/experiences", ruled).await;
        assert_eq!(field, "rules[0]");
        assert!(words.contains(WORDS), "{target}: {words}");
    }
    assert_eq!(service.admin_get("/experiences").await["items"], json!([]));
}

#[tokio::test]
async fn every_way_to_save_a_content_refuses_a_macro_that_cannot_be() {
    let service = TestService::start().await;
    service.redirect("https://owner.example/").await;
    service.experience(page("Hello")).await;
    for (text, words) in [
        (
            r#"{{tag:name || tag:titel || "x"}}"#,
            "The nearest is {{tag:title}}.",
        ),
        ("{{interaktion:rk}}", "The nearest is {{interaction:rk}}."),
        ("{{TAG:NAME}}", "The nearest is {{tag:name}}."),
        ("{{tag:variable:}}", "There is no macro {{tag:variable:}}."),
        (
            "{{tag:attribute:s ku}}",
            "The nearest is {{tag:attribute:sku}}.",
        ),
        ("{{}}", "The macro {{}} names nothing."),
        ("{{tag:name", "The macro {{tag:name cannot be read"),
        ("{{tag:name}", "The macro {{tag:name} cannot be read"),
        ("{{tag:name | tag:title}}", "cannot be read"),
        ("{{", "The macro {{ cannot be read"),
    ] {
        let url = format!("https://owner.example/?a={text}");
        let changed = json!({"target_url": url});
        let (field, said) = problem(&service, Method::PATCH, "/experiences/1", changed).await;
        assert_eq!(field, "target_url", "{text}");
        assert!(said.contains(words), "{text}: {said}");
        let changed = json!({"blocks": [{"type": "heading", "text": text}]});
        let (field, said) =
            problem(&service, Method::PATCH, "/experiences/2", changed.clone()).await;
        assert_eq!(field, "blocks[0]", "{text}");
        assert!(said.contains(words), "{text}: {said}");

        let file = json!({"tapdesk_experience": 1, "name": "F", "content": {
            "kind": "studio", "blocks": changed["blocks"]}});
        let (field, said) = problem(&service, Method::POST, "/experiences/import", file).await;
        assert_eq!(field, "content.blocks[0]", "{text}");
        assert!(said.contains(words), "{text}: {said}");

        // While the draft is edited, the preview shows the page and names the problem.
        let tag = service.tag(json!({"name": "T"})).await;
        let preview = json!({"tag_id": tag.id, "verification": "not_checked", "content": {
            "kind": "studio", "blocks": changed["blocks"]}});
        let preview = service
            .admin(Method::POST, "/experiences/2/preview", preview)
            .await;
        let warning = preview.expect(200)["warnings"][0].clone();
        assert!(
            warning.as_str().is_some_and(|said| said.contains(words)),
            "{warning}"
        );
    }
    let experience = service.admin_get("/experiences/1").await;
    assert_eq!(experience["target_url"], "https://owner.example/");
}

#[tokio::test]
async fn what_is_no_macro_and_what_falls_back_is_saved() {
    let service = TestService::start().await;
    for text in [
        r#"{{ tag:title || tag:name || "none" }}"#,
        "{{tag:attribute:never-set}}",
        r"\{{ tag:anything }} \{{",
        "{ tag:name } }} }",
        "{{{tag:name}}}",
    ] {
        service.experience(page(text)).await;
    }
    let templates = service.admin_get("/experiences/templates").await;
    for template in templates["items"].as_array().expect("templates") {
        service.experience(template["experience"].clone()).await;
    }
}
