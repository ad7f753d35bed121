//! Encoding sheets: the data for the chips of a template.

use super::*;

async fn sheet(service: &TestService, id: i64, query: &str) -> Answer {
    let path = format!("/url-templates/{id}/encoding-sheet{query}");
    service.admin(Method::GET, &path, Value::Null).await
}

#[tokio::test]
async fn a_template_says_how_its_chips_are_written() {
    let service = TestService::start().await;
    let id = template(&service, &settings(ONE_ADDRESS), &["11"]).await;
    let sheet = sheet(&service, id, "").await.expect(200);
    let zeros = |digits| "0".repeat(digits);
    let (picc, mac) = (zeros(32), zeros(16));
    assert_eq!(
        sheet["url"],
        format!("https://tags.example/v?picc_data={picc}&cmac={mac}")
    );
    // NLEN, the record's head, 04 for "https://", and the rest of the text.
    let text = format!("tags.example/v?picc_data={picc}&cmac={mac}");
    let bytes = format!("0054D101505504{}", hex(text.as_bytes()));
    assert_eq!(sheet["bytes"], bytes);
    assert_eq!(sheet["written_to"], "ndef_file");
    assert_eq!(
        sheet["mirrors"],
        json!([
            {"name": "picc", "offset": 32, "length": 32},
            {"name": "mac", "offset": 70, "length": 16},
        ])
    );
    assert_eq!(sheet["mac_input"], json!({"offset": 70, "length": 0}));
    assert_eq!(
        sheet["change_file_settings"],
        json!({
            "file": 2, "data": "4000E0C1FF12200000460000460000", "meta_slot": 1, "file_slot": 2,
        })
    );
    let nothing = [
        &sheet["slug"],
        &sheet["tamper_offset"],
        &sheet["mirror_start"],
    ];
    assert!(nothing.iter().all(|member| member.is_null()), "{sheet}");
}

#[tokio::test]
async fn a_slug_is_that_of_a_tag() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/a/{slug}?p={picc}&c={mac}");
    let id = template(&service, &settings, &["11"]).await;
    let refused = sheet(&service, id, "").await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "tag_id");
    let none = sheet(&service, id, "?tag_id=404").await;
    assert_eq!(none.expect(422)["errors"][0]["field"], "tag_id");
    let tag = service
        .tag(json!({"name": "Bottle", "slug": "bottle-41"}))
        .await;
    let query = format!("?tag_id={}", tag.id);
    let sheet = sheet(&service, id, &query).await.expect(200);
    assert_eq!(sheet["slug"], "bottle-41");
    let url = sheet["url"].as_str().unwrap();
    assert!(
        url.starts_with("https://tags.example/a/bottle-41?p=0000"),
        "{url}"
    );
}

#[tokio::test]
async fn a_template_with_anything_in_it_has_none() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/a/{*}?p={picc}&c={mac}");
    let id = template(&service, &settings, &["11"]).await;
    let why = sheet(&service, id, "").await.expect(422);
    assert_eq!(why["errors"][0]["field"], "template", "{why}");
    assert_eq!(sheet(&service, 404, "").await.status, 404);
}

#[tokio::test]
async fn a_mirror_without_a_mac_has_its_page() {
    let service = TestService::start().await;
    let text = "https://tags.example/a/{slug}?m={uid}x{counter}";
    let settings = TemplateSettings::new(text, Technology::Ntag215);
    let id = template(&service, &settings, &[]).await;
    let tag = service
        .tag(json!({"name": "Bottle", "slug": "bottle-41"}))
        .await;
    let query = format!("?tag_id={}", tag.id);
    let sheet = sheet(&service, id, &query).await.expect(200);
    assert_eq!(sheet["written_to"], "pages");
    assert_eq!(sheet["mirror_start"], json!({"page": 12, "byte": 2}));
    assert_eq!(
        sheet["mirrors"][0],
        json!({"name": "uid", "offset": 34, "length": 14})
    );
    assert_eq!(sheet["change_file_settings"], Value::Null);
    assert_eq!(sheet["mac_input"], Value::Null);
    let bytes = sheet["bytes"].as_str().unwrap();
    assert!(bytes.starts_with("03") && bytes.ends_with("FE"), "{bytes}");
}
