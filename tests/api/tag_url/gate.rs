//! No chip is encoded or ordered with an unproved address, unless a person confirms it.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{check, on_network};

/// Requests an encoding, a run and an order of a tag. Returns their statuses and problem codes.
async fn ask(service: &TestService, tag: i64, more: &Value) -> Vec<(u16, Value)> {
    let mut found = Vec::new();
    for (path, mut body) in [
        (
            "/encodings",
            json!({"uid": "04112233445566", "tag_id": tag}),
        ),
        ("/encoding-runs", json!({"name": "Roll", "tag_ids": [tag]})),
        (
            "/factory-orders",
            json!({"name": "Order", "tag_ids": [tag]}),
        ),
    ] {
        let members = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(members);
        let answer = service.admin(Method::POST, path, body).await;
        let problem = answer.json();
        found.push((answer.status, problem["code"].clone()));
    }
    found
}

#[tokio::test]
async fn an_address_that_is_not_proved_is_refused_unless_the_request_allows_it() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await.id;
    let refused = (409, json!("address_not_proved"));
    let no = json!({"allow_unproved_address": false});
    assert_eq!(ask(&service, tag, &no).await, vec![refused.clone(); 3]);
    for empty in ["/encodings", "/encoding-runs", "/factory-orders"] {
        assert_eq!(
            service.admin_get(empty).await["items"],
            json!([]),
            "{empty}"
        );
    }
    // A failed check gives its reason.
    check(&service, service.base()).await;
    let body = json!({"uid": "04112233445566", "tag_id": tag, "allow_unproved_address": false});
    let answer = service
        .admin(Method::POST, "/encodings", body)
        .await
        .expect(409);
    assert!(
        answer["detail"].as_str().unwrap().contains("this computer"),
        "{answer}"
    );
    let yes = json!({"allow_unproved_address": true});
    assert_eq!(ask(&service, tag, &yes).await, vec![(201, Value::Null); 3]);
}

#[tokio::test]
async fn a_proved_address_is_encoded_and_a_failed_check_takes_the_proof_back() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let tag = service.tag(json!({"name": "Bottle"})).await.id;
    let tag_url = format!("{}/t", network.base());
    service
        .admin_patch("/settings", json!({"tag_url": tag_url}))
        .await;
    let no = json!({"allow_unproved_address": false});
    let refused = (409, json!("address_not_proved"));
    assert_eq!(ask(&service, tag, &no).await, vec![refused.clone(); 3]);
    check(&service, &tag_url).await;
    assert_eq!(ask(&service, tag, &no).await, vec![(201, Value::Null); 3]);
    let moved = json!({"tag_url": "https://tags.tapdesk.invalid/t"});
    service.admin_patch("/settings", moved).await;
    let other = service.tag(json!({"name": "Jar"})).await.id;
    let body = json!({"uid": "04112233445567", "tag_id": other, "allow_unproved_address": false});
    let answer = service.admin(Method::POST, "/encodings", body).await;
    assert_eq!(answer.expect(409)["code"], "address_not_proved");
}

#[tokio::test]
async fn a_wipe_carries_no_address_and_a_url_template_has_its_own() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await.id;
    let wipe = json!({"uid": "04112233445566", "wipe": true, "allow_unproved_address": false});
    service.admin_create("/encodings", wipe).await;
    let template = json!({
        "name": "Own", "technology": "ntag424dna",
        "template": "https://tags.example/v/{slug}?u={uid}&c={counter}&m={mac}",
    });
    let template = service.admin_create("/url-templates", template).await["id"].clone();
    let body = json!({
        "uid": "04112233445567", "tag_id": tag, "url_template_id": template,
        "allow_unproved_address": false,
    });
    service.admin_create("/encodings", body).await;
}
