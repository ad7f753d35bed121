//! Blocks that only some visitors see.

use scraper::Html;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{Answering as _, TestService};

use crate::studio::dom::text;
use crate::studio::{tag, tag_with};

fn when(when: &Value, then: &str, otherwise: &str) -> Value {
    json!({
        "type": "condition", "when": when,
        "blocks": [{"type": "heading", "text": then}],
        "otherwise": [{"type": "heading", "text": otherwise}],
    })
}

#[tokio::test]
async fn what_is_shown_follows_the_variable() {
    let service = TestService::start().await;
    let registered = json!({"type": "variable_equals", "variable": "registered", "value": "true"});
    let tag = tag(&service, json!([when(&registered, "Yours", "Register")])).await;
    let shown = async || {
        let page = Html::parse_document(&service.tap(&tag.path()).await.answer.body);
        text(&page, "h1")
    };
    assert_eq!(shown().await, ["Register"]);
    let variables = json!({"variables": {"registered": "true"}});
    service.admin_patch(&tag.admin_path(), variables).await;
    assert_eq!(shown().await, ["Yours"]);
}

#[tokio::test]
async fn authentic_not_verified_and_not_checked_are_one_page() {
    let service = TestService::start().await;
    let state = |state: &str| {
        json!({"type": "condition", "when": {"type": "verification", "any_of": [state]},
               "blocks": [{"type": "heading", "text": state}]})
    };
    let blocks = json!([
        state("verified"),
        state("not_verified"),
        state("not_checked")
    ]);
    let tag = tag(&service, blocks).await;
    let shown = async |url: &str| {
        let page = Html::parse_document(&service.tap(url).await.answer.body);
        text(&page, "h1")
    };
    assert_eq!(shown(&tag.path()).await, ["not_checked"]);
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let url = inlay.url(&tag);
    assert_eq!(shown(&url).await, ["verified"]);
    assert_eq!(shown(&url).await, ["not_verified"], "replayed");
}

#[tokio::test]
async fn the_scan_count_includes_this_tap() {
    let service = TestService::start().await;
    let second = json!({"type": "scan_count", "at_least": 2});
    let tag = tag(&service, json!([when(&second, "Again", "First")])).await;
    for expected in ["First", "Again", "Again"] {
        let page = Html::parse_document(&service.tap(&tag.path()).await.answer.body);
        assert_eq!(text(&page, "h1"), [expected]);
    }
}

#[tokio::test]
async fn a_visitor_gets_the_best_language_of_those_that_the_page_has() {
    let service = TestService::start().await;
    let in_language = |language: &str| {
        json!({"type": "condition", "when": {"type": "language", "any_of": [language]},
               "blocks": [{"type": "heading", "text": language}]})
    };
    let blocks = json!([in_language("de"), in_language("fr"), in_language("en")]);
    let tag = tag_with(
        &service,
        json!({"blocks": blocks}),
        json!({"language_code": "en_GB"}),
    )
    .await;
    for (accepted, language) in [
        ("", "en"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("es, fr;q=0.7, de;q=0.3", "fr"),
        ("es", "en"),
    ] {
        let request = service.get(&tag.path()).header("accept-language", accepted);
        let page = Html::parse_document(&request.answer().await.body);
        assert_eq!(text(&page, "h1"), [language], "{accepted}");
        let lang = crate::studio::dom::one(&page, "html")
            .attr("lang")
            .unwrap_or_default();
        assert!(lang.starts_with(language), "{lang}");
    }
}
