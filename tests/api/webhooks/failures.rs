//! Deliveries to endpoints that fail, and their retries.

use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Receiver, eventually};

use super::{by_id, start, watched, webhook};
use crate::api::events::Listener;

#[tokio::test]
async fn a_repeat_has_the_same_id_and_the_same_body_whatever_its_tag_is_called_by_then() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let (id, secret) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    receiver.wait_for(1).await;
    service
        .admin_patch(&tag.admin_path(), json!({"name": "Renamed"}))
        .await;
    receiver.react(Reaction::status(200));
    eventually("the second attempt", async || {
        // The first endpoint's outcome may not be stored yet.
        service.advance(10_000);
        (receiver.received().len() >= 2).then_some(())
    })
    .await;
    let sent = by_id(&receiver);
    assert_eq!(sent.len(), 1);
    let bodies = &sent.values().next().expect("an event")[..];
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    let requests = receiver.received();
    for one in &requests {
        one.verify(&secret);
    }
    assert_ne!(
        requests[0].header("webhook-timestamp"),
        requests[1].header("webhook-timestamp")
    );
    let log = eventually("both attempts in the log", async || {
        let log = service.admin_get(&format!("/webhooks/{id}/attempts")).await;
        (log["items"].as_array()?.len() >= 2).then_some(log)
    })
    .await;
    // On a busy machine the simulated time can pass before an attempt ends; then the attempt is
    // repeated.
    let log = log["items"].as_array().expect("attempts");
    let (newest, first) = (&log[0], &log[log.len() - 1]);
    assert_eq!(
        (&newest["status"], &newest["error"]),
        (&json!(200), &Value::Null)
    );
    assert_eq!(
        first["error"],
        "The endpoint answered 500 Internal Server Error."
    );
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_switched_off_and_another_one_is_told() {
    let (service, _house) = start().await;
    let (gone, id, watcher) = watched(&service, 410).await;
    let mut listener = Listener::at(&service, "").await;
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    let alert = watcher.wait_for(1).await[0].json();
    assert_eq!(
        (&alert["data"]["webhook_id"], &alert["data"]["reason"]),
        (&json!(id), &json!("gone"))
    );
    // Path and query can contain secrets, so other receivers do not get them.
    assert_eq!(alert["data"]["url"], gone.url().trim_end_matches("/hook"));
    let mut heard = listener.next().await.expect("an event");
    while heard.0 != "alert" {
        heard = listener.next().await.expect("an event");
    }
    assert_eq!(heard.1["message"], alert["data"]["message"]);
    let shown = service.admin_get(&format!("/webhooks/{id}")).await;
    assert_eq!(
        (&shown["enabled"], &shown["disabled"]),
        (&json!(false), &json!("gone"))
    );

    gone.react(Reaction::status(200));
    let shown = service
        .admin_patch(&format!("/webhooks/{id}"), json!({"enabled": true}))
        .await;
    assert_eq!(
        (&shown["enabled"], &shown["disabled"]),
        (&json!(true), &Value::Null)
    );
    eventually("the event that waited", async || {
        service.advance(10_000);
        (gone.received().len() >= 2).then_some(())
    })
    .await;
    assert_eq!(by_id(&gone).len(), 1);
}

#[tokio::test]
async fn a_test_that_fails_counts_for_nothing() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let path = format!("/webhooks/{id}");
    let before = service.admin_get(&path).await;
    for status in [503, 410] {
        receiver.react(Reaction::status(status));
        for _ in 0..4 {
            let test = super::post(&service, &format!("{path}/test"), Value::Null).await;
            assert_eq!(test.expect(200)["status"], status);
            service.advance(2 * DAY);
        }
        assert_eq!(service.admin_get(&path).await, before);
    }
    let log = service.admin_get(&format!("{path}/attempts")).await;
    assert_eq!(log["items"].as_array().map(Vec::len), Some(8));
    // The next event is sent at once.
    receiver.react(Reaction::status(200));
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    receiver.wait_for(9).await;
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let (service, _house) = start().await;
    let (receiver, elsewhere) = (Receiver::start().await, Receiver::start().await);
    receiver.react(Reaction::Answer(
        307,
        vec![("location", elsewhere.url())],
        String::new(),
    ));
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let tested = super::post(&service, &format!("/webhooks/{id}/test"), Value::Null)
        .await
        .expect(200);
    assert_eq!(
        (&tested["delivered"], &tested["status"]),
        (&json!(false), &json!(307))
    );
    assert!(
        tested["error"]
            .as_str()
            .is_some_and(|why| why.contains("not followed")),
        "{tested}"
    );
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn retry_after_is_kept() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::Answer(
        429,
        vec![("retry-after", "7200".to_owned())],
        String::new(),
    ));
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    eventually("the attempt in the log", async || {
        let log = service.admin_get(&format!("/webhooks/{id}/attempts")).await;
        (log["items"].as_array()?.len() == 1).then_some(())
    })
    .await;
    service.advance(7_199_000);
    // A delivery to another endpoint shows that due deliveries were processed.
    let other = Receiver::start().await;
    webhook(&service, &other, Value::Null).await;
    service.tap(&tag.path()).await;
    other.wait_for(1).await;
    assert_eq!(by_id(&receiver).values().map(Vec::len).max(), Some(1));
    service.advance(2_000);
    eventually("the repeat", async || {
        (by_id(&receiver).values().map(Vec::len).max() == Some(2)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn answers_are_read_to_a_kilobyte_and_for_fifteen_seconds() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let path = format!("/webhooks/{id}/test");
    receiver.react(Reaction::Endless(1024 * 1024));
    let tested = super::post(&service, &path, Value::Null).await.expect(200);
    assert_eq!(tested["response"].as_str().map(str::len), Some(1024));
    assert_eq!(tested["delivered"], true);
    receiver.react(Reaction::Endless(1));
    let tested = super::post(&service, &path, Value::Null).await.expect(200);
    assert_eq!(tested["delivered"], false);
    assert_eq!(
        tested["error"],
        "The endpoint did not answer within 15 seconds."
    );
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_holds_nobody_up() {
    let (service, _house) = start().await;
    let (slow, well) = (Receiver::start().await, Receiver::start().await);
    slow.react(Reaction::Silence);
    webhook(&service, &slow, Value::Null).await;
    webhook(&service, &well, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    for _ in 0..100 {
        service.tap(&inlay.url(&tag)).await;
    }
    assert_eq!(by_id_len(&well.wait_for(100).await), 100);
}

fn by_id_len(requests: &[tapdesk_tests::Received]) -> usize {
    let mut ids: Vec<_> = requests.iter().map(tapdesk_tests::Received::id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}
