//! `/admin/v1/inlays`: keys are write-only, codes verify, and spent codes stay spent.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::inlay::key::AesKey;
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

/// The same chip encoded with other keys; its counter is 0 again.
fn re_encoded(chip: &VirtualInlay) -> VirtualInlay {
    let mut encoded = chip.clone();
    let key = || AesKey::from_bytes(entropy::bytes(&OsEntropy));
    encoded.keys.file = key();
    encoded.keys.meta = encoded.keys.meta.map(|_| key());
    encoded.counter = 0;
    encoded
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
            "factory_keys": false, "bureau_keys": false, "used_up": false, "blocked": false, "blocked_at": null, "simulated": false,
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
async fn replaced_keys_start_the_counter_from_0_and_old_codes_no_longer_verify() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = tag(&service).await;
        let old = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        assert!(accepts(&service, &tag, &old, 50).await);
        let new = TestInlay {
            chip: re_encoded(&old.chip),
            ..old.clone()
        };
        let replaced = patch(&service, &new, keys(&new.chip)).await;
        assert_eq!(replaced["last_counter"], json!(0));
        assert_eq!(
            replaced["file_key_check"],
            json!(new.chip.keys.file.check().to_string())
        );
        assert!(!accepts(&service, &tag, &old, 51).await, "{mirror}");
        assert!(accepts(&service, &tag, &new, 1).await, "{mirror}");
    }
}

#[tokio::test]
async fn the_same_keys_again_reopen_no_spent_code() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = tag(&service).await;
        let inlay = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        assert!(accepts(&service, &tag, &inlay, 50).await);
        let same = patch(&service, &inlay, keys(&inlay.chip)).await;
        assert_eq!(same["last_counter"], json!(50));
        assert!(!accepts(&service, &tag, &inlay, 50).await, "{mirror}");
        assert!(accepts(&service, &tag, &inlay, 51).await, "{mirror}");
    }
}

#[tokio::test]
async fn keys_that_come_back_find_their_counter() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 50).await);
    let mistyped = TestInlay {
        chip: re_encoded(&inlay.chip),
        ..inlay.clone()
    };
    patch(&service, &inlay, keys(&mistyped.chip)).await;
    assert!(accepts(&service, &tag, &mistyped, 7).await);
    let mended = patch(&service, &inlay, keys(&inlay.chip)).await;
    assert_eq!(mended["last_counter"], json!(50));
    assert!(!accepts(&service, &tag, &inlay, 50).await);
    let back = patch(&service, &inlay, keys(&mistyped.chip)).await;
    assert_eq!(back["last_counter"], json!(7));
}

#[tokio::test]
async fn no_way_around_the_meta_key_reopens_a_spent_plain_code() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let plain = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &plain, 50).await);
    let meta = "0F0E0D0C0B0A09080706050403020100";
    patch(
        &service,
        &plain,
        json!({"mirror": "encrypted", "meta_key": meta}),
    )
    .await;
    let back = patch(&service, &plain, json!({"mirror": "plain"})).await;
    assert_eq!(back["last_counter"], json!(50));
    assert!(!accepts(&service, &tag, &plain, 50).await);
}

#[tokio::test]
async fn another_mirror_or_window_keeps_the_counter() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 50).await);
    for (mirror, mac_from) in [
        (Mirror::Encrypted, MacFrom::Uid),
        (Mirror::Plain, MacFrom::Uid),
        (Mirror::Encrypted, MacFrom::None),
    ] {
        let changes = json!({"mirror": mirror.as_str(), "mac_from": mac_from.as_str()});
        let inlay_now = patch(&service, &inlay, changes).await;
        assert_eq!(inlay_now["last_counter"], json!(50));
        (inlay.chip.mirror, inlay.chip.mac_from) = (mirror, mac_from);
        assert!(
            !accepts(&service, &tag, &inlay, 50).await,
            "{mirror} {mac_from}"
        );
    }
    assert!(accepts(&service, &tag, &inlay, 51).await);
}

