//! The data of an encoding that others may see: events, webhooks.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::relay::{answers, bytes};
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{PATIENCE, Receiver, TestService};

use super::bench::uid;
use super::http::hex;

#[tokio::test]
async fn events_and_webhooks_of_an_encoding_have_no_secret() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let webhook = json!({"url": receiver.url(), "events": ["inlay.encoded"]});
    service.admin_create("/webhooks", webhook).await;
    let mut stream = service
        .admin_request(Method::GET, "/events")
        .send()
        .await
        .unwrap();
    let tag = service.tag(json!({"name": "Bottle"})).await;

    let mut chip = VirtualNtag424::new(uid(1));
    chip.power_on();
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id});
    let mut turn = service.admin_create("/encodings", wish).await;
    let path = format!("/encodings/{}/answers", turn["id"]);
    let mut secrets: Vec<String> = Vec::new();
    while !turn["commands"].as_array().unwrap().is_empty() {
        for command in turn["commands"].as_array().unwrap() {
            let apdu = command["apdu"].as_str().unwrap_or_default();
            if ["90C4", "90AF000020", "905F"]
                .iter()
                .any(|head| apdu.starts_with(head))
            {
                secrets.push(apdu[10..].to_uppercase());
            }
        }
        let answers = answers(&mut chip, &turn);
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
        if let Some((enc, mac)) = chip.session().and_then(|session| session.keys()) {
            secrets.extend([enc, mac].map(|key| hex(key.expose()).to_uppercase()));
        }
    }
    assert_eq!(turn["state"], "verified", "{turn}");
    secrets.extend((0..5).map(|slot| hex(chip.key(slot).expose()).to_uppercase()));
    // Its one-time URL is spent, but still only for the desktop.
    let url = turn["result"]["url"].as_str().unwrap();
    secrets.push(url[url.find('?').unwrap() + 1..].to_uppercase());
    assert!(secrets.len() > 15, "{}", secrets.len());

    let mut arrived = String::new();
    while !arrived.contains("\"encoding_id\"") {
        let next = tokio::time::timeout(PATIENCE, stream.chunk()).await;
        let next = next.expect("it is told in time").unwrap();
        arrived.push_str(&String::from_utf8_lossy(&next.expect("the stream goes on")));
    }
    for delivered in receiver.wait_for(1).await {
        arrived.push_str(&String::from_utf8_lossy(&delivered.body));
        for (name, value) in &delivered.headers {
            arrived.push_str(name.as_str());
            arrived.push_str(&String::from_utf8_lossy(value.as_bytes()));
        }
    }
    assert!(arrived.contains("inlay.encoded"), "{arrived}");
    let shown = arrived.to_uppercase();
    for secret in &secrets {
        assert!(!shown.contains(secret), "{secret} in {arrived}");
        let raw = bytes_of(secret);
        let is_there = raw.len() >= 8
            && arrived
                .as_bytes()
                .windows(raw.len())
                .any(|part| part == raw);
        assert!(!is_there, "{secret}");
    }
}

/// The bytes of a secret in hexadecimal; empty for other secrets.
fn bytes_of(secret: &str) -> Vec<u8> {
    let is_hex =
        secret.len().is_multiple_of(2) && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { bytes(secret) } else { Vec::new() }
}
