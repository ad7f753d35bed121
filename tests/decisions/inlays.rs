//! Inlays: which ones can be registered, and their later states.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{OsEntropy, bytes};
use tapdesk_service::inlay::code::COUNTER_MAX;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::{chip, chip_json};

#[tokio::test]
async fn the_five_technologies_and_no_other_can_be_registered() {
    let service = TestService::start().await;
    for (i, technology) in ["ntag213", "ntag215", "ntag216", "ultralight"]
        .iter()
        .enumerate()
    {
        let uid = format!("0411223344556{i}");
        let inlay = json!({"uid": uid, "technology": technology});
        let inlay = service.admin_create("/inlays", inlay).await;
        assert_eq!(
            (&inlay["technology"], &inlay["uid"]),
            (&json!(technology), &json!(uid))
        );
    }
    let rolling = chip_json(&chip(Mirror::Plain, MacFrom::None));
    service.admin_create("/inlays", rolling).await;
    let unknown = json!({"uid": "04112233445577", "technology": "ntag999"});
    let answer = service.admin(Method::POST, "/inlays", unknown).await;
    assert_eq!(answer.status, 422);
}

#[tokio::test]
async fn factory_keys_are_refused_unless_allowed_and_then_flagged() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let mut chip = chip(mirror, MacFrom::None);
        chip.keys = Keys {
            meta: chip.keys.meta.map(|_| AesKey::FACTORY),
            file: AesKey::FACTORY,
        };
        let mut inlay = chip_json(&chip);
        let refused = service.admin(Method::POST, "/inlays", inlay.clone()).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        inlay["allow_factory_keys"] = true.into();
        let created = service.admin_create("/inlays", inlay).await;
        assert_eq!(created["factory_keys"], json!(true));
    }
}

#[tokio::test]
async fn keys_go_in_and_never_come_out() {
    let service = TestService::start().await;
    let inlay = chip_json(&chip(Mirror::Encrypted, MacFrom::None));
    let created = service.admin_create("/inlays", inlay.clone()).await;
    let shown = service
        .admin_get(&format!("/inlays/{}", created["id"]))
        .await;
    for answer in [created, shown] {
        let text = answer.to_string().to_uppercase();
        for key in ["meta_key", "file_key"] {
            let key = inlay[key].as_str().expect("a key");
            assert!(!text.contains(key), "{text}");
        }
        assert_eq!(answer["file_key_check"].as_str().map(str::len), Some(6));
    }
}

#[tokio::test]
async fn an_inlay_belongs_to_one_tag_and_can_be_bound_later() {
    let service = TestService::start().await;
    let (first, second) = (
        service.redirecting_tag(Value::Null).await,
        service.redirecting_tag(Value::Null).await,
    );
    let mut chip = chip(Mirror::Encrypted, MacFrom::None);
    let id = service.inlay(chip_json(&chip)).await;
    for tag in [&first, &second] {
        service
            .admin_patch(&format!("/inlays/{id}"), json!({"tag_id": tag.id}))
            .await;
        for (at, verified) in [(&first, first.id == tag.id), (&second, second.id == tag.id)] {
            let code = chip.tap(bytes(&OsEntropy)).expect("room");
            let tap = service.tap(&at.with(&code)).await;
            let payload = service.payload(tap.key()).await;
            // A tag without a rolling inlay has no keys to check a code with either.
            assert_eq!(payload["tag_verified"], json!(verified));
        }
    }
}

#[tokio::test]
async fn a_uid_is_registered_once() {
    let service = TestService::start().await;
    let inlay = chip_json(&chip(Mirror::Plain, MacFrom::None));
    service.inlay(inlay.clone()).await;
    let again = service.admin(Method::POST, "/inlays", inlay).await;
    assert_eq!(again.status, 409);
}

#[tokio::test]
async fn the_counter_can_reach_its_end_and_no_further() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    inlay.chip.counter = COUNTER_MAX - 1;
    let last = service.tap(&inlay.url(&tag)).await;
    let payload = service.payload(last.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
    assert!(inlay.chip.tap(bytes(&OsEntropy)).is_err());
    let shown = service.admin_get(&format!("/inlays/{}", inlay.id)).await;
    assert_eq!(shown["last_counter"], json!(COUNTER_MAX));
}

#[tokio::test]
async fn last_counter_is_the_highest_accepted() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    for counter in [3, 61, 7] {
        service.tap(&tag.with(&inlay.code_at(counter))).await;
    }
    let shown = service.admin_get(&format!("/inlays/{}", inlay.id)).await;
    assert_eq!(shown["last_counter"], json!(61));
}

/// The reason in the newest interaction.
async fn last_reason(service: &TestService) -> Value {
    let id = service.last_interaction().await;
    let path = format!("/interactions/{id}");
    service.admin_get(&path).await["reason"].clone()
}

#[tokio::test]
async fn codes_of_a_blocked_inlay_are_false_and_none_of_them_verifies_later() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let path = format!("/inlays/{}", inlay.id);
    let verified = async |url: &str| {
        let tap = service.tap(url).await;
        service.payload(tap.key()).await["tag_verified"].clone()
    };
    assert_eq!(verified(&inlay.url(&tag)).await, json!(true));
    let shown = service.admin_patch(&path, json!({"blocked": true})).await;
    assert_eq!(shown["blocked"], true);
    assert!(shown["blocked_at"].is_string(), "{shown}");
    let listed = service.admin_get("/inlays?blocked=true").await;
    assert_eq!(listed["items"][0]["id"], shown["id"]);

    let spent = inlay.url(&tag);
    let asked = json!({"url": format!("https://tags.example{spent}")});
    let asked = service.admin(Method::POST, "/verification", asked).await;
    assert_eq!(asked.expect(200)["reason"], "blocked");
    assert_eq!(verified(&spent).await, json!(false));
    assert_eq!(last_reason(&service).await, "blocked");
    // Blocking it again keeps the time of the first block.
    let again = service.admin_patch(&path, json!({"blocked": true})).await;
    assert_eq!(again["blocked_at"], shown["blocked_at"]);
    // A wrong code stays wrong: it does not belong to this inlay.
    let mut other = tag.with(&inlay.code_at(50));
    let last = other.pop();
    other.push(if last == Some('0') { '1' } else { '0' });
    assert_eq!(verified(&other).await, json!(false));
    assert_eq!(last_reason(&service).await, "wrong_mac");

    let shown = service.admin_patch(&path, json!({"blocked": false})).await;
    assert_eq!(
        (&shown["blocked"], &shown["blocked_at"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(verified(&spent).await, json!(false), "it is spent");
    assert_eq!(verified(&inlay.url(&tag)).await, json!(true));

    let rows = service
        .admin_get(&format!(
            "/audit?action=inlays.update&object=inlays/{}",
            inlay.id
        ))
        .await;
    let rows = rows["items"].as_array().unwrap();
    let changes: Vec<_> = rows
        .iter()
        .filter(|row| row["before"]["blocked"] != row["after"]["blocked"])
        .collect();
    assert_eq!(changes.len(), 2, "{rows:?}");
}

#[tokio::test]
async fn an_inlay_that_makes_no_codes_cannot_be_blocked() {
    let service = TestService::start().await;
    let inlay = json!({"uid": "04112233445566", "technology": "ntag213"});
    let inlay = service.admin_create("/inlays", inlay).await;
    let path = format!("/inlays/{}", inlay["id"]);
    for blocked in [json!(true), Value::Null, json!("yes")] {
        let body = json!({"blocked": blocked});
        let refused = service.admin(Method::PATCH, &path, body).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
    }
}
