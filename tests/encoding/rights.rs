//! The rights to encode, replace and wipe chips.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::relay::answers;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard as _};
use tapdesk_tests::{Client, TestService};

use super::bench::uid;
use super::http::{desk, ended, lay, replacing, wish};

/// A token that can only encode.
async fn encoder(service: &TestService) -> Client {
    let token = json!({"name": "Desk", "scopes": ["encode"]});
    let created = service.admin_create("/tokens", token).await;
    Client::new(service.base(), created["token"].as_str().unwrap())
}

#[tokio::test]
async fn a_blocked_chip_is_not_encoded_and_can_be_wiped() {
    let (service, tag, mut chip) = desk().await;
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let inlays = service.admin_get("/inlays").await;
    let path = format!("/inlays/{}", inlays["items"][0]["id"]);
    service.admin_patch(&path, json!({"blocked": true})).await;
    let mut again = wish(uid(1), tag.id);
    again["replace"] = true.into();
    let refused = service.admin(Method::POST, "/encodings", again).await;
    assert_eq!(refused.expect(409)["code"], "inlay_blocked");
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    let turn = lay(&service, &mut chip, &wipe).await;
    assert_eq!(turn["state"], "reset");
}

#[tokio::test]
async fn a_token_that_invents_chips_fills_no_database_and_others_go_on() {
    let (service, tag, mut chip) = desk().await;
    let hostile = encoder(&service).await;
    let invented = |number: u32| json!({"uid": format!("04FF{number:010X}"), "tag_id": tag.id});
    for number in 0..1_000 {
        let begun = hostile.admin(Method::POST, "/encodings", invented(number));
        begun.await.expect(201);
    }
    let refused = hostile.admin(Method::POST, "/encodings", invented(1_000));
    let refused = refused.await.expect(429);
    assert_eq!(refused["code"], "too_many_unproved");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("use another token"), "{detail}");
    // Its open encodings continue, and so do others'.
    let first = hostile.admin(Method::POST, "/encodings", invented(0)).await;
    first.expect(200);
    let other = encoder(&service).await;
    let turn = lay(&other, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    // A day later it may encode again.
    service.advance(24 * 60 * 60 * 1_000 + 1);
    let begun = hostile.admin(Method::POST, "/encodings", invented(1_000));
    begun.await.expect(201);
}

#[tokio::test]
async fn who_may_only_encode_replaces_no_key_of_a_finished_chip() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let desk = encoder(&service).await;
    let mut chip = VirtualNtag424::new(uid(1));
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    // A chip that is not an inlay may be wiped.
    let turn = lay(&desk, &mut chip, &wipe).await;
    assert_eq!(turn["state"], "reset", "{turn}");
    let turn = lay(&desk, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let mut replace = wish(uid(1), tag.id);
    replace["replace"] = true.into();
    for refused in [wipe, replace.clone()] {
        let answer = desk.admin(Method::POST, "/encodings", refused).await;
        assert_eq!(answer.expect(403)["code"], "scope");
    }
    let before = chip.key(0).clone();
    let turn = lay(&service, &mut chip, &replace).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(turn["result"]["counter"], 1);
    assert_ne!(chip.key(0), &before);
}

