//! Bolt cards: the tables of their servers, and the key K1 that all cards of a server share.

use tapdesk_tests::tables::{BOLTCARD_SERVER, LNBITS};

use super::*;

/// The address of a boltcard server's cards.
const SERVER: &str = "lnurlw://tags.example/ln?p={picc}&c={mac}";

/// The K1 of the published card.
const K1: &str = "0c3b25d92b38ae443229dd59ad34b85d";

/// The published card, at this address.
fn card(template: &str) -> Chip {
    let keys = Keys {
        meta: Some(AesKey::from_hex(K1).unwrap()),
        file: AesKey::from_hex("b45775776cb224c75bcde7ca3704e933").unwrap(),
    };
    let mut card = Chip::new(settings(template), InlayKeys::Aes(keys));
    card.uid = "04996C6A926980".parse().unwrap();
    card
}

/// A template with the published K1 as its shared meta key.
async fn with_k1(service: &TestService, template: &str) -> i64 {
    let mut body = template_json(&settings(template), &[]);
    body["meta_keys"] = json!([K1]);
    let created = service.admin_create("/url-templates", body).await;
    created["id"].as_i64().unwrap()
}

/// The result of an import with the preset.
async fn import(service: &TestService, template: i64, file: &str) -> Value {
    let path = format!("/tags/import?preset=boltcard&url_template_id={template}&counter=decimal");
    let request = service.admin_request(Method::POST, &path);
    let request = request.header("content-type", "text/csv");
    request.body(file.to_owned()).answer().await.expect(200)
}

/// A boltcard server has one K1 for all cards, and it is no column of its table.
#[tokio::test]
async fn a_table_without_k1_takes_the_shared_meta_key_of_its_template() {
    let service = TestService::start().await;
    let template = with_k1(&service, SERVER).await;
    let result = import(&service, template, BOLTCARD_SERVER).await;
    assert_eq!(result["created"], 1, "{result}");
    assert_eq!(result["ignored_columns"], json!([]));
    // The published code has the counter 3, which was spent at the former service.
    let path = "/ln?p=4E2E289D945A66BB13377A728884E867&c=E19CCB1FED8892CE";
    open(&service, path).await;
    assert_eq!(last(&service).await, (json!(false), json!("replayed")));
    open(&service, &card(SERVER).url_at(4, None)).await;
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

/// `LNbits` has a URL for each card, which ends with the card's `external_id`.
#[tokio::test]
async fn a_card_of_lnbits_is_found_at_its_own_address() {
    let service = TestService::start().await;
    let text = "lnurlw://tags.example/boltcards/api/v1/scan/{slug}?p={picc}&c={mac}";
    let template = template(&service, &settings(text), &[]).await;
    let result = import(&service, template, LNBITS).await;
    let slug = "QBxk9WLpzYwXrbPnkBKhzC";
    assert_eq!(result["results"][0]["slug"], slug, "{result}");
    assert_eq!(result["ignored_columns"], json!([]));
    let path = card(text).url_at(4, Some(slug));
    assert!(
        path.starts_with("/boltcards/api/v1/scan/QBxk9WLpzYwXrbPnkBKhzC?p="),
        "{path}"
    );
    assert_eq!(open(&service, &path).await.status, 200);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
    // A server that ends no URL with it may have another column for the slug.
    let own = "external_id,Code,card_name\nx y/z,bottle-41,Card 2\n";
    let path = "/tags/import?preset=boltcard&map=external_id:data:external_id&map=Code:slug";
    let request = service.admin_request(Method::POST, path);
    let request = request.header("content-type", "text/csv");
    let result = request.body(own).answer().await.expect(200);
    assert_eq!(result["results"][0]["slug"], "bottle-41", "{result}");
    let tags = service.admin_get("/tags?q=bottle-41").await;
    assert_eq!(tags["items"][0]["data"], json!({"external_id": "x y/z"}));
}

#[tokio::test]
async fn a_file_key_stands_with_the_only_shared_meta_key_and_no_other_is_replaced() {
    let service = TestService::start().await;
    let id = template(&service, &settings(ONE_ADDRESS), &["11"]).await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "22"));
    let tag = service.redirecting_tag(Value::Null).await;
    let mut inlay = inlay_json(&chip, id, Some(&tag));
    inlay.as_object_mut().unwrap().remove("meta_key");
    let created = service.admin_create("/inlays", inlay.clone()).await;
    assert_eq!(
        created["meta_key_check"],
        key("11").check().to_string(),
        "{created}"
    );
    assert_eq!(tap(&service, &chip.url(None)).await.status, 302);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));

    // With a meta key of its own, a slug leads to the inlay. A new file key leaves that meta key.
    let at_slug = "https://tags.example/b/{slug}?p={picc}&c={mac}";
    let id = template(&service, &settings(at_slug), &["11"]).await;
    let other = Chip::new(settings(at_slug), aes("33", "22"));
    let own = service
        .admin_create("/inlays", inlay_json(&other, id, None))
        .await;
    let path = format!("/inlays/{}", own["id"]);
    let check = key("33").check().to_string();
    assert_eq!(own["meta_key_check"], check);
    let file = json!({"file_key": "44".repeat(16)});
    let patched = service.admin_patch(&path, file).await;
    assert_eq!(patched["meta_key_check"], check);
    let removed = json!({"file_key": "55".repeat(16), "meta_key": null});
    let refused = service.admin(Method::PATCH, &path, removed).await;
    let refused = refused.expect(422);
    assert_eq!(refused["errors"][0]["field"], "meta_key", "{refused}");

    // Of several shared keys none is chosen.
    let id = template(
        &service,
        &settings("https://tags.example/two?p={picc}&c={mac}"),
        &["11", "33"],
    )
    .await;
    inlay["uid"] = "04A1B2C3D4E581".into();
    inlay["url_template_id"] = id.into();
    let refused = service.admin(Method::POST, "/inlays", inlay).await;
    let refused = refused.expect(422);
    assert_eq!(refused["errors"][0]["field"], "meta_key", "{refused}");
}
