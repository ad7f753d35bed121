//! Moving here from another service: its table, its keys and counters, its addresses.

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

    // What its former service accepted is spent; the next tap on the old address verifies.
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
