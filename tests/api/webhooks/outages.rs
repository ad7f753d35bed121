//! Endpoints that are down for days, and endpoints that reject only some events.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value, json};
use tapdesk_tests::{Reaction, Receiver, TestService, TestTag, eventually, eventually_within};

use super::{by_id, post, start, watched, webhook};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Moves the clock, with a tap every few hours. Each time, all due deliveries have been attempted
/// before: an attempt of a new event is the last of them, because the oldest are sent first.
async fn days(service: &TestService, webhook: i64, receiver: &Receiver, tag: &TestTag, hours: i64) {
    let log = format!("/webhooks/{webhook}/attempts?limit=500");
    for _ in 0..hours / 3 {
        let known = by_id(receiver).len();
        service.tap(&tag.path()).await;
        eventually("an attempt of the tap's event", async || {
            (by_id(receiver).len() > known).then_some(())
        })
        .await;
        eventually("the results of all attempts", async || {
            let log = service.admin_get(&log).await;
            let ended = log["items"].as_array().expect("items").len();
            (ended == receiver.received().len()).then_some(())
        })
        .await;
        service.advance(3 * HOUR);
    }
}

/// The number of taps.
async fn taps(service: &TestService) -> usize {
    let interactions = service.admin_get("/interactions?limit=500").await;
    interactions["items"].as_array().expect("items").len()
}

#[tokio::test]
async fn an_outage_of_four_and_a_half_days_loses_nothing() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(503));
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let tag = service.redirecting_tag(Value::Null).await;
    days(&service, id, &receiver, &tag, 108).await;
    receiver.react(Reaction::status(200));
    let taps = taps(&service).await;
    // This takes minutes: the endpoint does not have to wait for the hours of the last pause.
    let back = service.now();
    eventually("every tap", async || {
        if service.now() < back + 20 * MINUTE {
            service.advance(10_000);
        }
        (receiver.taken().len() == taps).then_some(())
    })
    .await;
    let shown = service.admin_get(&format!("/webhooks/{id}")).await;
    assert_eq!(shown["enabled"], true);
}