#[tokio::test]
async fn what_a_person_says_for_one_insertion_holds_for_no_other() {
    let (service, tag, mut chip) = desk().await;
    let other = service.tag(json!({"name": "Other"})).await;
    let desk = encoder(&service).await;
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let keys = |chip: &VirtualNtag424| [0, 1, 2, 3, 4].map(|slot| chip.key(slot).clone());
    let before = keys(&chip);

    // Nothing is written yet: nobody else can continue it, nor begin with it.
    let word = replacing(uid(1), other.id);
    let begun = service.admin_create("/encodings", word.clone()).await;
    chip.power_on();
    let heard = answers(&mut chip, &begun);
    let path = format!("/encodings/{}/answers", begun["id"]);
    let refused = desk.admin(Method::POST, &path, heard).await.expect(403);
    assert_eq!(
        (&refused["code"], &refused["scope"]),
        (&json!("scope"), &json!("keys"))
    );
    let turn = lay(&desk, &mut chip, &wish(uid(1), other.id)).await;
    assert_eq!(ended(&turn), ("rejected", Some("already_encoded")));
    let turn = lay(&desk, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(keys(&chip), before);

    // It is half written: any desktop that gets it finishes it.
    let mut moved = TornOut::new(Tear::before(22), chip);
    let turn = lay(&service, &mut moved, &word).await;
    assert_eq!(ended(&turn), ("interrupted", None));
    let mut chip = moved.into_card();
    let turn = lay(&desk, &mut chip, &wish(uid(1), other.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(turn["result"]["tag_id"], other.id);
    for (slot, (before, now)) in before.iter().zip(keys(&chip)).enumerate() {
        assert_ne!(*before, now, "{slot}");
    }
}

#[tokio::test]
async fn an_imitation_is_wiped_if_a_person_says_so() {
    let (service, tag, mut chip) = desk().await;
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let mut imitation = VirtualNtag424::new(uid(1));
    let mut wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    let turn = lay(&service, &mut imitation, &wipe).await;
    assert_eq!(ended(&turn), ("rejected", Some("not_genuine")));
    wipe["replace"] = true.into();
    let turn = lay(&service, &mut imitation, &wipe).await;
    assert_eq!(ended(&turn), ("reset", None));
    let inlays = service.admin_get("/inlays").await;
    assert_eq!(inlays["items"], json!([]));
}

#[tokio::test]
async fn a_chip_without_keys_takes_no_inlay_with_keys_away() {
    let (service, tag, mut chip) = desk().await;
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let before = service.admin_get("/inlays").await;
    let mut imitation = VirtualType2::factory(Type2Chip::Ntag213, uid(1).bytes());
    // Also a relay with only the scope `encode` can invent such a chip.
    let relay = encoder(&service).await;
    let mut pages = wish(uid(1), tag.id);
    pages["technology"] = "ntag213".into();
    let turn = lay(&relay, &mut imitation, &pages).await;
    assert_eq!(ended(&turn), ("rejected", Some("not_genuine")));
    // The chip itself is only the wrong one for that URL.
    let turn = lay(&relay, &mut chip, &pages).await;
    assert_eq!(ended(&turn), ("rejected", Some("not_encodable")));
    let mut wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    // Whether the reader says which chip it is, or not.
    for technology in [json!(null), json!("ntag213")] {
        wipe["technology"] = technology;
        let turn = lay(&service, &mut imitation, &wipe).await;
        assert_eq!(ended(&turn), ("rejected", Some("not_genuine")), "{wipe}");
    }
    assert_eq!(imitation.writes(), 0);
    assert_eq!(service.admin_get("/inlays").await, before);
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None));

    // A person who knows the chip decides otherwise.
    wipe["replace"] = true.into();
    let turn = lay(&service, &mut imitation, &wipe).await;
    assert_eq!(ended(&turn), ("reset", None));
    assert_eq!(service.admin_get("/inlays").await["items"], json!([]));
}

#[tokio::test]
async fn imported_keys_are_not_forgotten_for_a_chip_without_keys() {
    let service = TestService::start().await;
    let imported = json!({
        "uid": uid(1).to_string(), "technology": "ntag424dna", "mirror": "encrypted",
        "meta_key": "11".repeat(16), "file_key": "22".repeat(16),
    });
    service.inlay(imported).await;
    let before = service.admin_get("/inlays").await;
    let mut imitation = VirtualType2::factory(Type2Chip::Ntag213, uid(1).bytes());
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true, "technology": "ntag213"});
    let turn = lay(&service, &mut imitation, &wipe).await;
    assert_eq!(ended(&turn), ("rejected", Some("not_genuine")));
    assert_eq!(service.admin_get("/inlays").await, before);
}
