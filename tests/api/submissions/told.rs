//! Events of submissions: sent to webhooks and event streams, but only to clients that may read
//! them.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, PATIENCE, Reaction, Receiver, TestService, eventually};

use super::{Form, list, send};

pub(super) async fn webhook(service: &TestService, receiver: &Receiver, include: Value) -> i64 {
    let fields = json!({
        "url": receiver.url(), "events": ["submission.created"], "include": include,
    });
    let created = service.admin_create("/webhooks", fields).await;
    created["id"].as_i64().expect("an id")
}

pub(super) async fn start() -> TestService {
    TestService::start_with(|options| options.settings.private_webhooks = true).await
}

/// Erases Ada once a delivery was attempted. The webhook then has no delivery of hers, sent or not.
pub(super) async fn erase_ada_after_an_attempt(service: &TestService, id: i64) {
    let attempts = format!("/webhooks/{id}/attempts");
    eventually("the attempt in the log", async || {
        let log = service.admin_get(&attempts).await;
        (log["items"].as_array()?.len() == 1).then_some(())
    })
    .await;
    let person = json!({"value": "ada@example.com"});
    service
        .admin(Method::POST, "/submissions/erase", person)
        .await
        .expect(200);
    assert_eq!(service.admin_get(&attempts).await["items"], json!([]));
    assert_eq!(
        service.admin_get(&format!("/webhooks/{id}")).await["waiting"],
        0
    );
}

#[tokio::test]
async fn a_webhook_gets_the_submission_and_its_fields_only_if_it_asks() {
    let service = start().await;
    let _house = service.keep_house();
    let (bare, whole) = (Receiver::start().await, Receiver::start().await);
    webhook(&service, &bare, json!([])).await;
    webhook(&service, &whole, json!(["variables"])).await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let mut shown = list(&service, "").await[0].clone();
    // The event describes the saved submission.
    let not_saved = shown
        .as_object_mut()
        .expect("a submission")
        .remove("not_saved");
    assert_eq!(not_saved, Some(Value::Null));
    let event = whole.wait_for(1).await[0].json();
    assert_eq!(event["type"], "submission.created");
    assert_eq!(event["timestamp"], shown["at"]);
    let mut data = event["data"].clone();
    let variables = data.as_object_mut().expect("data").remove("variables");
    assert_eq!(variables.expect("variables")["name"], "Ada");
    assert_eq!(data, shown);
    let event = bare.wait_for(1).await[0].json();
    shown
        .as_object_mut()
        .expect("a submission")
        .remove("fields");
    assert_eq!(event["data"], shown);
    assert!(!event.to_string().contains("ada@example.com"));
}

#[tokio::test]
async fn what_is_erased_waits_for_no_webhook_any_more() {
    let service = start().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let id = webhook(&service, &receiver, json!(["variables"])).await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    receiver.wait_for(1).await;
    erase_ada_after_an_attempt(&service, id).await;
}

#[tokio::test]
async fn of_two_that_were_sent_in_the_same_moment_one_alone_is_erased() {
    let service = start().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let fields = json!({
        "url": receiver.url(), "events": ["submission.created", "tag.updated"],
        "include": ["variables"],
    });
    let hook = service.admin_create("/webhooks", fields).await;
    let path = format!("/webhooks/{}", hook["id"]);
    let form = Form::new(&service).await;
    // The test's clock does not move.
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let ada = service.last_interaction().await;
    send(&service, &form.tag, "Grace", "grace@example.com", true).await;
    let grace = service.last_interaction().await;
    let waiting = async |many: u64| {
        eventually("the deliveries that wait", async || {
            let shown = service.admin_get(&path).await;
            (shown["waiting"] == many).then_some(())
        })
        .await;
    };
    waiting(4).await;
    // No delivery is in progress while one is erased.
    let attempts = format!("{path}/attempts");
    eventually("the attempts in the log", async || {
        let log = service.admin_get(&attempts).await;
        (log["items"].as_array()?.len() >= 4).then_some(())
    })
    .await;
    let person = json!({"value": "ada@example.com"});
    service
        .admin(Method::POST, "/submissions/erase", person)
        .await
        .expect(200);
    waiting(2).await;
    let before = receiver.received().len();
    receiver.react(Reaction::status(204));
    eventually("what is left is delivered", async || {
        service.advance(60_000);
        let shown = service.admin_get(&path).await;
        (shown["waiting"] == 0).then_some(())
    })
    .await;
    let arrived: Vec<_> = receiver.received()[before..]
        .iter()
        .map(|one| one.json()["data"]["interaction_id"].clone())
        .collect();
    assert!(!arrived.is_empty());
    assert!(
        arrived.iter().all(|id| *id == grace && *id != ada),
        "{arrived:?}"
    );
}

