//! Erasing submissions leaves an audit row that does not identify the person.

use reqwest::Method;
use serde_json::{Value, json};

use super::Driver;
use crate::api::submissions::{Form, post_to, send};

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
    let refused = refused(driver, &form).await;
    let object = format!("submissions/{refused}/save");
    let answer = driver
        .send(Method::POST, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "post_submissions_id_save",
            answer,
            "submissions.save",
            &object,
        )
        .await;
}

/// Saves a form that was refused because of a missing variable, which exists by now.
async fn refused(driver: &mut Driver, form: &Form) -> Value {
    let service = &driver.service;
    let page = service.tap(&form.tag.path()).await.answer.body;
    let email = format!("{}/variables/email", form.tag.admin_path());
    let gone = service.admin(Method::DELETE, &email, Value::Null).await;
    gone.expect(204);
    let fields = [("tag:variable:name", "Joan"), ("tag:variable:email", "")];
    let answer = post_to(service, &form.tag, &page, &fields).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    let back = json!({"value": ""});
    service.admin(Method::PUT, &email, back).await;
    driver.look().await;
    let kept = driver.service.admin_get("/submissions?state=refused").await;
    kept["items"][0]["id"].clone()
}
