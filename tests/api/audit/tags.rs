//! Operations on tags leave audit rows.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Answering as _;

use super::Driver;

pub(super) async fn tags(driver: &mut Driver) {
    let tag = driver.service.redirecting_tag(Value::Null).await;
    driver.look().await;
    for class in ["variables", "data", "attributes"] {
        let object = format!("tags/{}/{class}/colour", tag.id);
        let path = format!("/{object}");
        let answer = driver
            .send(Method::PUT, &path, json!({"value": "red"}))
            .await;
        let put = format!("put_tags_id_{class}_key");
        driver
            .left(&put, answer, &format!("tags.{class}.set"), &object)
            .await;
        let row = driver.newest().await;
        assert_eq!(
            (&row["before"], &row["after"]),
            (&Value::Null, &json!("red"))
        );
        let answer = driver.send(Method::DELETE, &path, Value::Null).await;
        let delete = format!("delete_tags_id_{class}_key");
        driver
            .left(&delete, answer, &format!("tags.{class}.delete"), &object)
            .await;
    }
    driver
        .service
        .admin_patch(&tag.admin_path(), json!({"slug": "another-slug"}))
        .await;
    driver.look().await;
    let object = format!("tags/{}/former-slugs/{}", tag.id, tag.slug);
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_tags_id_former_slugs_slug",
            answer,
            "tags.former-slugs.delete",
            &object,
        )
        .await;
    let object = format!("tags/{}/traces", tag.id);
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_tags_id_traces",
            answer,
            "tags.traces.delete",
            &object,
        )
        .await;
    let object = "interactions/no-tag/traces";
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_interactions_no_tag_traces",
            answer,
            "interactions.no-tag.traces.delete",
            object,
        )
        .await;
    visitor(driver).await;
    let tags: Vec<_> = (0..450).map(|n| format!("\nTag {n}")).collect();
    let file = format!("name{}", tags.concat());
    let request = driver.service.admin_request(Method::POST, "/tags/import");
    let answer = request
        .header("content-type", "text/csv")
        .body(file)
        .answer()
        .await;
    driver
        .left("post_tags_import", answer, "tags.import", "tags/import")
        .await;
    let asked = driver.newest().await["after"].clone();
    assert_eq!(
        asked,
        json!({"rows": 450, "mode": "insert", "on_error": "skip", "add_variables": true})
    );
    let change = json!({"action": "status", "status": "archived", "select": {"filter": {}}});
    let answer = driver.send(Method::POST, "/tags/bulk", change).await;
    driver
        .left("post_tags_bulk", answer, "tags.bulk", "tags/bulk")
        .await;
    let asked = driver.newest().await["after"].clone();
    assert_eq!(asked["selected"], 451, "{asked}");
    assert_eq!(asked["change"]["status"], "archived", "{asked}");
}

/// Erases a visitor's data by their tap.
async fn visitor(driver: &mut Driver) {
    let (held, mut inlay) = driver.service.bottle().await;
    driver.service.tap(&inlay.url(&held)).await;
    driver.look().await;
    let tap = driver.service.last_interaction().await;
    let object = format!("interactions/{tap}/visitor");
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_interactions_id_visitor",
            answer,
            "interactions.visitor.delete",
            &object,
        )
        .await;
    driver
        .send(Method::DELETE, &held.admin_path(), Value::Null)
        .await;
    driver.look().await;
}
