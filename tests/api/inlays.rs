//! `/admin/v1/inlays`: keys are write-only, codes verify, and spent codes stay spent.

mod counters;
mod lists;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::{Answer, TestInlay, TestService, TestTag};

/// A tag that leads nowhere: its taps are verified all the same.
async fn tag(service: &TestService) -> TestTag {
    service.tag(json!({"name": "Bottle 41"})).await
}

async fn get(service: &TestService, inlay: &TestInlay) -> Value {
    service.admin_get(&format!("/inlays/{}", inlay.id)).await
}

async fn patch(service: &TestService, inlay: &TestInlay, changes: Value) -> Value {
    let path = format!("/inlays/{}", inlay.id);
    service.admin_patch(&path, changes).await
}

async fn refused(service: &TestService, method: Method, path: &str, body: Value) -> Answer {
    let answer = service.admin(method, path, body).await;
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    answer
}

/// Whether a tap of `tag` with the code of this counter verifies.
async fn accepts(service: &TestService, tag: &TestTag, inlay: &TestInlay, counter: u32) -> bool {
    let before = get(service, inlay).await["last_counter"].clone();
    service.tap(&tag.with(&inlay.code_at(counter))).await;
    let after = get(service, inlay).await["last_counter"].clone();
    after != before && after == json!(counter)
}

fn keys(chip: &VirtualInlay) -> Value {
    let inlay = chip_json(chip);
    let mut keys = json!({"file_key": inlay["file_key"]});
    if !inlay["meta_key"].is_null() {
        keys["meta_key"] = inlay["meta_key"].clone();
    }
    keys
}

#[tokio::test]
async fn an_inlay_is_shown_as_it_was_created() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::Uid)
        .await;
    let meta = inlay
        .chip
        .keys
        .meta
        .as_ref()
        .map(|key| key.check().to_string());
    assert_eq!(
        get(&service, &inlay).await,
        json!({
            "id": inlay.id, "uid": inlay.chip.uid.to_string(), "technology": "ntag424dna",
            "mode": "aes", "url_template_id": null, "mirror": "encrypted", "mac_from": "uid", "tag_id": tag.id, "last_counter": 0,
            "key_source": "own", "master_key_id": null, "meta_key_check": meta,
            "file_key_check": inlay.chip.keys.file.check().to_string(),
            "has_other_keys": false, "factory_keys": false, "bureau_keys": false, "used_up": false, "blocked": false, "blocked_at": null, "simulated": false,
        })
    );
}

#[tokio::test]
async fn codes_of_both_mirrors_and_both_windows_verify() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        for mac_from in [MacFrom::None, MacFrom::Uid] {
            let tag = tag(&service).await;
            let inlay = service.rolling_inlay(&tag, mirror, mac_from).await;
            assert!(
                accepts(&service, &tag, &inlay, 1).await,
                "{mirror} {mac_from}"
            );
            assert!(
                !accepts(&service, &tag, &inlay, 1).await,
                "{mirror} {mac_from}"
            );
        }
    }
}

#[tokio::test]
async fn an_inlay_says_what_it_needs() {
    let service = TestService::start().await;
    let key = "000102030405060708090A0B0C0D0E0F";
    let zero = "00000000000000000000000000000000";
    let uid = "04DE5F1EACC040";
    for (inlay, says) in [
        (json!({"technology": "ntag213"}), "uid"),
        (json!({"uid": uid}), "technology"),
        (
            json!({"uid": "04DE", "technology": "ntag213"}),
            "14 hex digits",
        ),
        (json!({"uid": uid, "technology": "ntag424dna"}), "mirror"),
        (
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain"}),
            "file_key",
        ),
        (
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "encrypted", "file_key": key}),
            "meta_key",
        ),
        (
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "encrypted", "meta_key": key}),
            "file_key",
        ),
        (
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain", "file_key": "00"}),
            "32 hex digits",
        ),
        (
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain", "file_key": zero}),
            "allow_factory_keys",
        ),
        (
            json!({"uid": uid, "technology": "ntag213", "mirror": "plain", "file_key": key}),
            "makes no codes",
        ),
        (
            json!({"uid": uid, "technology": "ntag213", "file_key": key}),
            "makes no codes",
        ),
        (
            json!({"uid": uid, "technology": "ntag213", "colour": "red"}),
            "colour",
        ),
    ] {
        let answer = refused(&service, Method::POST, "/inlays", inlay.clone()).await;
        let problem = answer.expect(422);
        assert!(
            problem["detail"]
                .as_str()
                .unwrap_or_default()
                .contains(says),
            "{inlay}: {problem}"
        );
    }
    let none = service.admin_get("/inlays").await;
    assert_eq!(none, json!({"items": [], "next": null}));
    let of_both = json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain", "file_key": key, "master_key_id": 1});
    assert_eq!(
        refused(&service, Method::POST, "/inlays", of_both)
            .await
            .status,
        409
    );
}

