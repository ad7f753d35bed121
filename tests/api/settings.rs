//! `/admin/v1/settings`.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::settings::{Overrides, Source};
use tapdesk_tests::TestService;

fn default(value: impl Into<Value>) -> Value {
    json!({"value": value.into(), "source": "default", "read_only": false})
}

fn stored(value: impl Into<Value>) -> Value {
    json!({"value": value.into(), "source": "stored", "read_only": false})
}

/// The setting `tag_url` for an address that was not checked.
fn unchecked(mut setting: Value) -> Value {
    setting["check"] = Value::Null;
    setting
}

/// The setting `pages` without a logo.
fn without_logo(mut setting: Value) -> Value {
    setting["logo"] = Value::Null;
    setting
}

#[tokio::test]
async fn every_setting_tells_its_value_and_where_it_comes_from() {
    let service = TestService::start().await;
    let expected = json!({
        "tag_url": unchecked(default(format!("{}/t", service.base()))),
        "app_id": default(1),
        "default_country": default(""),
        "country_header": default(Value::Null),
        "trusted_proxies": default(json!([])),
        "retention_months": default(13),
        "audit_months": default(24),
        "submission_months": default(120),
        "disk_low_mebibytes": default(1024),
        "simulated_targets": default("stand_in"),
        "rate_limit": default(60),
        "hosts": default(json!([])),
        "app_links": default(json!([])),
        "pages": without_logo(default(json!({}))),
    });
    assert_eq!(service.admin_get("/settings").await, expected);
}

#[tokio::test]
async fn a_stored_setting_is_in_force_at_once_and_after_a_restart_until_it_is_taken_back() {
    let service = TestService::start().await;
    let changes = json!({
        "tag_url": "https://tags.example/t/",
        "app_id": 7,
        "default_country": "de",
        "country_header": "CF-IPCountry",
        "trusted_proxies": ["10.0.0.0/8", "192.0.2.1"],
        "retention_months": 24,
        "audit_months": 36,
        "submission_months": 60,
        "disk_low_mebibytes": 5,
        "simulated_targets": "real",
        "rate_limit": "off",
        "hosts": ["Admin.Example"],
        "app_links": [{"host": "Tags.Example", "ios_app_ids": ["ABCDE12345.com.example.app"]}],
        "pages": {"name": " Grand Cru ", "accent": "#7A1F2B"},
    });
    let expected = json!({
        "tag_url": unchecked(stored("https://tags.example/t")),
        "app_id": stored(7),
        "default_country": stored("DE"),
        "country_header": stored("cf-ipcountry"),
        "trusted_proxies": stored(json!(["10.0.0.0/8", "192.0.2.1/32"])),
        "retention_months": stored(24),
        "audit_months": stored(36),
        "submission_months": stored(60),
        "disk_low_mebibytes": stored(5),
        "simulated_targets": stored("real"),
        "rate_limit": stored("off"),
        "hosts": stored(json!(["admin.example"])),
        "app_links": stored(json!([{
            "host": "tags.example", "ios_app_ids": ["ABCDE12345.com.example.app"],
            "paths": [], "android_apps": [],
        }])),
        "pages": without_logo(stored(json!({"name": "Grand Cru", "accent": "#7a1f2b"}))),
    });
    assert_eq!(
        service.admin_patch("/settings", changes.clone()).await,
        expected
    );
    assert_eq!(service.service().settings().app_id, 7);
    assert_eq!(service.service().settings().rate_limit, None);

    let service = service.restart(0).await;
    assert_eq!(service.admin_get("/settings").await, expected);
    let Value::Object(mut nulls) = changes else {
        panic!("the changes are an object")
    };
    nulls.values_mut().for_each(|value| *value = Value::Null);
    let reset = service.admin_patch("/settings", Value::Object(nulls)).await;
    for (name, setting) in reset.as_object().unwrap() {
        assert_eq!(setting["source"], "default", "{name}");
    }
    assert_eq!(service.service().settings().app_id, 1);
}

#[tokio::test]
async fn a_host_that_is_allowed_reaches_the_admin_api_from_the_next_request() {
    let service = TestService::start().await;
    let ask = || {
        let request = service.admin_request(Method::GET, "/settings");
        tapdesk_tests::Answering::answer(request.header("host", "admin.example"))
    };
    ask().await.expect(421);
    service
        .admin_patch("/settings", json!({"hosts": ["admin.example"]}))
        .await;
    ask().await.expect(200);
}

#[tokio::test]
async fn a_setting_that_is_not_well_formed_is_refused_in_words_and_changes_nothing() {
    let service = TestService::start().await;
    let before = service.admin_get("/settings").await;
    for (changes, word) in [
        (
            json!({"app_id": 7, "tag_url": "ftp://tags.example"}),
            "http",
        ),
        (
            json!({"app_id": 7, "tag_url": "https://tags.example/t?a=b"}),
            "query",
        ),
        (json!({"app_id": 7, "retention_months": 0}), "1 to 1200"),
        (
            json!({"app_id": 7, "default_country": "DEU"}),
            "two letters",
        ),
        (json!({"app_id": 7, "country_header": "no name"}), "header"),
        (
            json!({"app_id": 7, "trusted_proxies": ["proxy"]}),
            "10.0.0.0/8",
        ),
        (json!({"app_id": 7, "rate_limit": 0}), "at least 1"),
        (
            json!({"app_id": 7, "simulated_targets": "moon"}),
            "stand_in",
        ),
        (
            json!({"app_id": 7, "hosts": ["https://admin.example"]}),
            "without scheme",
        ),
        (json!({"app_id": "7"}), "invalid type"),
        (json!({"app_id": 7, "colour": "red"}), "colour"),
        (json!([]), "map"),
    ] {
        let answer = service.admin(Method::PATCH, "/settings", changes).await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(word), "{detail}");
    }
    assert_eq!(service.admin_get("/settings").await, before);
}

#[tokio::test]
async fn a_setting_that_is_fixed_from_outside_is_read_only() {
    let service = TestService::start_with(|options| {
        options.fixed.environment = Overrides {
            app_id: Some(5),
            ..Overrides::default()
        };
        options.fixed.argument = Overrides {
            retention_months: Some(2),
            ..Overrides::default()
        };
    })
    .await;
    let settings = service.admin_get("/settings").await;
    let fixed = |value: i64, source| json!({"value": value, "source": source, "read_only": true});
    assert_eq!(settings["app_id"], fixed(5, Source::Environment));
    assert_eq!(settings["retention_months"], fixed(2, Source::Argument));
    for changes in [
        json!({"app_id": 6}),
        json!({"retention_months": null, "hosts": []}),
    ] {
        let answer = service.admin(Method::PATCH, "/settings", changes).await;
        let detail = answer.expect(409)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("is fixed"), "{detail}");
    }
    assert_eq!(service.admin_get("/settings").await, settings);
}
