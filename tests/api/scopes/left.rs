//! A tag that left a limited token's experience: the token still sees its taps from that time, and
//! nothing of its present state.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, Client, Receiver, TestService, TestTag};

use super::limited::{Place, limited, place};
use super::{Operation, operations, service, token};
use crate::api::events::Listener;

const SECRETS: [&str; 4] = ["secret-slug", "Secret name", "secret value", "secret sku"];

/// The rolling key of a new tap.
async fn key(service: &TestService, tag: &TestTag) -> String {
    let cookie = service.tap(&tag.path()).await.cookie.expect("a key");
    let (_, key) = cookie.split_once('=').expect("a cookie");
    key.to_owned()
}

/// Its owner assigns the tag to another experience, and renames it.
async fn leave(service: &TestService, tag: &TestTag) {
    let other = service.redirect("https://owner.example/").await;
    let away = json!({
        "experience_id": other, "slug": "secret-slug", "name": "Secret name",
        "variables": {"registered": "secret value"}, "attributes": {"sku": "secret sku"},
    });
    service.admin_patch(&tag.admin_path(), away).await;
}

fn secrets_in(text: &str) -> Vec<&'static str> {
    let secrets = SECRETS.into_iter();
    secrets.filter(|secret| text.contains(secret)).collect()
}

/// The answers about `place` by path, of every operation that a limited token may call.
async fn look(client: &Client, place: &Place, late: i64) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    let shows =
        |one: &Operation| one.bounded && one.method == Method::GET && one.id != "get_events";
    for operation in operations().into_iter().filter(shows) {
        let of = match operation.path.split('/').nth(3) {
            Some("experiences") => vec![place.experience],
            Some("interactions") => vec![place.interaction, late],
            Some("submissions") => vec![place.submission],
            Some("webhooks") => vec![place.webhook],
            _ => vec![place.tag.id],
        };
        for id in of {
            let path = operation.path.replace("{id}", &id.to_string());
            for query in [
                "",
                "?format=csv",
                "?format=jsonl",
                "?simulated=all",
                "?count=true",
            ] {
                let path = format!("{path}{query}");
                let request = client.request(Method::GET, &path);
                let answer = request.bearer_auth(client.admin_token()).answer().await;
                if answer.status == 200 {
                    answers.push((path, answer.body));
                }
            }
        }
    }
    answers
}

#[tokio::test]
async fn how_it_is_called_now_shows_in_no_answer() {
    let service = service().await;
    let own = place(&service).await;
    let client = limited(&service, own.experience).await;
    let late_key = key(&service, &own.tag).await;
    let late = service.last_interaction().await;
    leave(&service, &own.tag).await;
    // The key stays valid after the move: it changes the values of the tag as it is now.
    let update = service.update(&late_key, json!({"registered": "again"}));
    update.await.expect(200);

    for (path, body) in look(&client, &own, late).await {
        assert_eq!(secrets_in(&body), Vec::<&str>::new(), "{path}: {body}");
    }
    // Its past taps are still visible, without a name.
    let tap = client.admin_get(&format!("/interactions/{late}")).await;
    assert_eq!(
        (&tap["tag_id"], &tap["slug"], &tap["tag_name"]),
        (&json!(own.tag.id), &Value::Null, &Value::Null)
    );
    assert_eq!(tap["update"]["changes"], json!([]));
    let sent = client.admin_get("/submissions").await["items"][0].clone();
    assert_eq!(
        (&sent["tag_id"], &sent["slug"], &sent["tag_name"]),
        (&json!(own.tag.id), &Value::Null, &Value::Null)
    );
    assert_eq!(sent["fields"][0]["value"], "again");
    // An unlimited token sees everything.
    let seen = look(&service, &own, late).await;
    for list in [
        "interactions",
        "submissions",
        "interactions/export",
        "submissions/export",
    ] {
        let of_list = |path: &str| path.split('?').next() == Some(&format!("/admin/v1/{list}"));
        let mut bodies = seen.iter().filter(|(path, _)| of_list(path));
        assert!(
            bodies.any(|(_, body)| !secrets_in(body).is_empty()),
            "{list}"
        );
    }
    // The limited token can neither tap the tag in its simulator nor change it.
    for (method, path) in [
        (Method::POST, "/simulator/inlays".to_owned()),
        (Method::GET, own.tag.admin_path()),
        (Method::PATCH, own.tag.admin_path()),
    ] {
        let body = json!({"tag_id": own.tag.id});
        client.admin(method, &path, body).await.expect(404);
    }
    // After it has returned, its name is visible again.
    let back = json!({"experience_id": own.experience});
    service.admin_patch(&own.tag.admin_path(), back).await;
    let tap = client.admin_get(&format!("/interactions/{late}")).await;
    assert_eq!(tap["slug"], "secret-slug");
}

