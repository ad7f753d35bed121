//! Rules of a redirect.

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{Answering as _, TapResult, TestService, TestTag};

async fn tag(service: &TestService, rules: Value) -> TestTag {
    let redirect = json!({
        "name": "Rules", "kind": "redirect", "target_url": "https://owner.example/default", "rules": rules,
    });
    let id = service.experience(redirect).await;
    let tag = json!({
        "name": "Bottle", "experience_id": id,
        "variables": {"registered": "false"}, "attributes": {"sku": "A/1"},
    });
    service.tag(tag).await
}

fn path(tap: &TapResult) -> String {
    let location = tap.location.as_deref().expect("a redirect");
    url::Url::parse(location).expect("a URL").path().to_owned()
}

fn rule(when: &Value, to: &str) -> Value {
    json!({"when": [when], "target_url": format!("https://owner.example/{to}")})
}

#[tokio::test]
async fn the_first_rule_that_is_met_leads_and_else_the_default() {
    let service = TestService::start().await;
    let rules = json!([
        rule(
            &json!({"type": "verification", "any_of": ["not_verified"]}),
            "warning"
        ),
        rule(
            &json!({"type": "variable_equals", "variable": "registered", "value": "true"}),
            "mine/{{tag:attribute:sku}}"
        ),
        rule(&json!({"type": "scan_count", "at_least": 3}), "often"),
    ]);
    let tag = tag(&service, rules).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let first = inlay.url(&tag);
    assert_eq!(path(&service.tap(&first).await), "/default");
    assert_eq!(path(&service.tap(&first).await), "/warning", "replayed");
    assert_eq!(path(&service.tap(&inlay.url(&tag)).await), "/often");
    let variables = json!({"variables": {"registered": "true"}});
    service.admin_patch(&tag.admin_path(), variables).await;
    let tap = service.tap(&inlay.url(&tag)).await;
    assert_eq!(path(&tap), "/mine/A%2F1", "macros stand in every target");
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        true,
        "the key is in each"
    );
}

#[tokio::test]
async fn rules_know_country_language_system_and_time() {
    let service = TestService::start_with(|options| {
        options.settings.default_country = "AT".to_owned();
    })
    .await;
    let both = json!({"when": [
        {"type": "operating_system", "any_of": ["ios"]}, {"type": "language", "any_of": ["de"]},
    ], "target_url": "https://owner.example/both"});
    let rules = json!([
        rule(
            &json!({"type": "time", "from": "2026-01-01T13:00:00Z", "until": "2026-01-01T14:00:00Z"}),
            "hour"
        ),
        both,
        rule(
            &json!({"type": "operating_system", "any_of": ["android"]}),
            "android"
        ),
        rule(&json!({"type": "language", "any_of": ["fr"]}), "french"),
        rule(&json!({"type": "country", "any_of": ["AT"]}), "austria"),
    ]);
    let tag = tag(&service, rules).await;
    let to = async |agent: &str, language: &str| {
        let request = service.get(&tag.path()).header("user-agent", agent);
        let request = request.header("accept-language", language);
        path(&TapResult::of(request.answer().await))
    };
    assert_eq!(
        to("x (iPhone; CPU iPhone OS 18_0 like Mac OS X)", "de-AT").await,
        "/both"
    );
    assert_eq!(
        to("x (iPhone; CPU iPhone OS 18_0 like Mac OS X)", "fr").await,
        "/french"
    );
    assert_eq!(to("x (Linux; Android 15)", "fr").await, "/android");
    assert_eq!(to("x (Windows NT 10.0)", "").await, "/austria");
    service.advance(60 * 60 * 1000);
    assert_eq!(to("x (Windows NT 10.0)", "").await, "/hour");
    service.advance(60 * 60 * 1000);
    assert_eq!(to("x (Windows NT 10.0)", "").await, "/austria");
}

#[tokio::test]
async fn rules_know_how_a_tag_was_scanned() {
    let service = TestService::start().await;
    let rules = json!([
        rule(&json!({"type": "technology", "any_of": ["n"]}), "nfc"),
        rule(&json!({"type": "technology", "any_of": ["q"]}), "qr"),
        rule(&json!({"type": "technology", "any_of": ["u"]}), "link"),
    ]);
    let tag = tag(&service, rules).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let first = inlay.url(&tag);
    assert_eq!(path(&service.tap(&first).await), "/nfc");
    assert_eq!(path(&service.tap(&first).await), "/nfc", "replayed");
    assert_eq!(path(&service.tap(&tag.path()).await), "/link");
    let printed = json!({"has_qr_code": true});
    service.admin_patch(&tag.admin_path(), printed).await;
    assert_eq!(path(&service.tap(&tag.path()).await), "/qr");
}

#[tokio::test]
async fn a_preview_follows_the_rules() {
    let service = TestService::start().await;
    let rules = json!([
        rule(
            &json!({"type": "verification", "any_of": ["verified"]}),
            "yes"
        ),
        rule(&json!({"type": "country", "any_of": ["DE"]}), "germany"),
        rule(
            &json!({"type": "operating_system", "any_of": ["ios"]}),
            "ios"
        ),
        rule(&json!({"type": "language", "any_of": ["de"]}), "german"),
    ]);
    let tag = tag(&service, rules).await;
    for (tap, to) in [
        (json!({"verification": "verified"}), "yes"),
        (
            json!({"verification": "not_checked", "country": "DE"}),
            "germany",
        ),
        (
            json!({"verification": "not_checked", "operating_system": "ios"}),
            "ios",
        ),
        (
            json!({"verification": "not_checked", "language": "de-CH"}),
            "german",
        ),
        (json!({"verification": "not_checked"}), "default"),
    ] {
        let mut body = tap;
        body["tag_id"] = tag.id.into();
        let preview = service
            .admin(reqwest::Method::POST, "/experiences/1/preview", body)
            .await
            .expect(200);
        let location = format!("https://owner.example/{to}?rk=ROLLING_KEY");
        assert_eq!(preview["location"], location);
    }
}

#[tokio::test]
async fn rules_are_changed_as_a_whole_and_refused_in_words() {
    let service = TestService::start().await;
    let tag = tag(&service, json!([])).await;
    let rules = json!([rule(&json!({"type": "scan_count", "at_least": 1}), "new")]);
    let changed = service
        .admin_patch("/experiences/1?publish=true", json!({"rules": rules}))
        .await;
    assert_eq!(changed["rules"], rules);
    assert_eq!(path(&service.tap(&tag.path()).await), "/new");
    let refused = service
        .admin(
            reqwest::Method::PATCH,
            "/experiences/1",
            json!({"rules": [rule(&json!({"type": "scan_count"}), "x")]}),
        )
        .await
        .expect(422);
    assert_eq!(
        refused["detail"],
        "Rule 1: Its condition names nothing that could be met."
    );
    let without = service
        .admin_patch("/experiences/1?publish=true", json!({"rules": null}))
        .await;
    assert_eq!(without.get("rules"), None);
    assert_eq!(path(&service.tap(&tag.path()).await), "/default");
}