#[tokio::test]
async fn an_endpoint_that_fails_for_five_days_is_switched_off_and_loses_nothing() {
    let (service, _house) = start().await;
    let (dead, id, watcher) = watched(&service, 503).await;
    let tag = service.redirecting_tag(Value::Null).await;
    days(&service, id, &dead, &tag, 108).await;
    let path = format!("/webhooks/{id}");
    eventually("the alert", async || {
        service.tap(&tag.path()).await;
        service.advance(DAY / 4);
        (!watcher.received().is_empty()).then_some(())
    })
    .await;
    let shown = service.admin_get(&path).await;
    assert_eq!(
        (&shown["enabled"], &shown["disabled"]),
        (&json!(false), &json!("failing"))
    );
    assert_eq!(watcher.received()[0].json()["data"]["reason"], "failing");

    // One more failure after it was switched on does not discard the waiting events.
    service.admin_patch(&path, json!({"enabled": true})).await;
    let refused = dead.received().len();
    dead.wait_for(refused + 1).await;
    dead.react(Reaction::status(200));
    let taps = taps(&service).await;
    eventually("every tap", async || {
        service.advance(10_000);
        (dead.taken().len() == taps).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_gives_no_answer_is_tried_every_five_seconds_with_two_events() {
    const TAPS: usize = 60;
    /// Eight attempts run in parallel, and more may start before the failures are stored.
    const UNTIL_DOWN: usize = 16;
    let (service, _house) = start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    for _ in 0..TAPS {
        service.tap(&tag.path()).await;
    }
    // Both get all events; the working endpoint gets them after the other one has begun to fail.
    let (dead, id, watcher) = watched(&service, 503).await;
    dead.react(Reaction::HangUp);
    let since = json!({"since": "2000-01-01T00:00:00Z"});
    post(&service, &format!("/webhooks/{id}/resend"), since.clone())
        .await
        .expect(202);
    dead.wait_for(8).await;
    let well = Receiver::start().await;
    let (id, _) = webhook(&service, &well, Value::Null).await;
    post(&service, &format!("/webhooks/{id}/resend"), since)
        .await
        .expect(202);
    well.wait_for(TAPS).await;
    let tried = dead.received().len();
    assert!(tried <= UNTIL_DOWN, "{tried} attempts");
    let advanced = Cell::new(0);
    for _ in 0..3 {
        let before = dead.received().len();
        // An attempt that ends after the clock was moved counts its pause from then on.
        eventually("another attempt", async || {
            service.advance(5_000);
            advanced.set(advanced.get() + 1);
            (dead.received().len() > before).then_some(())
        })
        .await;
        let tried = dead.received().len();
        assert!(tried <= UNTIL_DOWN + 2 * advanced.get(), "{tried} attempts");
    }
    // Its recovery is noticed as quickly.
    dead.react(Reaction::status(200));
    eventually("every tap", async || {
        service.advance(5_000);
        (dead.taken().len() == TAPS).then_some(())
    })
    .await;
    assert!(watcher.received().is_empty(), "nothing was switched off");
}

#[tokio::test]
async fn what_an_endpoint_rejects_holds_up_nothing_else() {
    /// More events than may be due for an endpoint at a time.
    const REJECTED: usize = 260;
    /// Long before any of them is discarded.
    const PATIENCE: i64 = DAY;
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react_to("tap.not_checked", Reaction::status(500));
    webhook(&service, &receiver, Value::Null).await;
    let rejected = service.redirecting_tag(Value::Null).await;
    for _ in 0..REJECTED {
        service.tap(&rejected.path()).await;
    }
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let begin = service.now();
    eventually_within(Duration::from_mins(3), "the other event", async || {
        // Slow enough for the service, which looks for due deliveries twice a second.
        if service.now() < begin + PATIENCE {
            service.advance(2_000);
        }
        (!receiver.taken().is_empty()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_gets_past_a_long_run_of_what_it_rejects_at_once() {
    /// More than the attempts before an endpoint counts as down: at eighty an hour it would take
    /// hours.
    const REJECTED: usize = 600;
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react_to("tap.not_checked", Reaction::status(422));
    webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    eventually("an event of another kind", async || {
        (receiver.taken().len() == 1).then_some(())
    })
    .await;
    let rejected = service.redirecting_tag(Value::Null).await;
    for _ in 0..REJECTED {
        service.tap(&rejected.path()).await;
    }
    service.tap(&inlay.url(&tag)).await;
    // The test's clock does not move.
    eventually_within(
        Duration::from_mins(3),
        "the event behind them",
        async || (receiver.taken().len() == 2).then_some(()),
    )
    .await;
}

#[tokio::test]
async fn what_an_endpoint_rejects_for_three_days_while_it_takes_others_is_given_up() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react_to("tap.verified", Reaction::status(500));
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    receiver.wait_for(1).await;
    let other = service.redirecting_tag(Value::Null).await;
    days(&service, id, &receiver, &other, 111).await;
    let others = taps(&service).await - 1;
    eventually("every other tap", async || {
        (receiver.taken().len() == others).then_some(())
    })
    .await;
    let shown = eventually("the rejected event is given up", async || {
        let shown = service.admin_get(&format!("/webhooks/{id}")).await;
        (shown["waiting"] == 0).then_some(shown)
    })
    .await;
    assert_eq!(shown["enabled"], true);
    eventually("it is measured", async || {
        let metrics = service.metrics().await;
        let given_up = "\ntapdesk_webhook_deliveries_given_up_total 1\n";
        metrics.contains(given_up).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_is_on_its_way_to_an_endpoint_that_is_back_is_not_sent_beside_it() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(503));
    let (id, _) = webhook(&service, &receiver, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    let other = service.redirecting_tag(Value::Null).await;
    service.tap(&other.path()).await;
    service.tap(&inlay.url(&tag)).await;
    // Both events failed twice, and are due in five minutes.
    eventually("four attempts", async || {
        if receiver.received().len() < 4 {
            service.advance(300);
        }
        let log = service.admin_get(&format!("/webhooks/{id}/attempts")).await;
        (log["items"].as_array()?.len() == 4).then_some(())
    })
    .await;
    // One event is accepted while the other is being sent, so the endpoint works again.
    receiver.react_to("tap.not_checked", Reaction::Silence);
    receiver.react_to("tap.verified", Reaction::status(200));
    service.advance(7 * MINUTE);
    eventually("one is taken", async || {
        (receiver.taken().len() == 1).then_some(())
    })
    .await;
    let silent = async || {
        let all = by_id(&receiver);
        let taken = receiver.taken();
        let other = all.iter().find(|(id, _)| !taken.contains(*id));
        other.map(|(id, bodies)| (id.clone(), bodies.len()))
    };
    let (event, before) = eventually("the other one is on its way", async || {
        silent().await.filter(|(_, many)| *many == 3)
    })
    .await;
    // A request of the owner in the meantime does not send it twice either.
    let path = format!("/webhooks/{id}/resend");
    post(&service, &path, json!({"event_id": event}))
        .await
        .expect(202);
    // An event that is due is sent before those of later taps.
    for taken in 2..=3 {
        service.tap(&inlay.url(&tag)).await;
        eventually("a later tap", async || {
            (receiver.taken().len() == taken).then_some(())
        })
        .await;
    }
    assert_eq!(silent().await, Some((event, before)), "it is sent once");
}