#[tokio::test]
async fn each_way_of_erasing_refuses_the_deliveries_that_are_being_made() {
    let service = start().await;
    let form = Form::new(&service).await;
    let erasures = async || {
        let storage = &service.service().storage;
        storage.erasures().await.expect("a number")
    };
    for way in ["one", "person", "traces"] {
        send(&service, &form.tag, "Ada", "ada@example.com", true).await;
        let before = erasures().await;
        let answer = match way {
            "one" => {
                let path = format!("/submissions/{}", list(&service, "").await[0]["id"]);
                service.admin(Method::DELETE, &path, Value::Null).await
            }
            "person" => {
                let person = json!({"value": "ada@example.com"});
                service
                    .admin(Method::POST, "/submissions/erase", person)
                    .await
            }
            _ => {
                let path = format!("{}/traces", form.tag.admin_path());
                service.admin(Method::DELETE, &path, Value::Null).await
            }
        };
        assert!(answer.status < 300, "{way}: {}", answer.body);
        assert!(erasures().await > before, "{way}");
    }
}

/// The names and data of the events up to `until`.
async fn heard(stream: &mut reqwest::Response, until: &str) -> String {
    let mut heard = String::new();
    let listen = async {
        while !heard.contains(until) {
            let chunk = stream
                .chunk()
                .await
                .expect("the stream goes on")
                .expect("an event");
            heard += &String::from_utf8_lossy(&chunk);
        }
    };
    tokio::time::timeout(PATIENCE, listen)
        .await
        .expect("it is told in time");
    heard
}

#[tokio::test]
async fn who_listens_is_told_and_a_limited_token_of_its_experiences_alone() {
    let service = TestService::start().await;
    let (own, other) = (Form::new(&service).await, Form::new(&service).await);
    let token =
        json!({"name": "Shop", "scopes": ["read", "export"], "experience_ids": [own.experience]});
    let token = service.admin_create("/tokens", token).await;
    let limited = Client::new(service.base(), token["token"].as_str().expect("a token"));
    let mut all = service
        .admin_request(Method::GET, "/events")
        .send()
        .await
        .expect("a stream");
    let mut some = limited
        .admin_request(Method::GET, "/events")
        .send()
        .await
        .expect("a stream");
    send(&service, &other.tag, "Grace", "grace@example.com", true).await;
    send(&service, &own.tag, "Ada", "ada@example.com", true).await;
    let last = service.last_interaction().await;
    let until =
        format!("event: submission\ndata: {{\"event\":\"submission\",\"interaction_id\":{last},");
    let arrived = heard(&mut all, &until).await;
    assert_eq!(arrived.matches("event: submission").count(), 2, "{arrived}");
    let arrived = heard(&mut some, &until).await;
    assert_eq!(arrived.matches("event: submission").count(), 1, "{arrived}");
    assert!(!arrived.contains("grace"), "{arrived}");
    // The list, a single submission and the export are limited, too.
    let listed = list(&limited, "").await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["experience_id"], own.experience);
    assert_eq!(
        limited.admin_get("/submissions?count=true").await["count"],
        1
    );
    let everything = list(&service, "").await;
    let hidden = everything
        .iter()
        .find(|one| one["experience_id"] == other.experience);
    let path = format!("/submissions/{}", hidden.expect("the other one")["id"]);
    limited
        .admin(Method::GET, &path, Value::Null)
        .await
        .expect(404);
    let export = limited
        .admin(Method::GET, "/submissions/export?format=jsonl", Value::Null)
        .await;
    assert_eq!(export.body.lines().count(), 1, "{}", export.body);
}
