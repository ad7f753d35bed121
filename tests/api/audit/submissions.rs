//! The erasing of submissions leaves its row, and the row does not say whose they were.

use reqwest::Method;
use serde_json::{Value, json};

use super::Driver;
use crate::api::submissions::{Form, send};

pub(super) async fn submissions(driver: &mut Driver) {
    let form = Form::new(&driver.service).await;
    for name in ["Ada", "Grace"] {
        send(&driver.service, &form.tag, name, "one@example.com", true).await;
    }
    driver.look().await;
    let newest = driver.service.admin_get("/submissions").await["items"][0]["id"].clone();
    let object = format!("submissions/{newest}");
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_submissions_id",
            answer,
            "submissions.delete",
            &object,
        )
        .await;
    let object = "submissions/erase";
    let answer = driver
        .send(
            Method::POST,
            "/submissions/erase",
            json!({"value": "ONE@example.com"}),
        )
        .await;
    assert_eq!(answer.json(), json!({"erased": 1}));
    driver
        .left(
            "post_submissions_erase",
            answer,
            "submissions.erase",
            object,
        )
        .await;
    let row = driver.newest().await.to_string();
    assert!(!row.to_lowercase().contains("example.com"), "{row}");
}