#[tokio::test]
async fn a_deleted_inlay_verifies_nothing_and_comes_back_with_its_counter() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 50).await);
    let path = format!("/inlays/{}", inlay.id);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!((deleted.status, deleted.body.as_str()), (204, ""));
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(
            refused(&service, method, &path, Value::Null).await.status,
            404
        );
    }
    assert_eq!(service.admin_get("/inlays").await["items"], json!([]));
    service.tap(&tag.with(&inlay.code_at(51))).await;

    inlay.id = service.register(inlay.chip.clone(), &tag).await.id;
    assert_eq!(get(&service, &inlay).await["last_counter"], json!(50));
    assert!(!accepts(&service, &tag, &inlay, 50).await, "it was spent");
    assert!(
        accepts(&service, &tag, &inlay, 51).await,
        "it was not accepted while there was no inlay"
    );

    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    let re_encoded = re_encoded(&inlay.chip);
    let new = service.register(re_encoded, &tag).await;
    assert_eq!(get(&service, &new).await["last_counter"], json!(0));
    assert!(
        !accepts(&service, &tag, &inlay, 52).await,
        "its keys are gone"
    );
    assert!(accepts(&service, &tag, &new, 1).await);
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
async fn a_list_is_filtered_counted_and_paged() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlays = Vec::new();
    for _ in 0..5 {
        inlays.push(
            service
                .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
                .await,
        );
    }
    let unbound = service
        .inlay(chip_json(&chip(Mirror::Plain, MacFrom::None)))
        .await;
    let ids = |page: &Value| {
        let items = page["items"].as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| item["id"].as_i64().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    let mut path = "/inlays?limit=4&count=true".to_owned();
    loop {
        let page = service.admin_get(&path).await;
        assert_eq!(page["count"], json!(6));
        seen.extend(ids(&page));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/inlays?limit=4&count=true&after={next}");
    }
    let mut all: Vec<_> = inlays.iter().map(|inlay| inlay.id).collect();
    all.push(unbound);
    assert_eq!(seen, all);

    let uid = inlays[2].chip.uid.to_string().to_lowercase();
    for (query, expected) in [
        (format!("tag_id={}", tag.id), all[..5].to_vec()),
        (format!("uid={uid}"), vec![inlays[2].id]),
        ("uid=04FFFFFFFFFFFF".to_owned(), vec![]),
        (format!("uid_part={uid}"), vec![inlays[2].id]),
        (format!("uid_part={}", &uid[3..]), vec![inlays[2].id]),
        ("uid_part=04".to_owned(), all.clone()),
        ("uid_part=04&limit=1".to_owned(), all[..1].to_vec()),
        ("unbound=true".to_owned(), vec![unbound]),
        ("unbound=false&limit=2".to_owned(), all[..2].to_vec()),
        ("simulated=true".to_owned(), vec![]),
        ("simulated=false".to_owned(), all.clone()),
    ] {
        let page = service.admin_get(&format!("/inlays?{query}")).await;
        assert_eq!(ids(&page), expected, "{query}");
    }
    for query in [
        "uid=04",
        "uid_part=",
        "uid_part=0g",
        "unbound=maybe",
        "after=x",
        "tag=1",
        "limit=0",
    ] {
        let path = format!("/inlays?{query}");
        refused(&service, Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
}

/// Everything that the overview lists under "needs attention" can be listed by a filter: the chip,
/// factory keys, exhausted counters, no tag.
#[tokio::test]
async fn inlays_that_need_attention_are_listed_by_filters() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let key = "0123456789abcdef0123456789abcdef";
    let zero = "00000000000000000000000000000000";
    let create = |uid: &str, more: Value| {
        let mut inlay =
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain", "file_key": key});
        for (name, value) in more.as_object().into_iter().flatten() {
            inlay[name] = value.clone();
        }
        service.inlay(inlay)
    };
    let plain = create("04AABBCCDD0001", json!({"tag_id": tag.id})).await;
    let factory = create(
        "04AABBCCDD0002",
        json!({"file_key": zero, "allow_factory_keys": true}),
    )
    .await;
    let exhausted = create("04AABBCCDD0003", json!({"last_counter": 0x00FF_FFFF})).await;
    let sticker = service
        .inlay(json!({"uid": "04AABBCCDD0004", "technology": "ntag213"}))
        .await;
    for (query, expected) in [
        ("factory_keys=true", vec![factory]),
        ("factory_keys=false", vec![plain, exhausted, sticker]),
        ("exhausted=true", vec![exhausted]),
        ("exhausted=false", vec![plain, factory, sticker]),
        ("technology=ntag213", vec![sticker]),
        (
            "technology=ntag424dna&unbound=true",
            vec![factory, exhausted],
        ),
        ("technology=sic43nt", vec![]),
    ] {
        let page = service
            .admin_get(&format!("/inlays?count=true&{query}"))
            .await;
        let items = page["items"].as_array().into_iter().flatten();
        let ids: Vec<_> = items.map(|item| item["id"].as_i64()).collect();
        let expected: Vec<_> = expected.into_iter().map(Some).collect();
        assert_eq!(ids, expected, "{query}");
        assert_eq!(page["count"], json!(expected.len()), "{query}");
    }
    refused(
        &service,
        Method::GET,
        "/inlays?technology=ntag999",
        Value::Null,
    )
    .await
    .expect(422);
    let attention = &service.admin_get("/stats").await["attention"];
    assert_eq!(
        (&attention["factory_keys"], &attention["used_up"]),
        (&json!(1), &json!(1))
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
async fn an_inlay_at_its_counters_end_is_shown_as_used_up() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 0xFF_FFFE).await);
    assert_eq!(get(&service, &inlay).await["used_up"], json!(false));
    assert!(accepts(&service, &tag, &inlay, 0xFF_FFFF).await);
    assert_eq!(get(&service, &inlay).await["used_up"], json!(true));
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
