//! The state of a tamper loop: the places that show it, and its effects.

use super::chips::{of, on_tag, put_on, with_rules};
use super::*;

/// A template whose MAC covers the state.
fn covered() -> TemplateSettings {
    TemplateSettings {
        mac_from: MacStart::Tamper,
        ..of(
            Technology::Ntag424DnaTt,
            "https://tags.example/a?t={tamper}&p={picc}&c={mac}",
        )
    }
}

#[tokio::test]
async fn tampering_is_told_where_it_is_authenticated() {
    let service = TestService::start().await;
    let covered = covered();
    let open_to_all = of(
        Technology::Ntag424DnaTt,
        "https://tags.example/b?t={tamper}&p={picc}&c={mac}",
    );
    let target =
        "https://owner.example/?t={{interaction:tampered}}&s={{interaction:tamper:supported}}";
    for (settings, letters, state, sealed) in [
        (covered.clone(), "CC", "sealed", "true"),
        (covered, "OC", "reclosed", "false"),
        (open_to_all, "CC", "unknown", ""),
    ] {
        let service = &service;
        let found = service.admin_get("/url-templates").await;
        let found = found["items"].as_array().unwrap();
        let known = found
            .iter()
            .find(|known| known["template"] == json!(settings.template));
        let id = match known {
            Some(known) => known["id"].as_i64().unwrap(),
            None => template(service, &settings, &["11"]).await,
        };
        let mut chip = Chip::new(settings, aes("11", "22"));
        chip.tamper = letters;
        let tag = service.tag_to(target, Value::Null).await;
        service.inlay(inlay_json(&chip, id, Some(&tag))).await;
        let tapped = tap(service, &chip.url(None)).await;
        let location = tapped.location.expect("a redirect");
        assert!(
            location.contains(&format!("?t={sealed}&s=true&")),
            "{location}"
        );
        let interaction = newest(service).await;
        assert_eq!(interaction["tag_verified"], json!(true));
        assert_eq!(interaction["tamper"], json!(state), "{letters}");
    }
}

#[tokio::test]
async fn a_tag_is_marked_once_its_inlay_was_seen_open() {
    let service = TestService::start().await;
    let settings = covered();
    let mut chip = Chip::new(settings, aes("11", "22"));
    let tag = on_tag(&service, &chip, &["11"]).await;
    let other = service.tag(json!({"name": "Another"})).await;
    let opened = async |value: bool| {
        let page = service.admin_get(&format!("/tags?opened={value}")).await;
        let items = page["items"].as_array().unwrap().iter();
        items
            .map(|tag| tag["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    let mark = async || service.admin_get(&tag.admin_path()).await["opened_at"].clone();
    tap(&service, &chip.url(None)).await;
    assert_eq!(mark().await, Value::Null);
    assert_eq!(opened(false).await, [tag.id, other.id]);
    // A forged state does not count.
    chip.tamper = "OO";
    let forged = chip.url(None).replace("&c=", "&c=0");
    tap(&service, &forged).await;
    assert_eq!(mark().await, Value::Null);

    let first = chip.url(None);
    tap(&service, &first).await;
    let broken = newest(&service).await;
    let at = broken["at"].clone();
    assert_eq!(mark().await, at);
    service.advance(60_000);
    chip.tamper = "OC";
    tap(&service, &chip.url(None)).await;
    assert_eq!(mark().await, at, "the first one counts");
    let marked = service.admin_get(&tag.admin_path()).await;
    assert_eq!(marked["opened_by"], broken["id"]);
    assert_eq!(opened(true).await, [tag.id]);
    assert_eq!(opened(false).await, [other.id]);
    let stats = service.admin_get("/stats").await;
    assert_eq!(stats["attention"]["opened_tags"], json!(1));
}

/// A chip whose loop is not mirrored sends the text in its file. The MAC covers that text and the
/// tap verifies, but the text is not a loop state.
#[tokio::test]
async fn the_text_of_a_chip_whose_loop_is_not_mirrored_is_no_state() {
    let service = TestService::start().await;
    let settings = covered();
    let mut chip = Chip::new(settings, aes("11", "22"));
    let tag = on_tag(&service, &chip, &["11"]).await;
    for text in ["00", "NT", "nt", "--", "__", "CX", "xC"] {
        chip.tamper = text;
        tap(&service, &chip.url(None)).await;
        let interaction = newest(&service).await;
        assert_eq!(interaction["reason"], json!("verified"), "{text}");
        assert_eq!(interaction["tamper"], json!("unknown"), "{text}");
    }
    // Switched on by the chip's maker, but not measured yet.
    chip.tamper = "II";
    tap(&service, &chip.url(None)).await;
    assert_eq!(newest(&service).await["tamper"], json!("off"));
    let shown = service.admin_get(&tag.admin_path()).await;
    assert_eq!(shown["opened_at"], Value::Null);
}

#[tokio::test]
async fn with_the_verifier_off_the_state_of_the_loop_is_unknown() {
    let service = TestService::start().await;
    for text in [
        "https://tags.example/a?t={tamper}&p={picc}&c={mac}",
        "https://tags.example/b/{slug}?t={tamper}&p={picc}&c={mac}",
    ] {
        let mut settings = of(Technology::Ntag424DnaTt, text);
        settings.mac_from = MacStart::Tamper;
        let mut chip = Chip::new(settings, aes("11", "22"));
        chip.tamper = "OO";
        let tag = service
            .redirecting_tag(json!({"verifier_enabled": false}))
            .await;
        put_on(&service, &chip, &["11"], &tag).await;
        tap(&service, &chip.url(Some(&tag.slug))).await;
        let interaction = newest(&service).await;
        assert_eq!(interaction["reason"], json!("verifier_off"), "{text}");
        assert_eq!(interaction["tamper"], json!("unknown"), "{text}");
        let shown = service.admin_get(&tag.admin_path()).await;
        assert_eq!(shown["opened_at"], Value::Null, "{text}");
    }
}

#[tokio::test]
async fn a_rule_leads_by_the_state_of_the_tamper_loop_and_the_feed_is_narrowed_to_it() {
    let service = TestService::start().await;
    let settings = covered();
    let rules = json!([{
        "when": [{"type": "tamper", "any_of": ["open", "reclosed"]}],
        "target_url": "https://owner.example/?of=broken",
    }]);
    let (tag, experience) = with_rules(&service, "https://owner.example/?of=all", rules).await;
    let mut chip = Chip::new(settings, aes("11", "22"));
    put_on(&service, &chip, &["11"], &tag).await;
    for (letters, leads) in [("CC", "of=all"), ("OO", "of=broken"), ("OC", "of=broken")] {
        chip.tamper = letters;
        let location = tap(&service, &chip.url(None)).await.location;
        let location = location.expect("a redirect");
        assert!(location.contains(leads), "{letters}: {location}");
    }
    for (state, count) in [("sealed", 1), ("open", 1), ("reclosed", 1), ("unknown", 0)] {
        let path = format!("/interactions?tamper={state}");
        let found = service.admin_get(&path).await;
        let found = found["items"].as_array().unwrap();
        let states: Vec<_> = found.iter().map(|one| &one["tamper"]).collect();
        assert_eq!(states, vec![&json!(state); count]);
    }
    let preview = json!({"tag_id": tag.id, "verification": "verified", "tamper": "open"});
    let path = format!("/experiences/{}/preview", experience["id"]);
    let preview = service
        .admin(Method::POST, &path, preview)
        .await
        .expect(200);
    let location = preview["location"].as_str().unwrap();
    assert!(location.contains("of=broken"), "{location}");
}
