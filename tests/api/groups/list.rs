//! The list of groups.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::group;

#[tokio::test]
async fn groups_are_listed_by_place_kind_and_text_page_by_page() {
    let service = TestService::start().await;
    let wines = group(&service, "folder", None, json!({"name": "Wines"})).await;
    let product = json!({"name": "Château Été", "code": "GC-21", "gtin": "9520123456788"});
    let product = group(&service, "product", Some(wines), product).await;
    let mut batches = Vec::new();
    for lot in 1..=5 {
        let lot = json!({"name": format!("100% of {lot}"), "code": format!("L0{lot}")});
        batches.push(group(&service, "batch", Some(product), lot).await);
    }
    let ids = async |query: &str| {
        let page = service.admin_get(&format!("/groups{query}")).await;
        let items = page["items"].as_array().unwrap();
        let ids: Vec<i64> = items
            .iter()
            .map(|one| one["id"].as_i64().unwrap())
            .collect();
        (ids, page["next"].clone(), page["count"].clone())
    };
    let all: Vec<_> = [wines, product]
        .into_iter()
        .chain(batches.clone())
        .collect();
    for (query, expected) in [
        ("", &all[..]),
        ("?parent_id=none", &all[..1]),
        (&format!("?parent_id={wines}"), &all[1..2]),
        (&format!("?parent_id={product}"), &all[2..]),
        ("?parent_id=9999", &[]),
        ("?kind=batch", &all[2..]),
        ("?kind=product&parent_id=none", &[]),
        ("?q=%C3%A9T%C3%89", &all[1..2]),
        ("?q=gc-2", &all[1..2]),
        ("?q=0952012345", &all[1..2]),
        ("?q=l03", &all[4..5]),
        ("?q=0%25%20of", &all[2..]),
        ("?q=%25z", &[]),
    ] {
        assert_eq!(ids(query).await.0, expected, "{query}");
    }
    let (first, next, count) = ids("?kind=batch&limit=3&count=true").await;
    assert_eq!((&first[..], count), (&batches[..3], json!(5)));
    let next = next.as_str().unwrap();
    let (rest, next, _) = ids(&format!("?kind=batch&limit=3&after={next}")).await;
    assert_eq!((&rest[..], next), (&batches[3..], Value::Null));
    for refused in ["?parent_id=0", "?parent_id=x", "?kind=shelf", "?parent=1"] {
        let path = format!("/groups{refused}");
        let answer = service
            .admin(reqwest::Method::GET, &path, Value::Null)
            .await;
        assert_eq!(answer.status, 422, "{refused}");
    }
}
