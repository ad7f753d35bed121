//! Reports of days and weeks.

use serde_json::{Value, json};
use tapdesk_tests::Answering as _;

use super::{HOUR, alert, notification, sent, start};
use crate::api::database::execute;

/// The time between the end of a period and its report, in milliseconds.
const SETTLED: i64 = HOUR / 12;

/// A report for Anna; `more` adds or replaces members.
fn report(more: &Value) -> Value {
    let mut fields = json!({"kind": "report", "events": [], "every": "day"});
    if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
        fields.extend(more.clone());
    }
    fields
}

#[tokio::test]
async fn a_report_is_sent_once_when_its_period_is_over_and_the_latest_one_after_a_pause() {
    let (service, server) = start().await;
    notification(&service, report(&json!({}))).await;
    let tag = service
        .redirecting_tag(json!({"name": "<b>Bottle</b>"}))
        .await;
    service.tap(&tag.path()).await;
    sent(&service, &server, 0).await;
    // Taps of the last moments may be on their way at midnight.
    service.advance(12 * HOUR + SETTLED - 1);
    sent(&service, &server, 0).await;
    service.advance(1);
    let mails = sent(&service, &server, 1).await;
    assert_eq!(mails[0].header("Subject"), "Tapdesk: 1 tap, 2026-01-01");
    for part in [
        "text/plain",
        "text/html",
        "image/png",
        "Content-ID: <chart>",
        "cid:chart",
        "Taps: 1 (before: 0)",
    ] {
        assert!(mails[0].readable().contains(part), "{part}: {mails:?}");
    }
    assert!(mails[0].readable().contains("<b>Bottle</b>"), "as text");
    assert!(
        mails[0].readable().contains("&#60;b&#62;Bottle")
            || mails[0].readable().contains("&lt;b&gt;Bottle")
    );
    // Three days later only the last of them is reported.
    service.advance(3 * 24 * HOUR);
    let mails = sent(&service, &server, 2).await;
    assert_eq!(mails[1].header("Subject"), "Tapdesk: 0 taps, 2026-01-04");
    sent(&service, &server, 2).await;
}

/// A preview belongs to no group, so a report of a group does not count any.
#[tokio::test]
async fn a_report_of_all_tags_counts_previews_by_programs() {
    let (service, server) = start().await;
    let group = json!({"kind": "product", "name": "Grand Cru"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    notification(&service, report(&json!({}))).await;
    notification(&service, report(&json!({"group_id": group}))).await;
    let tag = service.redirecting_tag(json!({"group_id": group})).await;
    let previewed = async || {
        let request = service.get(&tag.path());
        let request = request.header("user-agent", "WhatsApp/2.23.20.0");
        assert_eq!(request.answer().await.status, 200);
    };
    previewed().await;
    previewed().await;
    service.advance(12 * HOUR + SETTLED);
    sent(&service, &server, 2).await;
    previewed().await;
    service.advance(24 * HOUR);
    let mails = sent(&service, &server, 4).await;
    for (subject, line) in [
        ("Tapdesk: 0 taps, 2026-01-01", Some("2 (before: 0)")),
        ("Tapdesk: 0 taps of Grand Cru, 2026-01-01", None),
        ("Tapdesk: 0 taps, 2026-01-02", Some("1 (before: 2)")),
        ("Tapdesk: 0 taps of Grand Cru, 2026-01-02", None),
    ] {
        let mail = mails.iter().find(|mail| mail.header("Subject") == subject);
        let text = mail.expect(subject).readable();
        let words = "Previews by programs: ";
        match line {
            Some(line) => assert!(text.contains(&format!("{words}{line}")), "{text}"),
            None => assert!(!text.contains(words), "{text}"),
        }
    }
}

#[tokio::test]
async fn a_week_is_over_at_midnight_of_its_time_zone() {
    let (service, server) = start().await;
    // Tests begin on a Thursday, at noon of UTC.
    let weekly = json!({"every": "week", "time_zone": "Europe/Berlin"});
    notification(&service, report(&weekly)).await;
    // Up to Sunday, 22:30 of UTC, half an hour before midnight in Berlin.
    service.advance(3 * 24 * HOUR + 10 * HOUR + HOUR / 2);
    sent(&service, &server, 0).await;
    service.advance(HOUR / 2 + SETTLED);
    let mails = sent(&service, &server, 1).await;
    assert_eq!(mails[0].header("Subject"), "Tapdesk: 0 taps, 2026-W01");
}

#[tokio::test]
async fn another_rhythm_begins_with_the_period_that_is_not_over_yet() {
    let (service, server) = start().await;
    let weekly = report(&json!({"every": "week"}));
    let path = notification(&service, weekly).await;
    service.admin_patch(&path, json!({"every": "day"})).await;
    sent(&service, &server, 0).await;
    service.advance(12 * HOUR + SETTLED);
    let mails = sent(&service, &server, 1).await;
    assert_eq!(mails[0].header("Subject"), "Tapdesk: 0 taps, 2026-01-01");
}

#[tokio::test]
async fn a_report_waits_for_six_hours_for_taps_that_are_being_counted() {
    let (service, server) = start().await;
    notification(&service, report(&json!({}))).await;
    // As many updates as a report reads beside the counts, of taps that were removed.
    let uncounted = "WITH RECURSIVE n (id) AS
             (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100000)
         INSERT INTO report_updates (interaction_id, submission) SELECT 0, FALSE FROM n";
    execute(&service, uncounted).await;
    service.advance(12 * HOUR + SETTLED);
    sent(&service, &server, 0).await;
    service.advance(6 * HOUR - SETTLED);
    let mails = sent(&service, &server, 1).await;
    let words = "the numbers may rise";
    assert!(mails[0].readable().contains(words), "{mails:?}");
}

#[tokio::test]
async fn a_report_that_fails_delays_no_alert() {
    let (service, server) = start().await;
    notification(&service, report(&json!({}))).await;
    notification(&service, Value::Null).await;
    alert(&service, None).await;
    service.advance(12 * HOUR + SETTLED);
    execute(
        &service,
        "ALTER TABLE report_mark RENAME TO report_mark_away",
    )
    .await;
    let failed = tapdesk_service::notifications::run_due(service.service()).await;
    assert!(failed.is_err());
    let mails = server.taken();
    assert_eq!(mails.len(), 1, "{mails:?}");
    let subject = "Tapdesk: A one-time URL is opened repeatedly";
    assert_eq!(mails[0].header("Subject"), subject);
    execute(
        &service,
        "ALTER TABLE report_mark_away RENAME TO report_mark",
    )
    .await;
    sent(&service, &server, 2).await;
}
