//! Counts of a report are kept longer than the history, hours shorter than days.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{TestService, eventually};

use super::fold;

/// The taps of all buckets.
fn bucket_sum(report: &Value) -> u64 {
    let buckets = report["buckets"].as_array().expect("buckets").iter();
    buckets.filter_map(|bucket| bucket["taps"].as_u64()).sum()
}

/// The history is deleted, and its counts remain. Only on SQLite: PostgreSQL stores counts once no
/// transaction of the whole server can still add to them, and a test cannot know when.
#[tokio::test]
async fn sqlite_counts_outlive_the_history() {
    let service = TestService::start_with(|options| {
        options.database = "sqlite".to_owned();
        options.settings.retention_months = 1;
    })
    .await;
    let (bottle, mut inlay) = service.bottle().await;
    for _ in 0..3 {
        service.tap(&inlay.url(&bottle)).await;
    }
    fold(&service).await;
    service.advance(40 * 24 * 3_600_000);
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("swept");
    let listed = service.admin_get("/interactions").await;
    assert_eq!(listed["items"], json!([]));
    let report = service
        .admin_get("/reports?step=day&since=2026-01-01T00:00:00Z")
        .await;
    assert_eq!(report["totals"]["taps"], 3);
    // Hourly counts are kept for 2,000 hours more.
    let hours = "/reports?step=hour&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z";
    assert_eq!(service.admin_get(hours).await["totals"]["taps"], 3);
    service.advance(80 * 24 * 3_600_000);
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("swept");
    // The hours of whole days of UTC are kept for ever.
    for step in ["step=hour", "step=day"] {
        let kept = service.admin_get(&hours.replace("step=hour", step)).await;
        assert_eq!(kept["totals"]["taps"], 3, "{step}");
        assert_eq!(bucket_sum(&kept), 3, "{step}");
    }
    // A part of a day needs what is removed.
    let part = hours.replace("T00:00:00Z&until", "T01:00:00Z&until");
    for gone in [
        &part,
        "/reports?step=day&time_zone=Europe/Berlin&since=2026-01-01T12:00:00Z&until=2026-01-03T00:00:00Z",
    ] {
        let gone = service.admin(Method::GET, gone, Value::Null).await;
        gone.expect(422);
    }
}

#[tokio::test]
async fn counts_by_the_hour_that_are_removed_are_not_missed_in_silence_and_days_stay() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    for hours in [0, 0, 0, 2] {
        service.advance(hours * 3_600_000);
        service.tap(&inlay.url(&bottle)).await;
    }
    service.advance(3_600_000);
    let keep_since = "2026-01-01T13:00:00Z";
    let hours = |since: &str| format!("/reports?step=hour&since=2026-01-01T{since}:00:00Z");
    let storage = &service.service().storage;
    // PostgreSQL stores counts once no transaction of the whole server can still add to them.
    let refused = eventually("the first hour is counted and removed", async || {
        fold(&service).await;
        let keep_since = serde_json::from_value(json!(keep_since)).expect("a time");
        while storage
            .prune_report_hours(keep_since)
            .await
            .expect("removed")
        {}
        let answer = service.admin(Method::GET, &hours("12"), Value::Null).await;
        (answer.status == 422).then_some(answer)
    })
    .await;
    let problem = refused.json();
    assert_eq!(problem["errors"][0]["field"], "since");
    let detail = problem["detail"].as_str().expect("words");
    assert!(
        detail.contains("since 2026-01-01T13:00:00Z") && detail.contains("whole days of UTC"),
        "{detail}"
    );
    // The previous period would lack an hour, too.
    let before = service.admin(Method::GET, &hours("13"), Value::Null).await;
    before.expect(422);
    let whole = service.admin_get(&hours("14")).await;
    assert_eq!(whole["totals"]["taps"], 1);
    assert_eq!(whole["totals"]["before"]["taps"], 0);
    let day = service.admin_get("/reports?step=day").await;
    assert_eq!(day["totals"]["taps"], 4);
    let of_week = day["hours"].as_array().expect("hours").iter();
    let taps: Vec<_> = of_week.map(|hour| (&hour["hour"], &hour["taps"])).collect();
    assert_eq!(taps, [(&json!(12), &json!(3)), (&json!(14), &json!(1))]);
}
