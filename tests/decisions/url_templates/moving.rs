//! Moving here from another service: the table, the keys and counters, the addresses.

use super::chips::{of, put_on};
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
async fn a_table_with_factory_keys_is_imported_only_on_request() {
    let service = TestService::start().await;
    let text = "https://tags.example/scan?u={uid}&n={counter}&c={mac}";
    let zeros = "00".repeat(16);
    let id = template(&service, &settings(text), &[]).await;
    let chip = Chip::new(settings(text), aes("00", "00"));
    let table = format!("name,uid,file_key\nA,{},{zeros}\nB,,\n", chip.uid);
    let import = async |more: &str| {
        let path = format!("/tags/import?url_template_id={id}{more}");
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        request.body(table.clone()).answer().await.expect(200)
    };
    let refused = import("").await;
    assert_eq!(
        (&refused["created"], &refused["refused"]),
        (&json!(1), &json!(1))
    );
    assert!(
        refused.to_string().contains("allow_factory_keys"),
        "{refused}"
    );
    let imported = import("&allow_factory_keys=true").await;
    assert_eq!(imported["created"], 2, "{imported}");
    let inlay = service.admin_get("/inlays").await["items"][0].clone();
    assert_eq!(inlay["factory_keys"], true, "{inlay}");
    open(&service, &chip.url_at(3, None)).await;
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

#[tokio::test]
async fn presets_are_listed_and_mistakes_are_named() {
    let service = TestService::start().await;
    let presets = service.admin_get("/tags/import/presets").await;
    let names = presets["items"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .map(|preset| preset["name"].as_str().unwrap())
        .collect();
    let expected = [
        "csv",
        "ixkio",
        "gototags",
        "boltcard",
        "bluebite",
        "sdm_backend",
    ];
    assert_eq!(names, expected);
    for (query, field) in [
        ("preset=nobody", "preset"),
        ("preset=csv&url_template_id=404", "url_template_id"),
        ("url_template_id=1", "url_template_id"),
        ("master_key_id=1", "master_key_id"),
        ("technology=nfc", "technology"),
        ("map=name:name&map=name:title", "map"),
        ("map=name:colour", "map"),
    ] {
        let request = service.admin_request(Method::POST, &format!("/tags/import?{query}"));
        let request = request.header("content-type", "text/csv").body("name\nx\n");
        let refused = request.answer().await.expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
}

/// A chip that no row names comes from the request, from its URL template, or from the preset. If it
/// is known for no row, the file is refused once instead of each row.
#[tokio::test]
async fn a_table_that_names_no_chip_is_asked_about_once() {
    let service = TestService::start().await;
    let text = "https://tags.example/reel?p={picc}&c={mac}";
    let id = template(&service, &settings(text), &["11"]).await;
    let asked = async |query: &str, file: &str| {
        let path = format!("/tags/import?{query}");
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        request.body(file.to_owned()).answer().await
    };
    let file = "XUID,UID,TAGNAME\nk3v9qa2b,04A1B2C3D4E580,Red\nk3v9qa2c,04A1B2C3D4E581,Blue\n";
    for preset in ["", "preset=ixkio&"] {
        let map = "map=XUID:slug&map=UID:uid&map=TAGNAME:name&dry_run=true";
        let query = format!("{preset}{map}");
        let question = asked(&query, file).await.expect(422);
        assert_eq!(question["errors"][0]["field"], "technology", "{question}");
        let detail = question["detail"].as_str().unwrap();
        assert!(
            detail.contains("row 2") && detail.contains("url_template_id"),
            "{detail}"
        );
        let said = asked(&format!("{query}&technology=ntag213"), file).await;
        let said = said.expect(200);
        assert_eq!(
            (&said["created"], &said["refused"]),
            (&json!(2), &json!(0)),
            "{said}"
        );
    }

    // Each row can say it itself: by the chip's word or product name, or by a URL template.
    let keys = format!("{},{}", "11".repeat(16), "22".repeat(16));
    let file = format!(
        "name,uid,technology,url_template_id,meta_key,file_key\n\
         word,04A1B2C3D4E580,ntag213,,,\n\
         product,04A1B2C3D4E581,NTAG 213,,,\n\
         template,04A1B2C3D4E582,,{id},{keys}\n\
         nothing,04A1B2C3D4E583,,,,\n\
         no chip,,,,,\n\
         no template,04A1B2C3D4E584,,404,{keys}\n\
         unknown,04A1B2C3D4E585,NFC,,,\n"
    );
    let result = asked("", &file).await.expect(200);
    let outcomes: Vec<_> = (0..7)
        .map(|row| result["results"][row]["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(
        outcomes,
        [
            "created", "created", "created", "refused", "created", "refused", "refused"
        ],
        "{result}"
    );
    let reason = |row: usize| result["results"][row]["reason"].as_str().unwrap();
    assert!(
        reason(3).starts_with("technology is missing"),
        "{}",
        reason(3)
    );
    assert_eq!(reason(5), "There is no URL template 404.");
    assert!(reason(6).contains("technology"), "{}", reason(6));
    let chips = service.admin_get("/inlays").await;
    let chips: Vec<_> = chips["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|inlay| {
            (
                inlay["technology"].as_str().unwrap(),
                &inlay["url_template_id"],
            )
        })
        .map(|(technology, template)| (technology, template.clone()))
        .collect();
    for expected in [("ntag213", Value::Null), ("ntag424dna", json!(id))] {
        assert!(chips.contains(&expected), "{chips:?}");
    }
}

/// Values for all rows do not replace those of a row.
#[tokio::test]
async fn values_for_all_chips_are_for_rows_that_have_none() {
    let service = TestService::start().await;
    let text = "https://tags.example/reel?p={picc}&c={mac}";
    let id = template(&service, &settings(text), &["11"]).await;
    let keys = format!("{},{}", "11".repeat(16), "22".repeat(16));
    let file = format!(
        "name,uid,technology,mirror,meta_key,file_key\n\
         A,04A1B2C3D4E580,,,{keys}\nB,04A1B2C3D4E581,ntag424dna,encrypted,{keys}\n"
    );
    let path = format!("/tags/import?url_template_id={id}");
    let request = service.admin_request(Method::POST, &path);
    let request = request.header("content-type", "text/csv").body(file);
    let result = request.answer().await.expect(200);
    assert_eq!(result["created"], 2, "{result}");
    for (uid, template, mirror) in [
        ("04A1B2C3D4E580", json!(id), Value::Null),
        ("04A1B2C3D4E581", Value::Null, json!("encrypted")),
    ] {
        let found = service.admin_get(&format!("/inlays?uid={uid}")).await;
        let inlay = &found["items"][0];
        assert_eq!(
            (&inlay["url_template_id"], &inlay["mirror"]),
            (&template, &mirror),
            "{uid}"
        );
    }
}

/// Blue Bite's tables have the decimal id of an mTAG, and the URL of its chip has it in base 36, as
/// its public SDK reads it.
#[tokio::test]
async fn an_mtag_is_found_at_the_url_of_its_chip() {
    let service = TestService::start().await;
    let file =
        "mTAG ID,Name,Status,Technology,Venue Name,Audience\n32403784,Door,Active,NFC,Bar,All\n";
    let request = service.admin_request(Method::POST, "/tags/import?preset=bluebite");
    let request = request.header("content-type", "text/csv").body(file);
    let result = request.answer().await.expect(200);
    assert_eq!(result["results"][0]["slug"], "njaix4", "{result}");
    assert_eq!(result["ignored_columns"], json!(["Audience"]));
    let tags = service.admin_get("/tags?q=njaix4").await;
    let tag = &tags["items"][0];
    assert_eq!(
        (&tag["data"], &tag["attributes"]),
        (
            &json!({"status": "Active", "technology": "NFC"}),
            &json!({"venue_name": "Bar"})
        )
    );
    let twice = "mTAG ID,NFC URL\n32403785,https://mtag.example/njaix5\n";
    let request = service.admin_request(Method::POST, "/tags/import?preset=bluebite");
    let request = request.header("content-type", "text/csv").body(twice);
    let refused = request.answer().await.expect(422);
    assert!(
        refused["detail"].as_str().unwrap().contains("NFC URL"),
        "{refused}"
    );
    // The choice of a column keeps the form that the preset knows.
    let chosen =
        "/tags/import?preset=bluebite&map=mTAG%20ID:data:mtag_id&map=NFC%20URL:slug&dry_run=true";
    let request = service.admin_request(Method::POST, chosen);
    let request = request.header("content-type", "text/csv").body(twice);
    let result = request.answer().await.expect(200);
    assert_eq!(result["results"][0]["slug"], "njaix5", "{result}");
}

/// sdm-backend has no list of chips: its JSON answers and one master key are all that it has.
#[tokio::test]
async fn the_answers_of_sdm_backend_are_a_table() {
    let service = TestService::start().await;
    let text = "https://tags.example/tag?picc_data={picc}&cmac={mac}";
    let id = template(&service, &settings(text), &["11"]).await;
    let chip = Chip::new(settings(text), aes("11", "22"));
    let file = format!(
        "uid,read_ctr,enc_mode,file_data,tt_status,meta_key,file_key\n{},61,AES,,,{},{}\n",
        chip.uid,
        "11".repeat(16),
        "22".repeat(16)
    );
    let import = async |query: &str| {
        let path = format!("/tags/import?preset=sdm_backend&url_template_id={id}{query}");
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        request.body(file.clone()).answer().await
    };
    // Plain digits are asked about under any heading but last_counter.
    let question = import("").await.expect(422);
    assert_eq!(question["errors"][0]["field"], "counter", "{question}");
    let result = import("&counter=decimal").await.expect(200);
    assert_eq!(result["created"], 1, "{result}");
    open(&service, &chip.url_at(61, None)).await;
    assert_eq!(last(&service).await.1, "replayed");
    open(&service, &chip.url_at(62, None)).await;
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
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

/// If nobody checks the code, a tap of the tag's inlay counts as the first one.
#[tokio::test]
async fn the_first_tap_is_told_too_if_nobody_checks_its_code() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/v/{slug}?p={picc}&c={mac}");
    let id = template(&service, &settings, &[]).await;
    let switches = json!({"verifier_enabled": false});
    let tag = service.redirecting_tag(switches).await;
    let chip = Chip::new(settings, aes("11", "22"));
    let path = format!("/url-templates/{id}");
    tap(&service, &chip.url_at(1, Some(&tag.slug))).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["first_tap_at"], Value::Null);
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    tap(&service, &chip.url_at(2, Some(&tag.slug))).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["first_tap_at"], newest(&service).await["at"]);
}

/// A list of tags with fixed URLs has no UIDs, so no tap of them has an inlay.
#[tokio::test]
async fn the_first_tap_at_a_fixed_url_is_that_of_a_tag() {
    let service = TestService::start().await;
    let plain = TemplateSettings::new("https://tags.example/s/{slug}", Technology::Ntag213);
    let id = template(&service, &plain, &[]).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let path = format!("/url-templates/{id}");
    open(&service, "/s/nobody-has-it").await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["first_tap_at"], Value::Null);
    tap(&service, &format!("/s/{}", tag.slug)).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["first_tap_at"], newest(&service).await["at"]);
}

