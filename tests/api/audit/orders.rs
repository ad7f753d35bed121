//! Audit rows of a factory order: its creation, the download of its keys, and the factory's report.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Answering as _;

use super::Driver;

pub(super) async fn orders(driver: &mut Driver) {
    let tag = driver.service.tag(json!({"name": "Bottle"})).await;
    driver.look().await;
    let order = json!({"name": "Autumn", "tag_ids": [tag.id]});
    let answer = driver.send(Method::POST, "/factory-orders", order).await;
    let order = format!("factory-orders/{}", answer.json()["id"]);
    driver
        .left(
            "post_factory_orders",
            answer,
            "factory-orders.create",
            &order,
        )
        .await;
    let path = format!("{order}/keys");
    let passphrase = json!({"passphrase": "correct horse battery"});
    let answer = driver
        .send(Method::POST, &format!("/{path}"), passphrase)
        .await;
    driver
        .left(
            "post_factory_orders_id_keys",
            answer,
            "factory-orders.keys",
            &path,
        )
        .await;
    let spare = driver.service.tag(json!({"name": "Spare"})).await;
    let unsent = json!({"name": "Winter", "tag_ids": [spare.id]});
    let unsent = driver.service.admin_create("/factory-orders", unsent).await;
    let unsent = format!("factory-orders/{}", unsent["id"]);
    driver.look().await;
    let answer = driver
        .send(Method::DELETE, &format!("/{unsent}"), Value::Null)
        .await;
    driver
        .left(
            "delete_factory_orders_id",
            answer,
            "factory-orders.delete",
            &unsent,
        )
        .await;
    let path = format!("{order}/import");
    let request = driver
        .service
        .admin_request(Method::POST, &format!("/{path}"));
    let request = request.header("content-type", "text/csv");
    let answer = request
        .body("position,uid\n1,04DE5F1EACC0F1\n")
        .answer()
        .await;
    assert_eq!(answer.json()["bound"], 1, "{}", answer.body);
    driver
        .left(
            "post_factory_orders_id_import",
            answer,
            "factory-orders.import",
            &path,
        )
        .await;
}
