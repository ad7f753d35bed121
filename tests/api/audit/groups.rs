//! Operations on groups leave audit rows.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Answering as _;

use super::Driver;

pub(super) async fn groups(driver: &mut Driver) {
    let product = json!({"kind": "product", "name": "Grand Cru 2021"});
    let product = driver.service.admin_create("/groups", product).await;
    driver.look().await;
    let object = format!("groups/{}/image", product["id"]);
    let path = format!("/{object}");
    let picture = include_bytes!("../../../src-tauri/icons/32x32.png").to_vec();
    let request = driver.service.admin_request(Method::PUT, &path);
    let answer = request.body(picture).answer().await;
    driver
        .left("put_groups_id_image", answer, "groups.image.set", &object)
        .await;
    let row = driver.newest().await;
    assert_eq!(row["before"], Value::Null, "{row}");
    assert_eq!(row["after"]["type"], "image/png", "{row}");
    let answer = driver.send(Method::DELETE, &path, Value::Null).await;
    driver
        .left(
            "delete_groups_id_image",
            answer,
            "groups.image.delete",
            &object,
        )
        .await;
    let row = driver.newest().await;
    assert_eq!(row["before"]["type"], "image/png", "{row}");
    assert_eq!(row["after"], Value::Null, "{row}");
}
