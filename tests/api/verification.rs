//! `/admin/v1/verification`: why a URL verifies, or does not.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::{TestInlay, TestService, TestTag};

async fn verify(service: &TestService, url: &str) -> Value {
    let body = json!({"url": url});
    service
        .admin(Method::POST, "/verification", body)
        .await
        .expect(200)
}

async fn tag(service: &TestService) -> TestTag {
    service.tag(json!({"name": "Bottle 41"})).await
}

fn url(service: &TestService, tag: &TestTag, code: &OneTimeCode) -> String {
    format!("{}{}", service.base(), tag.with(code))
}

fn verdicts(verification: &Value) -> Vec<(&str, &str)> {
    let steps = verification["steps"].as_array().unwrap().iter();
    steps
        .map(|step| {
            (
                step["name"].as_str().unwrap(),
                step["verdict"].as_str().unwrap(),
            )
        })
        .collect()
}

/// The findings about a code that `actual` makes, where it is registered as
/// `configured`: their names, and all their words.
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

/// A chip, and the same configured otherwise.
fn pair(mirror: Mirror, change: impl Fn(&mut VirtualInlay)) -> (VirtualInlay, VirtualInlay) {
    let actual = chip(mirror, MacFrom::None);
    let mut configured = actual.clone();
    change(&mut configured);
    (configured, actual)
}

#[tokio::test]
async fn a_dry_run_says_what_a_tap_would_be_and_changes_nothing() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = tag(&service).await;
        let mut inlay = service.rolling_inlay(&tag, mirror, MacFrom::Uid).await;
        inlay.chip.counter = 3;
        let code = inlay.code();
        let url = url(&service, &tag, &code);
        let uid = inlay.chip.uid;
        for _ in 0..2 {
            let verification = verify(&service, &url).await;
            assert_eq!(
                verification,
                json!({
                    "tag_id": tag.id, "inlay_id": inlay.id, "uid": uid.to_string(), "at_tag_url": true, "chip": null,
                    "counter": 4, "tag_verified": true, "reason": "verified",
                    "steps": [
                        {"name": "url", "verdict": "ok", "detail": format!("{} · uid {uid} · counter 4", tag.slug)},
                        {"name": "mac", "verdict": "ok", "detail": "authentic (MAC input: from uid)"},
                        {"name": "counter", "verdict": "gap", "detail": "4, the first seen: 3 reads never reached the service"},
                    ],
                    "findings": [],
                })
            );
        }
        assert_eq!(service.scan_count(&tag).await, 0);
        service.tap(&url).await;
        let replayed = verify(&service, &url).await;
        assert_eq!(replayed["reason"], json!("replayed"));
        assert_eq!(
            verdicts(&replayed),
            [("url", "ok"), ("mac", "ok"), ("counter", "failed")]
        );
        let earlier = inlay.code_at(2);
        let earlier = format!("{}{}", service.base(), tag.with(&earlier));
        assert_eq!(
            verify(&service, &earlier).await["reason"],
            json!("out_of_order")
        );
        assert_eq!(service.scan_count(&tag).await, 1);
    }
}

#[tokio::test]
async fn what_is_not_checked_is_said_not_to_be() {
    let service = TestService::start().await;
    let off = service
        .tag(json!({"name": "Off", "verifier_enabled": false}))
        .await;
    let verification = verify(&service, &format!("{}{}", service.base(), off.path())).await;
    assert_eq!(
        (&verification["tag_verified"], &verification["reason"]),
        (&Value::Null, &json!("verifier_off"))
    );
    let printed = tag(&service).await;
    let verification = verify(&service, &format!("{}{}", service.base(), printed.path())).await;
    assert_eq!(
        (&verification["tag_verified"], &verification["reason"]),
        (&Value::Null, &json!("static"))
    );
    assert_eq!(
        verdicts(&verification),
        [
            ("url", "ok"),
            ("mac", "not_checked"),
            ("counter", "not_checked")
        ]
    );
}

