//! The keys by which a template knows its chips, and the chips that are none of them.

use super::*;
use tapdesk_service::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys};
use tapdesk_service::keyring::Keyring;

#[tokio::test]
async fn a_template_needs_keys_that_check_the_codes_of_unlisted_chips() {
    let service = TestService::start().await;
    let each = master(&service, &scheme(true)).await;
    let cases = [
        (
            "https://tags.example/a/{slug}?p={picc}&c={mac}",
            json!({"meta_keys": ["11".repeat(16)], "shared_file_key": "22".repeat(16)}),
            "unlisted",
        ),
        (IN_CLEAR, json!({}), "unlisted"),
        (
            "https://tags.example/n?uid={uid}&cmac={mac}",
            json!({"shared_file_key": "22".repeat(16)}),
            "unlisted",
        ),
        (
            ONE_ADDRESS,
            json!({"master_key_ids": [each]}),
            "master_key_ids",
        ),
        (
            IN_CLEAR,
            json!({"shared_file_key": "22".repeat(16), "create_limit": 0}),
            "create_limit",
        ),
        (
            IN_CLEAR,
            json!({"shared_file_key": "22".repeat(16), "experience_id": 999}),
            "experience_id",
        ),
        (
            IN_CLEAR,
            json!({"shared_file_key": "00".repeat(16)}),
            "allow_factory_keys",
        ),
    ];
    for (text, more, field) in cases {
        let mut body = template_json(&settings(text), &[]);
        body["unlisted"] = json!("page");
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        assert!(
            [409, 422].contains(&answer.status),
            "{more}: {}",
            answer.body
        );
        assert_eq!(
            answer.json()["errors"][0]["field"],
            field,
            "{}",
            answer.body
        );
    }
    // A template keeps the keys that its answer needs, and an experience that its tags need.
    let rule = json!({"master_key_ids": [each], "unlisted": "create"});
    let (template, experience) = answering(&service, IN_CLEAR, rule).await;
    let keys = format!("/url-templates/{template}/meta-keys?master_key_id={each}");
    let removed = service.admin(Method::DELETE, &keys, Value::Null).await;
    assert_eq!(removed.status, 422, "{}", removed.body);
    let used = service
        .admin(
            Method::DELETE,
            &format!("/experiences/{experience}"),
            Value::Null,
        )
        .await;
    assert_eq!(used.expect(409)["code"], "in_use");
    let path = format!("/url-templates/{template}");
    let patched = service
        .admin_patch(
            &path,
            json!({"experience_id": null, "shared_file_key": "33".repeat(16)}),
        )
        .await;
    assert_eq!(patched["experience_id"], Value::Null);
    assert!(patched["shared_file_key_check"].is_string());
    assert!(
        !service
            .admin_get("/audit")
            .await
            .to_string()
            .contains(&"33".repeat(16))
    );
}

/// Without a shared meta key, no code of an unlisted chip names its UID, and every tap is refused.
#[tokio::test]
async fn a_template_with_picc_data_needs_a_meta_key_for_its_unlisted_chips() {
    let service = TestService::start().await;
    let refused = |answer: Answer| {
        let body = answer.expect(422);
        let error = &body["errors"][0];
        assert_eq!(error["field"], "meta_keys", "{body}");
        let words = error["message"].as_str().unwrap();
        assert!(
            words.contains("add meta_keys") && words.contains("\"refuse\""),
            "{words}"
        );
    };
    for mode in ["page", "create"] {
        let mut body = template_json(&settings(ONE_ADDRESS), &[]);
        body["shared_file_key"] = json!("22".repeat(16));
        body["unlisted"] = json!(mode);
        refused(service.admin(Method::POST, "/url-templates", body).await);
    }
    // Nobody is known without a key, so nobody is promised anything.
    let rule = json!({"shared_file_key": "22".repeat(16)});
    let (template, _) = answering(&service, ONE_ADDRESS, rule).await;
    let path = format!("/url-templates/{template}");
    let create = json!({"unlisted": "create"});
    refused(service.admin(Method::PATCH, &path, create.clone()).await);
    let keys = format!("{path}/meta-keys");
    for key in ["11", "33"] {
        let key = json!({"meta_keys": [key.repeat(16)]});
        service.admin(Method::POST, &keys, key).await.expect(200);
    }
    service.admin_patch(&path, create).await;
    let checks = service.admin_get(&path).await["meta_key_checks"].clone();
    let [spare, last] = [1, 0].map(|at| {
        let check = checks[at].as_str().unwrap();
        format!("{keys}?meta_key_check={check}")
    });
    service
        .admin(Method::DELETE, &spare, Value::Null)
        .await
        .expect(200);
    refused(service.admin(Method::DELETE, &last, Value::Null).await);
    // The way out that the words name.
    service
        .admin_patch(&path, json!({"unlisted": "refuse"}))
        .await;
    service
        .admin(Method::DELETE, &last, Value::Null)
        .await
        .expect(200);
}

