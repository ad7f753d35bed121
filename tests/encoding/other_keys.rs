//! Chips that another program encoded, with all five keys: they are encoded again, and wiped.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::derivation::boltcard_keys;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::hex;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::bench::uid;
use super::http::{ended, replacing};
use tapdesk_tests::relay::lay;

/// Keys that no two slots share.
fn five_keys() -> [AesKey; 5] {
    [0x10, 0x21, 0x32, 0x43, 0x54].map(|byte| AesKey::from_bytes([byte; 16]))
}

/// A card with these keys in its slots, written with this version.
fn card(uid: Uid, keys: &[AesKey; 5], version: u8) -> VirtualNtag424 {
    let inlay = VirtualInlay {
        uid,
        mirror: Mirror::Encrypted,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: Some(keys[1].clone()),
            file: keys[2].clone(),
        },
        counter: 5,
    };
    VirtualNtag424::encoded(&inlay, "https://card.example/card").with_keys(keys.clone(), version)
}

/// The inlay of such a card, without its keys 0, 3 and 4.
fn imported(uid: Uid, keys: &[AesKey; 5]) -> Value {
    json!({
        "uid": uid.to_string(), "technology": "ntag424dna", "mirror": "encrypted",
        "meta_key": hex(keys[1].expose()), "file_key": hex(keys[2].expose()),
    })
}

fn others(keys: &[AesKey; 5]) -> Value {
    let key = |slot: usize| hex(keys[slot].expose());
    json!({"key_0": key(0), "key_3": key(3), "key_4": key(4)})
}

fn wipe(uid: Uid) -> Value {
    json!({"uid": uid.to_string(), "wipe": true})
}

async fn inlay_of(service: &TestService, uid: Uid) -> Value {
    let found = service.admin_get(&format!("/inlays?uid={uid}")).await;
    found["items"][0].clone()
}

fn is_blank(chip: &VirtualNtag424) -> bool {
    (0..5).all(|slot| chip.key(slot).is_factory() && chip.key_version(slot) == 0)
}

#[tokio::test]
async fn a_chip_with_five_imported_keys_is_encoded_again_and_wiped() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    for version in [0, 1, 9] {
        let uid = uid(u32::from(version) + 1);
        let keys = five_keys();
        let mut chip = card(uid, &keys, version);
        let mut inlay = imported(uid, &keys);
        inlay["other_keys"] = others(&keys);
        service.inlay(inlay).await;
        assert_eq!(inlay_of(&service, uid).await["has_other_keys"], true);

        let turn = lay(&service, &mut chip, &replacing(uid, tag.id)).await;
        assert_eq!(turn["state"], "verified", "version {version}: {turn}");
        for slot in 0..5 {
            assert!(!keys.contains(chip.key(slot)), "version {version}: {slot}");
            assert!(!chip.key(slot).is_factory(), "version {version}: {slot}");
        }
        let after = inlay_of(&service, uid).await;
        assert_eq!(after["has_other_keys"], false, "the journal has them now");
        assert_eq!(after["tag_id"], tag.id);

        let turn = lay(&service, &mut chip, &wipe(uid)).await;
        assert_eq!(ended(&turn).0, "reset", "version {version}: {turn}");
        assert!(is_blank(&chip), "version {version}");
        assert_eq!(inlay_of(&service, uid).await, Value::Null);
    }
}

#[tokio::test]
async fn a_chip_with_five_imported_keys_is_wiped_at_once() {
    let service = TestService::start().await;
    let keys = five_keys();
    let mut chip = card(uid(1), &keys, 1);
    let mut inlay = imported(uid(1), &keys);
    inlay["other_keys"] = others(&keys);
    service.inlay(inlay).await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let asked = json!({"uid": uid(1).to_string(), "tag_id": tag.id, "replace": true});
    let preview = service.admin(Method::POST, "/encodings/preview", asked);
    let preview = preview.await.expect(200);
    assert_eq!(preview["chip"], "known", "{preview}");
    assert!(
        preview["steps"].to_string().contains("imported key 0"),
        "{preview}"
    );
    let turn = lay(&service, &mut chip, &wipe(uid(1))).await;
    assert_eq!(ended(&turn).0, "reset", "{turn}");
    assert!(is_blank(&chip));
    assert_eq!(chip.tally().refusals, 0);
}

