//! Strangers' values stay text wherever a page or a redirect shows them. An HTML parser like a
//! browser's decides.

use scraper::{ElementRef, Html, Node};
use serde_json::{Value, json};
use tapdesk_tests::{TestService, TestTag, injections, length};
use url::Url;

use crate::studio::dom::all;
use crate::studio::page::upload;
use crate::studio::tag_with;

const X: &str = "{{tag:variable:x}}";

/// The macros with other people's values.
const MACROS: [&str; 5] = [
    X,
    "{{tag:data:x}}",
    "{{tag:attribute:x}}",
    "{{ tag:title }}",
    "{{tag:name || \"nobody\"}}",
];

/// The macro `x` in every possible position of every kind of block.
fn everywhere(x: &str, image: &Value) -> Value {
    json!([
        {"type": "heading", "text": format!("A {x}")},
        {"type": "heading", "text": format!("B {x}{x}")},
        {"type": "image", "image_id": image, "alt": format!("A {x}")},
        {"type": "divider"},
        {"type": "text", "text": format!(
            "{x}\n\n**{x}** *{x}* `{x}`\n\n# {x}\n\n- {x}\n\n> {x}\n\n    {x}\n\n\
             [{x}](https://owner.example/{x}?a={x}#{x} \"{x}\") <https://owner.example/?{x}>\n\n\
             ![{x}](https://evil.example/{x}) <b title=\"{x}\">{x}</b>\n\n{x}a"
        )},
        {"type": "button", "label": format!("A {x}"), "url": format!("https://owner.example/{x}/b?c={x}#{x}")},
        {"type": "button", "label": format!("A {x}"), "url": format!("mailto:me@owner.example?subject={x}")},
        {"type": "video", "label": format!("A {x}"), "url": format!("https://owner.example/{x}")},
        {"type": "notice", "tone": "caution", "title": format!("A {x}"), "text": format!("A {x}")},
        {"type": "progress", "label": format!("A {x}"), "value": format!("A {x}"), "of": 3},
        {"type": "table", "rows": [{"key": format!("A {x}"), "value": format!("A {x}")}]},
        {"type": "form", "submit_label": format!("A {x}"), "fields": [
            {"label": format!("A {x}"), "kind": "text", "variable": "x"},
            {"label": format!("A {x}"), "kind": "multiline", "variable": "y"},
            {"label": format!("A {x}"), "kind": "choice", "variable": "z", "choices": ["a", "b"]},
            {"label": format!("A {x}"), "kind": "checkbox", "variable": "w"},
        ]},
        {"type": "variable_button", "label": format!("A {x}"), "variable": "x", "value": format!("A {x}")},
        {"type": "condition", "when": {"type": "variable_differs", "variable": "x", "value": "never"},
         "blocks": [{"type": "text", "text": format!("A {x}")}, {"type": "condition",
             "when": {"type": "variable_equals", "variable": "x", "value": "never"},
             "blocks": [{"type": "heading", "text": x}],
             "otherwise": [{"type": "table", "rows": [{"key": x, "value": format!("A {x}")}]}]}]},
    ])
}

/// Every element with its attribute names, and the attribute values that must not change.
fn shape(page: &Html) -> Vec<String> {
    let elements = page.tree.nodes().filter_map(ElementRef::wrap);
    elements
        .filter(|element| element.value().name() != "br")
        .map(|element| {
            let mut attributes: Vec<_> = element.value().attrs().collect();
            attributes.sort_unstable();
            let attributes = attributes.into_iter().map(|(name, value)| {
                let kept = match name {
                    // The nonce and the key differ between pages.
                    "nonce" | "title" | "lang" | "alt" => "",
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

/// The page's text without its own style and script.
fn scripts(page: &Html) -> Vec<String> {
    let own = all(page, "script, style");
    own.iter().map(|element| element.text().collect()).collect()
}

/// Writes `value` to every place that a person can fill. Returns the tag.
async fn put(service: &TestService, tag: &TestTag, value: &str) -> Value {
    let named: String = value.chars().take(200).collect();
    let mut changes = json!({
        "variables": {"x": value, "y": "", "z": "", "w": ""}, "data": {"x": value}, "attributes": {"x": value},
        "title": value.chars().take(2000).collect::<String>(),
    });
    if !named.trim().is_empty() {
        changes["name"] = named.into();
    }
    service.admin_patch(&tag.admin_path(), changes).await
}

async fn page(service: &TestService, tag: &TestTag) -> Html {
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 200);
    for (name, value) in &tap.answer.headers {
        assert!(!value.as_bytes().contains(&b'\n'), "{name}");
    }
    Html::parse_document(&tap.answer.body)
}

/// A tag whose page has the macro in every position.
async fn everywhere_tag(service: &TestService, x: &str) -> TestTag {
    let tag = tag_with(
        service,
        json!({}),
        json!({"variables": {"x": "harmless", "y": "", "z": "", "w": ""}}),
    )
    .await;
    let experience = service.admin_get(&tag.admin_path()).await["experience_id"].clone();
    let path = format!("/experiences/{experience}");
    let image = upload(service, &format!("{path}/images")).await;
    let blocks = json!({"blocks": everywhere(x, &image)});
    service
        .admin_patch(&format!("{path}?publish=true"), blocks)
        .await;
    tag
}

#[tokio::test]
async fn no_value_of_the_corpus_becomes_more_than_text_anywhere_on_a_page() {
    let service = TestService::start().await;
    for (turn, x) in MACROS.into_iter().enumerate() {
        let tag = everywhere_tag(&service, x).await;
        put(&service, &tag, "harmless").await;
        let harmless = page(&service, &tag).await;
        let (expected, own) = (shape(&harmless), scripts(&harmless));
        assert!(expected.len() > 70, "{}", expected.len());
        let mut tried = 0;
        for (number, value) in injections().iter().enumerate() {
            // Every value is a variable, and in turn each of the other macros; a soak tests all of
            // them.
            let in_turn = turn == 0 || number % (MACROS.len() - 1) == turn - 1;
            if value.is_empty() || !(in_turn || length(false, true)) {
                continue;
            }
            tried += 1;
            let said = put(&service, &tag, value).await;
            let said = match x {
                X => &said["variables"]["x"],
                _ if x.contains("data") => &said["data"]["x"],
                _ if x.contains("attribute") => &said["attributes"]["x"],
                _ if x.contains("title") => &said["title"],
                _ => &said["name"],
            };
            let page = page(&service, &tag).await;
            assert_eq!(shape(&page), expected, "{value:?}");
            assert_eq!(scripts(&page), own, "{value:?}");
            let comments = page
                .tree
                .nodes()
                .filter(|node| matches!(node.value(), Node::Comment(_)));
            assert_eq!(comments.count(), 0, "{value:?}");
            // The value is there, unchanged.
            let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
            for cell in all(&page, "dd") {
                let shown: String = cell.text().collect();
                let said = said.as_str().expect("a text");
                assert_eq!(lines(&shown), lines(&format!("A {said}")));
            }
        }
        assert!(tried >= if turn == 0 { 200 } else { 90 }, "{tried}");
    }
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
    let key = crate::studio::dom::key(&first);
    let mut expected = None;
    for value in injections()
        .iter()
        // An empty choice counts as none, and not as one that was not offered.
        .filter(|value| value.len() < 4000 && !value.contains('\0') && !value.is_empty())
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
