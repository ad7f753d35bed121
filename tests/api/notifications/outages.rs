//! A mail server that cannot be used at all, and nodes that stop: the lanes, the breaker, the lease.

use std::time::Duration;

use serde_json::{Value, json};
use tapdesk_service::clock::{Stopwatch, Timestamp};
use tapdesk_service::storage::{ClaimedMessage, DeliveryEnd, Lane, Tried};
use tapdesk_tests::{MailServer, Receiver, TestService, eventually};

use super::{HOUR, alert, due, notification, put, send_by, sent, start};
use crate::api::database::execute;

const MINUTE: i64 = HOUR / 60;

/// A notification by mail to so many people.
async fn to_many(service: &TestService, many: usize) -> String {
    let addresses: Vec<String> = (0..many).map(|n| format!("a{n}@example.com")).collect();
    notification(service, json!({"channel": {"mail": addresses}})).await
}

/// Takes what is due, as a node does that stops before it sends.
async fn claimed(service: &TestService) -> Vec<ClaimedMessage> {
    let storage = &service.service().storage;
    let claimed = storage.claim_messages(Lane::Mail, 20).await;
    claimed.expect("deliveries are claimed")
}

#[tokio::test]
async fn a_mail_server_that_does_not_answer_delays_no_chat() {
    let (service, server) = start().await;
    let _house = service.keep_house();
    server.be_silent(true);
    let chat = Receiver::start().await;
    to_many(&service, 8).await;
    notification(&service, json!({"channel": {"chat": chat.url()}})).await;
    alert(&service, None).await;
    let waiting = Stopwatch::start();
    chat.wait_for(1).await;
    // An attempt of a mail takes two minutes, and four are made at once.
    assert!(waiting.elapsed() < Duration::from_mins(1));
    assert!(server.taken().is_empty());
}

#[tokio::test]
async fn a_mail_on_its_way_while_another_server_is_set_goes_to_that_one_at_once() {
    let (service, server) = start().await;
    notification(&service, Value::Null).await;
    server.be_silent(true);
    alert(&service, None).await;
    let other = MailServer::start();
    let set = async {
        eventually("an attempt begins", async || {
            (server.connections() > 0).then_some(())
        })
        .await;
        send_by(&service, &other).await;
        server.be_silent(false);
    };
    tokio::join!(due(&service), set);
    sent(&service, &other, 1).await;
    assert!(server.taken().is_empty());
}

#[tokio::test]
async fn a_read_that_fails_before_an_attempt_delays_no_mail() {
    let (service, server) = start().await;
    notification(&service, Value::Null).await;
    alert(&service, None).await;
    execute(&service, "ALTER TABLE mail RENAME TO away").await;
    let round = tapdesk_service::notifications::run_due(service.service());
    assert!(round.await.is_err());
    execute(&service, "ALTER TABLE away RENAME TO mail").await;
    sent(&service, &server, 1).await;
}

#[tokio::test]
async fn a_mail_server_that_cannot_be_used_gets_one_attempt_after_growing_pauses() {
    let (service, server) = start().await;
    server.demand_login("anna", "horse");
    let wrong = json!({"port": server.port(), "user": "anna", "password": "hors"});
    put(&service, wrong).await.expect(200);
    let path = to_many(&service, 20).await;
    alert(&service, None).await;
    due(&service).await;
    let first = server.connections();
    assert!((1..=4).contains(&first), "{first}");
    for (pause, attempts) in [
        (MINUTE - 1, 0),
        (1, 1),
        (5 * MINUTE - 1, 1),
        (1, 2),
        (15 * MINUTE - 1, 2),
        (1, 3),
        (HOUR - 1, 3),
        (1, 4),
    ] {
        service.advance(pause);
        due(&service).await;
        assert_eq!(server.connections(), first + attempts);
    }
    assert_eq!(service.admin_get(&path).await["waiting"], 20);
    // One of them gets through, and then all of them.
    server.demand_login("anna", "hors");
    service.advance(2 * HOUR);
    sent(&service, &server, 20).await;
    assert_eq!(service.admin_get(&path).await["waiting"], 0);
}

#[tokio::test]
async fn mails_that_nobody_attempted_are_given_up_after_five_days() {
    let (service, mut server) = start().await;
    let path = to_many(&service, 20).await;
    server.go_down();
    alert(&service, None).await;
    due(&service).await;
    service.advance(5 * 24 * HOUR);
    due(&service).await;
    let swept = async || tapdesk_service::housekeeping::sweep(service.service()).await;
    swept().await.expect("it goes on");
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["waiting"], 19, "one of them had its last attempt");
    service.advance(HOUR + MINUTE);
    swept().await.expect("mails are given up");
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["waiting"], 0);
    let failures = shown["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), 20);
    let words = "The mail server could not be used for five days.";
    for failure in failures {
        assert_eq!(failure["given_up"], true, "{failure}");
    }
    assert!(failures.iter().any(|failure| failure["error"] == words));
    server.come_back();
    service.advance(HOUR);
    sent(&service, &server, 0).await;
}

#[tokio::test]
async fn a_mail_that_a_node_took_before_it_stopped_is_sent_after_an_hour() {
    let (service, mut server) = start().await;
    notification(&service, Value::Null).await;
    server.go_down();
    alert(&service, None).await;
    due(&service).await;
    server.come_back();
    service.advance(10 * MINUTE);
    assert_eq!(claimed(&service).await.len(), 1);
    // The hour, and the time that an attempt may take.
    service.advance(74 * MINUTE);
    sent(&service, &server, 0).await;
    service.advance(MINUTE);
    sent(&service, &server, 1).await;
    service.advance(2 * HOUR);
    sent(&service, &server, 1).await;
}

#[tokio::test]
async fn a_result_that_comes_after_its_lease_changes_nothing() {
    let (service, mut server) = start().await;
    let path = notification(&service, Value::Null).await;
    server.go_down();
    alert(&service, None).await;
    due(&service).await;
    service.advance(10 * MINUTE);
    let first = claimed(&service).await.remove(0);
    service.advance(2 * HOUR);
    let second = claimed(&service).await.remove(0);
    assert_eq!(first.delivery, second.delivery);
    assert_eq!(second.attempt, first.attempt + 1);
    for (attempt, waiting) in [(first.attempt, 1), (second.attempt, 0)] {
        let tried = vec![Tried {
            delivery: first.delivery,
            attempt,
            at: Timestamp::from_millis(service.now()),
            end: DeliveryEnd::Delivered,
        }];
        let stored = service.service().storage.finish_messages(tried).await;
        stored.expect("the result is stored");
        assert_eq!(service.admin_get(&path).await["waiting"], waiting);
    }
}
