//! The parts of a page.

use scraper::Html;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService};

use crate::studio::dom::{all, one, text};
use crate::studio::{tag, tag_with};

#[tokio::test]
async fn every_block_stands_on_the_page_with_its_values() {
    let service = TestService::start().await;
    let blocks = json!([
        {"type": "heading", "text": "Bottle {{tag:attribute:sku}}"},
        {"type": "text", "text": "**Thank** you\n\n- one\n- two\n\n[More](https://owner.example/{{tag:attribute:sku}})"},
        {"type": "heading", "text": "Next"},
        {"type": "button", "label": "Shop", "url": "https://owner.example/?rk={{interaction:rk}}"},
        {"type": "button", "label": "Call", "url": "tel:+49301234", "look": "outlined"},
        {"type": "divider"},
        {"type": "table", "rows": [
            {"key": "SKU", "value": "{{tag:attribute:sku}}"}, {"key": "Empty", "value": "{{tag:data:none}}"},
        ]},
        {"type": "video", "label": "How it is made", "url": "https://www.video.example/watch?v=1"},
        {"type": "notice", "tone": "good", "title": "Authentic", "text": "Made by us."},
        {"type": "progress", "label": "Stamps", "value": "{{tag:data:stamps}}", "of": 5},
        {"type": "form", "submit_label": "Register", "fields": [
            {"label": "Name", "kind": "text", "variable": "note", "required": true},
        ]},
        {"type": "variable_button", "label": "Mine", "variable": "registered", "value": "true"},
    ]);
    let tag = tag_with(
        &service,
        json!({"blocks": blocks}),
        json!({"attributes": {"sku": "A/1"}, "data": {"stamps": "3"}}),
    )
    .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 200);
    let page = Html::parse_document(&tap.answer.body);

    assert_eq!(text(&page, "h1"), ["Bottle A/1"]);
    assert_eq!(text(&page, "h2"), ["Next"]);
    assert_eq!(
        text(&page, ".text strong, .text li"),
        ["Thank", "one", "two"]
    );
    let hrefs: Vec<_> = all(&page, "main a")
        .iter()
        .filter_map(|a| a.attr("href"))
        .collect();
    let key = tap.cookie.expect("a key");
    let key = key.split_once('=').expect("a cookie").1;
    assert_eq!(
        hrefs,
        [
            "https://owner.example/A%2F1".to_owned(),
            format!("https://owner.example/?rk={key}"),
            "tel:+49301234".to_owned(),
            "https://www.video.example/watch?v=1".to_owned(),
        ]
    );
    assert_eq!(text(&page, ".video span span"), ["video.example"]);
    assert_eq!(
        text(&page, "dt"),
        ["SKU"],
        "a row without a value is left out"
    );
    assert_eq!(text(&page, "dd"), ["A/1"]);
    assert_eq!(text(&page, ".notice.good strong"), ["Authentic"]);
    assert_eq!(
        (
            all(&page, ".progress li").len(),
            all(&page, ".progress .on").len()
        ),
        (5, 3)
    );
    assert_eq!(text(&page, "form button"), ["Register", "Mine"]);
    assert_eq!(
        one(&page, "#f10-note").attr("name"),
        Some("tag:variable:note")
    );
    assert_eq!(
        one(&page, "label[for=f10-note]").text().collect::<String>(),
        "Name"
    );
}

#[tokio::test]
async fn a_page_asks_nobody_but_the_service_and_runs_no_script_but_its_own() {
    let service = TestService::start().await;
    let tag = tag(&service, json!([
        {"type": "text", "text": "![x](https://evil.example/x.png) <img src=https://evil.example/y.png>"},
        {"type": "variable_button", "label": "Mine", "variable": "registered", "value": "true"},
    ]))
    .await;
    let answer = service.tap(&tag.path()).await.answer;
    let policy = answer.header("content-security-policy").expect("a policy");
    let page = Html::parse_document(&answer.body);
    let nonce = one(&page, "script")
        .attr("nonce")
        .expect("a nonce")
        .to_owned();
    assert_eq!(one(&page, "style").attr("nonce"), Some(&*nonce));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self'; \
             connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(all(&page, "[src], [style], link").is_empty());
    let again = service.tap(&tag.path()).await.answer;
    assert_ne!(
        again.header("content-security-policy"),
        Some(policy),
        "a nonce is used once"
    );
}

#[tokio::test]
async fn a_page_is_in_the_language_of_its_tag_and_runs_in_its_direction() {
    let service = TestService::start().await;
    for (code, language, direction, word) in [
        ("en_US", "en-US", None, "optional"),
        ("de_AT", "de-AT", None, "freiwillig"),
        ("ar", "ar", Some("rtl"), "اختياري"),
        ("he_IL", "he-IL", Some("rtl"), "לא חובה"),
    ] {
        let form = json!({"type": "form", "submit_label": "OK", "fields": [
            {"label": "Name", "kind": "text", "variable": "note"},
        ]});
        let tag = tag_with(
            &service,
            json!({"blocks": [form]}),
            json!({"language_code": code}),
        )
        .await;
        let page = Html::parse_document(&service.tap(&tag.path()).await.answer.body);
        let html = one(&page, "html");
        assert_eq!(
            (html.attr("lang"), html.attr("dir")),
            (Some(language), direction)
        );
        assert_eq!(text(&page, "small"), [word]);
    }
}

