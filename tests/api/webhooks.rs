//! `/admin/v1/webhooks`, and the requests that receivers get.

mod alerts;
mod endpoints;
mod failures;
mod kept;
mod many;
mod network;
mod outages;
mod resend;
mod seals;

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::service::AbortOnDrop;
use tapdesk_tests::{Reaction, Received, Receiver, TestService, eventually};

/// A service that delivers webhooks to this machine.
async fn start() -> (TestService, AbortOnDrop) {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let house = service.keep_house();
    (service, house)
}

/// A webhook to `receiver`; `more` adds or replaces members.
async fn webhook(service: &TestService, receiver: &Receiver, more: Value) -> (i64, String) {
    let mut fields = json!({
        "url": receiver.url(),
        "events": ["tap.verified", "tap.not_verified", "tap.not_checked"],
    });
    if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
        fields.extend(more);
    }
    let created = service.admin_create("/webhooks", fields).await;
    let secret = created["secret"].as_str().expect("a secret").to_owned();
    (created["id"].as_i64().expect("an id"), secret)
}

/// A receiver that always answers with this status, its webhook, and a receiver that gets the alert
/// when that webhook is switched off.
async fn watched(service: &TestService, status: u16) -> (Receiver, i64, Receiver) {
    let (failing, watcher) = (Receiver::start().await, Receiver::start().await);
    failing.react(Reaction::status(status));
    let (id, _) = webhook(service, &failing, Value::Null).await;
    let fields = json!({"events": ["alert.webhook_disabled"]});
    webhook(service, &watcher, fields).await;
    (failing, id, watcher)
}

/// Calls an operation that sends again or tests.
async fn post(service: &TestService, path: &str, body: Value) -> tapdesk_tests::Answer {
    service.admin(Method::POST, path, body).await
}

#[tokio::test]
async fn a_tap_is_told_as_the_admin_api_shows_it_signed_and_without_what_is_secret() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (_, secret) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    let requests = receiver.wait_for(1).await;
    requests[0].verify(&secret);
    let event = requests[0].json();
    assert_eq!(event["type"], "tap.verified");
    let shown = service.admin_get("/interactions").await["items"][0].clone();
    assert_eq!(event["timestamp"], shown["at"]);
    let mut expected = shown.as_object().expect("an interaction").clone();
    for hidden in ["uid", "file_data"] {
        expected.remove(hidden);
    }
    assert_eq!(event["data"], Value::Object(expected));
    let text = String::from_utf8(requests[0].body.to_vec()).expect("text");
    assert!(!text.contains(tap.key()), "{text}");
    assert_eq!(requests[0].header("content-type"), "application/json");
    assert_eq!(
        requests[0].header("webhook-timestamp"),
        (service.now() / 1000).to_string()
    );
}

#[tokio::test]
async fn a_uid_and_variables_are_told_if_they_are_asked_for() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let more = json!({"include": ["uid", "variables"]});
    webhook(&service, &receiver, more).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let event = receiver.wait_for(1).await[0].json();
    assert_eq!(event["data"]["variables"], json!({"registered": "false"}));
    assert!(
        event["data"]["uid"]
            .as_str()
            .is_some_and(|uid| uid.len() == 14),
        "{event}"
    );
}

#[tokio::test]
async fn attributes_are_told_with_each_event_of_a_tag_if_they_are_asked_for() {
    let (service, _house) = start().await;
    let (with, without) = (Receiver::start().await, Receiver::start().await);
    let events = json!(["tap.not_checked", "tag.updated"]);
    let more = json!({"events": events, "include": ["attributes"]});
    webhook(&service, &with, more).await;
    webhook(&service, &without, json!({"events": events})).await;
    let attributes = json!({"sku": "A-1", "colour": "red"});
    let tag = service
        .redirecting_tag(json!({"attributes": attributes, "data": {"note": "x"}}))
        .await;
    let tap = service.tap(&tag.path()).await;
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
    let arrived = with.wait_for(2).await;
    for request in &arrived {
        let event = request.json();
        assert_eq!(event["data"]["attributes"], attributes, "{event}");
        assert!(event["data"].get("variables").is_none(), "{event}");
        assert!(event["data"].get("data").is_none(), "{event}");
    }
    for request in &without.wait_for(2).await {
        assert!(request.json()["data"].get("attributes").is_none());
    }
}

#[tokio::test]
async fn filters_choose_by_type_experience_attribute_and_world() {
    let (service, _house) = start().await;
    let (tag, mut inlay) = service.bottle().await;
    let other = service
        .redirecting_tag(json!({"attributes": {"sku": "A-1"}}))
        .await;
    let shown = service.admin_get(&other.admin_path()).await;
    let experience = shown["experience_id"].clone();
    let all = Receiver::start().await;
    webhook(&service, &all, Value::Null).await;
    let chosen = [
        json!({"filter": {"experience_id": experience}}),
        json!({"filter": {"attribute": {"sku": "A-1"}}}),
        json!({"events": ["tap.not_checked"]}),
    ];
    let mut receivers = Vec::new();
    for more in chosen {
        let receiver = Receiver::start().await;
        webhook(&service, &receiver, more).await;
        receivers.push(receiver);
    }
    let simulated = Receiver::start().await;
    webhook(
        &service,
        &simulated,
        json!({"filter": {"world": "simulated"}}),
    )
    .await;
    service.tap(&inlay.url(&tag)).await;
    service.tap(&other.path()).await;
    service.tap(&inlay.url(&tag)).await;
    let arrived = all.wait_for(3).await;
    assert_eq!(arrived.len(), 3);
    for receiver in &receivers {
        let arrived = receiver.wait_for(1).await;
        assert_eq!(arrived.len(), 1);
        assert_eq!(arrived[0].json()["data"]["tag_id"], json!(other.id));
    }
    assert!(simulated.received().is_empty());
}

