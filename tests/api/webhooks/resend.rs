//! Sending events again, and continuing after a restart.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{PATIENCE, Reaction, Receiver, eventually};

use super::{by_id, post, start, webhook};
use crate::api::submissions::{Form, send};

#[tokio::test]
async fn one_event_or_all_since_a_time_are_sent_again_as_they_were() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    for _ in 0..3 {
        service.tap(&inlay.url(&tag)).await;
        service.advance(1_000);
    }
    receiver.wait_for(3).await;
    settled(&service, id).await;
    service
        .admin_patch(&tag.admin_path(), json!({"name": "Renamed"}))
        .await;
    let first = receiver.received()[0].id().to_owned();
    let path = format!("/webhooks/{id}/resend");
    post(&service, &path, json!({"event_id": first}))
        .await
        .expect(202);
    receiver.wait_for(4).await;
    settled(&service, id).await;
    assert_eq!(by_id(&receiver)[&first].len(), 2);
    post(&service, &path, json!({"since": "2026-01-01T12:00:01Z"}))
        .await
        .expect(202);
    eventually("the last two again", async || {
        let many = by_id(&receiver);
        many.values().all(|bodies| bodies.len() == 2).then_some(())
    })
    .await;
    for bodies in by_id(&receiver).values() {
        assert!(bodies.iter().all(|body| *body == bodies[0]));
    }
    post(&service, &path, json!({"event_id": "tap_1_1"}))
        .await
        .expect(404);
    post(&service, &path, json!({})).await.expect(422);
    post(&service, "/webhooks/999/resend", json!({"event_id": "x"}))
        .await
        .expect(404);
}

/// Sends a form to a webhook, and returns the event.
async fn told_of_a_form(
    service: &tapdesk_tests::TestService,
    receiver: &Receiver,
) -> (i64, tapdesk_tests::Received) {
    let more = json!({"events": ["submission.created"], "include": ["variables"]});
    let (id, _) = webhook(service, receiver, more).await;
    let form = Form::new(service).await;
    send(service, &form.tag, "Ada", "ada@example.com", true).await;
    let told = receiver.wait_for(1).await.remove(0);
    settled(service, id).await;
    let path = format!("{}/variables/name", form.tag.admin_path());
    service
        .admin(Method::PUT, &path, json!({"value": "Grace"}))
        .await
        .expect(200);
    (id, told)
}

#[tokio::test]
async fn what_is_no_tap_is_sent_again_as_it_was_too() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (id, told) = told_of_a_form(&service, &receiver).await;
    let path = format!("/webhooks/{id}/resend");
    let since = json!({"since": "2026-01-01T00:00:00Z"});
    post(&service, &path, since).await.expect(202);
    let again = receiver.wait_for(2).await.remove(1);
    assert_eq!((again.id(), &again.body), (told.id(), &told.body));
    // Later events were never sent before, so their ids have no suffix.
    settled(&service, id).await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Eve", "eve@example.com", true).await;
    let new = receiver.wait_for(3).await.remove(2);
    assert!(!new.id().contains("_r"), "{}", new.id());
}

/// This deletes an endpoint's stored events, as a thousand later deliveries would.
#[tokio::test]
async fn sqlite_what_is_no_tap_and_is_not_kept_gets_an_id_of_its_own() {
    let service = tapdesk_tests::TestService::start_with(|options| {
        options.database = "sqlite".to_owned();
        options.settings.private_webhooks = true;
    })
    .await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let (id, told) = told_of_a_form(&service, &receiver).await;
    let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
    file.busy_timeout(PATIENCE).unwrap();
    file.execute_batch("DELETE FROM webhook_deliveries; UPDATE webhook_states SET kept = 0")
        .unwrap();
    let path = format!("/webhooks/{id}/resend");
    let since = json!({"since": "2026-01-01T00:00:00Z"});
    post(&service, &path, since).await.expect(202);
    let again = receiver.wait_for(2).await.remove(1);
    assert_eq!(again.id(), format!("{}_r1", told.id()));
    assert_eq!(again.json()["data"]["variables"]["name"], "Grace");
}

#[tokio::test]
async fn what_happens_while_an_endpoint_is_off_is_sent_when_it_is_on_again() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let more = json!({"events": ["submission.created", "tag.updated"], "enabled": false});
    let (id, _) = webhook(&service, &receiver, more).await;
    let path = format!("/webhooks/{id}");
    let form = Form::new(&service).await;
    let (on, off) = (json!({"enabled": true}), json!({"enabled": false}));
    let mut sent = 0;
    // First it was never on; then its owner switched it off; then it answered that it is gone.
    for round in 1..=3 {
        send(&service, &form.tag, "Ada", "ada@example.com", true).await;
        sent += 2;
        receiver.react(Reaction::status(200));
        service.admin_patch(&path, on.clone()).await;
        eventually("both events of the form", async || {
            service.advance(10_000);
            (receiver.taken().len() == sent).then_some(())
        })
        .await;
        settled(&service, id).await;
        if round == 1 {
            service.admin_patch(&path, off.clone()).await;
        } else {
            receiver.react(Reaction::status(410));
            send(&service, &form.tag, "Ada", "ada@example.com", true).await;
            sent += 2;
            eventually("it is gone", async || {
                let shown = service.admin_get(&path).await;
                (shown["disabled"] == "gone").then_some(())
            })
            .await;
        }
    }
}

