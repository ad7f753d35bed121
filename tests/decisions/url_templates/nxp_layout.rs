//! NXP's own layout: one meta read key for all chips, and file read keys diversified from another
//! master key (AN12196 section 5.8, AN10922).

use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};

use super::*;

const MASTER: &str = "5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A";

/// A master key of AN10922, and its number.
async fn master(service: &TestService, diversify_meta: bool) -> (Derivation, Value) {
    let derivation = json!({
        "scheme": "an10922", "input": "01{uid}", "diversify_meta": diversify_meta,
    });
    let body = json!({"name": "Files", "key": MASTER, "derivation": derivation});
    let id = service.admin_create("/master-keys", body).await["id"].clone();
    (serde_json::from_value(derivation).unwrap(), id)
}

/// A chip with the shared meta key and a file key of the master key.
fn chip(settings: &TemplateSettings, derivation: &Derivation) -> Chip {
    let mut chip = Chip::new(settings.clone(), InlayKeys::None);
    let secret = MasterSecret::from_hex(MASTER).unwrap();
    let derived = derivation.keys(&secret, chip.uid).unwrap();
    chip.keys = InlayKeys::Aes(Keys {
        meta: Some(key("11")),
        file: derived.file,
    });
    chip
}

/// The chip's inlay, with the master key instead of its keys.
fn with_master(chip: &Chip, template: i64, tag: &TestTag, master: &Value) -> Value {
    let mut inlay = inlay_json(chip, template, Some(tag));
    inlay["master_key_id"] = master.clone();
    inlay.as_object_mut().unwrap().remove("file_key");
    inlay
}

#[tokio::test]
async fn a_shared_meta_key_and_file_keys_of_another_master_stand_together() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let template = template(&service, &settings, &["11"]).await;
    for diversify_meta in [false, true] {
        let (derivation, master) = master(&service, diversify_meta).await;
        // With the meta key in the request, and with that of the template.
        for sends_meta in [true, false] {
            let tag = service.redirecting_tag(Value::Null).await;
            let mut chip = chip(&settings, &derivation);
            let mut inlay = with_master(&chip, template, &tag, &master);
            if !sends_meta {
                inlay.as_object_mut().unwrap().remove("meta_key");
            }
            let inlay = service.admin_create("/inlays", inlay).await;
            assert_eq!(inlay["key_source"], "master_key");
            assert_eq!(inlay["master_key_id"], master);
            assert_eq!(inlay["meta_key_check"], key("11").check().to_string());
            assert_eq!(tap(&service, &chip.url(None)).await.status, 302);
            assert_eq!(last(&service).await, (json!(true), json!("verified")));
            // A repeated tap is checked by the cache.
            tap(&service, &chip.url(None)).await;
            assert_eq!(last(&service).await.0, json!(true));
            let url = chip.whole_url_at(9, None);
            let dry_run = service.admin(Method::POST, "/verification", json!({"url": url}));
            assert_eq!(dry_run.await.expect(200)["tag_verified"], true);
        }
    }
}

