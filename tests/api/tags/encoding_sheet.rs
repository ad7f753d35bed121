//! The data for the chip of a tag, in the canonical form.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::template::{Field, Template};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::hex;

#[tokio::test]
async fn the_sheet_of_a_tag_is_that_of_the_canonical_form() {
    let service = TestService::start().await;
    let base = "https://tags.example/t";
    let moved = json!({"tag_url": base});
    service.admin_patch("/settings", moved).await;
    let tag = json!({"name": "Bottle", "slug": "bottle-41"});
    let tag = service.tag(tag).await;
    let path = format!("{}/encoding-sheet", tag.admin_path());
    for (query, mirror, mac_from) in [
        ("", Mirror::Encrypted, MacFrom::None),
        ("?mirror=plain", Mirror::Plain, MacFrom::None),
        ("?mirror=plain&mac_from=uid", Mirror::Plain, MacFrom::Uid),
        (
            "?mirror=encrypted&mac_from=uid",
            Mirror::Encrypted,
            MacFrom::Uid,
        ),
    ] {
        let shown = service.admin_get(&format!("{path}{query}")).await;
        let template = Template::canonical(base, mirror, mac_from).unwrap();
        let sheet = template.encoding_sheet(Some("bottle-41")).unwrap();
        assert_eq!(shown["slug"], "bottle-41");
        assert_eq!(shown["url"], sheet.url, "{query}");
        assert_eq!(shown["bytes"], hex(&sheet.bytes), "{query}");
        let settings = &shown["change_file_settings"];
        let data = sheet.file_settings.as_deref().unwrap();
        assert_eq!(settings["data"], hex(data), "{query}");
        let meta_slot = (mirror == Mirror::Encrypted).then_some(1);
        assert_eq!(settings["meta_slot"], json!(meta_slot), "{query}");
        let (offset, length) = sheet.mac_input.unwrap();
        let input = json!({"offset": offset, "length": length});
        assert_eq!(shown["mac_input"], input, "{query}");
        assert_eq!(length == 0, mac_from == MacFrom::None, "{query}");
        let names: Vec<_> = sheet.mirrors.iter().map(|one| one.field.name()).collect();
        let mirrors = shown["mirrors"].as_array().unwrap();
        let shown: Vec<_> = mirrors.iter().map(|one| one["name"].clone()).collect();
        assert_eq!(shown, names, "{query}");
        assert_eq!(names.last(), Some(&Field::Mac.name()));
    }
}

#[tokio::test]
async fn a_tag_url_that_is_too_long_for_a_chip_has_no_sheet() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let path = format!("{}/encoding-sheet", tag.admin_path());
    let long = format!("https://tags.example/{}", "t".repeat(240));
    let moved = json!({"tag_url": long});
    service.admin_patch("/settings", moved).await;
    let refused = service.admin(Method::GET, &path, Value::Null).await;
    let why = refused.expect(422).to_string();
    assert!(why.contains("bytes in the chip's NDEF record"), "{why}");
    let none = "/tags/404404/encoding-sheet";
    let none = service.admin(Method::GET, none, Value::Null).await;
    assert_eq!(none.status, 404);
    let unknown = format!("{path}?mirror=other");
    let unknown = service.admin(Method::GET, &unknown, Value::Null).await;
    assert_eq!(unknown.status, 422);
}
