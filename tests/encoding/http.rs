//! Encoding over HTTP, by a relay that does not understand the commands.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::id::EncodingId;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::service::default_database;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Received, Receiver, TestService, TestTag, files_containing};

use super::bench::uid;
use tapdesk_tests::relay::{answers, bytes};
pub(super) use tapdesk_tests::relay::{hex, lay};

/// A service with a tag, and a blank chip for it.
pub(super) async fn desk() -> (TestService, TestTag, VirtualNtag424) {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    (service, tag, VirtualNtag424::new(uid(1)))
}

pub(super) fn wish(uid: Uid, tag: i64) -> Value {
    json!({"uid": uid.to_string(), "tag_id": tag})
}

/// The same for a person who may replace keys.
pub(super) fn replacing(uid: Uid, tag: i64) -> Value {
    let mut wish = wish(uid, tag);
    wish["replace"] = true.into();
    wish
}

/// The state and the reason of a turn.
pub(super) fn ended(turn: &Value) -> (&str, Option<&str>) {
    (turn["state"].as_str().unwrap(), turn["reason"].as_str())
}

#[tokio::test]
async fn a_blank_chip_becomes_an_inlay_whose_taps_verify() {
    let (service, tag, mut chip) = desk().await;
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(turn["result"]["counter"], 1);
    assert_eq!(turn["result"]["slug"], tag.slug);
    // The URL that verified the chip is returned again with its turn, and no table has it in clear.
    let id = EncodingId::new(turn["id"].as_i64().unwrap());
    let stored = service
        .service()
        .storage
        .encoding(id)
        .await
        .unwrap()
        .unwrap();
    let outcome = serde_json::to_string(&stored.state.outcome()).unwrap();
    assert!(!outcome.contains("token"), "{outcome}");
    assert!(turn["result"]["url"].as_str().unwrap().contains("token"));
    let inlays = service
        .admin_get(&format!("/inlays?tag_id={}", tag.id))
        .await;
    assert_eq!(inlays["items"][0]["uid"], uid(1).to_string());
    assert_eq!(inlays["items"][0]["last_counter"], 1);
    assert_eq!(inlays["items"][0]["factory_keys"], false);
    // The code of the verification is spent; the code of the next read is not.
    let url = turn["result"]["url"].as_str().unwrap();
    let path = &url[url.find("/t/").unwrap()..];
    let spent = json!({"url": url});
    let verdict = service.admin(Method::POST, "/verification", spent).await;
    assert_eq!(verdict.expect(200)["tag_verified"], false, "{path}");
    let again = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(again["state"], "verified");
    assert_eq!(again["result"]["counter"], 2);
    assert_eq!(chip.tally().refusals, 0);
}

#[tokio::test]
async fn the_same_answers_get_the_same_turn_and_others_none() {
    let (service, tag, mut chip) = desk().await;
    chip.power_on();
    let begun = service
        .admin_create("/encodings", wish(uid(1), tag.id))
        .await;
    let path = format!("/encodings/{}/answers", begun["id"]);
    let mut turn = begun;
    let mut former: Option<Value> = None;
    while !turn["commands"].as_array().unwrap().is_empty() {
        let answers = answers(&mut chip, &turn);
        let next = service.admin(Method::POST, &path, answers.clone()).await;
        let next = next.expect(200);
        let same = service.admin(Method::POST, &path, answers.clone()).await;
        assert_eq!(same.expect(200), next);
        let mut other = answers.clone();
        other["answers"][0] = "6F00".into();
        let other = service.admin(Method::POST, &path, other).await;
        assert_eq!(other.expect(409)["code"], "turn_stale");
        if let Some(former) = former {
            let stale = service.admin(Method::POST, &path, former).await;
            assert_eq!(stale.expect(409)["code"], "turn_stale");
        }
        (former, turn) = (Some(answers), next);
    }
    assert_eq!(turn["state"], "verified");
}