/// NXP's own layout: one meta key for all chips, and file keys of a master key.
#[tokio::test]
async fn a_chip_with_a_shared_meta_key_and_a_file_key_of_a_master_key_is_known() {
    let service = TestService::start().await;
    let each = scheme(true);
    let key = master(&service, &each).await;
    let rule = json!({
        "meta_keys": ["11".repeat(16)], "master_key_ids": [key], "unlisted": "create",
    });
    answering(&service, ONE_ADDRESS, rule).await;
    let mut chip = derived(ONE_ADDRESS, &each);
    let InlayKeys::Aes(keys) = &mut chip.keys else {
        panic!("they are AES keys");
    };
    keys.meta = Some(super::key("11"));
    assert_eq!(tap(&service, &chip.url(None)).await.status, 302);
    tap_is(&service, &chip.url(None), true).await;
}

#[tokio::test]
async fn an_inlay_of_a_template_with_a_shared_file_key_gets_that_key() {
    let service = TestService::start().await;
    let rule = json!({"meta_keys": ["11".repeat(16)], "shared_file_key": "22".repeat(16)});
    let (template, _) = answering(&service, ONE_ADDRESS, rule).await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "22"));
    let tag = service.redirecting_tag(Value::Null).await;
    let body = json!({
        "uid": chip.uid.to_string(), "technology": "ntag424dna", "url_template_id": template, "tag_id": tag.id,
    });
    service.inlay(body).await;
    tap_is(&service, &chip.url(None), true).await;
}

#[tokio::test]
async fn the_dry_run_of_an_unlisted_chip_names_it_and_leaves_nothing() {
    let service = TestService::start().await;
    let rule = json!({"meta_keys": ["11".repeat(16)]});
    let (template, _) = answering(&service, ONE_ADDRESS, rule).await;
    let chip = Chip::new(settings(ONE_ADDRESS), aes("11", "22"));
    let check = async || {
        let body = json!({"url": chip.whole_url_at(5, None)});
        service
            .admin(Method::POST, "/verification", body)
            .await
            .expect(200)
    };
    // The template's own key decrypts the UID, even if no key checks the MAC.
    let found = check().await;
    assert_eq!(found["uid"], chip.uid.to_string(), "{found}");
    assert_eq!(found["findings"][0]["kind"], "not_configured", "{found}");
    let path = format!("/url-templates/{template}");
    service
        .admin_patch(&path, json!({"shared_file_key": "22".repeat(16)}))
        .await;
    let found = check().await;
    assert_eq!(found["findings"][0]["kind"], "unlisted", "{found}");
    assert_eq!(found["uid"], chip.uid.to_string());
    assert_eq!(chips(&service).await["count"], 0);
}

#[tokio::test]
async fn a_virtual_inlay_is_never_an_unlisted_chip() {
    let service = TestService::start().await;
    let rule = json!({"shared_file_key": "22".repeat(16), "unlisted": "create"});
    let (template, _) = answering(&service, IN_CLEAR, rule).await;
    let made = json!({"name": "Virtual", "url_template_id": template, "file_key": "22".repeat(16)});
    let made = service.admin_create("/simulator/inlays", made).await;
    let path = format!("/simulator/inlays/{}", made["id"]);
    let tapped = service
        .admin(Method::POST, &format!("{path}/tap"), json!({}))
        .await
        .expect(200);
    let url = tapped["url"].as_str().unwrap().to_owned();
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 204, "{}", deleted.body);
    let answer = open(&service, url.split_once(HOST).unwrap().1).await;
    assert_eq!(answer.status, 404);
    assert_eq!(chips(&service).await["count"], 0);
}

