//! `/admin/v1/master-keys`: the keys of many inlays, derived from one key.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::diversify::MasterKey;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::{TestInlay, TestService};

const KEY: &str = "00112233445566778899AABBCCDDEEFF";
const INPUT: &str = "{uid}3042F54E585020416275";

fn derivation(diversify_meta: bool) -> Value {
    json!({"scheme": "an10922", "input": INPUT, "diversify_meta": diversify_meta})
}

fn master(diversify_meta: bool) -> (Value, MasterKey) {
    let json = json!({"name": "Cellar", "key": KEY, "derivation": derivation(diversify_meta)});
    let key = MasterKey {
        key: AesKey::from_hex(KEY).unwrap(),
        input: INPUT.parse().unwrap(),
        diversify_meta,
    };
    (json, key)
}

#[tokio::test]
async fn a_master_key_is_shown_without_its_key() {
    let service = TestService::start().await;
    let (json, key) = master(true);
    let created = service.admin_create("/master-keys", json).await;
    let expected = json!({
        "id": created["id"], "name": "Cellar", "key_check": key.key.check().to_string(), "derivation": derivation(true),
        "factory_key": false, "created_at": "2026-01-01T12:00:00Z",
    });
    assert_eq!(created, expected);
    let path = format!("/master-keys/{}", created["id"]);
    assert_eq!(service.admin_get(&path).await, expected);
    let list = service.admin_get("/master-keys?count=true").await;
    assert_eq!(list, json!({"items": [expected], "next": null, "count": 1}));
    let renamed = service.admin_patch(&path, json!({"name": "Attic"})).await;
    assert_eq!(renamed["name"], json!("Attic"));
    for changes in [
        json!({}),
        json!({"name": null}),
        json!({"name": " "}),
        json!({"name": "a", "key": KEY}),
    ] {
        service
            .admin(Method::PATCH, &path, changes)
            .await
            .expect(422);
    }
}

#[tokio::test]
async fn a_master_key_says_what_it_needs() {
    let service = TestService::start().await;
    let zero = "0".repeat(32);
    for (changes, says) in [
        (json!({"name": ""}), "name"),
        (json!({"key": "00"}), "32 hex digits"),
        (json!({"key": zero}), "allow_factory_keys"),
        (
            json!({"derivation": {"scheme": "an10922", "input": "0102"}}),
            "{uid}",
        ),
        (
            json!({"derivation": {"scheme": "an10922", "input": "{uid}{uid}"}}),
            "{uid}",
        ),
        (
            json!({"derivation": {"scheme": "an10922", "input": format!("{{uid}}{}", "00".repeat(25))}}),
            "31 bytes",
        ),
        (json!({"uid": "04"}), "uid"),
    ] {
        let (mut new, _) = master(false);
        new.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let problem = service
            .admin(Method::POST, "/master-keys", new)
            .await
            .expect(422);
        assert!(
            problem["detail"].as_str().unwrap().contains(says),
            "{changes}: {problem}"
        );
    }
    let (mut factory, _) = master(false);
    factory["key"] = zero.into();
    factory["allow_factory_keys"] = true.into();
    let created = service.admin_create("/master-keys", factory).await;
    assert_eq!(created["factory_key"], json!(true));
    let inlay = json!({"uid": "04DE5F1EACC040", "technology": "ntag424dna", "mirror": "plain", "master_key_id": created["id"]});
    service
        .admin(Method::POST, "/inlays", inlay.clone())
        .await
        .expect(422);
    let mut allowed = inlay;
    allowed["allow_factory_keys"] = true.into();
    let inlay = service.admin_create("/inlays", allowed).await;
    assert_eq!(inlay["factory_keys"], json!(true));
}

#[tokio::test]
async fn codes_of_diversified_keys_verify_in_both_mirrors() {
    let service = TestService::start().await;
    for diversify_meta in [false, true] {
        let (json, key) = master(diversify_meta);
        let id = service.admin_create("/master-keys", json).await["id"].clone();
        for mirror in [Mirror::Plain, Mirror::Encrypted] {
            let tag = service.tag(json!({"name": "Bottle"})).await;
            let mut chip = chip(mirror, MacFrom::None);
            chip.keys = key.keys_for(chip.uid, mirror);
            let inlay = json!({
                "uid": chip.uid.to_string(), "technology": "ntag424dna", "mirror": mirror.as_str(),
                "tag_id": tag.id, "master_key_id": id,
            });
            let created = service.admin_create("/inlays", inlay).await;
            assert_eq!(created["key_source"], json!("master_key"));
            assert_eq!(
                created["file_key_check"],
                json!(chip.keys.file.check().to_string())
            );
            let mut inlay = TestInlay {
                id: created["id"].as_i64().unwrap(),
                chip,
            };
            for _ in 0..3 {
                service.tap(&inlay.url(&tag)).await;
            }
            let shown = service.admin_get(&format!("/inlays/{}", inlay.id)).await;
            assert_eq!(
                shown["last_counter"],
                json!(3),
                "{mirror}, meta {diversify_meta}"
            );
        }
    }
}

#[tokio::test]
async fn a_master_key_cannot_be_deleted_while_inlays_have_their_keys_from_it() {
    let service = TestService::start().await;
    let (json, _) = master(false);
    let master = service.admin_create("/master-keys", json).await["id"].clone();
    let path = format!("/master-keys/{master}");
    let inlay = json!({
        "uid": "04DE5F1EACC040", "technology": "ntag424dna", "mirror": "encrypted", "master_key_id": master,
    });
    let inlay = service.admin_create("/inlays", inlay).await;
    let users = service
        .admin_get(&format!("/inlays?master_key_id={master}"))
        .await;
    assert_eq!(users["items"][0]["id"], inlay["id"]);
    let refused = service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(409);
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .starts_with("One inlay has its keys"),
        "{refused}"
    );
    let own = json!({"file_key": KEY, "meta_key": KEY});
    let changed = service
        .admin_patch(&format!("/inlays/{}", inlay["id"]), own)
        .await;
    assert_eq!(
        (&changed["key_source"], &changed["master_key_id"]),
        (&json!("own"), &Value::Null)
    );
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    service
        .admin(Method::GET, &path, Value::Null)
        .await
        .expect(404);
    let gone = json!({"master_key_id": master});
    let path = format!("/inlays/{}", inlay["id"]);
    service.admin(Method::PATCH, &path, gone).await.expect(409);
}

#[tokio::test]
async fn an_inlay_that_turns_to_the_same_key_by_another_way_keeps_its_counter() {
    let service = TestService::start().await;
    let (json, key) = master(true);
    let master = service.admin_create("/master-keys", json).await["id"].clone();
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = chip(Mirror::Encrypted, MacFrom::None);
    chip.keys = key.keys_for(chip.uid, Mirror::Encrypted);
    let inlay = service.register(chip, &tag).await;
    service.tap(&tag.with(&inlay.code_at(9))).await;
    let path = format!("/inlays/{}", inlay.id);
    let changed = service
        .admin_patch(&path, json!({"master_key_id": master}))
        .await;
    assert_eq!(
        (&changed["key_source"], &changed["last_counter"]),
        (&json!("master_key"), &json!(9))
    );
}
