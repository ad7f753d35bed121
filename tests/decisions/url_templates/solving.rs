//! Finds the template from one-time URLs and keys.

use tapdesk_tests::fixtures::TEMPLATE_MEMBERS;

use super::*;

#[tokio::test]
async fn pasted_urls_and_keys_give_a_template_that_verifies_them() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let mut chip = Chip::new(settings.clone(), aes("11", "22"));
    let urls: Vec<String> = (0..2)
        .map(|_| format!("https://{HOST}{}", chip.url(None)))
        .collect();
    let asked = json!({"urls": urls, "keys": ["22".repeat(16), "33".repeat(16), "11".repeat(16)]});
    let solved = service
        .admin(Method::POST, "/url-templates/solve", asked)
        .await
        .expect(200);
    assert_eq!(solved["certainty"], json!("proved"), "{solved}");
    let candidate = &solved["candidates"][0];
    assert_eq!(candidate["template"], json!(ONE_ADDRESS));
    assert_eq!(
        candidate["slots"],
        json!({"meta": 2, "file": 0, "master": null})
    );
    assert_eq!(candidate["uid"], json!(chip.uid.to_string()));
    assert_eq!(
        (&candidate["counter"], &candidate["proved_by"]),
        (&json!(1), &json!(2))
    );

    // A chip that was written with an unusual prefix, which its MAC covers.
    let unusual = TemplateSettings {
        mac_from: MacStart::Offset(0),
        ndef_prefix: Some(3),
        ..self::settings("http://www.tags.example/v?picc_data={picc}&cmac={mac}")
    };
    let mut chip = Chip::new(unusual.clone(), aes("11", "22"));
    let urls: Vec<String> = (1..=2).map(|read| chip.whole_url_at(read, None)).collect();
    chip.counter = 2;
    let asked = json!({"urls": urls, "keys": ["22".repeat(16), "11".repeat(16)]});
    let path = "/url-templates/solve";
    let solved = service.admin(Method::POST, path, asked).await.expect(200);
    assert_eq!(solved["certainty"], json!("proved"), "{solved}");
    let candidate = &solved["candidates"][0];
    assert_eq!(
        (&candidate["mac_from"], &candidate["ndef_prefix"]),
        (&json!({"offset": 0}), &json!(3))
    );
    // A template that is saved from the result verifies the next tap.
    let mut saved = json!({"name": "Found", "meta_keys": ["11".repeat(16)]});
    for member in TEMPLATE_MEMBERS {
        saved[member] = candidate[member].clone();
    }
    let saved = service.admin_create("/url-templates", saved).await;
    let id = saved["id"].as_i64().unwrap();
    let tag = service.redirecting_tag(Value::Null).await;
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let path = chip.url(None);
    let request = service.request(Method::GET, &path);
    let tapped = request.header("host", "www.tags.example").answer().await;
    assert_eq!(tapped.status, 302, "{}", tapped.body);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
    let path = format!("/url-templates/{id}");
    assert_eq!(service.admin_get(&path).await["inlays"], json!(1));

    let without_keys = service
        .admin(Method::POST, "/url-templates/solve", json!({"urls": urls}))
        .await
        .expect(200);
    assert_ne!(without_keys["certainty"], json!("proved"), "{without_keys}");
    // Solving stores nothing.
    let stored = service.admin_get("/url-templates").await;
    assert_eq!(stored["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_search_is_bounded_and_never_tells_a_guess_as_a_fact() {
    let service = TestService::start().await;
    let url = "https://tags.example/v?p=1";
    for (asked, says) in [
        (json!({"urls": []}), "1 to 5"),
        (json!({"urls": vec![url; 6]}), "1 to 5"),
        (json!({"urls": ["x".repeat(5_000)]}), "4096"),
        (
            json!({"urls": [url], "keys": vec!["11".repeat(16); 17]}),
            "16",
        ),
        (json!({"urls": [url], "keys": ["11"]}), "32 hex digits"),
    ] {
        let answer = service
            .admin(Method::POST, "/url-templates/solve", asked)
            .await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(says), "{detail}");
    }
    for url in ["", "no url", "https://tags.example/", "javascript:alert(1)"] {
        let asked = json!({"urls": [url]});
        let answer = service
            .admin(Method::POST, "/url-templates/solve", asked)
            .await;
        assert_eq!(answer.expect(200)["certainty"], json!("unknown"), "{url}");
    }
}

#[tokio::test]
async fn the_search_uses_no_key_that_the_service_has() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let id = template(&service, &settings, &["11"]).await;
    let mut chip = Chip::new(settings, aes("11", "22"));
    service.inlay(inlay_json(&chip, id, None)).await;
    let master = json!({
        "name": "Masters", "key": "22".repeat(16), "derivation": {"scheme": "boltcard", "version": 0},
    });
    service.admin_create("/master-keys", master).await;
    let urls = [format!("https://{HOST}{}", chip.url(None))];
    let solve = async |asked: Value| {
        let path = "/url-templates/solve";
        service.admin(Method::POST, path, asked).await.expect(200)
    };
    for keys in [
        json!([]),
        json!(["33".repeat(16)]),
        json!(["11".repeat(16)]),
    ] {
        let solved = solve(json!({"urls": urls, "keys": keys})).await;
        assert_ne!(solved["certainty"], json!("proved"), "{solved}");
        for candidate in solved["candidates"].as_array().unwrap() {
            assert_eq!(candidate["proved_by"], json!(0), "{solved}");
            // A MAC that ends in the letters of a tamper loop could be read as a UID with these
            // letters. The chip's real UID is only in the PICC data.
            assert_ne!(candidate["uid"], json!(chip.uid.to_string()), "{solved}");
        }
    }
    // Nobody has opened this URL, so its code is still valid.
    open(&service, urls[0].split_once(HOST).unwrap().1).await;
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

