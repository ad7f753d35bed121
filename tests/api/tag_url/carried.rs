//! The address in a chip's URL: opened once the chip is verified, and counted afterwards.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tapdesk_service::caller::{Actor, Caller};
use tapdesk_service::encoding::OpenedAddress;
use tapdesk_service::id::EncodingId;
use tapdesk_service::inlay::Uid;
use tapdesk_service::scope::Reach;
use tapdesk_tests::relay::lay;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{TestService, eventually};

use super::{check, on_network};

/// Encodes a chip for a new tag, and returns the encoding.
async fn encoded(service: &TestService, number: u8) -> Value {
    let tag = service.tag(json!({"name": "Bottle"})).await.id;
    let uid = Uid::from_bytes([4, 0x11, 0x22, 0x33, 0x44, 0x55, number]);
    let wish = json!({"uid": uid.to_string(), "tag_id": tag});
    let turn = lay(service, &mut VirtualNtag424::new(uid), &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    service
        .admin_get(&format!("/encodings/{}", turn["id"]))
        .await
}

/// Waits until an encoding has this address. The last turn waits for its result for a second at
/// most, and a later result is stored, too.
async fn has_address(service: &TestService, encoding: &Value, expected: &Value) {
    let path = format!("/encodings/{}", encoding["id"]);
    eventually("the address is opened", async || {
        let shown = service.admin_get(&path).await;
        (shown["address"] == *expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_encoding_names_its_address_and_whether_it_was_opened() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let own = format!("{}/t", service.base());
    let first = encoded(&service, 1).await;
    let expected = json!({"tag_url": own, "opened": false, "reason": "loopback"});
    has_address(&service, &first, &expected).await;
    let tag_url = format!("{}/t", network.base());
    service
        .admin_patch("/settings", json!({"tag_url": tag_url}))
        .await;
    check(&service, &tag_url).await;
    let second = encoded(&service, 2).await;
    let expected = json!({"tag_url": tag_url, "opened": true, "reason": null});
    has_address(&service, &second, &expected).await;
    let id = &first["id"];
    let unchanged = service.admin_get(&format!("/encodings/{id}")).await;
    assert_eq!(
        unchanged["address"]["tag_url"], own,
        "a chip keeps the address it has"
    );
    let wipe = json!({"uid": "04112233445599", "wipe": true});
    let wipe = service.admin_create("/encodings", wipe).await["id"].clone();
    let wipe = service.admin_get(&format!("/encodings/{wipe}")).await;
    assert_eq!(wipe["address"], Value::Null);
}

/// A repeated last turn changes nothing except this. The service found it out by itself, so the
/// request has no row in the audit log.
#[tokio::test]
async fn an_opened_address_is_no_change_of_a_caller() {
    let service = TestService::start().await;
    let encoding = encoded(&service, 1).await;
    let own = format!("{}/t", service.base());
    let first = json!({"tag_url": own, "opened": false, "reason": "loopback"});
    has_address(&service, &encoding, &first).await;
    let object = format!("encodings/{}", encoding["id"]);
    let log = format!("/audit?object={object}");
    let before = service.admin_get(&log).await["items"].clone();
    let caller = Arc::new(Caller::new(
        Actor::CommandLine,
        IpAddr::from([127, 0, 0, 1]),
        ("encodings.answers".into(), format!("{object}/answers")),
        Reach::EVERYTHING,
        [0; 16],
    ));
    let address = OpenedAddress {
        opened: true,
        reason: None,
    };
    let id = EncodingId::new(encoding["id"].as_i64().unwrap());
    let for_caller = service.service().on_behalf_of(&caller);
    let noted = for_caller.storage.note_address_opened(id, address);
    noted.await.unwrap();
    let expected = json!({"tag_url": own, "opened": true, "reason": null});
    let shown = service.admin_get(&format!("/{object}")).await;
    assert_eq!(shown["address"], expected);
    assert_eq!(shown["counter"], encoding["counter"]);
    assert_eq!(service.admin_get(&log).await["items"], before);
}

#[tokio::test]
async fn inlays_are_counted_and_listed_by_the_address_that_they_carry() {
    let service = TestService::start().await;
    let old = format!("{}/t", service.base());
    let mut uids = Vec::new();
    for number in 1..=2 {
        uids.push(encoded(&service, number).await["uid"].clone());
    }
    service
        .tag(json!({"name": "Label", "has_qr_code": true}))
        .await;
    let new = "https://tags.example/t";
    service
        .admin_patch("/settings", json!({"tag_url": new}))
        .await;
    encoded(&service, 3).await;
    let carried = service.admin_get("/tag-url/carried").await;
    let expected = json!({
        "items": [
            {"tag_url": old, "in_force": false, "inlays": 2},
            {"tag_url": new, "in_force": true, "inlays": 1},
        ],
        "printed_codes": 1,
    });
    assert_eq!(carried, expected);
    let path = format!("/inlays?count=true&carried_tag_url={old}");
    let found = service.admin_get(&path).await;
    assert_eq!(found["count"], 2);
    let items = found["items"].as_array().unwrap().iter();
    let found: Vec<_> = items.map(|inlay| inlay["uid"].clone()).collect();
    assert_eq!(found, uids);
}