#[tokio::test]
async fn a_wrong_code_of_an_inlay_and_of_any_chip_get_the_same_answer() {
    let service = TestService::start().await;
    let rule = json!({"shared_file_key": "22".repeat(16), "unlisted": "create"});
    let (template, _) = answering(&service, IN_CLEAR, rule).await;
    let listed = Chip::new(settings(IN_CLEAR), aes("11", "77"));
    let tag = service.redirecting_tag(Value::Null).await;
    service
        .inlay(inlay_json(&listed, template, Some(&tag)))
        .await;
    // The shared key does not make codes for a chip that is listed with another one.
    let mut copied = Chip::new(settings(IN_CLEAR), aes("11", "22"));
    copied.uid = listed.uid;
    let stranger = Chip::new(settings(IN_CLEAR), aes("11", "99"));
    let answers = [copied.url_at(3, None), stranger.url_at(3, None)];
    let mut bodies = Vec::new();
    for url in answers {
        let answer = open(&service, &url).await;
        assert_eq!(answer.status, 404);
        bodies.push(answer.body);
    }
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(chips(&service).await["count"], 0);
    assert_eq!(count(&service, "tags").await, 1);
}

#[tokio::test]
async fn a_chip_whose_stored_keys_cannot_be_opened_is_looked_up_once_more_and_no_oftener() {
    let service = TestService::start().await;
    let (template, _) = answering(
        &service,
        IN_CLEAR,
        json!({"shared_file_key": "22".repeat(16), "unlisted": "page"}),
    )
    .await;
    let mut chip = Chip::new(settings(IN_CLEAR), InlayKeys::None);
    let file = AesKey::from_bytes([0x22; 16]);
    chip.keys = InlayKeys::Aes(Keys {
        meta: None,
        file: file.clone(),
    });
    // Wrapped under a key that was lost.
    let lost = Keyring::open(&[9; 32]);
    let inlay = NewInlay {
        uid: chip.uid,
        fields: InlayFields {
            technology: Technology::Ntag424Dna,
            mode: Mode::Aes,
            url_template_id: Some(UrlTemplateId::new(template)),
            tag_id: None,
            mirror: None,
            mac_from: MacFrom::None,
            keys: Some(SealedKeys::Own {
                meta: None,
                file: SealedKey::seal(&file, &lost, &OsEntropy).unwrap(),
            }),
            other_keys: None,
            blocked_at: None,
        },
        simulated: false,
        last_counter: 0,
    };
    service.service().storage.insert_inlay(inlay).await.unwrap();
    assert_eq!(open(&service, &chip.url(None)).await.status, 404);
    assert_eq!(chips(&service).await["count"], 0);
    assert_eq!(metric(&service, "page").await, 0);
}

/// An NTAG 424 DNA mirrors UID and counter in clear, or encrypts them. So no code has two UIDs.
#[tokio::test]
async fn a_template_with_the_uid_in_clear_beside_picc_data_is_refused_in_words() {
    let service = TestService::start().await;
    for answer in ["refuse", "page", "create"] {
        let mut body = template_json(&settings(IN_CLEAR), &[]);
        body["template"] = json!("https://tags.example/w/{uid}?p={picc}&c={mac}");
        body["meta_keys"] = json!(["11".repeat(16)]);
        body["shared_file_key"] = json!("22".repeat(16));
        body["unlisted"] = json!(answer);
        let refused = service.admin(Method::POST, "/url-templates", body).await;
        let refused = refused.expect(422);
        let error = &refused["errors"][0];
        assert_eq!(error["field"], "template", "{refused}");
        let words = error["message"].as_str().unwrap();
        assert!(
            words.contains("{uid} cannot stand beside {picc}") && words.contains("Write {*}"),
            "{words}"
        );
    }
}