#[tokio::test]
async fn a_change_of_a_tag_is_told_whoever_made_it() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let quiet = Receiver::start().await;
    let more = json!({"events": ["tag.updated"], "include": ["variables"]});
    let (_, secret) = webhook(&service, &receiver, more).await;
    webhook(&service, &quiet, json!({"events": ["tag.updated"]})).await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
    service
        .admin_patch(&tag.admin_path(), json!({"title": "New"}))
        .await;
    let path = format!("{}/variables/registered", tag.admin_path());
    service
        .admin(Method::PUT, &path, json!({"value": "again"}))
        .await
        .expect(200);
    let requests = receiver.wait_for(3).await;
    let events: Vec<Value> = requests
        .iter()
        .map(|one| one.json()["data"].clone())
        .collect();
    for one in &requests {
        one.verify(&secret);
    }
    let by_visitor = events
        .iter()
        .find(|data| data["interaction_id"].is_number());
    let by_visitor = by_visitor.expect("the visitor's update");
    assert_eq!(
        by_visitor["changes"],
        json!([{"key": "registered", "old": "false", "new": "true"}])
    );
    let by_owner = events
        .iter()
        .filter(|data| data["interaction_id"].is_null());
    let mut by_owner: Vec<_> = by_owner.map(|data| data["changes"].clone()).collect();
    by_owner.sort_by_key(|changes| changes.as_array().map(Vec::len));
    // Only the title changes here, and no variable.
    let change = json!({"key": "registered", "old": "true", "new": "again"});
    assert_eq!(by_owner, [json!([]), json!([change])]);
    for one in quiet.wait_for(3).await {
        let data = one.json()["data"].clone();
        assert!(data.get("variables").is_none());
        for change in data["changes"].as_array().expect("changes") {
            assert_eq!(change, &json!({"key": "registered"}));
        }
    }
}

#[tokio::test]
async fn a_change_of_many_tags_is_told_for_each_that_changed() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let mut tags = Vec::new();
    for name in ["a", "b", "c"] {
        tags.push(service.tag(json!({"name": name})).await);
    }
    webhook(&service, &receiver, json!({"events": ["tag.updated"]})).await;
    let ids: Vec<_> = tags.iter().map(|tag| [tag.id, tag.id]).collect();
    let change = json!({"action": "status", "status": "archived", "select": {"ids": &ids[..2]}});
    post(&service, "/tags/bulk", change.clone())
        .await
        .expect(200);
    // A value that is already set is not a change.
    post(&service, "/tags/bulk", change).await.expect(200);
    let arrived = receiver.wait_for(2).await;
    assert_eq!(tags_of(&arrived), [tags[0].id, tags[1].id]);
    let file = format!("slug,name\n{},Renamed\n,New\n", tags[2].slug);
    let import = service.admin_request(Method::POST, "/tags/import?mode=upsert");
    let import = import.header("content-type", "text/csv").body(file);
    let answer = import.send().await.expect("an answer");
    answer.text().await.expect("the result");
    let arrived = receiver.wait_for(3).await;
    assert_eq!(arrived.len(), 3, "a new tag is not an updated one");
    let data = arrived[2].json()["data"].clone();
    assert_eq!(
        (&data["tag_id"], &data["tag_name"]),
        (&json!(tags[2].id), &json!("Renamed"))
    );
}

/// The tags of events, in the order of their numbers.
fn tags_of(arrived: &[Received]) -> Vec<Value> {
    let tags = arrived
        .iter()
        .map(|one| one.json()["data"]["tag_id"].clone());
    let mut tags: Vec<_> = tags.collect();
    tags.sort_by_key(Value::as_i64);
    tags
}

/// The requests of each event, by its id.
fn by_id(receiver: &Receiver) -> BTreeMap<String, Vec<String>> {
    let mut by_id: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in receiver.received() {
        let body = String::from_utf8(one.body.to_vec()).expect("text");
        by_id.entry(one.id().to_owned()).or_default().push(body);
    }
    by_id
}

#[tokio::test]
async fn erasing_a_tags_traces_erases_what_was_told_of_it_and_what_waits() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react(tapdesk_tests::Reaction::status(500));
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    receiver.wait_for(1).await;
    let attempts = format!("/webhooks/{id}/attempts");
    eventually("the attempt in the log", async || {
        let log = service.admin_get(&attempts).await;
        (log["items"].as_array()?.len() == 1).then_some(())
    })
    .await;
    let traces = format!("{}/traces", tag.admin_path());
    service.admin(Method::DELETE, &traces, Value::Null).await;
    assert_eq!(service.admin_get(&attempts).await["items"], json!([]));
    let left = service.admin_get(&format!("/webhooks/{id}")).await;
    assert_eq!(left["waiting"], 0);
}
