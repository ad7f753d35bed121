//! The stored data, the data in events, and a comparison of both.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tapdesk_service::clock::Timestamp;
use tapdesk_tests::{Client, Received, Receiver, eventually_within};

use super::LEASE_AND_MORE;

/// All items of a list.
async fn all(service: &Client, list: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = format!("{list}?limit=500&simulated=all{after}");
        let page = service.admin_get(&page).await;
        all.extend(page["items"].as_array().expect("items").clone());
        match &page["next"] {
            Value::String(next) => after = format!("&after={next}"),
            _ => return all,
        }
    }
}

/// The `webhook-id` of every stored tap.
pub(super) async fn stored(service: &Client) -> BTreeSet<String> {
    let taps = all(service, "/interactions").await;
    taps.iter().map(|tap| format!("tap_{}", key(tap))).collect()
}

/// All types of events of taps, updates and forms, and the alert that is stored with its event.
pub(super) const EVENTS: [&str; 7] = [
    "tap.verified",
    "tap.not_verified",
    "tap.not_checked",
    "tag.updated",
    "submission.created",
    "tag.tampered",
    "alert.webhook_disabled",
];

/// The `webhook-id` of each opened seal: of taps with an open seal whose tag's tap before had a
/// closed one.
async fn opened(service: &Client) -> BTreeSet<String> {
    let mut taps = all(service, "/interactions").await;
    taps.sort_by_key(|tap| tap["id"].as_i64());
    let mut before: BTreeMap<String, bool> = BTreeMap::new();
    let mut opened = BTreeSet::new();
    for tap in taps {
        let is_open = ["open", "reclosed"].contains(&tap["tamper"].as_str().unwrap_or_default());
        let was_open = before.insert(tap["tag_id"].to_string(), is_open);
        if is_open && was_open != Some(true) {
            opened.insert(format!("tampered_{}", key(&tap)));
        }
    }
    opened
}

/// The end of the `webhook-id` of a tap's event.
fn key(tap: &Value) -> String {
    let at = tap["at"].as_str().expect("a time");
    let at: Timestamp = serde_json::from_value(json!(at)).expect("a time");
    format!("{}_{}", tap["id"], at.millis())
}

/// Webhooks that were switched off because they answered that they are gone.
async fn gone(service: &Client) -> BTreeSet<String> {
    let webhooks = service.admin_get("/webhooks?limit=500").await;
    let webhooks = webhooks["items"].as_array().expect("webhooks").iter();
    let gone = webhooks.filter(|one| one["disabled"] == "gone");
    gone.map(|one| format!("disabled {}", one["id"])).collect()
}

/// Stored data that events describe: taps and opened seals by their `webhook-id`, updates,
/// submissions and webhooks by their ids.
async fn everything(service: &Client) -> BTreeSet<String> {
    let mut all = stored(service).await;
    for tap in all.clone() {
        let id = tap.split('_').nth(1).expect("a number");
        let traced = service.admin_get(&format!("/interactions/{id}")).await;
        if !traced["update"].is_null() {
            all.insert(format!("update {id}"));
        }
    }
    all.extend(opened(service).await);
    all.extend(gone(service).await);
    let submissions = self::all(service, "/submissions").await;
    all.extend(
        submissions
            .iter()
            .map(|one| format!("submission {}", one["id"])),
    );
    all
}

/// The events that were sent, in the same form.
fn told(requests: &[Received]) -> BTreeSet<String> {
    let names = requests.iter().map(|one| {
        let event: Value = serde_json::from_slice(&one.body).expect("JSON");
        let data = &event["data"];
        match event["type"].as_str() {
            Some("tag.updated") => format!("update {}", data["interaction_id"]),
            Some("submission.created") => format!("submission {}", data["id"]),
            Some("alert.webhook_disabled") => format!("disabled {}", data["webhook_id"]),
            _ => one.id().to_owned(),
        }
    });
    names.collect()
}

/// Waits until all stored data has been sent, signed, and each time with the same content. This
/// number of webhooks is gone.
pub(super) async fn is_all_told(
    service: &Client,
    receiver: &Receiver,
    secret: &str,
    ending: usize,
) {
    eventually_within(LEASE_AND_MORE, "webhooks are gone", async || {
        (gone(service).await.len() == ending).then_some(())
    })
    .await;
    let stored = everything(service).await;
    for (kind, least) in [
        ("tap_", 10),
        ("update ", 10),
        ("submission ", 10),
        ("tampered_", 3),
        ("disabled ", ending),
    ] {
        let many = stored.iter().filter(|one| one.starts_with(kind)).count();
        assert!(many >= least, "{many} of {kind}");
    }
    let requests = eventually_within(LEASE_AND_MORE, "everything is told", async || {
        let requests = receiver.received();
        (told(&requests) == stored).then_some(requests)
    })
    .await;
    let mut bodies = BTreeMap::new();
    for one in &requests {
        one.verify(secret);
        let first = bodies.entry(one.id()).or_insert(&one.body);
        assert_eq!(*first, &one.body);
    }
}
