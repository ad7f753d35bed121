//! A limited token can check its own tags, and learns nothing about others.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{OsEntropy, bytes};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::{Client, TestService};

use super::limited::limited;
use super::service;

async fn ask(client: &Client, url: &str) -> Value {
    let asked = client.admin(Method::POST, "/verification", json!({"url": url}));
    asked.await.expect(200)
}

/// A URL without its slug and without the readable parts of its code.
fn anonymous(answer: &Value, of: &[&str]) -> String {
    let mut text = answer.to_string();
    for own in of {
        text = text.replace(own, "...");
    }
    text
}

struct World {
    service: TestService,
    client: Client,
    own: i64,
}

async fn world() -> World {
    let service = service().await;
    let own = service.redirect("https://owner.example/").await;
    let client = limited(&service, own).await;
    World {
        service,
        client,
        own,
    }
}

#[tokio::test]
async fn its_own_tags_are_answered_as_to_everybody() {
    let World {
        service,
        client,
        own,
    } = world().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = json!({"name": "Own", "experience_id": own});
        let tag = service.tag(tag).await;
        let mut inlay = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        let good = format!("{}{}", service.base(), inlay.url(&tag));
        assert_eq!(ask(&client, &good).await, ask(&service, &good).await);
        assert_eq!(ask(&client, &good).await["tag_verified"], true);
        let wrong = format!("{}0000000000000000", &good[..good.len() - 16]);
        let shown = ask(&client, &wrong).await;
        assert_eq!(shown, ask(&service, &wrong).await);
        assert_eq!(shown["tag_verified"], false);
        assert_eq!(shown["tag_id"], tag.id);
        let bare = format!("{}{}", service.base(), tag.path());
        assert_eq!(ask(&client, &bare).await, ask(&service, &bare).await);
    }
}

#[tokio::test]
async fn a_url_of_a_tag_outside_is_answered_as_one_of_no_tag() {
    let World {
        service, client, ..
    } = world().await;
    let outside = service.redirecting_tag(json!({"name": "Secret"})).await;
    let nowhere = service.tag(json!({"name": "Secret"})).await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let mut unknown = chip(mirror, MacFrom::None);
        let code = unknown.tap(bytes(&OsEntropy)).unwrap();
        let base = service.base();
        let nobody = outside.with(&code).replace(&outside.slug, "no-such-tag");
        let expected = ask(&client, &format!("{base}{nobody}")).await;
        let own = [code.uid.as_str(), code.token.as_str(), "no-such-tag"];
        let expected = anonymous(&expected, &own);
        for tag in [&outside, &nowhere] {
            let mut inlay = service.rolling_inlay(tag, mirror, MacFrom::None).await;
            let url = format!("{base}{}", inlay.url(tag));
            let shown = ask(&client, &url).await;
            assert_eq!(anonymous(&shown, &[&tag.slug]), expected, "{shown}");
            assert_eq!(shown["tag_id"], Value::Null);
            assert_eq!(ask(&service, &url).await["tag_id"], tag.id);
        }
    }
}

#[tokio::test]
async fn a_code_of_a_chip_outside_at_an_own_tag_reads_like_one_of_an_unknown_chip() {
    let World {
        service,
        client,
        own,
    } = world().await;
    let outside = service.redirecting_tag(json!({"name": "Secret"})).await;
    let loose = service.tag(json!({"name": "Secret"})).await;
    let second = json!({"name": "Second", "experience_id": own});
    let second = service.tag(second).await;
    let master = json!({
        "name": "Secret master", "key": "00112233445566778899AABBCCDDEEFF",
        "derivation": {"scheme": "an10922", "input": "{uid}3042F54E585020416275", "diversify_meta": true},
    });
    service.admin_create("/master-keys", master).await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = json!({"name": "Own", "experience_id": own});
        let tag = service.tag(tag).await;
        service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        let with_chip = async |client: &Client, url: &str| {
            let asked =
                json!({"url": url, "chip": {"uid": "04112233445566", "technology": "ntag424dna"}});
            let asked = client.admin(Method::POST, "/verification", asked).await;
            asked.expect(200).clone()
        };
        let mut unknown = chip(mirror, MacFrom::None);
        let code = unknown.tap(bytes(&OsEntropy)).unwrap();
        let nobody = format!("{}{}", service.base(), tag.with(&code));
        let own_parts = [code.uid.as_str(), code.token.as_str()];
        let expected = anonymous(&ask(&client, &nobody).await, &own_parts);
        let expected_chip = anonymous(&with_chip(&client, &nobody).await, &own_parts);
        for other in [&outside, &loose] {
            let mut inlay = service.rolling_inlay(other, mirror, MacFrom::None).await;
            let code = inlay.chip.tap(bytes(&OsEntropy)).unwrap();
            let url = format!("{}{}", service.base(), tag.with(&code));
            let parts = [code.uid.as_str(), code.token.as_str()];
            let shown = ask(&client, &url).await;
            assert_eq!(anonymous(&shown, &parts), expected, "{shown}");
            let shown = with_chip(&client, &url).await;
            assert_eq!(anonymous(&shown, &parts), expected_chip, "{shown}");
            assert!(ask(&service, &url).await["inlay_id"].is_i64());
        }
        // An inlay of another tag inside is named.
        let mut inlay = service.rolling_inlay(&second, mirror, MacFrom::None).await;
        let code = inlay.chip.tap(bytes(&OsEntropy)).unwrap();
        let url = format!("{}{}", service.base(), tag.with(&code));
        assert_eq!(ask(&client, &url).await, ask(&service, &url).await);
        assert!(ask(&client, &url).await["inlay_id"].is_i64());
    }
}
