//! Lists and trees with many groups.

use serde_json::{Value, json};
use tapdesk_tests::{TestService, length};

use super::{group, patch, tag_count};
use crate::api::database::{insert_tags, rows};

/// Inserts batches by SQL, because one request for each would take minutes.
async fn insert_batches(service: &TestService, product: i64, batches: usize) {
    let rows = |series: &str| {
        format!(
            "{series} INSERT INTO tag_groups (parent_id, kind, name, folded, status, title, description,
                 attributes, data, variables, tag_count, created_at, updated_at)
             SELECT {product}, 'batch', 'Lot ' || n, 'lot ' || n, 'active', '', '', '{{}}', '{{}}', '{{}}', 0, 1, 1
             FROM series ORDER BY n"
        )
    };
    if let Some(database) = service.postgres() {
        let series = format!("WITH series (n) AS (SELECT generate_series(0, {batches} - 1))");
        let client = database.look_into().await;
        client.batch_execute(&rows(&series)).await.unwrap();
    } else {
        let series = format!(
            "WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < {batches} - 1)"
        );
        let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
        file.execute_batch(&rows(&series)).unwrap();
    }
}

#[tokio::test]
async fn a_product_with_very_many_batches_is_found_renamed_moved_and_recalled() {
    let batches: usize = length(20_000, 100_000);
    let service = TestService::start().await;
    let experience = service
        .redirect("https://owner.example/{{batch:name}}")
        .await;
    let wines = group(&service, "folder", None, Value::Null).await;
    let product = group(
        &service,
        "product",
        Some(wines),
        json!({"experience_id": experience}),
    )
    .await;
    insert_batches(&service, product, batches).await;
    let last = product + i64::try_from(batches).unwrap();
    let tag = service
        .tag(json!({"name": "Bottle", "group_id": last}))
        .await;
    let location = service.tap(&tag.path()).await.location.unwrap();
    let expected = format!("https://owner.example/Lot%20{}?", batches - 1);
    assert!(location.starts_with(&expected), "{location}");
    let rename = json!({"name": "Renamed", "title": "New"});
    patch(&service, product, rename).await.expect(200);
    let count = tag_count(&service, wines).await;
    assert_eq!(count, 1);
    let listed = service.admin_get("/groups?limit=500&count=true").await;
    assert_eq!(listed["count"], batches + 2);
    let found = format!("/groups?q=lot%20{}&kind=batch", batches - 1);
    let found = service.admin_get(&found).await;
    assert_eq!(found["items"][0]["id"], last);
    for path in ["/tags", "/interactions"] {
        let path = format!("{path}?group_id={wines}");
        let found = service.admin_get(&path).await;
        assert_eq!(found["items"].as_array().unwrap().len(), 1, "{path}");
    }
    let moved = json!({"parent_id": null});
    patch(&service, product, moved).await.expect(200);
    let recalled = json!({"status": "recalled"});
    patch(&service, product, recalled).await.expect(200);
    let tap = service.tap(&tag.path()).await;
    assert_eq!((tap.status, tap.rk), (200, None));
}

/// A title is inherited when it is read, so that a change writes one row, however many tags there are.
#[tokio::test]
async fn a_change_of_a_product_writes_none_of_its_many_tags() {
    let tags: usize = length(5_000, 100_000);
    let service = TestService::start().await;
    let experience = service
        .redirect("https://owner.example/{{tag:title}}")
        .await;
    let product = json!({"experience_id": experience, "title": "Old"});
    let product = group(&service, "product", None, product).await;
    let batch = group(&service, "batch", Some(product), Value::Null).await;
    insert_tags(&service, batch, tags).await;
    let lead_to = async |title: &str| {
        for slug in ["inserted-1".to_owned(), format!("inserted-{tags}")] {
            let location = service.tap(&format!("/t/{slug}")).await.location.unwrap();
            let expected = format!("https://owner.example/{title}?");
            assert!(location.starts_with(&expected), "{slug}: {location}");
        }
    };
    lead_to("Old").await;
    patch(&service, product, json!({"title": "New"}))
        .await
        .expect(200);
    assert_eq!(rows(&service, "tags WHERE updated_at <> 1").await, 0);
    assert_eq!(usize::try_from(rows(&service, "tags").await), Ok(tags));
    lead_to("New").await;
}
