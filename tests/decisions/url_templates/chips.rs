//! The verification that each technology allows.

use tapdesk_service::inlay::key::Sic43ntKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::template::{Field, MacStart};

use super::*;

/// Puts the chip on a new tag, with its template.
pub(super) async fn on_tag(service: &TestService, chip: &Chip, keys: &[&str]) -> TestTag {
    let tag = service.redirecting_tag(Value::Null).await;
    put_on(service, chip, keys, &tag).await;
    tag
}

/// Registers the chip, with its template, as an inlay of `tag`. Returns the inlay's id.
pub(super) async fn put_on(
    service: &TestService,
    chip: &Chip,
    keys: &[&str],
    tag: &TestTag,
) -> i64 {
    let id = template(service, chip.template.settings(), keys).await;
    service.inlay(inlay_json(chip, id, Some(tag))).await
}

/// A tag that leads to `target` unless one of `rules` applies, and its experience.
pub(super) async fn with_rules(
    service: &TestService,
    target: &str,
    rules: Value,
) -> (TestTag, Value) {
    let experience =
        json!({"name": "Rules", "kind": "redirect", "target_url": target, "rules": rules});
    let experience = service.admin_create("/experiences", experience).await;
    let tag = json!({"name": "Bottle 41", "experience_id": experience["id"]});
    (service.tag(tag).await, experience)
}

/// A SIC43NT with a closed loop.
pub(super) fn sic43nt(template: &str) -> Chip {
    let keys = InlayKeys::Rolling(Sic43ntKey::from_bytes([7; 10]));
    let mut chip = Chip::new(of(Technology::Sic43Nt, template), keys);
    chip.tamper = "00";
    chip
}

pub(super) fn of(technology: Technology, template: &str) -> TemplateSettings {
    TemplateSettings::new(template, technology)
}

