//! What strangers write stays text, wherever a page or a redirect shows it. The
//! judge is a parser of HTML as browsers have it.

use scraper::{ElementRef, Html, Node};
use serde_json::{Value, json};
use tapdesk_tests::{TestService, TestTag, injections};
use url::Url;

use crate::dom::all;
use crate::tag_with;

const X: &str = "{{tag:variable:x}}";

/// A macro in every place where one can stand.
fn everywhere() -> Value {
    json!([
        {"type": "heading", "text": format!("A {X}")},
        {"type": "heading", "text": format!("B {X} {{{{tag:data:x}}}} {{{{tag:attribute:x}}}} {{{{tag:name}}}} {{{{tag:title}}}}")},
        {"type": "text", "text": format!(
            "{X}\n\n**{X}** *{X}* `{X}`\n\n# {X}\n\n- {X}\n\n> {X}\n\n    {X}\n\n\
             [{X}](https://owner.example/{X}?a={X}#{X} \"{X}\") <https://owner.example/?{X}>\n\n\
             ![{X}](https://evil.example/{X}) <b title=\"{X}\">{X}</b>\n\n{X}a"
        )},
        {"type": "button", "label": format!("A {X}"), "url": format!("https://owner.example/{X}/b?c={X}#{X}")},
        {"type": "button", "label": format!("A {X}"), "url": format!("mailto:me@owner.example?subject={X}")},
        {"type": "video", "label": format!("A {X}"), "url": format!("https://owner.example/{X}")},
        {"type": "notice", "tone": "caution", "title": format!("A {X}"), "text": format!("A {X}")},
        {"type": "progress", "label": format!("A {X}"), "value": format!("A {X}"), "of": 3},
        {"type": "table", "rows": [{"key": format!("A {X}"), "value": format!("A {X}")}]},
        {"type": "form", "submit_label": format!("A {X}"), "fields": [
            {"label": format!("A {X}"), "kind": "text", "variable": "x"},
            {"label": format!("A {X}"), "kind": "multiline", "variable": "y"},
            {"label": format!("A {X}"), "kind": "choice", "variable": "z", "choices": ["a", "b"]},
            {"label": format!("A {X}"), "kind": "checkbox", "variable": "w"},
        ]},
        {"type": "variable_button", "label": format!("A {X}"), "variable": "x", "value": format!("A {X}")},
    ])
}

/// Every element with the names of its attributes, and what must not change in them.
fn shape(page: &Html) -> Vec<String> {
    let elements = page.tree.nodes().filter_map(ElementRef::wrap);
    elements
        .filter(|element| element.value().name() != "br")
        .map(|element| {
            let mut attributes: Vec<_> = element.value().attrs().collect();
            attributes.sort_unstable();
            let attributes = attributes.into_iter().map(|(name, value)| {
                let kept = match name {
                    // The nonce and the key are of each page its own.
                    "nonce" | "title" | "lang" => "",
                    "value" if element.attr("name") == Some("rolling_key") => "",
                    "value" if element.attr("type") != Some("checkbox") => "",
                    "href" => return format!("href={}", origin(value)),
                    _ => value,
                };
                format!("{name}={kept}")
            });
            let attributes = attributes.collect::<Vec<_>>().join(" ");
            format!("{} {attributes}", element.value().name())
        })
        .collect()
}

fn origin(href: &str) -> String {
    let url = Url::parse(href).unwrap_or_else(|error| panic!("{href}: {error}"));
    let segments = url.path_segments().map_or(0, Iterator::count);
    let port = url.port();
    format!("{}:{:?}:{port:?}:{segments}", url.scheme(), url.host_str())
}

/// The text of everything but the page's own style and script.
fn scripts(page: &Html) -> Vec<String> {
    let own = all(page, "script, style");
    own.iter().map(|element| element.text().collect()).collect()
}

async fn put(service: &TestService, tag: &TestTag, value: &str) {
    let named: String = value.chars().take(200).collect();
    let mut changes = json!({
        "variables": {"x": value, "y": "", "z": "", "w": ""}, "data": {"x": value}, "attributes": {"x": value},
        "title": value.chars().take(2000).collect::<String>(),
    });
    if !named.trim().is_empty() {
        changes["name"] = named.into();
    }
    service.admin_patch(&tag.admin_path(), changes).await;
}

