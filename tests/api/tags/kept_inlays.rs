//! Imports of rows whose inlay is stored already.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{OsEntropy, bytes};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::{chip, chip_json};

use super::{INLAY_COLUMNS, import, inlay_cells};

/// A file with one row: a tag and this inlay.
fn file(slug: &str, name: &str, inlay: &Value) -> String {
    let columns = format!("{INLAY_COLUMNS},last_counter");
    let cells = inlay_cells(inlay, &columns);
    format!("slug,name,{columns}\n{slug},{name},{cells}\n")
}

#[tokio::test]
async fn a_row_with_the_inlay_that_its_tag_has_changes_only_the_tag() {
    let service = TestService::start().await;
    let mut chip = chip(Mirror::Encrypted, MacFrom::None);
    let described = chip_json(&chip);
    let first = file("bottle-0001", "First", &described);
    let result = import(&service, "?mode=upsert", first).await;
    assert_eq!(result["created"], 1, "{result}");
    let inlay = format!("/inlays/{}", result["results"][0]["inlay_id"]);
    let tag = format!("/tags/{}", result["results"][0]["id"]);
    let code = chip.tap(bytes(&OsEntropy)).unwrap();
    let url = format!("/t/bottle-0001?uid={}&token={}", code.uid, code.token);
    assert_eq!(service.tap(&url).await.status, 200);
    let before = service.admin_get(&inlay).await;
    assert_eq!(before["last_counter"], 1);
    for (on_error, name) in [("skip", "Second"), ("abort", "Third")] {
        let again = file("bottle-0001", name, &described);
        for dry_run in [true, false] {
            let query = format!("?mode=upsert&on_error={on_error}&dry_run={dry_run}");
            let result = import(&service, &query, again.clone()).await;
            let counts = (&result["updated"], &result["refused"]);
            assert_eq!(counts, (&json!(1), &json!(0)), "{query}: {result}");
            let row = &result["results"][0];
            let inlay = (&row["inlay_id"], &row["warning"]);
            assert_eq!(inlay, (&Value::Null, &Value::Null), "{query}: {result}");
        }
        assert_eq!(service.admin_get(&tag).await["name"], name);
        assert_eq!(service.admin_get(&inlay).await, before);
    }
}

/// Keys that an import left unchanged must not look replaced.
#[tokio::test]
async fn a_row_that_describes_the_inlay_of_its_tag_differently_leaves_it_and_says_so() {
    let service = TestService::start().await;
    let described = chip_json(&chip(Mirror::Plain, MacFrom::None));
    let first = file("bottle-0001", "First", &described);
    let result = import(&service, "?mode=upsert", first).await;
    let inlay = format!("/inlays/{}", result["results"][0]["inlay_id"]);
    let before = service.admin_get(&inlay).await;
    for (member, value) in [
        ("file_key", "00112233445566778899AABBCCDDEEFF"),
        ("mac_from", "uid"),
        ("last_counter", "41"),
    ] {
        let mut other = described.clone();
        other[member] = value.into();
        for on_error in ["skip", "abort"] {
            let query = format!("?mode=upsert&on_error={on_error}");
            let row = file("bottle-0001", member, &other);
            let result = import(&service, &query, row).await;
            assert_eq!(result["updated"], 1, "{member}: {result}");
            let warning = result["results"][0]["warning"].as_str().unwrap_or_default();
            assert!(warning.contains("stays unchanged"), "{member}: {result}");
            assert_eq!(service.admin_get(&inlay).await, before, "{member}");
        }
    }
}

#[tokio::test]
async fn a_row_with_an_inlay_that_is_not_on_its_tag_is_refused() {
    let service = TestService::start().await;
    let described = chip_json(&chip(Mirror::Plain, MacFrom::None));
    let first = file("bottle-0001", "First", &described);
    let result = import(&service, "?mode=upsert", first).await;
    let inlay = format!("/inlays/{}", result["results"][0]["inlay_id"]);
    let other = json!({"name": "Other", "slug": "bottle-0002"});
    let other = service.tag(other).await.admin_path();
    let refused = async |slug: &str| {
        for on_error in ["skip", "abort"] {
            let query = format!("?mode=upsert&on_error={on_error}");
            let row = file(slug, "Changed", &described);
            let result = import(&service, &query, row).await;
            assert_eq!(result["refused"], 1, "{slug}: {result}");
            let reason = result["results"][0]["reason"].as_str().unwrap();
            assert!(reason.contains("exists already"), "{slug}: {reason}");
        }
    };
    refused("bottle-0002").await;
    refused("bottle-0003").await;
    assert_eq!(service.admin_get(&other).await["name"], "Other");
    // An inlay on no tag is not on the tag of the row either.
    service
        .admin(Method::PATCH, &inlay, json!({"tag_id": null}))
        .await
        .expect(200);
    refused("bottle-0001").await;
}
