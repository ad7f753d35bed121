//! Inlays with imported keys: Tapdesk may have the only copy of these keys.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Client, TestService};

use super::bench::uid;
use super::http::lay;

fn wish(number: u32, tag: i64) -> Value {
    json!({"uid": uid(number).to_string(), "tag_id": tag})
}

/// A token that can only encode.
async fn desk(service: &TestService) -> Client {
    let token = json!({"name": "Desk", "scopes": ["encode"]});
    let created = service.admin_create("/tokens", token).await;
    Client::new(service.base(), created["token"].as_str().unwrap())
}

async fn inlay(service: &TestService, number: u32) -> Value {
    let path = format!("/inlays?uid={}", uid(number));
    service.admin_get(&path).await["items"][0].clone()
}

#[tokio::test]
async fn who_may_only_encode_replaces_no_imported_keys() {
    let service = TestService::start().await;
    let desk = desk(&service).await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let imported = json!({
        "uid": uid(1).to_string(), "technology": "ntag424dna", "mirror": "encrypted",
        "meta_key": "11".repeat(16), "file_key": "22".repeat(16),
    });
    service.inlay(imported).await;
    let before = inlay(&service, 1).await;
    assert_eq!(before["tag_id"], Value::Null);
    let run = json!({"name": "Roll", "plan": {"pattern": "Bottle {n}"}});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();

    let mut chip = VirtualNtag424::new(uid(1));
    for wish in [
        wish(1, tag.id),
        json!({"uid": uid(1).to_string(), "run_id": run}),
    ] {
        let turn = lay(&desk, &mut chip, &wish).await;
        assert_eq!(turn["reason"], "already_encoded", "{turn}");
    }
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    let mut replace = wish(1, tag.id);
    replace["replace"] = true.into();
    for asked in [&wipe, &replace] {
        let refused = desk.admin(Method::POST, "/encodings", asked.clone()).await;
        assert_eq!(refused.expect(403)["scope"], "keys");
    }
    assert_eq!(chip.tally().writes, 0);
    assert_eq!(inlay(&service, 1).await, before);

    // A person who may replace keys confirms it.
    let turn = lay(&service, &mut chip, &replace).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let after = inlay(&service, 1).await;
    assert_eq!(after["tag_id"], tag.id);
    assert_ne!(after["file_key_check"], before["file_key_check"]);
}

#[tokio::test]
async fn an_inlay_of_this_service_that_is_on_no_tag_is_encoded_for_the_next_one() {
    let service = TestService::start().await;
    let desk = desk(&service).await;
    let (tag, other) = (
        service.tag(json!({"name": "Bottle"})).await,
        service.tag(json!({"name": "Other"})).await,
    );
    let mut chip = VirtualNtag424::new(uid(1));
    lay(&desk, &mut chip, &wish(1, tag.id)).await;
    let path = format!("/inlays/{}", inlay(&service, 1).await["id"]);
    service.admin_patch(&path, json!({"tag_id": null})).await;
    let turn = lay(&desk, &mut chip, &wish(1, other.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(inlay(&service, 1).await["tag_id"], other.id);
}

#[tokio::test]
async fn a_chip_that_is_rejected_again_and_again_has_one_row() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let other = service.tag(json!({"name": "Other"})).await;
    let mut chip = VirtualNtag424::new(uid(2));
    let mut first = Value::Null;
    for _ in 0..5 {
        let turn = lay(&service, &mut chip, &wish(1, tag.id)).await;
        assert_eq!(turn["reason"], "uid_mismatch", "{turn}");
        if first.is_null() {
            first = turn["id"].clone();
        }
        assert!(turn["id"].as_i64() >= first.as_i64());
    }
    let path = format!("/encodings?uid={}&count=true", uid(1));
    let listed = service.admin_get(&path).await;
    assert_eq!(listed["count"], 1, "{listed}");
    let gone = service
        .admin(Method::GET, &format!("/encodings/{first}"), Value::Null)
        .await;
    assert_eq!(gone.status, 404);
    // For another tag it becomes another row.
    lay(&service, &mut chip, &wish(1, other.id)).await;
    assert_eq!(service.admin_get(&path).await["count"], 2);
}