#[tokio::test]
async fn a_chip_is_encoded_for_one_thing_at_a_time() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let other = service.tag(json!({"name": "Other"})).await;
    let begun = service
        .admin_create("/encodings", wish(uid(1), tag.id))
        .await;
    let taken = service
        .admin(Method::POST, "/encodings", wish(uid(1), other.id))
        .await;
    assert_eq!(taken.expect(409)["code"], "encoding_open");
    let same = service
        .admin(Method::POST, "/encodings", wish(uid(1), tag.id))
        .await;
    let same = same.expect(200);
    assert_eq!(same["id"], begun["id"]);
    assert_eq!(same["seq"], 2);
    // The desktop that held it is gone for two minutes.
    service.advance(120_000);
    let mut chip = VirtualNtag424::new(uid(1));
    let turn = lay(&service, &mut chip, &wish(uid(1), other.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let former = service
        .admin_get(&format!("/encodings/{}", begun["id"]))
        .await;
    assert_eq!(former["state"], "abandoned");
    // A finished chip cannot be encoded for another tag, nor an imitation of it for its own tag.
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("rejected"), &json!("already_encoded"))
    );
    let mut imitation = VirtualNtag424::new(uid(1));
    let turn = lay(&service, &mut imitation, &wish(uid(1), other.id)).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("rejected"), &json!("not_genuine"))
    );
    assert_eq!(imitation.tally().writes, 0);
    let mut second = VirtualNtag424::new(uid(2));
    let turn = lay(&service, &mut second, &wish(uid(2), other.id)).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("rejected"), &json!("tag_has_inlay"))
    );
    assert_eq!(second.tally().writes, 0);
}

#[tokio::test]
async fn a_session_is_void_after_a_minute() {
    let (service, tag, mut chip) = desk().await;
    chip.power_on();
    let begun = service
        .admin_create("/encodings", wish(uid(1), tag.id))
        .await;
    let answers = answers(&mut chip, &begun);
    service.advance(60_001);
    let path = format!("/encodings/{}/answers", begun["id"]);
    let turn = service
        .admin(Method::POST, &path, answers)
        .await
        .expect(200);
    let name = turn["commands"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("Select application"), "{name}");
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified");
}

#[tokio::test]
async fn an_encoding_goes_on_after_every_restart_of_the_service() {
    let (mut service, tag, mut chip) = desk().await;
    chip.power_on();
    let begun = service
        .admin_create("/encodings", wish(uid(1), tag.id))
        .await;
    let path = format!("/encodings/{}/answers", begun["id"]);
    let mut turn = begun;
    while !turn["commands"].as_array().unwrap().is_empty() {
        let answers = answers(&mut chip, &turn);
        service = service.restart(0).await;
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
    }
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(chip.tally().refusals, 0);
}

#[tokio::test]
async fn a_wiped_chip_is_no_inlay_any_more() {
    let (service, tag, mut chip) = desk().await;
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    let turn = lay(&service, &mut chip, &wipe).await;
    assert_eq!(turn["state"], "reset", "{turn}");
    assert!(chip.key(0).is_factory());
    let inlays = service
        .admin_get(&format!("/inlays?tag_id={}", tag.id))
        .await;
    assert_eq!(inlays["items"], json!([]));
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
}