/// The way out that the refusal names: the encrypted UID counts, and the one in the path does not.
#[tokio::test]
async fn a_uid_as_fixed_text_beside_picc_data_is_ignored() {
    let service = TestService::start().await;
    let rule = json!({
        "meta_keys": ["11".repeat(16)], "shared_file_key": "22".repeat(16), "unlisted": "create",
    });
    answering(
        &service,
        "https://tags.example/w/{*}?p={picc}&c={mac}",
        rule,
    )
    .await;
    let written = "https://tags.example/w/UID?p={picc}&c={mac}";
    let mut chip = Chip::new(settings(written), aes("11", "22"));
    for (shown, verified) in [
        (chip.uid.to_string(), true),
        ("04000000000000".into(), true),
    ] {
        let url = chip.url(None).replace("UID", &shown);
        tap_is(&service, &url, verified).await;
        let inlays = service.admin_get("/inlays").await;
        assert_eq!(inlays["items"][0]["uid"], chip.uid.to_string(), "{inlays}");
    }
    assert_eq!(count(&service, "inlays").await, 1);
}

async fn derivations(service: &TestService, outcome: &str) -> usize {
    let name = format!("tapdesk_slow_derivations_total{{outcome=\"{outcome}\"}} ");
    let metrics = service.metrics().await;
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |count| count.parse().unwrap())
}

fn slow() -> Value {
    json!({"scheme": "sdm_backend", "version": 1, "meta_slot": 1, "file_slot": 2})
}

/// A flood of wrong codes gets 503 beyond the few that may wait, and disturbs no inlay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_codes_ask_for_few_slow_derivations_at_a_time() {
    let service = TestService::start().await;
    let key = master(&service, &slow()).await;
    let rule = json!({"master_key_ids": [key], "unlisted": "create"});
    answering(&service, IN_CLEAR, rule).await;
    let mut chip = derived(IN_CLEAR, &slow());
    assert_eq!(tap(&service, &chip.url(None)).await.status, 302);
    assert_eq!(derivations(&service, "done").await, 1);
    let client = service.another();
    let strangers: Vec<_> = (0..70)
        .map(|_| Chip::new(settings(IN_CLEAR), aes("11", "99")).url_at(5, None))
        .collect();
    let own = chip.url(None);
    let answers = at_once(71, |i| {
        // The chip is an inlay by now, so its own code needs no derivation.
        let url = strangers.get(i).unwrap_or(&own).clone();
        let client = client.clone();
        async move {
            let answer = client.get(&url).header("host", HOST).answer().await;
            (answer.status, answer.header("retry-after").is_some())
        }
    })
    .await;
    assert_eq!(answers[70].0, 302, "an inlay waits for nobody");
    let busy = answers
        .iter()
        .filter(|answer| **answer == (503, true))
        .count();
    let unknown = answers.iter().filter(|(status, _)| *status == 404).count();
    assert_eq!(busy + unknown, 70, "{answers:?}");
    assert_eq!(derivations(&service, "done").await, 1 + unknown);
    assert_eq!(derivations(&service, "refused").await, busy);
    assert_eq!(count(&service, "inlays").await, 1);
}

/// A code that the template's own meta key opens is tried with every master key.
#[tokio::test]
async fn beside_an_own_meta_key_at_most_4_master_keys_derive_file_keys() {
    let service = TestService::start().await;
    let mut keys = Vec::new();
    for _ in 0..5 {
        keys.push(master(&service, &slow()).await);
    }
    for (own, count, status) in [(true, 5, 422), (true, 4, 201), (false, 5, 201)] {
        let mut body = template_json(&settings(ONE_ADDRESS), &[]);
        body["template"] = json!(format!(
            "https://tags.example/{own}/{count}?picc_data={{picc}}&cmac={{mac}}"
        ));
        body["master_key_ids"] = json!(keys[..count]);
        if own {
            body["meta_keys"] = json!(["11".repeat(16)]);
        }
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        assert_eq!(answer.status, status, "{own} {count}: {}", answer.body);
        if status == 422 {
            assert_eq!(answer.json()["errors"][0]["field"], "master_key_ids");
        }
    }
}