#[tokio::test]
async fn an_inlay_that_makes_no_codes_needs_no_keys() {
    let service = TestService::start().await;
    for inlay in [
        json!({"uid": "04000000000001", "technology": "ultralight"}),
        json!({"uid": "04000000000002", "technology": "ntag215", "mirror": null}),
        json!({"uid": "04000000000003", "technology": "ntag424dna", "mirror": null}),
    ] {
        let created = service.admin_create("/inlays", inlay).await;
        assert_eq!(
            (
                &created["mirror"],
                &created["key_source"],
                &created["file_key_check"]
            ),
            (&Value::Null, &Value::Null, &Value::Null)
        );
    }
}

#[tokio::test]
async fn an_inlay_is_bound_to_a_tag_that_exists_and_unbound_again() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let unbound = patch(&service, &inlay, json!({"tag_id": null})).await;
    assert_eq!(unbound["tag_id"], Value::Null);
    assert!(!accepts(&service, &tag, &inlay, 1).await);
    let path = format!("/inlays/{}", inlay.id);
    let nowhere = refused(&service, Method::PATCH, &path, json!({"tag_id": 999})).await;
    assert_eq!(nowhere.expect(409)["detail"], json!("There is no tag 999."));
    patch(&service, &inlay, json!({"tag_id": tag.id})).await;
    assert!(accepts(&service, &tag, &inlay, 2).await);
}

#[tokio::test]
async fn uid_and_technology_do_not_change() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let path = format!("/inlays/{}", inlay.id);
    for changes in [
        json!({"uid": "04000000000001"}),
        json!({"technology": "ntag213"}),
        json!({"last_counter": null}),
        json!({"mirror": "encrypted"}),
        json!({"file_key": null}),
        json!({"file_key": "00000000000000000000000000000000"}),
    ] {
        refused(&service, Method::PATCH, &path, changes)
            .await
            .expect(422);
    }
    let unchanged = get(&service, &inlay).await;
    assert_eq!(
        unchanged["file_key_check"],
        json!(inlay.chip.keys.file.check().to_string())
    );
}

#[tokio::test]
async fn of_many_who_create_the_same_inlay_one_succeeds() {
    let service = TestService::start().await;
    let inlay = chip_json(&chip(Mirror::Encrypted, MacFrom::None));
    let requests = (0..20).map(|_| {
        let (client, inlay) = (service.another(), inlay.clone());
        tokio::spawn(async move { client.admin(Method::POST, "/inlays", inlay).await.status })
    });
    let mut statuses = Vec::new();
    for request in requests.collect::<Vec<_>>() {
        statuses.push(request.await.expect("a request does not panic"));
    }
    let count = |status| statuses.iter().filter(|answer| **answer == status).count();
    assert_eq!((count(201), count(409)), (1, 19));
}

#[tokio::test]
async fn without_the_wrapping_key_only_what_needs_an_inlays_key_is_refused() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 5).await);
    let virtual_inlay = service
        .admin_create("/simulator/inlays", json!({"name": "Twin"}))
        .await;
    std::fs::write(service.folder().join("inlay.key"), "5A".repeat(32)).unwrap();
    let service = service.restart(1).await;

    let code = tag.with(&inlay.code_at(6));
    let url = json!({"url": format!("{}{code}", service.base())});
    let tap = format!("/simulator/inlays/{}/tap", virtual_inlay["id"]);
    for (path, body) in [("/verification", url), (&tap, json!({}))] {
        let answer = refused(&service, Method::POST, path, body).await;
        let problem = answer.expect(409);
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("another wrapping key"), "{detail}");
    }
    assert_eq!(get(&service, &inlay).await["last_counter"], json!(5));
    let same = patch(&service, &inlay, keys(&inlay.chip)).await;
    assert_eq!(same["last_counter"], json!(5), "the keys are known again");
    assert!(!accepts(&service, &tag, &inlay, 5).await);
    assert!(accepts(&service, &tag, &inlay, 6).await);
}