#[tokio::test]
async fn an_update_after_it_left_is_told_to_nobody_who_may_not_see_it() {
    let service = service().await;
    let own = place(&service).await;
    let client = limited(&service, own.experience).await;
    let inside = json!({"name": "Inside", "experience_id": own.experience});
    let inside = service.tag(inside).await;
    let late_key = key(&service, &own.tag).await;
    let last = service.last_interaction().await.to_string();
    let mut listener = Listener::behind(&client, &last).await;
    let mut wide = Listener::behind(&service, &last).await;
    leave(&service, &own.tag).await;
    let update = service.update(&late_key, json!({"registered": "again"}));
    update.await.expect(200);
    service.tap(&inside.path()).await;
    loop {
        let (name, event) = listener.next().await.expect("an event");
        assert_ne!(name, "update", "{event}");
        if event["tag_id"] == inside.id {
            break;
        }
    }
    // An unlimited token receives the event.
    loop {
        let (name, event) = wide.next().await.expect("an event");
        if name == "update" {
            assert_eq!(event["changes"][0]["old"], "secret value");
            break;
        }
    }
}

#[tokio::test]
async fn a_webhook_is_not_sent_how_it_is_called_now() {
    let service = service().await;
    let _house = service.keep_house();
    let own = place(&service).await;
    let scopes = json!(["read", "webhooks"]);
    let maker = json!({"name": "Shop", "scopes": scopes, "experience_ids": [own.experience]});
    let maker = token(&service, maker).await;
    let receiver = Receiver::start().await;
    let fields = json!({
        "url": receiver.url(), "events": ["tap.not_checked", "tag.updated", "submission.created"],
        "include": ["variables", "attributes"],
    });
    let webhook = maker.admin_create("/webhooks", fields).await;
    let path = format!("/webhooks/{}", webhook["id"]);
    // Events that happen while the webhook is off are sent when it is switched on.
    maker.admin_patch(&path, json!({"enabled": false})).await;
    let sent = key(&service, &own.tag).await;
    let update = service.update(&sent, json!({"registered": "before"}));
    update.await.expect(200);
    let late = key(&service, &own.tag).await;
    leave(&service, &own.tag).await;
    let update = service.update(&late, json!({"registered": "again"}));
    update.await.expect(200);
    maker.admin_patch(&path, json!({"enabled": true})).await;

    // Two taps, two forms from their pages, and the update while the tag was inside.
    let arrived = receiver.wait_for(5).await;
    for request in &arrived {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert_eq!(secrets_in(&body), Vec::<&str>::new(), "{body}");
        let data = &request.json()["data"];
        assert_eq!(data["tag_id"], own.tag.id, "{body}");
        assert_eq!(
            (&data["slug"], &data["tag_name"]),
            (&Value::Null, &Value::Null)
        );
        assert!(data.get("attributes").is_none() && data.get("variables").is_none());
    }
    let back = json!({"experience_id": own.experience});
    service.admin_patch(&own.tag.admin_path(), back).await;
    service.tap(&own.tag.path()).await;
    // The last events come from the time inside: the change by its owner, and the tap.
    let arrived = receiver.wait_for(7).await;
    let data = |kind: &str| {
        let mut arrived = arrived.iter().rev().map(tapdesk_tests::Received::json);
        arrived
            .find(|event| event["type"] == kind)
            .expect("an event")["data"]
            .clone()
    };
    for data in [data("tap.not_checked"), data("tag.updated")] {
        assert_eq!(data["slug"], "secret-slug");
        assert_eq!(data["attributes"], json!({"sku": "secret sku"}));
    }
}