async fn page(service: &TestService, tag: &TestTag) -> Html {
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 200);
    for (name, value) in &tap.answer.headers {
        assert!(!value.as_bytes().contains(&b'\n'), "{name}");
    }
    Html::parse_document(&tap.answer.body)
}

#[tokio::test]
async fn no_value_of_the_corpus_becomes_more_than_text_anywhere_on_a_page() {
    let service = TestService::start().await;
    let tag = tag_with(
        &service,
        json!({"blocks": everywhere()}),
        json!({"variables": {"x": "harmless", "y": "", "z": "", "w": ""}}),
    )
    .await;
    put(&service, &tag, "harmless").await;
    let harmless = page(&service, &tag).await;
    let (expected, own) = (shape(&harmless), scripts(&harmless));
    assert!(expected.len() > 60);
    let mut tried = 0;
    for value in injections() {
        if value.contains('\0') || value.is_empty() {
            continue;
        }
        tried += 1;
        put(&service, &tag, &value).await;
        let page = page(&service, &tag).await;
        assert_eq!(shape(&page), expected, "{value:?}");
        assert_eq!(scripts(&page), own, "{value:?}");
        let comments = page
            .tree
            .nodes()
            .filter(|node| matches!(node.value(), Node::Comment(_)));
        assert_eq!(comments.count(), 0, "{value:?}");
        // It is there, and is itself.
        let cell = &all(&page, "dd")[0];
        let shown: String = cell.text().collect();
        let read = value.replace("\r\n", "\n").replace('\r', "\n");
        assert_eq!(
            shown.replace("\r\n", "\n").replace('\r', "\n"),
            format!("A {read}")
        );
    }
    assert!(tried >= 200, "{tried}");
}

#[tokio::test]
async fn what_a_form_was_sent_comes_back_as_text_alone() {
    let service = TestService::start().await;
    let form = json!([{"type": "form", "submit_label": "Send", "fields": [
        {"label": "A", "kind": "text", "variable": "x"}, {"label": "B", "kind": "multiline", "variable": "missing"},
        {"label": "C", "kind": "choice", "variable": "z", "choices": ["a"]},
    ]}]);
    let tag = tag_with(
        &service,
        json!({"blocks": form}),
        json!({"variables": {"x": ""}}),
    )
    .await;
    let first = page(&service, &tag).await;
    let key = crate::dom::key(&first);
    let mut expected = None;
    for value in injections()
        .iter()
        .filter(|value| value.len() < 4000 && !value.contains('\0'))
    {
        let fields = [
            ("rolling_key", &*key),
            ("tag:variable:x", value),
            ("tag:variable:missing", value),
            ("tag:variable:z", value),
        ];
        let request = service.post_form(&tag.path(), &fields);
        let response = request.send().await.expect("an answer");
        let html = Html::parse_document(&response.text().await.expect("a body"));
        let shape = shape(&html);
        assert_eq!(shape, *expected.get_or_insert(shape.clone()), "{value:?}");
    }
}

#[tokio::test]
async fn no_value_of_the_corpus_leads_a_rule_elsewhere() {
    let service = TestService::start().await;
    let redirect = json!({
        "name": "Rules", "kind": "redirect", "target_url": "https://owner.example/default",
        "rules": [{
            "when": [{"type": "variable_filled", "variable": "x"}],
            "target_url": format!("https://owner.example/a/{X}/b?c={X}#{X}"),
        }],
    });
    let experience = service.experience(redirect).await;
    let tag = service
        .tag(json!({"name": "Bottle", "experience_id": experience, "variables": {"x": ""}}))
        .await;
    for value in injections() {
        if value.contains('\0') || value.is_empty() {
            continue;
        }
        let variables = json!({"variables": {"x": value}});
        service.admin_patch(&tag.admin_path(), variables).await;
        let location = service.tap(&tag.path()).await.location.expect("a redirect");
        let url = Url::parse(&location).expect("a URL");
        assert_eq!(
            url.origin().ascii_serialization(),
            "https://owner.example",
            "{value:?}"
        );
        assert_eq!(
            url.path_segments().map(Iterator::count),
            Some(3),
            "{location}"
        );
        let keys = url.query_pairs().filter(|(name, _)| name == "rk").count();
        assert_eq!(keys, 1, "{location}");
    }
}