#[tokio::test]
async fn every_chip_with_a_mac_verifies_once() {
    let service = TestService::start().await;
    let one_key = || {
        InlayKeys::Aes(Keys {
            meta: None,
            file: key("22"),
        })
    };
    let mut lrp = of(
        Technology::Ntag424Dna,
        "https://tags.example/lrp?p={picc}&c={mac}",
    );
    lrp.mode = Mode::Lrp;
    let of_22x = "https://tags.example/22x?uid={uid}x{counter}x{mac}";
    let of_sic = "https://tags.example/sic?d={uid}{tamper}{counter}{mac}";
    let of_s1 = "https://tags.example/s1?U={uid}&TF={tamper}&TS={counter}&SAC={mac}";
    let (shared, none): (&[&str], &[&str]) = (&["11"], &[]);
    for (settings, keys, shared, tamper) in [
        (lrp, aes("11", "22"), shared, ""),
        (of(Technology::Ntag223Dna, of_22x), one_key(), none, ""),
        (
            of(Technology::Sic43Nt, of_sic),
            InlayKeys::Rolling(Sic43ntKey::from_bytes([7; 10])),
            none,
            "00",
        ),
        (of(Technology::Sic43S1, of_s1), one_key(), none, "00"),
    ] {
        let text = settings.template.clone();
        let mut chip = Chip::new(settings, keys);
        chip.tamper = tamper;
        on_tag(&service, &chip, shared).await;
        let url = chip.url(None);
        assert_eq!(tap(&service, &url).await.status, 302, "{text}");
        assert_eq!(
            last(&service).await,
            (json!(true), json!("verified")),
            "{text}"
        );
        tap(&service, &url).await;
        assert_eq!(
            last(&service).await,
            (json!(false), json!("replayed")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_chip_of_which_a_reader_knows_no_settings_is_no_copy() {
    let service = TestService::start().await;
    let keys = InlayKeys::Aes(Keys {
        meta: None,
        file: key("22"),
    });
    let of_22x = "https://tags.example/{}?uid={uid}x{counter}x{mac}";
    let of_22x = |path: &str| of_22x.replace("{}", path);
    let of_s1 = "https://tags.example/s1?U={uid}&TF={tamper}&TS={counter}&SAC={mac}";
    let mut s1 = Chip::new(of(Technology::Sic43S1, of_s1), keys.clone());
    s1.tamper = "00";
    for (chip, technology) in [
        (
            Chip::new(of(Technology::Ntag223Dna, &of_22x("a")), keys.clone()),
            "ntag223dna",
        ),
        (
            Chip::new(of(Technology::Ntag224Dna, &of_22x("b")), keys.clone()),
            "ntag224dna",
        ),
        (
            sic43nt("https://tags.example/v?d={uid}{tamper}{counter}{mac}"),
            "sic43nt",
        ),
        (s1, "sic43s1"),
    ] {
        on_tag(&service, &chip, &[]).await;
        let uid = chip.uid.to_string();
        let carrier = async |of_reader: Value| {
            let question = json!({"url": chip.whole_url_at(1, None), "chip": of_reader});
            let answer = service.admin(Method::POST, "/verification", question).await;
            answer.expect(200)["chip"].clone()
        };
        // Readers see these chips by their type, and by name if they could ask the chip.
        for of_reader in [
            json!({"uid": uid, "technology": "other_type2", "makes_codes": null}),
            json!({"uid": uid, "technology": "other_type2", "makes_codes": false}),
            json!({"uid": uid, "technology": technology, "makes_codes": false}),
            json!({"uid": uid, "technology": technology}),
            json!({"uid": uid}),
        ] {
            assert_eq!(carrier(of_reader.clone()).await, "same", "{of_reader}");
        }
        for of_reader in [
            json!({"uid": "04112233445566", "technology": "other_type2"}),
            json!({"uid": uid, "technology": "ntag213"}),
            json!({"uid": uid, "technology": "other_type4"}),
        ] {
            assert_eq!(carrier(of_reader.clone()).await, "copied", "{of_reader}");
        }
    }
}

#[tokio::test]
async fn a_time_stamp_of_32_bits_is_kept() {
    let service = TestService::start().await;
    let chip = sic43nt("https://tags.example/v?d={uid}{tamper}{counter}{mac}");
    on_tag(&service, &chip, &[]).await;
    tap(&service, &chip.url_at(0xFFFF_FFF0, None)).await;
    assert_eq!(last(&service).await.0, json!(true));
    tap(&service, &chip.url_at(0x8000_0000, None)).await;
    assert_eq!(last(&service).await.0, json!(false));
    let inlay = service.admin_get("/inlays").await["items"][0].clone();
    assert_eq!(inlay["last_counter"], json!(0xFFFF_FFF0_u32));
}

#[tokio::test]
async fn a_chip_without_a_mac_is_never_verified_and_rises_by_so_much_a_day() {
    let service = TestService::start().await;
    let settings = of(
        Technology::Ntag213,
        "https://tags.example/b/{slug}?m={uid}x{counter}",
    );
    let chip = Chip::new(settings, InlayKeys::None);
    let tag = on_tag(&service, &chip, &[]).await;
    let slug = Some(tag.slug.as_str());
    let stored = async || service.admin_get("/inlays").await["items"][0]["last_counter"].clone();
    for (counter, reason, last_counter) in [
        (5, "no_mac", 5),
        (5, "no_mac", 5),
        (0x00FF_FFFF, "jumped", 5),
        (1_005, "no_mac", 1_005),
        (1_006, "jumped", 1_005),
    ] {
        tap(&service, &chip.url_at(counter, slug)).await;
        assert_eq!(
            last(&service).await,
            (Value::Null, json!(reason)),
            "{counter}"
        );
        assert_eq!(stored().await, json!(last_counter), "{counter}");
    }
    service.advance(24 * 60 * 60 * 1000);
    tap(&service, &chip.url_at(1_006, slug)).await;
    assert_eq!(last(&service).await, (Value::Null, json!("no_mac")));
    assert_eq!(stored().await, json!(1_006));
}

#[tokio::test]
async fn any_code_of_a_blocked_inlay_is_false_even_one_that_proves_nothing() {
    let service = TestService::start().await;
    let of_21x = of(
        Technology::Ntag213,
        "https://tags.example/21x/{slug}?m={uid}x{counter}",
    );
    let of_uid = settings("https://tags.example/same?u={uid}&c={mac}");
    for (settings, keys) in [(of_21x, InlayKeys::None), (of_uid, aes("11", "22"))] {
        let mut chip = Chip::new(settings, keys);
        let tag = service.redirecting_tag(Value::Null).await;
        let id = put_on(&service, &chip, &[], &tag).await;
        let slug = chip.template.has(Field::Slug).then_some(tag.slug.as_str());
        let url = chip.url(slug);
        tap(&service, &url).await;
        assert_eq!(last(&service).await.0, Value::Null);
        let path = format!("/inlays/{id}");
        service.admin_patch(&path, json!({"blocked": true})).await;
        let stored = service.admin_get(&path).await["last_counter"].clone();
        tap(&service, &url).await;
        assert_eq!(last(&service).await, (json!(false), json!("blocked")));
        assert_eq!(service.admin_get(&path).await["last_counter"], stored);
        service.admin(Method::DELETE, &path, Value::Null).await;
    }
}

#[tokio::test]
async fn a_mirror_without_a_counter_is_always_the_same_code() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/v?u={uid}&c={mac}");
    let mut chip = Chip::new(settings.clone(), aes("11", "22"));
    on_tag(&service, &chip, &[]).await;
    for _ in 0..2 {
        assert_eq!(tap(&service, &chip.url(None)).await.status, 302);
        assert_eq!(last(&service).await, (Value::Null, json!("same_code")));
    }
    chip.keys = aes("11", "33");
    assert_eq!(open(&service, &chip.url(None)).await.status, 404);
}

#[tokio::test]
async fn a_counter_that_is_switched_off_is_false() {
    let service = TestService::start().await;
    let settings = of(
        Technology::Ntag223Dna,
        "https://tags.example/v?uid={uid}x{counter}x{mac}",
    );
    let keys = InlayKeys::Aes(Keys {
        meta: None,
        file: key("22"),
    });
    let chip = Chip::new(settings, keys);
    on_tag(&service, &chip, &[]).await;
    tap(&service, &chip.url_at(0, None)).await;
    assert_eq!(last(&service).await, (json!(false), json!("counter_off")));
}

#[tokio::test]
async fn factory_keys_that_follow_from_the_uid_are_refused_too() {
    let service = TestService::start().await;
    let settings = of(
        Technology::Sic43Nt,
        "https://tags.example/v?d={uid}{tamper}{counter}{mac}",
    );
    let id = template(&service, &settings, &[]).await;
    let mut chip = Chip::new(settings, InlayKeys::None);
    let key = tapdesk_service::inlay::technology::sic43nt::factory_key(chip.uid);
    chip.keys = InlayKeys::Rolling(key);
    let inlay = inlay_json(&chip, id, None);
    let answer = service.admin(Method::POST, "/inlays", inlay.clone()).await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    let mut allowed = inlay;
    allowed["allow_factory_keys"] = json!(true);
    let inlay = service.admin_create("/inlays", allowed).await;
    assert_eq!(inlay["factory_keys"], json!(true));
}

#[tokio::test]
async fn encrypted_file_data_are_kept_with_the_interaction() {
    let service = TestService::start().await;
    let mut settings = settings("https://tags.example/v?p={picc}&e={enc}&c={mac}");
    settings.enc_length = Some(32);
    settings.mac_from = MacStart::Enc;
    let mut chip = Chip::new(settings, aes("11", "22"));
    chip.file_data = b"No. 41";
    on_tag(&service, &chip, &["11"]).await;
    tap(&service, &chip.url(None)).await;
    let interaction = newest(&service).await;
    let hex = format!("4E6F2E203431{}", "00".repeat(10));
    assert_eq!(
        interaction["file_data"],
        json!({"hex": hex, "text": "No. 41"})
    );
    assert_eq!(interaction["tamper"], Value::Null);
}

#[tokio::test]
async fn a_rule_leads_by_what_the_counter_of_a_chip_without_a_mac_did() {
    let service = TestService::start().await;
    let settings = of(
        Technology::Ntag213,
        "https://tags.example/n/{slug}?m={uid}x{counter}",
    );
    let to = |what: &str| format!("https://owner.example/?counter={what}");
    let rules = ["repeated", "jumped"].map(
        |what| json!({"when": [{"type": "counter", "any_of": [what]}], "target_url": to(what)}),
    );
    let (tag, _) = with_rules(&service, &to("rose"), json!(rules)).await;
    let chip = Chip::new(settings, InlayKeys::None);
    put_on(&service, &chip, &[], &tag).await;
    for (counter, did) in [(1, "rose"), (1, "repeated"), (2, "rose"), (5_000, "jumped")] {
        let url = chip.url_at(counter, Some(&tag.slug));
        let location = tap(&service, &url).await.location;
        let location = location.expect("a redirect");
        assert!(
            location.contains(&format!("counter={did}")),
            "{counter}: {location}"
        );
    }
}

#[tokio::test]
async fn the_owner_accepts_a_counter_that_jumped_and_it_never_falls() {
    let service = TestService::start().await;
    let settings = of(
        Technology::Ntag213,
        "https://tags.example/n/{slug}?m={uid}x{counter}",
    );
    let tag = service.redirecting_tag(Value::Null).await;
    let chip = Chip::new(settings, InlayKeys::None);
    let path = format!("/inlays/{}", put_on(&service, &chip, &[], &tag).await);
    let shown = async |counter: u32| {
        tap(&service, &chip.url_at(counter, Some(&tag.slug))).await;
        last(&service).await.1
    };
    assert_eq!(shown(1).await, "no_mac");
    assert_eq!(shown(5_000).await, "jumped");
    let accepted = json!({"last_counter": 5_000});
    let accepted = service.admin_patch(&path, accepted).await;
    assert_eq!(accepted["last_counter"], 5_000);
    assert_eq!(shown(5_001).await, "no_mac");
    assert_eq!(service.admin_get(&path).await["last_counter"], 5_001);
    for (counter, why) in [
        (json!(5_000), "only rises"),
        (json!(0x0100_0000), "at most 16777215"),
        (Value::Null, "cannot be null"),
    ] {
        let change = json!({"last_counter": counter});
        let refused = service.admin(Method::PATCH, &path, change).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        let problem = refused.json();
        assert!(
            problem["detail"].as_str().unwrap().contains(why),
            "{problem}"
        );
        assert_eq!(problem["errors"][0]["field"], "last_counter");
    }
    assert_eq!(service.admin_get(&path).await["last_counter"], 5_001);
}
