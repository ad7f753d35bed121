//! Alerts: the first one at once, later ones in digests.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{HOUR, alert, due, notification, raise, sent, start};

#[tokio::test]
async fn the_first_alert_is_sent_at_once_and_later_ones_together_after_an_hour() {
    let (service, server) = start().await;
    let path = notification(&service, Value::Null).await;
    let tag = alert(&service, None).await;
    let mails = sent(&service, &server, 1).await;
    assert_eq!(mails[0].from, "tapdesk@example.com");
    assert_eq!(mails[0].to, "anna@example.com");
    assert_eq!(mails[0].header("To"), "anna@example.com");
    assert_eq!(mails[0].header("Auto-Submitted"), "auto-generated");
    let subject = "Tapdesk: A one-time URL is opened repeatedly";
    assert_eq!(mails[0].header("Subject"), subject);
    assert!(
        mails[0].readable().contains(&format!("Tag {tag}.")),
        "{mails:?}"
    );
    for _ in 0..3 {
        alert(&service, None).await;
    }
    sent(&service, &server, 1).await;
    service.advance(HOUR);
    let mails = sent(&service, &server, 2).await;
    assert!(mails[1].readable().contains("3 times from"), "{mails:?}");
    assert_ne!(mails[0].header("Message-ID"), mails[1].header("Message-ID"));
    service.advance(2 * HOUR);
    sent(&service, &server, 2).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(
        (&shown["waiting"], &shown["failures"]),
        (&json!(0), &json!([]))
    );
    assert!(shown["last_sent_at"].is_string(), "{shown}");
}

#[tokio::test]
async fn a_notification_of_a_group_takes_only_alerts_of_its_tags() {
    let (service, server) = start().await;
    let group = json!({"kind": "product", "name": "Grand Cru"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    notification(&service, json!({"group_id": group})).await;
    alert(&service, None).await;
    let tag = alert(&service, Some(&group)).await;
    let mails = sent(&service, &server, 1).await;
    assert!(
        mails[0].readable().contains(&format!("Tag {tag}.")),
        "{mails:?}"
    );
    due(&service).await;
    service.advance(HOUR);
    sent(&service, &server, 1).await;
}

#[tokio::test]
async fn a_notification_that_is_switched_off_forgets_its_alerts_and_begins_when_it_is_on_again() {
    let (service, server) = start().await;
    let path = notification(&service, Value::Null).await;
    alert(&service, None).await;
    sent(&service, &server, 1).await;
    alert(&service, None).await;
    service.admin_patch(&path, json!({"enabled": false})).await;
    raise(&service, None).await;
    service.admin_patch(&path, json!({"enabled": true})).await;
    service.advance(HOUR);
    sent(&service, &server, 1).await;
    let tag = alert(&service, None).await;
    let mails = sent(&service, &server, 2).await;
    assert!(
        mails[1].readable().contains(&format!("Tag {tag}.")),
        "{mails:?}"
    );
}

#[tokio::test]
async fn each_recipient_gets_a_mail_of_its_own() {
    let (service, server) = start().await;
    // As it runs in the product: without a step of the test.
    let _house = service.keep_house();
    let both = json!({"channel": {"mail": ["anna@example.com", "ben@example.org"]}});
    notification(&service, both).await;
    alert(&service, None).await;
    let mails = server.wait_for(2).await;
    let mut to: Vec<_> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ["anna@example.com", "ben@example.org"]);
    for mail in &mails {
        assert_eq!(mail.header("To"), mail.to);
        let names = ["anna@example.com", "ben@example.org"].into_iter();
        let others = names.filter(|name| *name != mail.to);
        for other in others {
            assert!(!mail.readable().contains(other), "{mail:?}");
        }
    }
}

#[tokio::test]
async fn a_full_mailbox_of_one_recipient_delays_no_alert_for_the_others() {
    let (service, server) = start().await;
    server.refuse("ben@example.org", "452 4.2.2 Mailbox full");
    let both = json!({"channel": {"mail": ["anna@example.com", "ben@example.org"]}});
    let path = notification(&service, both).await;
    for mails in 1..=3 {
        alert(&service, None).await;
        let taken = sent(&service, &server, mails).await;
        assert!(taken.iter().all(|mail| mail.to == "anna@example.com"));
        service.advance(HOUR);
    }
    assert_eq!(service.admin_get(&path).await["waiting"], 3);
    // The full mailbox gets all of them later, in one mail.
    server.refuse("ben@example.org", "250 2.1.5 Ok");
    service.advance(HOUR);
    let mails = sent(&service, &server, 4).await;
    let to_ben = &mails[3];
    assert_eq!(to_ben.to, "ben@example.org");
    assert!(to_ben.readable().contains("3 times from"), "{to_ben:?}");
    let shown = service.admin_get(&path).await;
    assert_eq!(
        (&shown["waiting"], &shown["failures"]),
        (&json!(0), &json!([]))
    );
    service.advance(2 * HOUR);
    sent(&service, &server, 4).await;
}

#[tokio::test]
async fn mails_that_wait_for_a_full_mailbox_are_one_attempt_and_one_mail() {
    let (service, server) = start().await;
    let full = "552 5.2.2 Mailbox full";
    server.refuse("ben@example.org", full);
    let both = json!({"channel": {"mail": ["anna@example.com", "ben@example.org"]}});
    let path = notification(&service, both).await;
    for mails in 1..=5 {
        alert(&service, None).await;
        sent(&service, &server, mails).await;
        service.advance(HOUR);
    }
    let before = server.connections();
    due(&service).await;
    assert_eq!(server.connections(), before + 1);
    let failures = service.admin_get(&path).await["failures"].clone();
    assert_eq!(failures.as_array().map(Vec::len), Some(5), "{failures}");
    // The end of the next attempt is not known: nobody gets anything within an hour.
    server.refuse("ben@example.org", "250 2.1.5 Ok");
    server.hang_up(true);
    service.advance(HOUR);
    let mails = sent(&service, &server, 6).await;
    server.hang_up(false);
    service.advance(HOUR - HOUR / 60);
    sent(&service, &server, 6).await;
    service.advance(HOUR / 60);
    let again = sent(&service, &server, 7).await;
    let (first, second) = (&mails[5], &again[6]);
    assert!(first.readable().contains("5 times from"), "{first:?}");
    assert_eq!(first.header("Message-ID"), second.header("Message-ID"));
    assert_eq!(first.header("Date"), second.header("Date"));
    assert_eq!(service.admin_get(&path).await["waiting"], 0);
}

#[tokio::test]
async fn of_nodes_that_look_at_the_same_moment_one_sends_each_mail() {
    let (service, server) = start().await;
    let both = json!({"channel": {"mail": ["anna@example.com", "ben@example.org"]}});
    notification(&service, both).await;
    alert(&service, None).await;
    join_all((0..8).map(|_| due(&service))).await;
    sent(&service, &server, 2).await;
}
