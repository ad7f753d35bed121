//! The URL of a tag, in each response that contains a tag.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{export, import};

#[tokio::test]
async fn a_tag_has_its_url_wherever_it_is_shown() {
    let service = TestService::start().await;
    let settings = service.admin_get("/settings").await;
    let created = service
        .admin_create("/tags", json!({"name": "Bottle 41"}))
        .await;
    let slug = created["slug"].as_str().unwrap();
    let base = settings["tag_url"]["value"].as_str().unwrap();
    assert_eq!(created["url"], format!("{base}/{slug}"));
    let path = format!("/tags/{}", created["id"]);
    assert_eq!(service.admin_get(&path).await, created);
    let listed = service.admin_get("/tags").await;
    assert_eq!(listed["items"], json!([created]));
    // It follows the slug and the setting, and cannot be set itself.
    let renamed = service
        .admin_patch(&path, json!({"slug": "bottle-41"}))
        .await;
    assert_eq!(renamed["url"], format!("{base}/bottle-41"));
    let stale = service.admin(Method::GET, &path, Value::Null).await;
    let moved = json!({"tag_url": "https://tags.example/t"});
    service.admin_patch("/settings", moved).await;
    let shown = service.admin(Method::GET, &path, Value::Null).await;
    assert_eq!(shown.json()["url"], "https://tags.example/t/bottle-41");
    assert_eq!(shown.header("etag"), stale.header("etag"));
    let set = service.admin(
        Method::PATCH,
        &path,
        json!({"url": "https://other.example/"}),
    );
    set.await.expect(422);
}

#[tokio::test]
async fn an_export_has_the_url_beside_the_slug_and_import_takes_nothing_from_it() {
    let service = TestService::start().await;
    let moved = json!({"tag_url": "https://tags.example/t"});
    service.admin_patch("/settings", moved).await;
    let tag = service
        .tag(json!({"name": "Bottle 41", "slug": "bottle-41"}))
        .await;
    let file = export(&service, "").await;
    let mut lines = file.trim_start_matches('\u{feff}').lines();
    assert!(
        lines.next().unwrap().starts_with("slug,url,name,"),
        "{file}"
    );
    let line = lines.next().unwrap();
    assert!(
        line.starts_with("bottle-41,https://tags.example/t/bottle-41,Bottle 41,"),
        "{line}"
    );
    let other = file.replace(
        "https://tags.example/t/bottle-41",
        "https://elsewhere.example/x",
    );
    let result = import(&service, "?mode=upsert", other).await;
    assert_eq!(result["refused"], 0, "{result}");
    let shown = service.admin_get(&tag.admin_path()).await;
    assert_eq!(shown["url"], "https://tags.example/t/bottle-41");
}