#[tokio::test]
async fn a_chip_whose_keys_3_and_4_were_never_written_is_encoded_again() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut keys = five_keys();
    keys[3] = AesKey::FACTORY;
    keys[4] = AesKey::FACTORY;
    let mut chip = card(uid(1), &keys, 0);
    let mut inlay = imported(uid(1), &keys);
    inlay["other_keys"] = others(&keys);
    service.inlay(inlay).await;
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
}

#[tokio::test]
async fn without_its_key_0_a_chip_is_refused_and_the_key_can_come_later() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let keys = five_keys();
    let mut chip = card(uid(1), &keys, 1);
    let id = service.inlay(imported(uid(1), &keys)).await;
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("rejected", Some("foreign_key")), "{turn}");
    assert_eq!(chip.tally().writes, 0);

    let path = format!("/inlays/{id}");
    for (wrong, field) in [
        (json!({"key_0": "00"}), "other_keys.key_0"),
        (json!({"key_0": "11".repeat(16)}), "other_keys"),
        (
            json!({"key_0": "11".repeat(16), "key_3": null, "key_4": "44".repeat(16)}),
            "other_keys",
        ),
    ] {
        let refused = service.admin(Method::PATCH, &path, json!({"other_keys": wrong}));
        let refused = refused.await.expect(422);
        assert!(refused["errors"].to_string().contains(field), "{refused}");
    }
    service
        .admin_patch(&path, json!({"other_keys": others(&keys)}))
        .await;
    // They are replaced together: some of them change none of those that are there.
    let some = json!({"other_keys": {"key_3": "55".repeat(16)}});
    let refused = service.admin(Method::PATCH, &path, some).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
}

#[tokio::test]
async fn keys_0_3_and_4_never_come_out_and_only_an_ntag_424_has_them() {
    let service = TestService::start().await;
    let keys = five_keys();
    let mut inlay = imported(uid(1), &keys);
    inlay["other_keys"] = others(&keys);
    let id = service.inlay(inlay).await;
    let path = format!("/inlays/{id}");
    let shown = service.admin_get(&path).await.to_string();
    let audited = service.admin_get("/audit?limit=50").await.to_string();
    for slot in [0, 3, 4] {
        let key = hex(keys[slot].expose());
        for text in [&shown, &audited] {
            assert!(!text.to_lowercase().contains(&key.to_lowercase()), "{text}");
        }
    }
    let forgotten = service
        .admin_patch(&path, json!({"other_keys": null}))
        .await;
    assert_eq!(forgotten["has_other_keys"], false);
    let other = json!({
        "uid": uid(2).to_string(), "technology": "ntag213", "other_keys": others(&keys),
    });
    let refused = service
        .admin(Method::POST, "/inlays", other)
        .await
        .expect(422);
    assert!(refused.to_string().contains("keys 0, 3 and 4"), "{refused}");
}

/// Boltcard's deterministic scheme defines all five keys.
#[tokio::test]
async fn the_keys_of_a_deterministic_bolt_card_all_follow_from_its_master_key() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let issuer = AesKey::from_bytes([1; 16]);
    let derived = boltcard_keys(&issuer, uid(1), 1);
    let keys = [derived.k0, derived.k1, derived.k2, derived.k3, derived.k4];
    let master = json!({
        "name": "Issuer", "key": hex(issuer.expose()),
        "derivation": {"scheme": "boltcard", "version": 1},
    });
    let master = service.admin_create("/master-keys", master).await;
    service
        .inlay(json!({
            "uid": uid(1).to_string(), "technology": "ntag424dna", "mirror": "encrypted",
            "master_key_id": master["id"],
        }))
        .await;
    let mut chip = card(uid(1), &keys, 1);
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let turn = lay(&service, &mut chip, &wipe(uid(1))).await;
    assert_eq!(ended(&turn).0, "reset", "{turn}");
    assert!(is_blank(&chip));
}
