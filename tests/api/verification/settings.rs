//! A setting of the inlay that differs from its chip is reported.

use reqwest::Method;
use serde_json::json;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::{TestInlay, TestService};

use super::{tag, url, verify};

/// The findings about a code of `actual` that is registered as `configured`: their names, and all
/// their texts.
async fn findings(configured: VirtualInlay, actual: &VirtualInlay) -> (Vec<String>, String) {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service.register(configured, &tag).await;
    let code = actual.code_at(7, [1, 2, 3, 4, 5]);
    findings_of(&service, &url(&service, &tag, &code), Some(inlay.id)).await
}

async fn findings_of(
    service: &TestService,
    url: &str,
    inlay: Option<i64>,
) -> (Vec<String>, String) {
    let verification = verify(service, url).await;
    assert_eq!(verification["tag_verified"], json!(false), "{verification}");
    assert_eq!(verification["inlay_id"], json!(inlay), "{verification}");
    let findings = verification["findings"].as_array().unwrap();
    let texts = |member: &str| {
        let texts = findings
            .iter()
            .map(|finding| finding[member].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    (texts("kind"), texts("text").join(" "))
}

/// A chip, and the same chip with a changed setting.
fn pair(mirror: Mirror, change: impl Fn(&mut VirtualInlay)) -> (VirtualInlay, VirtualInlay) {
    let actual = chip(mirror, MacFrom::None);
    let mut configured = actual.clone();
    change(&mut configured);
    (configured, actual)
}

#[tokio::test]
async fn the_wrong_mirror_is_named() {
    for (mirror, other) in [
        (Mirror::Plain, Mirror::Encrypted),
        (Mirror::Encrypted, Mirror::Plain),
    ] {
        let actual = VirtualInlay {
            keys: chip(Mirror::Encrypted, MacFrom::None).keys,
            ..chip(mirror, MacFrom::None)
        };
        let configured = VirtualInlay {
            mirror: other,
            ..actual.clone()
        };
        let (kinds, words) = findings(configured, &actual).await;
        assert_eq!(kinds, ["mirror"]);
        assert!(
            words.contains(&format!("set mirror to \"{mirror}\"")),
            "{words}"
        );
    }
}

#[tokio::test]
async fn the_wrong_mac_window_is_named() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        for (is, set) in [(MacFrom::None, MacFrom::Uid), (MacFrom::Uid, MacFrom::None)] {
            let actual = chip(mirror, is);
            let configured = VirtualInlay {
                mac_from: set,
                ..actual.clone()
            };
            let (kinds, words) = findings(configured, &actual).await;
            assert_eq!(kinds, ["mac_window"]);
            assert!(
                words.contains(&format!("set mac_from to \"{is}\"")),
                "{words}"
            );
        }
    }
}

#[tokio::test]
async fn swapped_keys_are_named() {
    let (configured, actual) = pair(Mirror::Encrypted, |chip| {
        let Keys { meta, file } = chip.keys.clone();
        chip.keys = Keys {
            meta: Some(file),
            file: meta.unwrap(),
        };
    });
    let (kinds, words) = findings(configured, &actual).await;
    assert_eq!(kinds, ["keys_swapped"]);
    assert!(words.contains("swapped"), "{words}");
}

#[tokio::test]
async fn a_chip_that_still_has_its_factory_key_is_named() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let (configured, mut actual) = pair(mirror, |_| {});
        actual.keys.file = AesKey::FACTORY;
        let (kinds, words) = findings(configured, &actual).await;
        assert_eq!(kinds, ["file_key"]);
        assert!(words.contains("factory key"), "{words}");
    }
}

#[tokio::test]
async fn one_key_for_both_slots_is_named() {
    let (configured, mut actual) = pair(Mirror::Encrypted, |_| {});
    actual.keys.file = actual.keys.meta.clone().unwrap();
    let (kinds, words) = findings(configured, &actual).await;
    assert_eq!(kinds, ["file_key"]);
    assert!(
        words.contains("set file_key to the value of meta_key"),
        "{words}"
    );
}

#[tokio::test]
async fn another_uid_than_the_configured_one_is_named() {
    let (configured, actual) = pair(Mirror::Plain, |chip| {
        chip.uid = Uid::from_bytes([0x04, 1, 2, 3, 4, 5, 6]);
    });
    let (kinds, words) = findings(configured, &actual).await;
    assert_eq!(kinds, ["other_uid"]);
    assert!(words.contains(&actual.uid.to_string()), "{words}");
}

#[tokio::test]
async fn a_counter_in_the_wrong_byte_order_is_named() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let OneTimeCode { uid, token } = inlay.code_at(0x01_0203);
    let swapped = OneTimeCode {
        uid,
        token: format!("030201{}", &token[6..]),
    };
    let (kinds, _) = findings_of(&service, &url(&service, &tag, &swapped), Some(inlay.id)).await;
    assert_eq!(kinds, ["counter_byte_order"]);
}

#[tokio::test]
async fn a_tampered_code_fits_nothing() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let service = TestService::start().await;
        let tag = tag(&service).await;
        let inlay = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        let mut code = inlay.code_at(1);
        let last = code.token.pop();
        code.token.push(if last == Some('0') { '1' } else { '0' });
        let url = url(&service, &tag, &code);
        let (kinds, _) = findings_of(&service, &url, Some(inlay.id)).await;
        assert_eq!(kinds, ["mac_fits_nothing"]);
    }
    let service = TestService::start().await;
    let tag = tag(&service).await;
    service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let made_up = OneTimeCode {
        uid: "5A".repeat(16),
        token: "A5".repeat(8),
    };
    let (kinds, _) = findings_of(&service, &url(&service, &tag, &made_up), None).await;
    assert_eq!(kinds, ["picc_data_fits_no_key"]);
}

