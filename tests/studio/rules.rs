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

/// The text of the step "redirect" of each tap, the newest first.
async fn redirect_steps(service: &TestService) -> Vec<String> {
    let taps = service.admin_get("/interactions").await;
    let mut details = Vec::new();
    for tap in taps["items"].as_array().expect("taps") {
        let path = format!("/interactions/{}", tap["id"]);
        let traced = service.admin_get(&path).await;
        let steps = traced["steps"].as_array().expect("steps");
        let step = steps.iter().find(|step| step["name"] == "redirect");
        let detail = step.expect("a step")["detail"].as_str();
        details.push(detail.expect("a detail").to_owned());
    }
    details
}

#[tokio::test]
async fn a_language_rule_applies_where_the_visitor_puts_the_tags_own_language_behind_it() {
    let service = TestService::start().await;
    let german = json!([rule(
        &json!({"type": "language", "any_of": ["de"]}),
        "german"
    )]);
    let tag = tag(&service, german).await;
    for (language, to) in [
        ("en-US,en;q=0.9,de;q=0.8", "/default"),
        ("en-GB,de;q=0.9", "/default"),
        ("en;q=0.5,de;q=0.5", "/default"),
        ("de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "/german"),
        ("de,en", "/german"),
        ("en;q=0.2,de-AT;q=0.3", "/german"),
        ("fr,de;q=0.8,en;q=0.7", "/german"),
        ("fr,en;q=0.8,de;q=0.7", "/default"),
        ("fr", "/default"),
        ("", "/default"),
        ("*", "/default"),
        ("de,*;q=0.5", "/german"),
        ("de;q=0.1,*;q=0.5", "/default"),
        ("de;q=0,*;q=0.5", "/default"),
        ("en;q=0,*;q=0.5", "/german"),
        ("de;q=0", "/default"),
    ] {
        let request = service.get(&tag.path()).header("accept-language", language);
        let tap = TapResult::of(request.answer().await);
        assert_eq!(path(&tap), to, "{language}");
    }
    // Several header lines form one list.
    let request = service.get(&tag.path()).header("accept-language", "fr");
    let request = request.header("accept-language", "de;q=0.5");
    assert_eq!(path(&TapResult::of(request.answer().await)), "/german");
    // A tag's own language is another one.
    let french = json!({"language_code": "fr_FR"});
    service.admin_patch(&tag.admin_path(), french).await;
    let request = service
        .get(&tag.path())
        .header("accept-language", "en,de;q=0.8,fr;q=0.7");
    assert_eq!(path(&TapResult::of(request.answer().await)), "/german");
    let request = service
        .get(&tag.path())
        .header("accept-language", "en,de;q=0.7,fr;q=0.8");
    assert_eq!(path(&TapResult::of(request.answer().await)), "/default");
}

#[tokio::test]
async fn the_trace_of_a_tap_names_the_rule_that_led_it_and_says_when_none_did() {
    let service = TestService::start().await;
    let rules = json!([
        rule(&json!({"type": "country", "any_of": ["DE", "AT"]}), "here"),
        rule(&json!({"type": "language", "any_of": ["de"]}), "german"),
    ]);
    let tag = tag(&service, rules).await;
    service.tap(&tag.path()).await;
    let request = service.get(&tag.path()).header("accept-language", "de");
    assert_eq!(path(&TapResult::of(request.answer().await)), "/german");
    let unknown = "the visitor's country is unknown, so rule 1 could not apply · Rules, version 1";
    let by_none = format!("no rule applied: https://owner.example/default · {unknown}");
    let by_second = format!("rule 2 (language: de): https://owner.example/german · {unknown}");
    let expected = [by_second, by_none];
    // Before and after the taps are written.
    assert_eq!(redirect_steps(&service).await, expected);
    let service = service.restart(1_000).await;
    assert_eq!(redirect_steps(&service).await, expected);
    // A rule's result can reveal where a visitor came from.
    let erase = format!("{}/traces", tag.admin_path());
    service
        .admin(reqwest::Method::DELETE, &erase, Value::Null)
        .await
        .expect(204);
    for erased in redirect_steps(&service).await {
        assert!(erased.starts_with("by its rules"), "{erased}");
        assert!(!erased.contains("country"), "{erased}");
    }
}

#[tokio::test]
async fn a_country_that_the_service_never_learns_of_is_warned_about() {
    const HEADER: &str = "tapdesk-warning";
    let service = TestService::start().await;
    let country = |code: &str| rule(&json!({"type": "country", "any_of": [code]}), "here");
    let redirect = json!({
        "name": "Rules", "kind": "redirect", "target_url": "https://owner.example/default",
        "rules": [country("DE")],
    });
    let create = service.admin(reqwest::Method::POST, "/experiences", redirect);
    let created = create.await;
    assert_eq!(created.status, 201);
    let never = "The country that rule 1 asks for is never known: this service has no source of countries. \
                 Set a country file, the country header of a trusted proxy, or a default country.";
    assert_eq!(created.header(HEADER), Some(never));
    let patch = async |changes: Value| {
        let path = "/experiences/1?publish=true";
        service.admin(reqwest::Method::PATCH, path, changes).await
    };
    let page = json!({"name": "P", "kind": "studio", "draft": true, "blocks": [
        {"type": "condition", "when": {"type": "country", "any_of": ["DE"]}, "blocks": []}]});
    let page = service
        .admin(reqwest::Method::POST, "/experiences", page)
        .await;
    assert!(
        page.header(HEADER)
            .is_some_and(|words| words.contains("block 1"))
    );
    let published = service.admin(reqwest::Method::POST, "/experiences/2/publish", Value::Null);
    assert!(published.await.header(HEADER).is_some());
    // The preview says it before anything is saved.
    let tag = service.tag(json!({"name": "T"})).await;
    let preview = json!({"tag_id": tag.id, "verification": "not_checked"});
    let preview = service
        .admin(reqwest::Method::POST, "/experiences/1/preview", preview)
        .await;
    assert_eq!(preview.expect(200)["warnings"], json!([never]));
    // With a default country, the other conditions are never met.
    service
        .admin_patch("/settings", json!({"default_country": "AT"}))
        .await;
    let warned = patch(json!({"name": "Again"})).await;
    assert!(
        warned
            .header(HEADER)
            .is_some_and(|words| words.contains("counts as from AT"))
    );
    assert_eq!(
        patch(json!({"rules": [country("AT")]}))
            .await
            .header(HEADER),
        None
    );
    // A header is a source if a proxy is trusted to set it.
    let header = json!({"country_header": "cf-ipcountry"});
    service.admin_patch("/settings", header).await;
    assert!(
        patch(json!({"rules": [country("DE")]}))
            .await
            .header(HEADER)
            .is_some()
    );
    let proxy = json!({"trusted_proxies": ["127.0.0.0/8"]});
    service.admin_patch("/settings", proxy).await;
    assert_eq!(
        patch(json!({"rules": [country("FR")]}))
            .await
            .header(HEADER),
        None
    );
    let preview = json!({"tag_id": tag.id, "verification": "not_checked"});
    let preview = service
        .admin(reqwest::Method::POST, "/experiences/1/preview", preview)
        .await;
    assert_eq!(preview.expect(200).get("warnings"), None);
}

/// Since version 13 of its system, an iPad may claim to be a Mac: only its browser's name is left.
#[tokio::test]
async fn a_rule_for_ipads_is_met_by_ipads() {
    let service = TestService::start().await;
    let rules = json!([
        rule(
            &json!({"type": "operating_system", "any_of": ["ipados"]}),
            "ipad"
        ),
        rule(
            &json!({"type": "operating_system", "any_of": ["ios"]}),
            "iphone"
        ),
        rule(
            &json!({"type": "operating_system", "any_of": ["macos"]}),
            "mac"
        ),
    ]);
    let tag = tag(&service, rules).await;
    let webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
    let mac = format!("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {webkit}");
    for (agent, to, system) in [
        (
            format!(
                "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) {webkit} Version/17.5 Mobile/15E148 Safari/604.1"
            ),
            "/ipad",
            "ipados",
        ),
        (
            format!("{mac} CriOS/126 Version/11.1.1 Safari/605.1.15"),
            "/ipad",
            "ipados",
        ),
        (
            format!("{mac} FxiOS/128.0 Safari/605.1.15"),
            "/ipad",
            "ipados",
        ),
        (format!("{mac} Mobile/15E148"), "/ipad", "ipados"),
        (
            format!(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) {webkit} CriOS/126 Mobile/15E148 Safari/604.1"
            ),
            "/iphone",
            "ios",
        ),
        // Safari sends the same name on both.
        (
            format!("{mac} Version/17.5 Safari/605.1.15"),
            "/mac",
            "macos",
        ),
    ] {
        let request = service.get(&tag.path()).header("user-agent", &agent);
        let tap = TapResult::of(request.answer().await);
        assert_eq!(path(&tap), to, "{agent}");
        let shown = service.admin_get("/interactions?limit=1").await;
        assert_eq!(shown["items"][0]["system"], system, "{agent}");
    }
}
