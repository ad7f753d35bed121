//! Mail servers that refuse, are down, or leave: nothing is lost, and nothing comes twice.

use serde_json::{Value, json};
use tapdesk_tests::{TakenMail, TestService};

use super::{HOUR, alert, due, notification, sent, start};

const MINUTE: i64 = HOUR / 60;

/// Sends everything that is due now; returns this number of failures of a notification.
async fn failures(service: &TestService, path: &str, count: usize) -> Value {
    due(service).await;
    let failures = service.admin_get(path).await["failures"].clone();
    assert_eq!(failures.as_array().map(Vec::len), Some(count), "{failures}");
    failures
}

#[tokio::test]
async fn a_mail_server_that_is_down_for_a_day_gets_every_mail_once_and_a_digest_afterwards() {
    let (service, mut server) = start().await;
    let path = notification(&service, Value::Null).await;
    server.go_down();
    alert(&service, None).await;
    let failed = failures(&service, &path, 1).await;
    assert_eq!(failed[0]["recipient"], "anna@example.com");
    assert_eq!(failed[0]["given_up"], false);
    let error = failed[0]["error"].as_str().expect("words");
    assert!(
        error.starts_with("The mail server 127.0.0.1 cannot be reached at port"),
        "{error}"
    );
    // Alerts of each hour come together, because nobody got the first message yet.
    for _ in 0..23 {
        service.advance(HOUR);
        alert(&service, None).await;
        due(&service).await;
    }
    assert_eq!(service.admin_get(&path).await["waiting"], 1);
    server.come_back();
    service.advance(HOUR + MINUTE);
    let mails = sent(&service, &server, 2).await;
    let digest = |mail: &TakenMail| mail.readable().contains("23 times from");
    assert_eq!(mails.iter().filter(|mail| digest(mail)).count(), 1);
    sent(&service, &server, 2).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(
        (&shown["waiting"], &shown["failures"]),
        (&json!(0), &json!([]))
    );
}

#[tokio::test]
async fn greylisting_is_waited_for_and_a_recipient_who_is_refused_for_good_is_given_up_and_shown() {
    let (service, server) = start().await;
    server.greylist();
    server.refuse("nobody@example.com", "550 5.1.1 No such user\u{7}");
    let both = json!({"channel": {"mail": ["anna@example.com", "nobody@example.com"]}});
    let path = notification(&service, both).await;
    alert(&service, None).await;
    let failed = failures(&service, &path, 2).await;
    for failure in failed.as_array().expect("failures") {
        let is_final = failure["recipient"] == "nobody@example.com";
        assert_eq!(failure["given_up"], is_final, "{failure}");
        let words = if is_final {
            "The mail server refused the recipient's address: 550 5.1.1 No such user"
        } else {
            "The mail server refused the recipient's address: 451 4.7.1 Greylisted, come back later"
        };
        assert_eq!(failure["error"], words);
    }
    assert!(server.taken().is_empty());
    service.advance(10 * MINUTE);
    let mails = sent(&service, &server, 1).await;
    assert_eq!(mails[0].to, "anna@example.com");
    service.advance(24 * HOUR);
    sent(&service, &server, 1).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["waiting"], 0);
    assert_eq!(shown["failures"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_mail_whose_end_is_not_known_is_not_sent_again_within_an_hour() {
    let (service, server) = start().await;
    let path = notification(&service, Value::Null).await;
    server.hang_up(true);
    alert(&service, None).await;
    let failed = failures(&service, &path, 1).await;
    let error = failed[0]["error"].as_str().expect("words");
    assert!(
        error.starts_with("The mail server ended the connection"),
        "{error}"
    );
    server.hang_up(false);
    service.advance(59 * MINUTE);
    sent(&service, &server, 1).await;
    service.advance(MINUTE);
    let mails = sent(&service, &server, 2).await;
    // The same name, so that a server that has it already can drop it.
    assert_eq!(mails[0].header("Message-ID"), mails[1].header("Message-ID"));
    assert_eq!(mails[0].header("Date"), mails[1].header("Date"));
    service.advance(2 * HOUR);
    sent(&service, &server, 2).await;
}

#[tokio::test]
async fn a_mail_that_waited_for_five_days_is_given_up() {
    let (service, mut server) = start().await;
    let path = notification(&service, Value::Null).await;
    server.go_down();
    alert(&service, None).await;
    failures(&service, &path, 1).await;
    service.advance(5 * 24 * HOUR);
    let failed = failures(&service, &path, 1).await;
    assert_eq!(failed[0]["given_up"], true);
    server.come_back();
    service.advance(2 * HOUR);
    sent(&service, &server, 0).await;
    assert_eq!(service.admin_get(&path).await["waiting"], 0);
}

#[tokio::test]
async fn another_mail_server_sends_waiting_mails_at_once() {
    let (service, mut server) = start().await;
    let path = notification(&service, Value::Null).await;
    server.go_down();
    alert(&service, None).await;
    failures(&service, &path, 1).await;
    let other = tapdesk_tests::MailServer::start();
    super::send_by(&service, &other).await;
    sent(&service, &other, 1).await;
}

#[tokio::test]
async fn a_recipient_that_is_taken_away_gets_nothing_more() {
    let (service, mut server) = start().await;
    let path = notification(&service, Value::Null).await;
    server.go_down();
    alert(&service, None).await;
    failures(&service, &path, 1).await;
    let ben = json!({"channel": {"mail": ["ben@example.com"]}});
    service.admin_patch(&path, ben).await;
    server.come_back();
    service.advance(2 * HOUR);
    sent(&service, &server, 0).await;
    alert(&service, None).await;
    assert_eq!(sent(&service, &server, 1).await[0].to, "ben@example.com");
}
