//! How owners create, change and delete templates.

use tapdesk_service::inlay::technology::Mode;

use super::*;

#[tokio::test]
async fn a_template_is_shown_without_its_keys() {
    let service = TestService::start().await;
    let mut of_mac = settings("https://tags.example/v?picc_data={picc}&enc={enc}&cmac={mac}");
    of_mac.enc_length = Some(32);
    of_mac.mac_from = serde_json::from_value(json!("enc")).unwrap();
    let created = service
        .admin_create("/url-templates", template_json(&of_mac, &["11"]))
        .await;
    assert_eq!(
        created,
        json!({
            "id": created["id"], "name": "Bottles 2024", "template": of_mac.template,
            "technology": "ntag424dna", "mode": "aes", "mac_from": "enc", "ndef_prefix": 4,
            "enc_length": 32, "tamper_at": null, "lookup": null, "meta_key_checks": [key("11").check().to_string()],
            "master_key_ids": [], "inlays": 0, "host": "tags.example", "first_tap_at": null,
            "shared_file_key_check": null, "unlisted": "refuse", "create_limit": 10_000,
            "limited_at": null, "experience_id": null, "group_id": null,
        })
    );
    let path = format!("/url-templates/{}", created["id"]);
    assert_eq!(service.admin_get(&path).await, created);
    let list = service.admin_get("/url-templates?count=true").await;
    assert_eq!(list, json!({"items": [created], "next": null, "count": 1}));
    let renamed = service.admin_patch(&path, json!({"name": "Casks"})).await;
    assert_eq!(renamed["name"], json!("Casks"));
    for null in [
        "name",
        "template",
        "technology",
        "mode",
        "mac_from",
        "unlisted",
        "create_limit",
    ] {
        let answer = service
            .admin(Method::PATCH, &path, json!({null: null}))
            .await;
        assert_eq!(answer.status, 422, "{null}");
    }
    let gone = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(gone.status, 204);
    assert_eq!(
        service.admin(Method::GET, &path, Value::Null).await.status,
        404
    );
}

#[tokio::test]
async fn hostile_templates_are_refused_in_words() {
    let service = TestService::start().await;
    let code = "p={picc}&c={mac}";
    let many = "{*}/".repeat(10_000);
    for (text, says) in [
        (format!("https://tags.example/t/{{slug}}?{code}"), "/t/..."),
        (
            format!("https://tags.example/admin/v1/tags?{code}"),
            "/admin/*",
        ),
        (
            format!("https://tags.example/{{*}}?{code}"),
            "the service's own",
        ),
        (format!("https://localhost/v?{code}"), "host"),
        (format!("https://127.0.0.1/v?{code}"), "host"),
        (format!("https://localhost./v?{code}"), "host"),
        (format!("https://LOCALHOST/v?{code}"), "host"),
        ("https://{picc}.example/v?c={mac}".to_owned(), "Character"),
        (format!("ftp://tags.example/v?{code}"), "https"),
        (
            "https://tags.example/v?p={picc}&c={cmac}".to_owned(),
            "Character",
        ),
        (
            format!("https://tags.example/v?{code}&d={{mac}}"),
            "Character",
        ),
        (format!("https://tags.example/(a|b)*?{code}}}"), "Character"),
        (format!("https://tags.ex\u{430}mple/v?{code}"), "Character"),
        (many, "characters"),
        (String::new(), "https"),
    ] {
        let body = template_json(&settings(&text), &[]);
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        assert_eq!(answer.status, 422, "{text}: {}", answer.body);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(says), "{text}: {detail}");
    }
    let list = service.admin_get("/url-templates").await;
    assert_eq!(list["items"], json!([]));
}

