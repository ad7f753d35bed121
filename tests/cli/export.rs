//! `export interactions` and `export submissions`.

use std::fs;

use serde_json::{Value, json};

use super::{launch, run_at};

#[tokio::test]
async fn interactions_are_saved_in_either_format_with_filters_and_columns() {
    let service = launch().start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service.redirecting_tag(Value::Null).await;
    for _ in 0..3 {
        service.tap(&inlay.url(&bottle)).await;
        service.tap(&poster.path()).await;
    }
    let file = service.folder().join("taps.csv");
    let export = ["export", "interactions", file.to_str().unwrap()];
    let said = run_at(&service, &export).await.good();
    assert!(said.contains("holds the interactions"), "{said}");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(!text.lines().next().unwrap().contains("uid"), "{text}");
    let said = run_at(&service, &export).await.refused();
    assert!(said.contains("exists already"), "{said}");

    let filter = format!("tag_id={}", bottle.id);
    let some = [
        "export",
        "interactions",
        "-",
        "--format",
        "jsonl",
        "--columns",
        "id,tag_verified,uid",
        "--filter",
        &filter,
        "--filter",
        "verification=verified",
    ];
    let rows = run_at(&service, &some).await.good();
    let rows: Vec<Value> = rows
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    let path = format!("/interactions?{filter}");
    let listed = service.admin_get(&path).await;
    let expected = listed["items"].as_array().unwrap().iter();
    let expected: Vec<Value> = expected
        .map(
            |tap| json!({"id": tap["id"], "tag_verified": true, "uid": inlay.chip.uid.to_string()}),
        )
        .collect();
    assert_eq!(rows, expected);

    let none = run_at(&service, &["export", "submissions", "-"])
        .await
        .good();
    assert_eq!(none.lines().count(), 1, "{none}");
    let wrong = ["export", "interactions", "-", "--columns", "hash"];
    let said = run_at(&service, &wrong).await.refused();
    assert!(said.contains("no column"), "{said}");
}
