//! Moving here from another service: the table, the keys and counters, the addresses.

use super::*;

#[tokio::test]
async fn a_table_of_another_service_is_imported_and_its_next_tap_verifies() {
    let service = TestService::start().await;
    let text = "https://tags.example/scan?p={picc}&c={mac}";
    let id = template(&service, &settings(text), &["11"]).await;
    let chip = Chip::new(settings(text), aes("11", "22"));
    let table = format!(
        "card_name,uid,k1,k2_cmac_key,last_counter_value,pin_number\n,{},{},{},7,1234\n",
        chip.uid.to_string().to_lowercase(),
        "11".repeat(16),
        "22".repeat(16)
    );
    let import = async |dry_run: bool| {
        let path = format!("/tags/import?preset=boltcard&url_template_id={id}&dry_run={dry_run}");
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        request.body(table.clone()).answer().await
    };
    let checked = import(true).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    assert_eq!(service.admin_get("/inlays").await["items"], json!([]));
    let imported = import(false).await;
    assert_eq!(imported.status, 200, "{}", imported.body);
    let inlays = service.admin_get("/inlays").await;
    let inlay = &inlays["items"][0];
    assert_eq!(inlay["uid"], chip.uid.to_string(), "{}", imported.body);
    assert_eq!(inlay["url_template_id"], json!(id));
    assert_eq!(inlay["last_counter"], json!(7));

    // Codes that the former service accepted are spent; the next tap on the old address verifies.
    assert_eq!(open(&service, &chip.url_at(7, None)).await.status, 200);
    assert_eq!(last(&service).await, (json!(false), json!("replayed")));
    open(&service, &chip.url_at(8, None)).await;
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
    let template = service.admin_get(&format!("/url-templates/{id}")).await;
    assert!(template["first_tap_at"].is_string(), "{template}");
}

#[tokio::test]
async fn presets_are_listed_and_mistakes_are_named() {
    let service = TestService::start().await;
    let presets = service.admin_get("/tags/import/presets").await;
    let names = presets["items"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .map(|preset| preset["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["csv", "ixkio", "gototags", "boltcard"]);
    for (query, field) in [
        ("preset=nobody", "preset"),
        ("preset=csv&url_template_id=404", "url_template_id"),
        ("url_template_id=1", "url_template_id"),
    ] {
        let request = service.admin_request(Method::POST, &format!("/tags/import?{query}"));
        let request = request.header("content-type", "text/csv").body("name\nx\n");
        let refused = request.answer().await.expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
}

#[tokio::test]
async fn a_chip_without_keys_keeps_its_counter_at_another_address() {
    let service = TestService::start().await;
    let old = TemplateSettings::new(
        "https://tags.example/o/{slug}?m={uid}x{counter}",
        Technology::Ntag213,
    );
    let new = TemplateSettings::new(
        "https://tags.example/n/{slug}?m={uid}x{counter}",
        Technology::Ntag213,
    );
    let tag = service.redirecting_tag(Value::Null).await;
    let (old_id, new_id) = (
        template(&service, &old, &[]).await,
        template(&service, &new, &[]).await,
    );
    let chip = Chip::new(old, InlayKeys::None);
    let mut inlay = inlay_json(&chip, old_id, Some(&tag));
    inlay["last_counter"] = json!(40);
    let path = format!("/inlays/{}", service.inlay(inlay).await);
    tap(&service, &chip.url_at(41, Some(&tag.slug))).await;
    assert_eq!(service.admin_get(&path).await["last_counter"], 41);
    let moved = service
        .admin_patch(&path, json!({"url_template_id": new_id}))
        .await;
    assert_eq!(moved["last_counter"], 41, "{moved}");
    let written_anew = Chip {
        uid: chip.uid,
        ..Chip::new(new, InlayKeys::None)
    };
    tap(&service, &written_anew.url_at(41, Some(&tag.slug))).await;
    assert_eq!(service.admin_get(&path).await["last_counter"], 41);
    tap(&service, &written_anew.url_at(42, Some(&tag.slug))).await;
    assert_eq!(service.admin_get(&path).await["last_counter"], 42);
}

/// The screen waits for a genuine tap by an imported inlay: not for a simulated tag, an inlay that
/// is not imported yet, a visit without a code, or a forged code.
#[tokio::test]
async fn only_a_real_tap_of_a_known_inlay_is_the_first_one() {
    let service = TestService::start().await;
    let text = "https://tags.example/m/{slug}?p={picc}&c={mac}";
    let id = template(&service, &settings(text), &[]).await;
    let arrived = async || {
        let shown = service.admin_get(&format!("/url-templates/{id}")).await;
        shown["first_tap_at"].clone()
    };
    let tag = service.redirecting_tag(Value::Null).await;
    let slug = Some(tag.slug.as_str());
    let chip = Chip::new(settings(text), aes("11", "22"));
    tap(&service, &chip.url_at(1, slug)).await;
    assert_eq!(last(&service).await.1, "unknown_inlay");
    assert_eq!(arrived().await, Value::Null, "it is not imported yet");

    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let mut forged = Chip::new(settings(text), aes("11", "33"));
    forged.uid = chip.uid;
    for url in [
        format!("/m/{}", tag.slug),
        format!("/m/{}?p=00&c=00", tag.slug),
        forged.url_at(2, slug),
    ] {
        tap(&service, &url).await;
        assert_eq!(arrived().await, Value::Null, "{url}");
    }
    tap(&service, &chip.url_at(2, slug)).await;
    assert_eq!(last(&service).await.1, "verified");
    assert_eq!(arrived().await, newest(&service).await["at"]);
}

/// If no code identifies the inlay, a tap of the tag's inlay counts as the first one.
#[tokio::test]
async fn the_first_tap_is_told_too_if_nobody_checks_its_code() {
    let service = TestService::start().await;
    let plain = TemplateSettings::new("https://tags.example/s/{slug}", Technology::Ntag213);
    let signed = settings("https://tags.example/v/{slug}?p={picc}&c={mac}");
    for (settings, keys) in [(plain, InlayKeys::None), (signed, aes("11", "22"))] {
        let id = template(&service, &settings, &[]).await;
        let switches = json!({"verifier_enabled": false});
        let tag = service.redirecting_tag(switches).await;
        let chip = Chip::new(settings, keys);
        let url = chip.url_at(1, Some(&tag.slug));
        let path = format!("/url-templates/{id}");
        tap(&service, &url).await;
        let shown = service.admin_get(&path).await;
        assert_eq!(shown["first_tap_at"], Value::Null, "{url}");
        service.inlay(inlay_json(&chip, id, Some(&tag))).await;
        tap(&service, &chip.url_at(2, Some(&tag.slug))).await;
        let shown = service.admin_get(&path).await;
        assert_eq!(shown["first_tap_at"], newest(&service).await["at"], "{url}");
    }
}
