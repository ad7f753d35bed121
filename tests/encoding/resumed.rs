//! A chip that is placed again is written as the present request asks.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut};

use super::bench::uid;
use super::http::{desk, ended, lay, wish};

/// Whether static lock bytes and capability container forbid writing.
fn is_locked(chip: &VirtualType2) -> bool {
    chip.page(2)[2..] == [0xFF, 0xFF] && chip.page(3)[3] & 0x0F == 0x0F
}

#[tokio::test]
async fn a_lock_is_for_whoever_asks_for_it_now() {
    let service = TestService::start().await;
    for (number, first, now) in [(1, true, false), (2, false, true)] {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let wish = |lock: bool| {
            json!({
                "uid": uid(number).to_string(), "tag_id": tag.id, "technology": "ntag213", "lock": lock,
            })
        };
        let chip = VirtualType2::factory(Type2Chip::Ntag213, uid(number).bytes());
        let mut held = TornOut::new(Tear::after(12), chip);
        let turn = lay(&service, &mut held, &wish(first)).await;
        assert_eq!(ended(&turn), ("interrupted", None));
        let mut chip = held.into_card();
        assert!(!is_locked(&chip));
        let turn = lay(&service, &mut chip, &wish(now)).await;
        assert_eq!(ended(&turn), ("verified", None));
        assert_eq!(is_locked(&chip), now);
    }
}

#[tokio::test]
async fn a_chip_is_not_switched_to_lrp_mode_because_somebody_asked_for_it_before() {
    let (service, tag, mut chip) = desk().await;
    let template = json!({
        "name": "LRP", "technology": "ntag424dna", "mode": "lrp",
        "template": "https://lrp.example/v/{slug}?p={picc}&m={mac}",
    });
    let template = service.admin_create("/url-templates", template).await["id"].clone();
    let mut lrp = wish(uid(1), tag.id);
    lrp["url_template_id"] = template;
    lrp["lrp"] = true.into();
    service.admin_create("/encodings", lrp.clone()).await;
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert!(!chip.speaks_lrp());

    // A template in LRP mode is not resumed without a confirmation either.
    let other = service.tag(json!({"name": "Other"})).await;
    lrp["uid"] = uid(2).to_string().into();
    lrp["tag_id"] = other.id.into();
    service.admin_create("/encodings", lrp.clone()).await;
    lrp["lrp"] = false.into();
    let refused = service.admin(Method::POST, "/encodings", lrp.clone()).await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "lrp");
    lrp["lrp"] = true.into();
    let mut chip = VirtualNtag424::new(uid(2));
    let turn = lay(&service, &mut chip, &lrp).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert!(chip.speaks_lrp());
}

async fn generation(service: &TestService, turn: &Value) -> Value {
    let path = format!("/encodings/{}", turn["id"]);
    service.admin_get(&path).await["generation"].clone()
}

#[tokio::test]
async fn a_half_encoded_chip_gets_the_url_that_is_asked_for_now_with_keys_of_its_own() {
    let service = TestService::start().await;
    let mut number = 0;
    for (change, member, generations) in [
        (None, Value::Null, 1),
        (Some("mirror"), json!("plain"), 2),
        (Some("own_keys"), json!(true), 2),
    ] {
        // Removed before key 0 is changed, and after it.
        for at in [30, 33] {
            number += 1;
            let tag = service.tag(json!({"name": "Bottle"})).await;
            let mut held = TornOut::new(Tear::after(at), VirtualNtag424::new(uid(number)));
            let turn = lay(&service, &mut held, &wish(uid(number), tag.id)).await;
            assert_eq!(ended(&turn), ("interrupted", None), "{at}");
            let first = generation(&service, &turn).await;
            let mut now = wish(uid(number), tag.id);
            if let Some(change) = change {
                now[change] = member.clone();
            }
            let mut chip = held.into_card();
            let again = lay(&service, &mut chip, &now).await;
            assert_eq!(ended(&again), ("verified", None), "{change:?}");
            assert_eq!(again["id"], turn["id"]);
            let second = generation(&service, &again).await;
            assert_eq!(
                (first, second),
                (json!(1), json!(generations)),
                "{change:?} {at}"
            );
            let inlays = service
                .admin_get(&format!("/inlays?uid={}", uid(number)))
                .await;
            let mirror = if change == Some("mirror") {
                "plain"
            } else {
                "encrypted"
            };
            assert_eq!(inlays["items"][0]["mirror"], mirror);
            assert_eq!(chip.tally().refusals, 0);
        }
    }
}

#[tokio::test]
async fn a_tag_that_got_another_slug_or_inlay_meanwhile_is_seen_when_the_chip_comes_back() {
    let (service, tag, chip) = desk().await;
    let mut held = TornOut::new(Tear::after(25), chip);
    let turn = lay(&service, &mut held, &wish(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("interrupted", None));
    let path = format!("/tags/{}", tag.id);
    service
        .admin_patch(&path, json!({"slug": "renamed00"}))
        .await;
    let mut chip = held.into_card();
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(turn["result"]["slug"], "renamed00");

    let tag = service.tag(json!({"name": "Other"})).await;
    let mut held = TornOut::new(Tear::after(25), VirtualNtag424::new(uid(2)));
    lay(&service, &mut held, &wish(uid(2), tag.id)).await;
    let mut third = VirtualNtag424::new(uid(3));
    assert_eq!(
        ended(&lay(&service, &mut third, &wish(uid(3), tag.id)).await),
        ("verified", None)
    );
    let mut chip = held.into_card();
    let writes = chip.tally().writes;
    let turn = lay(&service, &mut chip, &wish(uid(2), tag.id)).await;
    assert_eq!(ended(&turn), ("rejected", Some("tag_has_inlay")));
    assert_eq!(chip.tally().writes, writes);
    let next = service.tag(json!({"name": "Next"})).await;
    let turn = lay(&service, &mut chip, &wish(uid(2), next.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(chip.tally().refusals, 0);
}
