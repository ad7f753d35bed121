//! Webhooks of a service that is killed under load, to a receiver that comes and goes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tapdesk_tests::{Client, Receiver, eventually, length};

use super::launch;
use super::load::Load;

/// The `webhook-id` of every tap that is stored.
async fn stored(service: &Client) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut after = String::new();
    loop {
        let page = service
            .admin_get(&format!("/interactions?limit=500{after}"))
            .await;
        for item in page["items"].as_array().expect("items") {
            let at = item["at"].as_str().expect("a time");
            let at: tapdesk_service::clock::Timestamp =
                serde_json::from_value(json!(at)).expect("a time");
            ids.insert(format!("tap_{}_{}", item["id"], at.millis()));
        }
        match &page["next"] {
            Value::String(next) => after = format!("&after={next}"),
            _ => return ids,
        }
    }
}

#[tokio::test]
async fn every_tap_that_is_stored_is_told_and_a_repeat_says_the_same() {
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let receiver = Receiver::start().await;
    let mut service = launch.start().await;
    let webhook = json!({
        "url": receiver.url(),
        "events": ["tap.verified", "tap.not_verified", "tap.not_checked"],
    });
    let created = service.admin_create("/webhooks", webhook).await;
    let secret = created["secret"].as_str().expect("a secret").to_owned();
    let mut load = Load::new(&service, 4).await;
    for _ in 0..length(3, 30) {
        let client = service.another();
        let launched = load
            .work_until(&client, 40, async || service.kill().await)
            .await;
        service = launched.start().await;
        load.check(&service).await;
    }
    let stored = stored(&service).await;
    assert!(stored.len() >= 40, "{}", stored.len());
    let requests = eventually("every tap is told", async || {
        let requests = receiver.received();
        let told: BTreeSet<_> = requests.iter().map(|one| one.id().to_owned()).collect();
        (told == stored).then_some(requests)
    })
    .await;
    let mut bodies = BTreeMap::new();
    for one in &requests {
        one.verify(&secret);
        let first = bodies.entry(one.id()).or_insert(&one.body);
        assert_eq!(*first, &one.body);
    }
}