#[tokio::test]
async fn a_page_is_under_30_kb_and_says_what_it_is_called() {
    let service = TestService::start().await;
    let blocks: Vec<Value> = (0..10)
        .flat_map(|n| {
            [
                json!({"type": "text", "text": "A text of some length, as people write it. ".repeat(5)}),
                json!({"type": "form", "submit_label": "Send", "fields": [
                    {"label": "Name", "kind": "text", "variable": format!("a{n}")},
                    {"label": "Mail", "kind": "email", "variable": format!("b{n}")},
                    {"label": "Size", "kind": "choice", "variable": format!("c{n}"), "choices": ["S", "M", "L"]},
                ]}),
            ]
        })
        .collect();
    let tag = tag_with(
        &service,
        json!({"blocks": blocks}),
        json!({"title": "The bottle"}),
    )
    .await;
    let body = service.tap(&tag.path()).await.answer.body;
    assert!(body.len() < 30 * 1024, "{}", body.len());
    let page = Html::parse_document(&body);
    assert_eq!(text(&page, "title"), ["The bottle"]);
    assert_eq!(
        text(&page, "h1"),
        ["The bottle"],
        "for those who find their way by headings"
    );
}

/// Uploads a picture, and returns its id.
pub(super) async fn upload(service: &TestService, path: &str) -> Value {
    let mut png = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::new(4, 4);
    picture
        .write_to(&mut png, image::ImageFormat::Png)
        .expect("a picture");
    let request = service.admin_request(reqwest::Method::POST, path);
    request.body(png.into_inner()).answer().await.expect(201)["id"].clone()
}

#[tokio::test]
async fn images_are_served_to_those_who_were_shown_their_address() {
    let service = TestService::start().await;
    let tag = tag(&service, json!([])).await;
    let image = upload(&service, "/experiences/1/images").await;
    let shows = json!({
        "blocks": [{"type": "image", "image_id": image, "alt": "A bottle of {{tag:name}}"}],
        "theme": {"logo": image},
    });
    service
        .admin_patch("/experiences/1?publish=true", shows)
        .await;

    let page = Html::parse_document(&service.tap(&tag.path()).await.answer.body);
    let figure = one(&page, "figure img");
    assert_eq!(figure.attr("alt"), Some("A bottle of Bottle 41"));
    let src = figure.attr("src").expect("an address");
    assert_eq!(one(&page, ".logo").attr("src"), Some(src));
    let response = service.get(src).send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "image/png");
    assert!(
        response.headers()["cache-control"]
            .to_str()
            .expect("text")
            .contains("immutable")
    );

    for other in [
        "/media/1-1-000000000000000000000000",
        "/media/1-1",
        "/media/x",
        "/media/1-2-x",
    ] {
        assert_eq!(service.get(other).answer().await.status, 404, "{other}");
    }
}

#[tokio::test]
async fn a_theme_chooses_colours_typeface_and_corners() {
    let service = TestService::start().await;
    let theme = json!({"accent": "#aa3300", "background": "#fff4e0", "scheme": "light", "font": "serif", "corners": "square"});
    let tag = tag_with(&service, json!({"blocks": [], "theme": theme}), json!({})).await;
    let answer = service.tap(&tag.path()).await.answer;
    let page = Html::parse_document(&answer.body);
    let style = one(&page, "style").text().collect::<String>();
    for part in [
        "--fill:#aa3300",
        "--paper:#fff4e0",
        "--control:0px",
        "ui-serif",
    ] {
        assert!(style.contains(part), "{part} in {style}");
    }
    assert!(!style.contains("prefers-color-scheme"), "always light");
    // The pages that explain why there is nothing to show have the same look.
    let over = service
        .post_form(&tag.path(), &[("rolling_key", "x")])
        .answer()
        .await;
    assert_eq!(over.status, 400);
    assert!(over.body.contains("--fill:#aa3300"));
}

#[tokio::test]
async fn head_answers_as_get_would_and_issues_nothing() {
    let service = TestService::start().await;
    let tag = tag(&service, json!([{"type": "heading", "text": "Hello"}])).await;
    let head = service.head(&tag.path()).answer().await;
    assert_eq!((head.status, head.header("set-cookie")), (200, None));
    assert_eq!(service.scan_count(&tag).await, 0);
}

#[tokio::test]
async fn progress_is_a_number_of_any_size() {
    let service = TestService::start().await;
    for (value, filled) in [
        ("3", 3),
        (" 4 ", 4),
        ("5", 5),
        ("6", 5),
        ("255", 5),
        ("256", 5),
        ("300", 5),
        ("99999999999999999999", 5),
        ("2.5", 2),
        ("+1", 1),
        ("0", 0),
        ("-1", 0),
        ("-300", 0),
        ("many", 0),
        ("NaN", 0),
        ("inf", 0),
        ("1e309", 0),
        ("", 0),
    ] {
        let blocks = json!([{"type": "progress", "label": "Stamps", "value": "{{tag:variable:note}}", "of": 5}]);
        let variables = json!({"variables": {"note": value}});
        let tag = tag_with(&service, json!({"blocks": blocks}), variables).await;
        let page = Html::parse_document(&service.tap(&tag.path()).await.answer.body);
        assert_eq!(all(&page, ".progress .on").len(), filled, "{value}");
        assert_eq!(text(&page, ".progress p span")[1], format!("{filled} / 5"));
    }
}
