//! The rules of the tree.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{group, patch, try_group};

#[tokio::test]
async fn groups_are_at_most_four_levels_deep_however_they_get_there() {
    let service = TestService::start().await;
    let mut levels = Vec::new();
    let mut parent = None;
    for _ in 0..4 {
        let id = group(&service, "folder", parent, Value::Null).await;
        levels.push(id);
        parent = Some(id);
    }
    let fifth = try_group(&service, "batch", parent, Value::Null).await;
    let refused = fifth.expect(409);
    assert_eq!(refused["code"], "invalid_place");
    assert_eq!(refused["errors"][0]["field"], "parent_id");
    // A group moves with all that it holds.
    let top = group(&service, "folder", None, Value::Null).await;
    let below = json!({"parent_id": top});
    patch(&service, levels[0], below.clone()).await.expect(409);
    patch(&service, levels[1], below.clone()).await.expect(200);
    patch(&service, levels[2], below).await.expect(200);
    let deeper = json!({"parent_id": levels[3]});
    patch(&service, top, deeper).await.expect(409);
    let under_three = json!({"parent_id": levels[1]});
    patch(&service, levels[0], under_three).await.expect(200);
}

#[tokio::test]
async fn a_group_is_never_above_itself() {
    let service = TestService::start().await;
    let top = group(&service, "folder", None, Value::Null).await;
    let middle = group(&service, "folder", Some(top), Value::Null).await;
    let bottom = group(&service, "folder", Some(middle), Value::Null).await;
    for parent in [top, middle, bottom] {
        let refused = patch(&service, top, json!({"parent_id": parent})).await;
        let refused = refused.expect(409);
        assert_eq!(refused["code"], "invalid_place", "{refused}");
        assert!(
            refused["detail"].as_str().unwrap().contains("in itself"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_batch_holds_no_product_at_any_depth() {
    let service = TestService::start().await;
    let batch = group(&service, "batch", None, Value::Null).await;
    let folder = group(&service, "folder", Some(batch), Value::Null).await;
    for parent in [batch, folder] {
        let refused = try_group(&service, "product", Some(parent), Value::Null).await;
        assert_eq!(refused.expect(409)["code"], "invalid_place");
    }
    let shelf = group(&service, "folder", None, Value::Null).await;
    let product = group(&service, "product", Some(shelf), Value::Null).await;
    let inner = group(&service, "batch", Some(product), Value::Null).await;
    for (id, changes) in [
        (shelf, json!({"parent_id": batch})),
        (product, json!({"parent_id": folder})),
        (shelf, json!({"kind": "batch"})),
        (folder, json!({"kind": "product"})),
    ] {
        let refused = patch(&service, id, changes.clone()).await.expect(409);
        assert_eq!(refused["errors"][0]["field"], "kind", "{changes}");
    }
    patch(&service, inner, json!({"parent_id": folder}))
        .await
        .expect(200);
    patch(&service, product, json!({"kind": "folder"}))
        .await
        .expect(200);
    patch(&service, shelf, json!({"parent_id": batch}))
        .await
        .expect(200);
}