#[tokio::test]
async fn both_keys_stand_together_in_the_canonical_form_and_in_a_patch() {
    let service = TestService::start().await;
    let (_, master) = master(&service, false).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut inlay = json!({
        "uid": "04A1B2C3D4E580", "technology": "ntag424dna", "mirror": "encrypted",
        "master_key_id": master, "meta_key": "11".repeat(16), "tag_id": tag.id,
    });
    let shared = key("11").check().to_string();
    let created = service.admin_create("/inlays", inlay.clone()).await;
    assert_eq!(created["meta_key_check"], shared);
    let path = format!("/inlays/{}", created["id"]);
    let file = created["file_key_check"].clone();

    // Without a given meta key, the master key brings its own meta key.
    let patched = service
        .admin_patch(&path, json!({"master_key_id": master}))
        .await;
    let of_master = AesKey::from_hex(MASTER).unwrap().check().to_string();
    assert_eq!(patched["meta_key_check"], of_master);
    let patched = service
        .admin_patch(&path, json!({"meta_key": "11".repeat(16)}))
        .await;
    assert_eq!(patched["meta_key_check"], shared);
    assert_eq!(patched["file_key_check"], file);
    assert_eq!(patched["master_key_id"], master);
    // A repeated request changes nothing.
    let same = json!({"meta_key": "11".repeat(16), "master_key_id": master});
    assert_eq!(service.admin_patch(&path, same).await, patched);

    for (change, field) in [
        (json!({"meta_key": null}), "meta_key"),
        (
            json!({"master_key_id": master, "file_key": "22".repeat(16)}),
            "master_key_id",
        ),
    ] {
        let refused = service
            .admin(Method::PATCH, &path, change)
            .await
            .expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
    // A file key of its own keeps the meta key.
    let own = service
        .admin_patch(&path, json!({"file_key": "22".repeat(16)}))
        .await;
    assert_eq!(own["key_source"], "own");
    assert_eq!(own["meta_key_check"], shared);

    inlay["uid"] = "04A1B2C3D4E581".into();
    inlay["file_key"] = "22".repeat(16).into();
    let refused = service
        .admin(Method::POST, "/inlays", inlay)
        .await
        .expect(422);
    assert_eq!(refused["errors"][0]["field"], "master_key_id", "{refused}");
}

/// Which key a chip has cannot be guessed if a template has several.
#[tokio::test]
async fn of_several_shared_meta_keys_none_is_chosen() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let template = template(&service, &settings, &["11", "33"]).await;
    let (derivation, master) = master(&service, false).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let chip = chip(&settings, &derivation);
    let mut inlay = with_master(&chip, template, &tag, &master);
    inlay.as_object_mut().unwrap().remove("meta_key");
    let refused = service
        .admin(Method::POST, "/inlays", inlay)
        .await
        .expect(422);
    assert!(refused.to_string().contains("send meta_key"), "{refused}");
}

/// The keys of a slow derivation are stored with the inlay.
#[tokio::test]
async fn a_slow_derivation_stands_with_a_shared_meta_key_too() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let template = template(&service, &settings, &["11"]).await;
    let derivation = json!({"scheme": "sdm_backend", "version": 1});
    let body = json!({"name": "Old", "key": MASTER, "derivation": derivation});
    let master = service.admin_create("/master-keys", body).await["id"].clone();
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = chip(&settings, &serde_json::from_value(derivation).unwrap());
    service
        .inlay(with_master(&chip, template, &tag, &master))
        .await;
    tap(&service, &chip.url(None)).await;
    assert_eq!(last(&service).await.0, json!(true));
}

#[tokio::test]
async fn a_virtual_inlay_has_the_layout_and_its_tap_verifies() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let template = template(&service, &settings, &["11"]).await;
    let (_, master) = master(&service, true).await;
    let chip = json!({"name": "Bottle", "url_template_id": template, "master_key_id": master});
    let chip = service.admin_create("/simulator/inlays", chip).await;
    let path = format!("/simulator/inlays/{}/tap", chip["id"]);
    let tapped = service
        .admin(Method::POST, &path, json!({}))
        .await
        .expect(200);
    let url = tapped["url"].as_str().unwrap();
    tap(&service, url.split_once(HOST).unwrap().1).await;
    let page = service
        .admin_get("/interactions?limit=1&simulated=true")
        .await;
    assert_eq!(page["items"][0]["tag_verified"], true, "{page}");
}

#[tokio::test]
async fn an_import_takes_a_master_key_and_a_meta_key_in_one_row() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let template = template(&service, &settings, &["11"]).await;
    let (derivation, master) = master(&service, true).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let experience = service.admin_get(&format!("/tags/{}", tag.id)).await["experience_id"].clone();
    let mut chips = [chip(&settings, &derivation), chip(&settings, &derivation)];
    let [with, without] = chips.each_ref().map(|chip| chip.uid);
    let meta = "11".repeat(16);
    let table = format!(
        "name,experience_id,uid,technology,url_template_id,master_key_id,meta_key\n\
         With,{experience},{with},ntag424dna,{template},{master},{meta}\n\
         Without,{experience},{without},ntag424dna,{template},{master},\n"
    );
    let answer = service
        .admin_request(Method::POST, "/tags/import")
        .header("content-type", "text/csv")
        .body(table)
        .answer()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    for chip in &mut chips {
        assert_eq!(
            tap(&service, &chip.url(None)).await.status,
            302,
            "{}",
            answer.body
        );
        assert_eq!(last(&service).await.0, json!(true));
    }
}
