//! Groups in the traces of taps.

use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

use super::{bottle, group, set};

/// The words of the step that names the destination of the last tap.
async fn destination(client: &Client, id: i64) -> String {
    let tap = client.admin_get(&format!("/interactions/{id}")).await;
    let mut steps = tap["steps"].as_array().unwrap().iter();
    let step = steps.find(|step| step["name"] == "redirect");
    step.unwrap()["detail"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_trace_names_the_groups_of_recalls_and_rules_that_the_caller_may_see() {
    let service = TestService::start().await;
    let top = group(&service, None, json!({"name": "Wines"})).await;
    let batch = json!({"kind": "batch", "name": "L03"});
    let batch = group(&service, Some(top), batch).await;
    let rule = json!({
        "when": [{"type": "group", "any_of": [top, batch]}], "target_url": "https://owner.example/wine",
    });
    let experience = service
        .experience(json!({
            "name": "Page", "kind": "redirect", "target_url": "https://owner.example/", "rules": [rule],
        }))
        .await;
    set(&service, top, json!({"experience_id": experience})).await;
    let tag = bottle(&service, batch, Value::Null).await;
    let token = json!({"name": "Colleague", "scopes": ["read"], "group_ids": [batch]});
    let token = service.admin_create("/tokens", token).await;
    let colleague = Client::new(service.base(), token["token"].as_str().unwrap());

    service.tap(&tag.path()).await;
    let id = service.last_interaction().await;
    let to = "https://owner.example/wine · Page, version 1";
    let said = destination(&service, id).await;
    assert_eq!(said, format!("rule 1 (group: Wines, L03): {to}"));
    let said = destination(&colleague, id).await;
    assert_eq!(said, format!("rule 1 (group: {top}, L03): {to}"));

    set(&service, top, json!({"status": "recalled"})).await;
    service.tap(&tag.path()).await;
    let id = service.last_interaction().await;
    let said = destination(&service, id).await;
    assert_eq!(said, "the group Wines was recalled");
    let said = destination(&colleague, id).await;
    assert_eq!(said, "a group of the tag was recalled");
}
