//! Operations on keys and secrets leave audit rows.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Answering as _;
use tapdesk_tests::fixtures::{TEMPLATE_HOST, unlisted_template, unlisted_uid, unlisted_url};

use super::Driver;

pub(super) async fn keys(driver: &mut Driver) {
    let template = json!({
        "name": "Bottles", "technology": "ntag424dna", "mac_from": "none",
        "template": "https://tags.example/b/{slug}?picc_data={picc}&cmac={mac}",
        "meta_keys": ["11".repeat(16)],
    });
    let template = driver
        .service
        .admin_create("/url-templates", template)
        .await;
    let webhook = json!({"url": "https://hooks.example/rotated", "events": ["tap.verified"]});
    let webhook = driver.service.admin_create("/webhooks", webhook).await;
    driver.look().await;
    let object = format!("webhooks/{}/secrets", webhook["id"]);
    let answer = driver
        .send(Method::POST, &format!("/{object}"), json!({}))
        .await;
    driver
        .left(
            "post_webhooks_id_secrets",
            answer,
            "webhooks.secrets.create",
            &object,
        )
        .await;
    let row = driver.newest().await;
    let until = &row["after"]["previous_secret_until"];
    assert!(until.is_string(), "{row}");
    // No receiver exists: the attempt is logged whether or not it succeeds.
    let nowhere = json!({"url": "https://hooks.invalid/", "events": ["tap.verified"]});
    let nowhere = driver.service.admin_create("/webhooks", nowhere).await;
    driver.look().await;
    for (what, body) in [
        ("test", Value::Null),
        ("resend", json!({"since": "2026-01-01T00:00:00Z"})),
    ] {
        let object = format!("webhooks/{}/{what}", nowhere["id"]);
        let answer = driver.send(Method::POST, &format!("/{object}"), body).await;
        let operation = format!("post_webhooks_id_{what}");
        driver
            .left(&operation, answer, &format!("webhooks.{what}"), &object)
            .await;
    }
    let object = format!("url-templates/{}/meta-keys", template["id"]);
    let path = format!("/{object}");
    let more = json!({"meta_keys": ["99".repeat(16)]});
    let answer = driver.send(Method::POST, &path, more).await;
    driver
        .left(
            "post_url_templates_id_meta_keys",
            answer,
            "url-templates.meta-keys",
            &object,
        )
        .await;
    let row = driver.newest().await;
    assert_eq!(
        row["after"]["meta_key_checks"].as_array().unwrap().len(),
        2,
        "{row}"
    );
    let check = template["meta_key_checks"][0].as_str().unwrap();
    let answer = driver
        .send(
            Method::DELETE,
            &format!("{path}?meta_key_check={check}"),
            Value::Null,
        )
        .await;
    driver
        .left(
            "delete_url_templates_id_meta_keys",
            answer,
            "url-templates.meta-keys.delete",
            &object,
        )
        .await;
    unlisted(driver).await;
}

async fn unlisted(driver: &mut Driver) {
    let rule = unlisted_template(&json!({"unlisted": "page"}));
    let template = driver.service.admin_create("/url-templates", rule).await;
    let tap = driver.service.get(&unlisted_url(1, 5));
    tap.header("host", TEMPLATE_HOST).answer().await;
    driver.look().await;
    let path = format!("/unlisted-chips/{}/enrol", unlisted_uid(1));
    let answer = driver.send(Method::POST, &path, json!({})).await;
    let object = path[1..].to_owned();
    let (operation, action) = (
        "post_unlisted_chips_uid_enrol",
        "unlisted-chips.enrol.create",
    );
    driver.left(operation, answer, action, &object).await;
    let object = format!("url-templates/{}/unlisted/revert", template["id"]);
    let body = json!({"since": "2020-01-01T00:00:00Z"});
    let answer = driver.send(Method::POST, &format!("/{object}"), body).await;
    let (operation, action) = (
        "post_url_templates_id_unlisted_revert",
        "url-templates.unlisted.revert",
    );
    driver.left(operation, answer, action, &object).await;
}
