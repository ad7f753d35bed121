//! Sending again, and going on after a restart.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Receiver, eventually};

use super::{by_id, post, start, webhook};

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