#[tokio::test]
async fn nothing_is_sent_again_to_a_webhook_that_is_off_and_its_state_is_named() {
    let (service, _house) = start().await;
    let (receiver, id, _watcher) = super::watched(&service, 410).await;
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    let path = format!("/webhooks/{id}");
    eventually("it is gone", async || {
        let shown = service.admin_get(&path).await;
        (shown["disabled"] == "gone").then_some(())
    })
    .await;
    let event = receiver.received()[0].id().to_owned();
    let refused = async |state: &str| {
        for what in [
            json!({"event_id": event}),
            json!({"since": "2026-01-01T00:00:00Z"}),
        ] {
            let answer = post(&service, &format!("{path}/resend"), what).await;
            let problem = answer.expect(409);
            assert_eq!(problem["code"], "webhook_off");
            let words = problem["detail"].as_str().expect("words");
            assert!(words.contains(state), "{words}");
        }
    };
    refused("410").await;
    let (on, off) = (json!({"enabled": true}), json!({"enabled": false}));
    receiver.react(Reaction::status(200));
    service.admin_patch(&path, on).await;
    eventually("what waited is sent", async || {
        service.advance(10_000);
        let shown = service.admin_get(&path).await;
        (shown["waiting"] == 0).then_some(())
    })
    .await;
    service.admin_patch(&path, off).await;
    refused("is off. Switch it on").await;
    assert_eq!(receiver.taken().len(), 1);
}

/// This deletes the state of an endpoint, as a restore does.
#[tokio::test]
async fn sqlite_a_restored_webhook_sends_nothing_old_and_gives_no_id_twice() {
    let service = tapdesk_tests::TestService::start_with(|options| {
        options.database = "sqlite".to_owned();
        options.settings.private_webhooks = true;
    })
    .await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let (id, told) = told_of_a_form(&service, &receiver).await;
    let path = format!("/webhooks/{id}");
    let since = json!({"since": "2026-01-01T00:00:00Z"});
    let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
    file.busy_timeout(PATIENCE).unwrap();
    let again = async |name: &str, requests: usize| {
        file.execute_batch("DELETE FROM webhook_deliveries; UPDATE webhook_states SET kept = 0")
            .unwrap();
        let tag = told.json()["data"]["tag_id"].clone();
        let variable = format!("/tags/{tag}/variables/name");
        service
            .admin(Method::PUT, &variable, json!({"value": name}))
            .await
            .expect(200);
        post(&service, &format!("{path}/resend"), since.clone())
            .await
            .expect(202);
        let sent = receiver.wait_for(requests).await.remove(requests - 1);
        settled(&service, id).await;
        sent
    };
    let first = again("Grace", 2).await;
    assert_eq!(first.id(), format!("{}_r1", told.id()));
    file.execute_batch(
        "UPDATE webhook_deliveries SET waits = 1, attempts = 1;
         DELETE FROM webhook_states; DELETE FROM webhook_types",
    )
    .unwrap();
    assert_eq!(service.admin_get(&path).await["disabled"], "restored");
    let refused = post(&service, &format!("{path}/resend"), since.clone()).await;
    let refused = refused.expect(409);
    assert!(refused.to_string().contains("restored"), "{refused}");
    let on = service.admin_patch(&path, json!({"enabled": true})).await;
    assert_eq!(
        on["waiting"], 0,
        "what waited may have been sent by the original"
    );
    let second = again("Hedy", 3).await;
    assert_eq!(second.json()["data"]["variables"]["name"], "Hedy");
    assert!(second.id().starts_with(&format!("{}_r", told.id())));
    assert_ne!(second.id(), first.id());
}

async fn settled(service: &tapdesk_tests::TestService, id: i64) {
    eventually("nothing waits", async || {
        let shown = service.admin_get(&format!("/webhooks/{id}")).await;
        (shown["waiting"] == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_was_not_delivered_is_after_a_restart_and_what_happened_while_it_was_off_too() {
    let (service, house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let (id, secret) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    receiver.wait_for(1).await;
    service
        .admin_patch(&format!("/webhooks/{id}"), json!({"enabled": false}))
        .await;
    service.tap(&inlay.url(&tag)).await;
    drop(house);
    service.tap(&inlay.url(&tag)).await;
    let service = service.restart(60_000).await;
    let _house = service.keep_house();
    receiver.react(Reaction::status(200));
    service
        .admin_patch(&format!("/webhooks/{id}"), json!({"enabled": true}))
        .await;
    eventually("all three", async || {
        service.advance(60_000);
        (by_id(&receiver).len() == 3).then_some(())
    })
    .await;
    receiver
        .received()
        .iter()
        .for_each(|one| one.verify(&secret));
}

#[tokio::test]
async fn an_endpoint_gets_nothing_from_before_it_was_created() {
    let (service, _house) = start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let receiver = Receiver::start().await;
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    service.tap(&inlay.url(&tag)).await;
    let interactions = service.admin_get("/interactions").await;
    let requests = receiver.wait_for(1).await;
    assert_eq!(
        requests[0].json()["data"]["id"],
        interactions["items"][0]["id"]
    );
    assert_eq!(requests.len(), 1);
    let path = format!("/webhooks/{id}");
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
}
