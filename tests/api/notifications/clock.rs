//! A clock that is earlier after a start: nothing waits for the time that was before.

use serde_json::{Value, json};

use super::{HOUR, alert, due, notification, sent, start};

/// A day, in milliseconds.
const DAY: i64 = 24 * HOUR;

#[tokio::test]
async fn after_a_start_with_an_earlier_clock_alerts_are_sent_and_failed_ones_repeated() {
    let (service, mut server) = start().await;
    notification(&service, Value::Null).await;
    service.advance(30 * DAY);
    alert(&service, None).await;
    sent(&service, &server, 1).await;
    server.go_down();
    service.advance(HOUR);
    alert(&service, None).await;
    due(&service).await;
    let service = service.restart(-20 * DAY).await;
    server.come_back();
    let swept = tapdesk_service::housekeeping::sweep(service.service()).await;
    swept.expect("the times are replaced");
    // The next message was not allowed within an hour, and was held because of the one that waits.
    let tag = alert(&service, None).await;
    let mails = sent(&service, &server, 2).await;
    let named = format!("Tag {tag}.");
    assert!(mails[1].readable().contains(&named), "{mails:?}");
    // The one that waits is tried within an hour, too.
    service.advance(HOUR);
    sent(&service, &server, 3).await;
}

#[tokio::test]
async fn after_a_start_with_an_earlier_clock_the_next_period_is_reported() {
    let (service, server) = start().await;
    let daily = json!({"kind": "report", "events": [], "every": "day"});
    notification(&service, daily).await;
    service.advance(30 * DAY);
    sent(&service, &server, 1).await;
    let service = service.restart(-20 * DAY).await;
    let swept = tapdesk_service::housekeeping::sweep(service.service()).await;
    swept.expect("the times are replaced");
    sent(&service, &server, 1).await;
    service.advance(DAY);
    let mails = sent(&service, &server, 2).await;
    assert_eq!(mails[1].header("Subject"), "Tapdesk: 0 taps, 2026-01-11");
}