#[tokio::test]
async fn urls_that_carry_no_code_say_why() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    for (query, reason, says) in [
        ("", "no_code", "no code"),
        ("?uid=04DE5F1EACC040", "malformed", "token is missing"),
        ("?token=1&uid=1&token=2", "malformed", "token is repeated"),
        ("?uid=04DE&token=00", "malformed", "uid has 4 characters"),
        (
            "?uid=04DE5F1EACC040&token=00",
            "malformed",
            "token has 2 characters",
        ),
        (
            "?uid=ZZDE5F1EACC040&token=0000000000000000000000",
            "malformed",
            "not all hex",
        ),
    ] {
        let verification = verify(
            &service,
            &format!("{}{}{query}", service.base(), tag.path()),
        )
        .await;
        assert_eq!(verification["reason"], json!(reason), "{query}");
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(says), "{query}: {detail}");
        assert_eq!(verdicts(&verification)[0], ("url", "failed"));
    }
}

#[tokio::test]
async fn a_url_at_another_host_is_read_and_said_to_be_there() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let OneTimeCode { uid, token } = inlay.code_at(1);
    for host in [
        "https://tags.example",
        "tags.example",
        " http://tags.example:80",
    ] {
        let url = format!("{host}/nfc/{}?uid={uid}&token={token}", tag.slug);
        let verification = verify(&service, &url).await;
        assert_eq!(verification["tag_verified"], json!(true));
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(
            detail.contains("at tags.example; tags of this service are at"),
            "{detail}"
        );
    }
    let unknown = format!(
        "{}/t/nobody-has-this?uid={uid}&token={token}",
        service.base()
    );
    let verification = verify(&service, &unknown).await;
    assert_eq!(
        (
            &verification["tag_id"],
            &verification["tag_verified"],
            &verification["reason"]
        ),
        (&Value::Null, &Value::Null, &json!("no_such_tag"))
    );
    assert_eq!(verification["inlay_id"], json!(inlay.id));
    assert_eq!(verification["findings"][0]["kind"], json!("other_inlay"));
    for text in [
        "",
        "/t/",
        "not a url",
        "mailto:a@b.example",
        &"x".repeat(5000),
    ] {
        let body = json!({"url": text});
        service
            .admin(Method::POST, "/verification", body)
            .await
            .expect(422);
    }
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
        "name": "Cellar", "key": "00112233445566778899AABBCCDDEEFF", "input": "{uid}01", "diversify_meta": true,
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
    let master =
        json!({"name": "Cellar", "key": sentinel, "input": "{uid}", "diversify_meta": false});
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

async fn answer(service: &TestService, body: Value) -> Value {
    service
        .admin(Method::POST, "/verification", body)
        .await
        .expect(200)
}

fn first_kind(verification: &Value) -> &Value {
    &verification["findings"][0]["kind"]
}

#[tokio::test]
async fn a_url_is_judged_whole_against_the_tag_url_or_the_expected_one() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    let own = format!("{}/t", service.base());
    let query = tag.with(&inlay.code_at(1));
    let query = query.split_once('?').unwrap().1;
    let elsewhere = [
        format!("{}/{}?{query}", own.replace("http:", "https:"), tag.slug),
        format!("https://staging.example/t/{}?{query}", tag.slug),
        format!("{}/nfc/{}?{query}", service.base(), tag.slug),
        format!("{own}/more/{}?{query}", tag.slug),
        format!("{own}/{}/?{query}", tag.slug),
    ];
    for url in &elsewhere {
        let verification = verify(&service, url).await;
        // The code is good, and that is not the question.
        assert_eq!(verification["tag_verified"], json!(true), "{url}");
        assert_eq!(verification["at_tag_url"], json!(false), "{url}");
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(detail.contains("tags of this service are at"), "{detail}");
    }
    let url = format!("{own}/{}?{query}", tag.slug);
    assert_eq!(verify(&service, &url).await["at_tag_url"], json!(true));
    let expected = json!({"url": url, "tag_url": "https://tags.example/t"});
    assert_eq!(answer(&service, expected).await["at_tag_url"], json!(false));
    let expected = json!({"url": elsewhere[1], "tag_url": "https://staging.example/t/"});
    assert_eq!(answer(&service, expected).await["at_tag_url"], json!(true));
    for tag_url in ["staging.example/t", "https://staging.example/t?a=1", ""] {
        let body = json!({"url": url, "tag_url": tag_url});
        let refused = service.admin(Method::POST, "/verification", body).await;
        refused.expect(422);
    }
}

