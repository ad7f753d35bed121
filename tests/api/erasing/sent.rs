//! Erased values are not sent: neither by waiting deliveries, nor when events are sent again.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Received, Receiver, TestService, eventually};

use super::{Place, SENTINEL, WAYS, names, start};

async fn hook(service: &TestService, receiver: &Receiver) -> String {
    let events = ["tap.verified", "tag.updated", "submission.created"];
    let hook = json!({"url": receiver.url(), "events": events, "include": ["variables"]});
    let hook = service.admin_create("/webhooks", hook).await;
    format!("/webhooks/{}", hook["id"])
}

fn show(received: &[Received]) -> Vec<String> {
    let bodies = received.iter();
    let bodies = bodies.map(|one| String::from_utf8_lossy(&one.body).to_lowercase());
    bodies.filter(|body| body.contains(SENTINEL)).collect()
}

/// Waits until no delivery to an endpoint is waiting, and it has the event of this tap.
async fn until_told(service: &TestService, hook: &str, receiver: &Receiver, tap: i64) {
    let prefix = format!("tap_{tap}_");
    eventually("everything is delivered", async || {
        service.advance(60_000);
        let shown = service.admin_get(hook).await;
        let arrived = receiver.taken().iter().any(|id| id.starts_with(&prefix));
        (arrived && shown["waiting"] == 0).then_some(())
    })
    .await;
}

/// The variables in the event of a tap.
fn variables(receiver: &Receiver, tap: i64) -> Value {
    let prefix = format!("tap_{tap}_");
    let all = receiver.received();
    let event = all.iter().find(|one| one.id().starts_with(&prefix));
    event.expect("the event").json()["data"]["variables"].clone()
}

/// The person taps and sends the form, another visitor only taps, the owner changes a value, and
/// the next visitor sends the form.
async fn happen(service: &TestService) -> Place {
    let mut place = Place::new(service).await;
    place.enter(service).await;
    place.open(service).await;
    place.put(service, "name", "The owner's").await;
    place.next(service).await;
    place
}

#[tokio::test]
async fn nothing_that_waits_or_is_sent_again_has_an_erased_value() {
    for way in WAYS {
        let service = start().await;
        let _house = service.keep_house();
        let (down, takes) = (Receiver::start().await, Receiver::start().await);
        down.react(Reaction::status(500));
        // A receiver that repeats the request's text in its response.
        let echo = Reaction::Answer(200, Vec::new(), format!("I got {SENTINEL}"));
        takes.react_to("tag.updated", echo);
        let hooks = [hook(&service, &down).await, hook(&service, &takes).await];
        let mut place = happen(&service).await;
        // The events of 3 taps, 3 changes and 2 forms; no attempt may still be running.
        for path in &hooks {
            eventually("an attempt of each event", async || {
                let log = service
                    .admin_get(&format!("{path}/attempts?limit=100"))
                    .await;
                let events = log["items"].as_array()?.iter();
                let events: BTreeSet<_> = events.map(|one| one["event_id"].to_string()).collect();
                (events.len() == 8).then_some(())
            })
            .await;
        }
        let held = names(&service).await;
        for table in ["outbox", "webhook_deliveries", "webhook_attempts"] {
            assert!(held.contains(table), "{held:?}");
        }
        assert!(!show(&down.received()).is_empty());

        place.erase(&service, way, false).await;
        assert_eq!(names(&service).await, BTreeSet::new(), "{way}");
        let before = [down.received().len(), takes.received().len()];
        down.react(Reaction::status(204));
        takes.react_to("tag.updated", Reaction::status(204));
        place.open(&service).await;
        let last = service.last_interaction().await;
        until_told(&service, &hooks[0], &down, last).await;
        until_told(&service, &hooks[1], &takes, last).await;

        // Other visitors' events are not lost.
        if way != "traces" {
            let arrived = &down.received()[before[0]..];
            let mails = arrived.iter().filter(|one| {
                let event = one.json();
                event["type"] == "tag.updated" && event.to_string().contains("grace@example.com")
            });
            assert!(mails.count() > 0, "{way}");
        }
        for path in &hooks {
            let since = json!({"since": "2020-01-01T00:00:00Z"});
            let again = service
                .admin(Method::POST, &format!("{path}/resend"), since)
                .await;
            assert!(again.status < 300, "{}", again.body);
        }
        place.open(&service).await;
        let last = service.last_interaction().await;
        until_told(&service, &hooks[0], &down, last).await;
        until_told(&service, &hooks[1], &takes, last).await;
        for (receiver, before) in [(&down, before[0]), (&takes, before[1])] {
            let sent = show(&receiver.received()[before..]);
            assert_eq!(sent, Vec::<String>::new(), "{way}");
        }
        assert_eq!(names(&service).await, BTreeSet::new(), "{way}");
    }
}

#[tokio::test]
async fn a_value_that_the_owner_keeps_is_in_no_event() {
    for way in WAYS {
        let service = start().await;
        let _house = service.keep_house();
        let mut place = Place::new(&service).await;
        place.enter(&service).await;
        place.erase(&service, way, false).await;
        let receiver = Receiver::start().await;
        let path = hook(&service, &receiver).await;
        let since = json!({"since": "2020-01-01T00:00:00Z"});
        let again = service
            .admin(Method::POST, &format!("{path}/resend"), since)
            .await;
        assert!(again.status < 300, "{}", again.body);
        place.open(&service).await;
        let last = service.last_interaction().await;
        until_told(&service, &path, &receiver, last).await;
        assert_eq!(show(&receiver.received()), Vec::<String>::new(), "{way}");
        assert_eq!(variables(&receiver, last), json!({}));
        // The owner sets a new value.
        place.put(&service, "name", "New").await;
        place.open(&service).await;
        let last = service.last_interaction().await;
        until_told(&service, &path, &receiver, last).await;
        assert_eq!(variables(&receiver, last), json!({"name": "New"}));
    }
}