/// The answer for texts, with keys.
async fn solved(service: &TestService, asked: Value) -> Value {
    let path = "/url-templates/solve";
    service.admin(Method::POST, path, asked).await.expect(200)
}

fn reasons(answer: &Value) -> Vec<(&str, &str)> {
    let unused = answer["unused"].as_array().unwrap().iter();
    unused
        .map(|piece| {
            assert!(piece["why"].as_str().is_some_and(|why| !why.is_empty()));
            let text = |member: &str| piece[member].as_str().unwrap();
            (text("text"), text("reason"))
        })
        .collect()
}

#[tokio::test]
async fn each_piece_of_a_pasted_text_that_was_not_used_is_named() {
    let service = TestService::start().await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "22"));
    let [first, second] = [0; 2].map(|_| format!("https://{HOST}{}", chip.url(None)));
    let text = format!("Two taps: {first} and\n{second}, from <https://help.example/taps>.");
    let keys = json!(["11".repeat(16), "22".repeat(16)]);
    let answer = solved(
        &service,
        json!({"urls": [text, "myprefix://x"], "keys": keys}),
    )
    .await;
    assert_eq!(answer["certainty"], json!("proved"), "{answer}");
    assert_eq!(answer["candidates"][0]["proved_by"], json!(2));
    assert_eq!(
        reasons(&answer),
        [
            ("Two taps", "words"),
            ("and", "words"),
            ("from", "words"),
            ("myprefix://x", "no_web_address"),
            ("https://help.example/taps", "no_code"),
        ]
    );
    let chips = answer["candidates"][0]["chips"].as_array().unwrap();
    let places: Vec<_> = chips.iter().map(|chip| chip["url"].clone()).collect();
    assert_eq!(places, [json!(0), json!(1)]);
    // A value that was cut is named, and what is there is read for its shape.
    let cut = &first[..first.len() - 1];
    let answer = solved(&service, json!({"urls": [cut], "keys": keys})).await;
    assert_eq!(reasons(&answer), [(cut, "cut")]);
}

#[tokio::test]
async fn chips_with_file_keys_of_their_own_are_told_with_their_keys() {
    let service = TestService::start().await;
    let mut urls = Vec::new();
    let mut chips = Vec::new();
    for (file, uid) in [("22", "04A39493CC8680"), ("33", "04DE5F1EACC040")] {
        let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", file));
        chip.uid = uid.parse().unwrap();
        urls.push(format!("https://{HOST}{}", chip.url(None)));
        chips.push(uid);
    }
    let keys = ["33", "11", "22"].map(|byte| byte.repeat(16));
    let answer = solved(&service, json!({"urls": urls, "keys": keys})).await;
    assert_eq!(answer["certainty"], json!("proved"), "{answer}");
    let shown = answer["candidates"][0]["chips"].as_array().unwrap();
    for ((chip, uid), file) in shown.iter().zip(chips).zip([2, 0]) {
        assert_eq!(chip["uid"], json!(uid));
        let slots = json!({"meta": 1, "file": file, "master": null});
        assert_eq!(chip["slots"], slots, "{answer}");
    }
    // With the key of one chip, the other's URL is named, and the answer is no proof.
    let answer = solved(&service, json!({"urls": urls, "keys": keys[..2]})).await;
    assert_eq!(answer["certainty"], json!("narrowed"), "{answer}");
    assert_eq!(reasons(&answer), [(&*urls[0], "no_key")]);
}

#[tokio::test]
async fn a_published_form_is_shown_before_other_readings_of_its_shape() {
    let service = TestService::start().await;
    let url = "https://m.example.com/njaix4?uid=04A1B2C3D4E580&token=0000037FEB91A8045A04F4";
    let answer = solved(&service, json!({"urls": [url]})).await;
    assert_eq!(answer["certainty"], json!("narrowed"), "{answer}");
    for candidate in answer["candidates"].as_array().unwrap() {
        let template = "https://m.example.com/{slug}?uid={uid}&token={counter}{mac}";
        assert_eq!(candidate["template"], json!(template));
        assert_eq!(candidate["preset"], json!("bluebite"));
    }
}

#[tokio::test]
async fn a_template_that_the_service_refuses_is_marked() {
    let service = TestService::start().await;
    let of = |base: &str| format!("{base}?uid=04A1B2C3D4E580&token=0000037FEB91A8045A04F4");
    for (base, is_taken) in [
        ("https://m.example.com/v/njaix4", true),
        ("https://m.example.com/njaix4", true),
        ("https://m.example.com/AbC123xy", true),
        // The address of the service's own tags.
        ("https://m.example.com/t/njaix4", false),
    ] {
        let answer = solved(&service, json!({"urls": [of(base)]})).await;
        let candidates = answer["candidates"].as_array().unwrap();
        assert!(!candidates.is_empty(), "{answer}");
        for candidate in candidates {
            assert_eq!(candidate["refused"].is_null(), is_taken, "{answer}");
            let mut template = json!({"name": "Proposed"});
            for member in ["template", "technology", "mode", "mac_from"] {
                template[member] = candidate[member].clone();
            }
            let path = "/url-templates";
            let made = service.admin(Method::POST, path, template).await;
            let made = made.expect(if is_taken { 201 } else { 422 });
            if is_taken {
                let path = format!("/url-templates/{}", made["id"]);
                service.admin(Method::DELETE, &path, Value::Null).await;
            }
        }
    }
}