#[tokio::test]
async fn no_key_of_a_chip_and_no_command_is_anywhere_in_clear() {
    let (service, _, mut chip) = desk().await;
    let run = json!({"name": "Roll", "plan": {"pattern": "Bottle {n}"}});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    chip.power_on();
    let begun = json!({"uid": uid(1).to_string(), "run_id": run});
    let begun = service.admin_create("/encodings", begun).await;
    let path = format!("/encodings/{}/answers", begun["id"]);
    let mut turn = begun;
    let mut secrets: Vec<Vec<u8>> = Vec::new();
    while !turn["commands"].as_array().unwrap().is_empty() {
        for command in turn["commands"].as_array().unwrap() {
            let apdu = command["apdu"].as_str().unwrap_or_default();
            if ["90C4", "90AF000020", "905F"]
                .iter()
                .any(|head| apdu.starts_with(head))
            {
                secrets.push(bytes(&apdu[10..]));
                secrets.push(apdu.as_bytes()[10..].to_vec());
            }
        }
        let answers = answers(&mut chip, &turn);
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
        if let Some(session) = chip.session()
            && let Some((enc, mac)) = session.keys()
        {
            secrets.extend([enc.expose().to_vec(), mac.expose().to_vec()]);
        }
    }
    assert_eq!(turn["state"], "verified");
    for slot in 0..5 {
        let key = chip.key(slot).expose();
        secrets.push(key.to_vec());
        secrets.push(hex(key).to_uppercase().into_bytes());
        secrets.push(hex(key).to_lowercase().into_bytes());
    }
    assert!(secrets.len() > 20);
    let shown = [
        service
            .admin_get(&format!("/encodings/{}", turn["id"]))
            .await,
        service.admin_get("/encodings").await,
        service.admin_get("/encoding-root").await,
        service.admin_get("/inlays").await,
        service.admin_get(&format!("/encoding-runs/{run}")).await,
        service.admin_get("/audit").await,
    ];
    let mut shown = json!(shown).to_string().to_uppercase().into_bytes();
    // Exported files: the table of the run, and backups with and without the root's key.
    let table = format!("/encoding-runs/{run}/export");
    let table = service.admin(Method::GET, &table, Value::Null).await;
    shown.extend(table.body.to_uppercase().into_bytes());
    let options = [json!({}), json!({"passphrase": "correct horse battery"})];
    // PostgreSQL is backed up with its own tools.
    let is_file = default_database() == "sqlite";
    for options in options.iter().filter(|_| is_file) {
        let backup = service.admin_request(Method::POST, "/backup").json(options);
        let backup = backup.send().await.unwrap();
        assert_eq!(backup.status(), 200);
        let name = service
            .folder()
            .join(format!("{}.backup", options.to_string().len()));
        std::fs::write(name, backup.bytes().await.unwrap()).unwrap();
    }
    for secret in &secrets {
        assert_eq!(
            files_containing(service.folder(), secret),
            [] as [&std::path::Path; 0]
        );
        assert!(
            !shown
                .windows(secret.len())
                .any(|window| window == secret.as_slice())
        );
    }
}

#[tokio::test]
async fn whether_the_root_is_in_a_backup_is_told() {
    let service = TestService::start().await;
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(root["created_at"], Value::Null);
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = VirtualNtag424::new(uid(1));
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(
        (root["created_at"].is_string(), &root["backed_up_at"]),
        (true, &Value::Null)
    );
}

#[tokio::test]
async fn a_random_uid_is_told_as_such() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let random = json!({"uid": "08A1B2C3", "tag_id": tag.id});
    let turn = service.admin_create("/encodings", random).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("rejected"), &json!("random_id"))
    );
    // It is shown in the reader's form everywhere.
    for path in [
        "/encodings?uid=08A1B2C3&count=true",
        "/encodings?uid=08a1b2c3&count=true",
    ] {
        let listed = service.admin_get(path).await;
        assert_eq!(listed["count"], 1, "{path}");
        assert_eq!(listed["items"][0]["uid"], "08A1B2C3");
    }
    let whole = service
        .admin_get(&format!("/encodings/{}", turn["id"]))
        .await;
    assert_eq!(whole["uid"], "08A1B2C3");
    let refused = service
        .admin(Method::GET, "/encodings?uid=04A1B2C3", Value::Null)
        .await;
    assert_eq!(refused.expect(422)["code"], "invalid");
    let run = json!({"name": "Roll", "plan": {"pattern": "Bottle {n}"}});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    let random = json!({"uid": "08A1B2C4", "run_id": run});
    service.admin_create("/encodings", random).await;
    let rows = service.admin_get(&format!("/encoding-runs/{run}")).await;
    assert_eq!(rows["rows"][0]["uid"], "08A1B2C4");
    let table = format!("/encoding-runs/{run}/export");
    let table = service.admin(Method::GET, &table, Value::Null).await.body;
    assert!(table.contains(",08A1B2C4,"), "{table}");
    let both = json!({"uid": uid(1).to_string(), "tag_id": tag.id, "wipe": true});
    let refused = service.admin(Method::POST, "/encodings", both).await;
    assert_eq!(refused.expect(422)["code"], "invalid");
}