/// Names with other letters are written with `xn--`, and their owners need them.
#[tokio::test]
async fn a_host_that_looks_like_ours_in_other_letters_catches_nothing_of_it() {
    // "localhost" with a Cyrillic o, in its DNS form.
    let look_alike = "xn--lcalhost-nbh";
    let service = TestService::start().await;
    let settings = settings(&format!(
        "https://{look_alike}/v?picc_data={{picc}}&cmac={{mac}}"
    ));
    let id = template(&service, &settings, &["11"]).await;
    let shown = service.admin_get(&format!("/url-templates/{id}")).await;
    assert_eq!(shown["host"], look_alike, "it is shown as what it is");
    let tag = service.redirecting_tag(Value::Null).await;
    let chip = Chip::new(settings, aes("11", "22"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let url = chip.whole_url_at(1, None);
    let path = url.split_once(look_alike).unwrap().1;
    // The host that it imitates has no such address, and its admin API still answers.
    for (host, status) in [("localhost", 404), (HOST, 404), (look_alike, 302)] {
        let request = service.request(Method::GET, path).header("host", host);
        assert_eq!(request.answer().await.status, status, "{host}");
    }
    for (host, status) in [("localhost", 200), (look_alike, 421)] {
        let request = service
            .admin_request(Method::GET, "/tags")
            .header("host", host);
        assert_eq!(request.answer().await.status, status, "{host}");
    }
}

#[tokio::test]
async fn each_mistake_is_told_at_its_member() {
    let service = TestService::start().await;
    let id = template(&service, &settings(ONE_ADDRESS), &["11"]).await;
    let path = format!("/url-templates/{id}");
    for (changes, member) in [
        (
            json!({"template": "https://tags.example/{PICC}{mac}"}),
            "template",
        ),
        (
            json!({"template": "https://tags.example/t/{slug}?p={picc}&c={mac}"}),
            "template",
        ),
        (
            json!({"template": "https://localhost/v?p={picc}&c={mac}"}),
            "template",
        ),
        // No part of it could be verified.
        (
            json!({"template": "https://tags.example/x?p={picc}"}),
            "template",
        ),
        (json!({"mac_from": "uid"}), "mac_from"),
        (json!({"enc_length": 32}), "enc_length"),
        // It would need more memory than any machine has, so it is refused before it is allocated.
        (
            json!({"template": "https://tags.example/x?p={picc}&e={enc}&c={mac}", "mac_from": "enc", "enc_length": 1_u64 << 40}),
            "enc_length",
        ),
        (json!({"tamper_at": 0}), "tamper_at"),
        (json!({"ndef_prefix": 1}), "ndef_prefix"),
        (
            json!({"template": "https://tags.example/x?m={uid}x{counter}x{mac}", "technology": "ntag223dna", "mode": "lrp"}),
            "mode",
        ),
        (json!({"name": " "}), "name"),
    ] {
        let mut created = template_json(&settings("https://tags.example/w?p={picc}&c={mac}"), &[]);
        for (name, value) in changes.as_object().unwrap() {
            created[name] = value.clone();
        }
        for answer in [
            service.admin(Method::POST, "/url-templates", created).await,
            service.admin(Method::PATCH, &path, changes.clone()).await,
        ] {
            let problem = answer.expect(422);
            assert_eq!(
                problem["errors"][0]["field"], member,
                "{changes}: {problem}"
            );
            assert_eq!(problem["errors"][0]["message"], problem["detail"]);
        }
    }
    let twice = template_json(&settings("https://tags.example/v?p={picc}&c={mac}"), &[]);
    let answer = service.admin(Method::POST, "/url-templates", twice).await;
    assert_eq!(answer.expect(409)["errors"][0]["field"], "template");
}

#[tokio::test]
async fn one_host_has_many_templates_of_which_no_url_is_two() {
    let service = TestService::start().await;
    template(&service, &settings(ONE_ADDRESS), &["11"]).await;
    for text in [
        "https://tags.example/w?picc_data={picc}&cmac={mac}",
        "https://tags.example/{slug}/{picc}{mac}",
        "https://other.example/v?picc_data={picc}&cmac={mac}",
    ] {
        template(&service, &settings(text), &[]).await;
    }
    for text in [
        "http://tags.example:8080/v?cmac={mac}&picc_data={picc}",
        "https://tags.example/{*}?p={picc}&c={mac}",
    ] {
        let body = template_json(&settings(text), &[]);
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        let refused = [409, 422].contains(&answer.status);
        assert!(refused, "{text}: {} {}", answer.status, answer.body);
    }
    let overlap = template_json(&settings("https://tags.example/v?p={picc}&c={mac}"), &[]);
    let answer = service.admin(Method::POST, "/url-templates", overlap).await;
    let detail = answer.expect(409)["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("Bottles 2024"), "{detail}");
}

#[tokio::test]
async fn a_change_that_collides_is_refused_in_words() {
    let service = TestService::start().await;
    let one = template(&service, &settings(ONE_ADDRESS), &["11"]).await;
    let other = settings("https://tags.example/w/{slug}?p={picc}&c={mac}");
    let of_slug = template(&service, &other, &[]).await;
    let of_213 = TemplateSettings::new(
        "https://tags.example/n/{slug}?m={uid}x{counter}",
        Technology::Ntag213,
    );
    let of_213 = template(&service, &of_213, &[]).await;
    let path = format!("/url-templates/{of_slug}");
    let before = service.admin_get(&path).await;
    for text in [
        ONE_ADDRESS,
        "http://TAGS.example:8080/v?cmac={mac}&picc_data={picc}",
        "https://tags.example/v?x={*}&picc_data={picc}&cmac={mac}",
    ] {
        let changes = json!({"template": text, "ndef_prefix": null});
        let answer = service.admin(Method::PATCH, &path, changes).await;
        let problem = answer.expect(409);
        assert_eq!(problem["errors"][0]["field"], "template", "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("Bottles 2024"), "{problem}");
    }
    assert_eq!(service.admin_get(&path).await, before);

    let chip = Chip::new(other, aes("99", "22"));
    let inlay = service.inlay(inlay_json(&chip, of_slug, None)).await;
    let path = format!("/inlays/{inlay}");
    let before = service.admin_get(&path).await;
    for (changes, status, says) in [
        (json!({"url_template_id": 404}), 409, "URL template"),
        (json!({"url_template_id": of_213}), 422, "ntag213"),
        // Its meta key does not belong to the template.
        (json!({"url_template_id": one}), 422, "meta key"),
        (json!({"mirror": "plain"}), 422, "template"),
    ] {
        let answer = service.admin(Method::PATCH, &path, changes.clone()).await;
        assert_eq!(answer.status, status, "{changes}: {}", answer.body);
        assert!(answer.body.contains(says), "{changes}: {}", answer.body);
    }
    assert_eq!(service.admin_get(&path).await, before);
    let mut twin = inlay_json(&chip, of_slug, None);
    twin["file_key"] = json!("33".repeat(16));
    let answer = service.admin(Method::POST, "/inlays", twin).await;
    assert_eq!(answer.status, 409, "{}", answer.body);
    assert!(
        answer.body.contains(&chip.uid.to_string()),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn what_decides_a_mac_stays_while_inlays_use_the_template() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let id = template(&service, &settings, &["11"]).await;
    let path = format!("/url-templates/{id}");
    let chip = Chip::new(settings, aes("11", "22"));
    let inlay = service.inlay(inlay_json(&chip, id, None)).await;
    assert_eq!(service.admin_get(&path).await["inlays"], json!(1));
    for changes in [
        json!({"template": "https://tags.example/w?picc_data={picc}&cmac={mac}"}),
        json!({"mac_from": "picc"}),
        json!({"mode": "lrp"}),
        json!({"technology": "ntag424dna_tt"}),
        json!({"ndef_prefix": 0}),
    ] {
        let answer = service.admin(Method::PATCH, &path, changes.clone()).await;
        assert_eq!(answer.status, 409, "{changes}: {}", answer.body);
    }
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 409, "{}", deleted.body);
    // A response can be sent back unchanged, including the prefix that follows from the text.
    let shown = service.admin_get(&path).await;
    let same = json!({"name": "Casks", "template": shown["template"], "ndef_prefix": shown["ndef_prefix"]});
    service.admin_patch(&path, same).await;
    let inlay = format!("/inlays/{inlay}");
    let gone = service.admin(Method::DELETE, &inlay, Value::Null).await;
    assert_eq!(gone.status, 204);
    service
        .admin_patch(&path, json!({"mac_from": "picc"}))
        .await;
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 204, "{}", deleted.body);
}

#[tokio::test]
async fn an_inlay_is_refused_that_no_tap_would_find() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let id = template(&service, &settings, &["11"]).await;
    let stranger = Chip::new(settings.clone(), aes("99", "22"));
    let answer = service
        .admin(Method::POST, "/inlays", inlay_json(&stranger, id, None))
        .await;
    assert_eq!(answer.status, 422, "{}", answer.body);

    let keys = format!("/url-templates/{id}/meta-keys");
    let more = json!({"meta_keys": ["99".repeat(16)]});
    let added = service.admin(Method::POST, &keys, more).await.expect(200);
    assert_eq!(added["meta_key_checks"].as_array().unwrap().len(), 2);
    service.inlay(inlay_json(&stranger, id, None)).await;
    let check = |hex: &str| format!("{keys}?meta_key_check={}", key(hex).check());
    let needed = service
        .admin(Method::DELETE, &check("99"), Value::Null)
        .await;
    assert_eq!(needed.status, 409, "{}", needed.body);
    let free = service
        .admin(Method::DELETE, &check("11"), Value::Null)
        .await;
    assert_eq!(
        free.expect(200)["meta_key_checks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let too_many: Vec<String> = (0..65)
        .map(|n| format!("{n:032X}").replace(' ', ""))
        .collect();
    let answer = service
        .admin(
            Method::POST,
            &keys,
            json!({"meta_keys": too_many, "allow_factory_keys": true}),
        )
        .await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    let mut lrp = super::settings("https://tags.example/lrp?p={picc}&c={mac}");
    lrp.mode = Mode::Lrp;
    let five = template_json(&lrp, &["11", "22", "33", "44", "55"]);
    let answer = service.admin(Method::POST, "/url-templates", five).await;
    let answer = answer.expect(422);
    assert_eq!(answer["errors"][0]["field"], "meta_keys", "{answer}");
    template(&service, &lrp, &["11", "22", "33", "44"]).await;
    for (changes, says) in [
        (json!({"technology": "ntag424dna_tt"}), "ntag424dna"),
        (json!({"mirror": "plain"}), "template"),
        (json!({"mode": "lrp"}), "mode"),
        (json!({"url_template_id": 99}), "URL template"),
        (json!({"file_key": "00".repeat(10)}), "32"),
    ] {
        let chip = Chip::new(settings.clone(), aes("99", "22"));
        let mut inlay = inlay_json(&chip, id, None);
        inlay
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let answer = service.admin(Method::POST, "/inlays", inlay).await;
        assert!(
            [409, 422].contains(&answer.status),
            "{changes}: {}",
            answer.body
        );
        assert!(answer.body.contains(says), "{changes}: {}", answer.body);
    }
}

#[tokio::test]
async fn master_keys_of_every_scheme_give_their_inlays_keys() {
    let service = TestService::start().await;
    let master = "0102030405060708090A0B0C0D0E0F10";
    for (place, derivation) in [
        ("a", json!({"scheme": "boltcard", "version": 1})),
        ("b", json!({"scheme": "sdm_backend", "version": 1})),
        (
            "c",
            json!({"scheme": "sdm_backend", "version": 2, "meta_slot": 1, "file_slot": 2}),
        ),
        (
            "d",
            json!({"scheme": "ntag424_crate", "system_id": "NTAG424DNA"}),
        ),
        ("e", json!({"scheme": "plain_cmac", "input": "01{uid}"})),
        (
            "f",
            json!({"scheme": "an10922", "input": "{uid}3042F5", "diversify_meta": false}),
        ),
    ] {
        let created = json!({"name": place, "key": master, "derivation": derivation});
        let created = service.admin_create("/master-keys", created).await;
        let secret = tapdesk_service::inlay::derivation::MasterSecret::from_hex(master).unwrap();
        let scheme: tapdesk_service::inlay::derivation::Derivation =
            serde_json::from_value(created["derivation"].clone()).unwrap();
        let settings = settings(&format!(
            "https://tags.example/{place}?p={{picc}}&c={{mac}}"
        ));
        let mut of_template = template_json(&settings, &[]);
        of_template["master_key_ids"] = json!([created["id"]]);
        let of_template = service.admin_create("/url-templates", of_template).await;
        let mut chip = Chip::new(settings, InlayKeys::None);
        chip.keys = InlayKeys::Aes(scheme.keys(&secret, chip.uid).unwrap());
        let tag = service.redirecting_tag(Value::Null).await;
        let inlay = json!({
            "uid": chip.uid.to_string(), "technology": "ntag424dna", "tag_id": tag.id,
            "url_template_id": of_template["id"], "master_key_id": created["id"],
        });
        service.inlay(inlay).await;
        assert_eq!(
            tap(&service, &chip.url(None)).await.status,
            302,
            "{derivation}"
        );
        assert_eq!(last(&service).await.0, json!(true), "{derivation}");
        let path = format!("/master-keys/{}", created["id"]);
        let answer = service.admin(Method::DELETE, &path, Value::Null).await;
        assert_eq!(answer.status, 409, "{}", answer.body);
    }
}

#[tokio::test]
async fn an_import_takes_templates_and_the_replay_state_along() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    template(&service, &settings, &["11"]).await;
    let chip = Chip::new(settings, aes("11", "22"));
    let csv = format!(
        "name,experience_id,uid,technology,template,meta_key,file_key,last_counter\n\
         Bottle,{},{},ntag424dna,Bottles 2024,{},{},41\n",
        service.redirect("https://owner.example/").await,
        chip.uid,
        "11".repeat(16),
        "22".repeat(16),
    );
    let answer = service
        .admin_request(Method::POST, "/tags/import")
        .header("content-type", "text/csv")
        .body(csv)
        .answer()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let list = service.admin_get("/inlays").await;
    assert_eq!(
        list["items"][0]["last_counter"],
        json!(41),
        "{}",
        answer.body
    );
    tap(&service, &chip.url_at(41, None)).await;
    assert_eq!(last(&service).await, (json!(false), json!("replayed")));
    tap(&service, &chip.url_at(42, None)).await;
    assert_eq!(last(&service).await.0, json!(true));
}