#[tokio::test]
async fn a_url_that_was_copied_to_another_chip_is_told_by_uid_make_and_settings() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let service = TestService::start().await;
        let tag = tag(&service).await;
        let inlay = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        let uid = inlay.chip.uid.to_string();
        let url = url(&service, &tag, &inlay.code_at(1));
        for (chip, carrier, kind) in [
            (
                json!({"uid": uid, "technology": "ntag424dna", "makes_codes": true}),
                "same",
                None,
            ),
            (json!({"uid": uid.to_lowercase()}), "same", None),
            (
                json!({"uid": "04112233445566", "technology": "ntag424dna", "makes_codes": true}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": uid, "technology": "ntag215", "makes_codes": false}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": uid, "technology": "other_type4", "makes_codes": null}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": uid, "technology": "ntag424dna", "makes_codes": false}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": "08112233", "technology": "ntag215"}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": "08112233", "technology": "ntag424dna", "makes_codes": true}),
                "not_comparable",
                Some("not_comparable"),
            ),
            (
                json!({"uid": null, "technology": "ntag424dna"}),
                "not_comparable",
                Some("not_comparable"),
            ),
        ] {
            let verification = answer(&service, json!({"url": url, "chip": chip})).await;
            assert_eq!(verification["chip"], json!(carrier), "{chip}");
            assert_eq!(first_kind(&verification), &json!(kind), "{chip}");
            // A copy is as authentic as the code it carries: only the reader can tell.
            assert_eq!(verification["tag_verified"], json!(true));
            assert_eq!(verification["uid"], json!(uid));
        }
        assert_eq!(service.scan_count(&tag).await, 0, "a dry run");
    }
}

#[tokio::test]
async fn the_uid_of_a_code_is_told_wherever_it_can_be_known() {
    let service = TestService::start().await;
    let (here, there) = (tag(&service).await, tag(&service).await);
    let other = service
        .rolling_inlay(&there, Mirror::Encrypted, MacFrom::None)
        .await;
    // At another tag's URL, by the keys of the inlay that made it.
    let misplaced = verify(&service, &url(&service, &here, &other.code_at(1))).await;
    assert_eq!(misplaced["uid"], json!(other.chip.uid.to_string()));
    // Of nobody here: the plain mirror states it, the encrypted one hides it.
    let plain = chip(Mirror::Plain, MacFrom::None);
    let stated = verify(&service, &url(&service, &here, &plain.code_at(1, [0; 5]))).await;
    assert_eq!(stated["uid"], json!(plain.uid.to_string()));
    let hidden = chip(Mirror::Encrypted, MacFrom::None).code_at(1, [0; 5]);
    let body = json!({"url": url(&service, &here, &hidden), "chip": {"uid": "04112233445566"}});
    let hidden = answer(&service, body).await;
    assert_eq!(
        (&hidden["uid"], &hidden["chip"]),
        (&Value::Null, &json!("not_comparable"))
    );
}

#[tokio::test]
async fn a_chip_is_compared_with_a_code_alone_and_refused_in_words_if_it_is_none() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let plain = format!("{}{}", service.base(), tag.path());
    for query in ["", "?uid=1&token=2", "?uid=04DE5F1EACC040"] {
        let body = json!({"url": format!("{plain}{query}"), "chip": {"uid": "04112233445566", "technology": "ntag215"}});
        assert_eq!(answer(&service, body).await["chip"], Value::Null, "{query}");
    }
    for chip in [
        json!([]),
        json!({"uid": "04"}),
        json!({"uid": "ZZ112233445566"}),
        json!({"technology": ""}),
        json!({"technology": "x".repeat(33)}),
        json!({"makes_codes": "yes"}),
        json!({"key": "00"}),
    ] {
        let body = json!({"url": plain, "chip": chip});
        let refused = service.admin(Method::POST, "/verification", body).await;
        refused.expect(422);
    }
}
