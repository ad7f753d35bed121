//! The root that keys are derived from: replaced, compromised, restored.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Client, TestService};

use super::bench::uid;
use super::http::lay;

fn wish(number: u32, tag: i64) -> Value {
    json!({"uid": uid(number).to_string(), "tag_id": tag})
}

fn keys(chip: &VirtualNtag424) -> Vec<AesKey> {
    (0..5).map(|slot| chip.key(slot).clone()).collect()
}

/// A token that can only encode.
async fn desk(service: &TestService) -> Client {
    let token = json!({"name": "Desk", "scopes": ["encode"]});
    let created = service.admin_create("/tokens", token).await;
    Client::new(service.base(), created["token"].as_str().unwrap())
}

async fn replace(service: &TestService, compromised: bool) -> Value {
    let body = json!({"compromised": compromised});
    service.admin_create("/encoding-root", body).await
}

async fn exposed(service: &TestService) -> Vec<Value> {
    let page = service.admin_get("/encoding-root/inlays?count=true").await;
    let items = page["items"].as_array().unwrap().clone();
    assert_eq!(page["count"], items.len());
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(root["exposed_inlays"], items.len());
    items
}

#[tokio::test]
async fn chips_of_a_compromised_root_get_other_keys_when_they_are_laid_down_again() {
    let service = TestService::start().await;
    let desk = desk(&service).await;
    let (tag, other) = (
        service.tag(json!({"name": "Bottle"})).await,
        service.tag(json!({"name": "Other"})).await,
    );
    let (mut chip, mut own) = (VirtualNtag424::new(uid(1)), VirtualNtag424::new(uid(2)));
    lay(&desk, &mut chip, &wish(1, tag.id)).await;
    let mut random = wish(2, other.id);
    random["own_keys"] = true.into();
    lay(&desk, &mut own, &random).await;
    assert_eq!(exposed(&service).await, [] as [Value; 0]);

    let refused = desk.admin(Method::POST, "/encoding-root", json!({})).await;
    assert_eq!(refused.expect(403)["scope"], "keys");
    let root = replace(&service, true).await;
    assert_eq!(
        (
            &root["retired"],
            &root["compromised"],
            &root["backed_up_at"]
        ),
        (&json!(1), &json!(1), &Value::Null)
    );
    // Random keys are not affected.
    let listed = exposed(&service).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (
            &listed[0]["uid"],
            &listed[0]["slug"],
            &listed[0]["generation"]
        ),
        (&json!(uid(1).to_string()), &json!(tag.slug), &json!(1))
    );
    let audit = service.admin_get("/audit?limit=1").await;
    assert_eq!(audit["items"][0]["after"]["compromised"], true, "{audit}");

    // Its taps verify as before, until it is placed again: nothing else is needed.
    let before = keys(&chip);
    let turn = lay(&desk, &mut chip, &wish(1, tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    for (slot, (before, after)) in before.iter().zip(keys(&chip)).enumerate() {
        assert_ne!(*before, after, "{slot}");
    }
    assert_eq!(exposed(&service).await, [] as [Value; 0]);
    // Placed once more, it is only read.
    let writes = chip.tally().writes;
    let turn = lay(&desk, &mut chip, &wish(1, tag.id)).await;
    assert_eq!(
        (&turn["state"], chip.tally().writes),
        (&json!("verified"), writes)
    );
}

#[tokio::test]
async fn an_exposed_inlay_that_is_on_another_tag_by_now_gets_other_keys_there() {
    let service = TestService::start().await;
    let desk = desk(&service).await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let other = service.tag(json!({"name": "Other"})).await;
    let mut chip = VirtualNtag424::new(uid(1));
    lay(&desk, &mut chip, &wish(1, tag.id)).await;
    replace(&service, true).await;
    let inlays = service.admin_get("/inlays").await;
    let path = format!("/inlays/{}", inlays["items"][0]["id"]);
    service
        .admin_patch(&path, json!({"tag_id": other.id}))
        .await;
    let listed = exposed(&service).await;
    assert_eq!((listed.len(), &listed[0]["slug"]), (1, &json!(other.slug)));
    let before = keys(&chip);
    // For its own tag it gets the scope keys, like any finished chip.
    let turn = lay(&desk, &mut chip, &wish(1, tag.id)).await;
    assert_eq!(turn["reason"], "already_encoded", "{turn}");
    assert_eq!(exposed(&service).await.len(), 1);
    let turn = lay(&desk, &mut chip, &wish(1, other.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(turn["result"]["slug"], other.slug);
    for (slot, (before, after)) in before.iter().zip(keys(&chip)).enumerate() {
        assert_ne!(*before, after, "{slot}");
    }
    assert_eq!(exposed(&service).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_chip_that_is_half_way_gets_no_key_of_a_compromised_root() {
    let whole = {
        let service = TestService::start().await;
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let mut chip = VirtualNtag424::new(uid(1));
        lay(&service, &mut chip, &wish(1, tag.id)).await["seq"].clone()
    };
    for torn in 1..whole.as_i64().unwrap() {
        let service = TestService::start().await;
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let mut chip = VirtualNtag424::new(uid(1));
        chip.power_on();
        let mut turn = service.admin_create("/encodings", wish(1, tag.id)).await;
        let path = format!("/encodings/{}/answers", turn["id"]);
        let mut answers = tapdesk_tests::relay::answers(&mut chip, &turn);
        for _ in 1..torn {
            turn = service
                .admin(Method::POST, &path, answers)
                .await
                .expect(200);
            answers = tapdesk_tests::relay::answers(&mut chip, &turn);
        }
        replace(&service, true).await;
        let known = keys(&chip);
        // A turn from before the change is no longer valid.
        let stale = service.admin(Method::POST, &path, answers).await;
        assert_eq!(stale.expect(409)["code"], "turn_stale", "{torn}");
        let turn = lay(&service, &mut chip, &wish(1, tag.id)).await;
        assert_eq!(turn["state"], "verified", "{torn}: {turn}");
        for (slot, (known, new)) in known.iter().zip(keys(&chip)).enumerate() {
            assert_ne!(*known, new, "{torn}: {slot}");
        }
        assert_eq!(exposed(&service).await, [] as [Value; 0], "{torn}");
    }
}

#[tokio::test]
async fn a_root_that_is_only_replaced_leaves_its_chips_as_they_are() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = VirtualNtag424::new(uid(1));
    lay(&service, &mut chip, &wish(1, tag.id)).await;
    let root = replace(&service, false).await;
    assert_eq!(
        (&root["retired"], &root["compromised"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(exposed(&service).await, [] as [Value; 0]);
    let writes = chip.tally().writes;
    let turn = lay(&service, &mut chip, &wish(1, tag.id)).await;
    assert_eq!(
        (&turn["state"], chip.tally().writes),
        (&json!("verified"), writes)
    );
}