#[tokio::test]
async fn an_encoded_inlay_and_a_root_without_a_backup_are_told_to_webhooks() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let events = ["inlay.encoded", "alert.root_not_backed_up"];
    let webhook = json!({"url": receiver.url(), "events": events});
    service.admin_create("/webhooks", webhook).await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = VirtualNtag424::new(uid(1));
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let arrived = receiver.wait_for(2).await;
    let arrived: Vec<Value> = arrived.iter().map(Received::json).collect();
    let of = |kind: &str| arrived.iter().find(|arrived| arrived["type"] == kind);
    assert!(of("alert.root_not_backed_up").is_some(), "{arrived:?}");
    let encoded = of("inlay.encoded").expect("it was encoded");
    assert_eq!(encoded["data"]["tag_id"], tag.id);
    assert_eq!(encoded["data"]["encoding_id"], turn["id"]);
    assert_eq!(encoded["data"]["counter"], 1);
}

#[tokio::test]
async fn each_state_is_told_by_a_turn() {
    let (service, tag, mut chip) = desk().await;
    chip.power_on();
    let wish = wish(uid(1), tag.id);
    let mut turn = service.admin_create("/encodings", wish).await;
    let path = format!("/encodings/{}/answers", turn["id"]);
    let mut states = vec![turn["state"].clone()];
    while !turn["commands"].as_array().unwrap().is_empty() {
        let answers = answers(&mut chip, &turn);
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
        states.push(turn["state"].clone());
    }
    states.dedup();
    let all = [
        "planned", "writing", "keyed", "sealing", "sealed", "verified",
    ];
    assert_eq!(states, all);
}

#[tokio::test]
async fn a_url_that_was_seen_before_proves_no_finished_chip() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let wish = wish(uid(1), tag.id);
    let mut chip = VirtualNtag424::new(uid(1));
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    // The imitation's next URL is one that the chip itself has shown: somebody stored it.
    let mut imitation = chip.clone();
    let url = chip.read_url();
    let tapped = service.tap(&url[url.find("/t/").unwrap()..]).await;
    assert_eq!(tapped.status, 302);
    let turn = lay(&service, &mut imitation, &wish).await;
    assert_eq!(imitation.counter(), chip.counter());
    assert_eq!(ended(&turn), ("rejected", Some("not_genuine")));
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(turn["result"]["counter"], 3);
}

#[tokio::test]
async fn a_finished_chip_whose_counter_is_at_its_end_gets_new_keys_if_a_person_says_so() {
    let (service, tag, mut chip) = desk().await;
    let wish = wish(uid(1), tag.id);
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    // The last read of all is its proof.
    chip.set_counter(0xFF_FFFE);
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["result"]["counter"], 0xFF_FFFF, "{turn}");
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(ended(&turn), ("rejected", Some("already_encoded")));
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(turn["result"]["counter"], 1);
}

#[tokio::test]
async fn a_chip_is_opened_with_the_keys_that_its_inlay_was_imported_with() {
    let (service, tag, mut chip) = desk().await;
    let keys = [3, 4].map(|byte| AesKey::from_bytes([byte; 16]));
    let [meta, file] = &keys;
    let inlay = json!({
        "uid": uid(1).to_string(), "technology": "ntag424dna", "mirror": "encrypted", "tag_id": tag.id,
        "meta_key": hex(meta.expose()), "file_key": hex(file.expose()),
    });
    service.admin_create("/inlays", inlay).await;
    for (slot, key) in (1..).zip(&keys) {
        chip.set_key(slot, key.clone(), 0);
    }
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None), "{turn}");
    assert_eq!(chip.tally().refusals, 0);
    // From now on the chip has other keys.
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None), "{turn}");
    assert_eq!(chip.tally().refusals, 0);
}