/// The fixed URL of a list is as static as one without a template, and so is one with only a UID.
#[tokio::test]
async fn once_its_key_is_consumed_a_new_scan_of_a_fixed_url_is_a_new_interaction() {
    let service = TestService::start().await;
    let plain = TemplateSettings::new("https://tags.example/s/{slug}", Technology::Ntag213);
    template(&service, &plain, &[]).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let path = format!("/s/{}", tag.slug);
    second_scan_is_new(&service, &tag, &path).await;

    let by_uid = TemplateSettings {
        lookup: Some(Lookup::Unverified),
        ..of(Technology::Ntag213, "https://tags.example/reel/{uid}")
    };
    let chip = Chip::new(by_uid, InlayKeys::None);
    let tag = service.redirecting_tag(Value::Null).await;
    put_on(&service, &chip, &[], &tag).await;
    second_scan_is_new(&service, &tag, &chip.url_at(1, None)).await;
}

async fn second_scan_is_new(service: &TestService, tag: &TestTag, path: &str) {
    let first = tap(service, path).await;
    let cookie = first.cookie.clone().expect("a cookie");
    let with_cookie = [("cookie", &*cookie)];
    let again = send(service, Method::GET, path, &with_cookie).await;
    assert_eq!(TapResult::of(again).rk, first.rk, "until it is consumed");
    let update = service.update(first.key(), json!({"registered": "true"}));
    update.await.expect(200);
    let second = send(service, Method::GET, path, &with_cookie).await;
    assert_ne!(TapResult::of(second).rk, first.rk);
    assert_eq!(service.scan_count(tag).await, 2);
}