#[tokio::test]
async fn a_code_of_another_tags_inlay_is_named() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let service = TestService::start().await;
        let (here, there) = (tag(&service).await, tag(&service).await);
        service.rolling_inlay(&here, mirror, MacFrom::None).await;
        let other = service.rolling_inlay(&there, mirror, MacFrom::None).await;
        let url = url(&service, &here, &other.code_at(1));
        let (kinds, words) = findings_of(&service, &url, Some(other.id)).await;
        assert_eq!(kinds, ["other_inlay"]);
        assert!(words.contains(&other.chip.uid.to_string()), "{words}");
        let there = format!("{}{}", service.base(), there.with(&other.code_at(1)));
        assert_eq!(
            verify(&service, &there).await["tag_verified"],
            json!(true),
            "no counter moved"
        );
    }
}

#[tokio::test]
async fn a_chip_that_is_no_inlay_here_is_named() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let stranger = chip(Mirror::Plain, MacFrom::None);
    let url = url(&service, &tag, &stranger.code_at(1, [0; 5]));
    let (kinds, _) = findings_of(&service, &url, None).await;
    assert_eq!(kinds, ["not_configured", "mac_fits_nothing"]);
}

#[tokio::test]
async fn keys_of_another_source_are_named() {
    let service = TestService::start().await;
    let master = json!({
        "name": "Cellar", "key": "00112233445566778899AABBCCDDEEFF", "derivation": {"scheme": "an10922", "input": "{uid}01", "diversify_meta": true},
    });
    let master = service.admin_create("/master-keys", master).await["id"].clone();
    let key = tapdesk_service::inlay::diversify::MasterKey {
        key: AesKey::from_hex("00112233445566778899AABBCCDDEEFF").unwrap(),
        input: "{uid}01".parse().unwrap(),
        diversify_meta: true,
    };

    let tag_one = tag(&service).await;
    let mut actual = chip(Mirror::Plain, MacFrom::None);
    let inlay = service.register(actual.clone(), &tag_one).await;
    actual.keys.file = key.diversified(actual.uid);
    let code = actual.code_at(1, [0; 5]);
    let (kinds, words) =
        findings_of(&service, &url(&service, &tag_one, &code), Some(inlay.id)).await;
    assert_eq!(kinds, ["file_key"]);
    assert!(
        words.contains("diversified from the master key \"Cellar\""),
        "{words}"
    );
    let path = format!("/inlays/{}", inlay.id);
    service
        .admin_patch(&path, json!({"master_key_id": master}))
        .await;
    let mended = TestInlay {
        chip: actual.clone(),
        ..inlay.clone()
    };
    let mended = url(&service, &tag_one, &mended.code_at(1));
    assert_eq!(
        verify(&service, &mended).await["tag_verified"],
        json!(true),
        "the finding's advice helps"
    );

    actual.keys.file = key.key.clone();
    let code = actual.code_at(1, [0; 5]);
    let (kinds, words) =
        findings_of(&service, &url(&service, &tag_one, &code), Some(inlay.id)).await;
    assert_eq!(kinds, ["file_key"]);
    assert!(words.contains("itself, not diversified"), "{words}");
}

#[tokio::test]
async fn no_answer_about_a_code_carries_a_key() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let sentinel = "5E27173E15A5EC2E75E27173E15A5EC2";
    let master = json!({"name": "Cellar", "key": sentinel, "derivation": {"scheme": "an10922", "input": "{uid}"}});
    service.admin_create("/master-keys", master).await;
    let mut configured = chip(Mirror::Encrypted, MacFrom::None);
    configured.keys = Keys {
        meta: Some(AesKey::from_hex(sentinel).unwrap()),
        file: AesKey::from_hex(sentinel).unwrap(),
    };
    let inlay = service.register(configured.clone(), &tag).await;
    configured.mac_from = MacFrom::Uid;
    let wrong = url(&service, &tag, &configured.code_at(1, [0; 5]));
    let mistakes = [
        json!({"url": wrong}),
        json!({"url": format!("{wrong}{sentinel}"), "key": sentinel}),
    ];
    let mut texts = vec![
        service.admin_get("/inlays").await.to_string(),
        service
            .admin_get(&format!("/inlays/{}", inlay.id))
            .await
            .to_string(),
        service.admin_get("/master-keys").await.to_string(),
        service.admin_get("/tags").await.to_string(),
    ];
    for mistake in mistakes {
        texts.push(
            service
                .admin(Method::POST, "/verification", mistake)
                .await
                .body,
        );
    }
    for changes in [
        json!({"file_key": format!("{sentinel}00")}),
        json!({"file_key": sentinel, "master_key_id": 1}),
        json!({"file_key": [sentinel]}),
        json!({"tag_id": 999, "file_key": sentinel, "meta_key": sentinel}),
    ] {
        let path = format!("/inlays/{}", inlay.id);
        let answer = service.admin(Method::PATCH, &path, changes).await;
        assert!(answer.status >= 400);
        texts.push(answer.body);
    }
    for text in texts {
        assert!(!text.to_uppercase().contains(sentinel), "{text}");
    }
}
