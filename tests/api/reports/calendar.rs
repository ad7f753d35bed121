//! The buckets of a report: hours, days, weeks and months of a time zone.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

/// Moves the clock to a moment, in milliseconds since the Unix epoch.
fn advance_to(service: &TestService, at: &str) {
    let at = chrono_millis(at);
    let ahead = at - service.now();
    assert!(ahead >= 0, "time only goes ahead");
    service.advance(ahead);
}

fn chrono_millis(at: &str) -> i64 {
    let at: tapdesk_service::clock::Timestamp = serde_json::from_value(json!(at)).expect("a time");
    at.millis()
}

/// The starts of all buckets with their taps.
async fn series(service: &TestService, query: &str) -> Vec<(String, u64)> {
    let report = service.admin_get(&format!("/reports?{query}")).await;
    let stats = service.admin_get(&format!("/stats?{query}")).await;
    let begins = |of: &Value| -> Vec<Value> {
        let buckets = of["buckets"].as_array().expect("buckets").iter();
        buckets.map(|bucket| bucket["at"].clone()).collect()
    };
    assert_eq!(begins(&stats), begins(&report));
    for member in ["since", "until", "step", "time_zone"] {
        assert_eq!(stats[member], report[member], "{member}");
    }
    let buckets = report["buckets"].as_array().expect("buckets").iter();
    let of_stats = stats["buckets"].as_array().expect("buckets").iter();
    let found = buckets.zip(of_stats).map(|(bucket, of_stats)| {
        let taps = bucket["taps"].as_u64().expect("a number");
        let verdicts =
            ["verified", "not_verified", "not_checked"].map(|name| of_stats[name].as_u64());
        assert_eq!(
            verdicts.into_iter().flatten().sum::<u64>(),
            taps,
            "{bucket}"
        );
        (bucket["at"].as_str().expect("a time").to_owned(), taps)
    });
    found.collect()
}

fn expected(buckets: &[(&str, u64)]) -> Vec<(String, u64)> {
    let buckets = buckets.iter();
    buckets
        .map(|(at, taps)| ((*at).to_owned(), *taps))
        .collect()
}

#[tokio::test]
async fn a_day_of_a_time_zone_begins_at_its_midnight_when_clocks_change_too() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    for at in [
        "2026-03-28T22:59:00Z",
        "2026-03-28T23:00:00Z",
        "2026-03-29T21:59:00Z",
        "2026-03-29T22:00:00Z",
    ] {
        advance_to(&service, at);
        service.tap(&tag.path()).await;
    }
    service.advance(1);
    let query = "step=day&time_zone=Europe/Berlin&since=2026-03-28T12:00:00Z";
    // The 29th has 23 hours.
    let days = [
        ("2026-03-27T23:00:00Z", 1),
        ("2026-03-28T23:00:00Z", 2),
        ("2026-03-29T22:00:00Z", 1),
    ];
    for _ in 0..2 {
        assert_eq!(series(&service, query).await, expected(&days));
        super::fold(&service).await;
    }
    let report = service.admin_get(&format!("/reports?{query}")).await;
    assert_eq!(report["until"], "2026-03-30T22:00:00Z", "the 30th has 24");
    assert_eq!(report["before_since"], "2026-03-24T23:00:00Z");
    let hours = report["hours"].as_array().expect("hours").iter();
    let hours: Vec<_> = hours
        .map(|hour| [&hour["weekday"], &hour["hour"], &hour["taps"]])
        .collect();
    let at = |weekday, hour| [json!(weekday), json!(hour), json!(1)];
    assert_eq!(
        json!(hours),
        json!([at(1, 0), at(6, 23), at(7, 0), at(7, 23)])
    );
    let in_utc = [("2026-03-28T00:00:00Z", 2), ("2026-03-29T00:00:00Z", 2)];
    let utc = "step=day&since=2026-03-28T12:00:00Z";
    assert_eq!(series(&service, utc).await, expected(&in_utc));
    // The clocks go back, and the day has 25 hours.
    advance_to(&service, "2026-10-25T22:59:00Z");
    service.tap(&tag.path()).await;
    service.advance(60_000);
    service.tap(&tag.path()).await;
    let autumn =
        "step=day&time_zone=europe/berlin&since=2026-10-24T22:00:00Z&until=2026-10-26T00:00:00Z";
    let days = [("2026-10-24T22:00:00Z", 1), ("2026-10-25T23:00:00Z", 1)];
    assert_eq!(series(&service, autumn).await, expected(&days));
}

#[tokio::test]
async fn weeks_begin_on_monday_and_months_are_those_of_the_calendar() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    // Thursday, 1 January, then Sunday, Monday, and the last day of February.
    for at in [
        "2026-01-01T12:00:00Z",
        "2026-01-04T23:59:59Z",
        "2026-01-05T00:00:00Z",
        "2026-02-28T23:00:00Z",
        "2026-03-31T22:00:00Z",
    ] {
        advance_to(&service, at);
        service.tap(&tag.path()).await;
    }
    service.advance(1);
    let weeks = "step=week&since=2025-12-31T00:00:00Z&until=2026-01-06T00:00:00Z";
    let expected_weeks = [("2025-12-29T00:00:00Z", 2), ("2026-01-05T00:00:00Z", 1)];
    let months = "step=month&time_zone=Europe/Berlin&since=2026-01-15T00:00:00Z";
    let expected_months = [
        ("2025-12-31T23:00:00Z", 3),
        ("2026-01-31T23:00:00Z", 0),
        // Midnight in Berlin is at 23:00 in winter, at 22:00 in summer.
        ("2026-02-28T23:00:00Z", 1),
        ("2026-03-31T22:00:00Z", 1),
    ];
    for _ in 0..2 {
        assert_eq!(series(&service, weeks).await, expected(&expected_weeks));
        assert_eq!(series(&service, months).await, expected(&expected_months));
        super::fold(&service).await;
    }
    let report = service.admin_get(&format!("/reports?{months}")).await;
    assert_eq!(report["before_since"], "2025-08-31T22:00:00Z");
    assert_eq!(report["totals"]["taps"], 5);
    // A month is compared with the whole month before.
    let march =
        "step=month&time_zone=Europe/Berlin&since=2026-03-01T00:00:00Z&until=2026-03-02T00:00:00Z";
    let march = service.admin_get(&format!("/reports?{march}")).await;
    assert_eq!(march["since"], "2026-02-28T23:00:00Z");
    assert_eq!(march["until"], "2026-03-31T22:00:00Z");
    assert_eq!(march["totals"]["taps"], 1);
    assert_eq!(march["before_since"], "2026-01-31T23:00:00Z");
}

/// The promise is in the decisions, "Reports".
#[tokio::test]
async fn an_hour_counts_for_the_day_in_which_it_begins_where_clocks_differ_by_a_part_of_an_hour() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    // Midnight in India is at 18:30, and the day begins with the next whole hour.
    for at in [
        "2026-05-01T18:29:00Z",
        "2026-05-01T18:59:00Z",
        "2026-05-01T19:00:00Z",
    ] {
        advance_to(&service, at);
        service.tap(&tag.path()).await;
    }
    service.advance(1);
    for (zone, since) in [
        ("Asia/Kolkata", "2026-05-01T00:00:00Z"),
        ("Asia/Kathmandu", "2026-05-01T00:00:00Z"),
    ] {
        let query = format!("step=day&time_zone={zone}&since={since}");
        let days = [("2026-04-30T19:00:00Z", 2), ("2026-05-01T19:00:00Z", 1)];
        assert_eq!(series(&service, &query).await, expected(&days), "{zone}");
    }
    let hours = service.admin_get("/reports?time_zone=Asia/Kolkata").await;
    let hours = hours["hours"].as_array().expect("hours").iter();
    let hours: Vec<_> = hours
        .map(|hour| [&hour["weekday"], &hour["hour"], &hour["taps"]])
        .collect();
    // The hour from 18:00 begins at 23:30 of Friday.
    assert_eq!(json!(hours), json!([[5, 23, 2], [6, 0, 1]]));
}

#[tokio::test]
async fn a_bad_step_time_zone_or_period_is_refused_in_words() {
    let service = TestService::start().await;
    let long = format!("time_zone={}", "x".repeat(5_000));
    for (query, field, words) in [
        ("step=year", "step", "step"),
        ("bucket=day", "bucket", "no query parameter"),
        (
            "time_zone=Europe/Berln",
            "time_zone",
            "There is no time zone \"Europe/Berln\"",
        ),
        ("time_zone=", "time_zone", "Europe/Berlin"),
        ("time_zone=%2B02:00", "time_zone", "IANA"),
        ("time_zone=..%2F..%2Fetc%2Fpasswd", "time_zone", "IANA"),
        (&long, "time_zone", "IANA"),
        (
            "since=2025-01-01T00:00:00Z",
            "step",
            "more than 1000 buckets",
        ),
        ("since=2023-01-01T00:00:00Z&step=day", "step", "longer step"),
        (
            "since=2015-01-01T00:00:00Z&step=month",
            "since",
            "at most 10 years",
        ),
        (
            "since=0001-01-01T00:00:00Z&step=week",
            "since",
            "at most 10 years",
        ),
        (
            "since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z",
            "since",
            "before until",
        ),
    ] {
        for path in ["/reports", "/reports/export", "/stats"] {
            let path = format!("{path}?{query}");
            let answer = service.admin(Method::GET, &path, Value::Null).await;
            let problem = answer.expect(422);
            let error = &problem["errors"][0];
            assert_eq!(error["field"], field, "{path}: {problem}");
            let detail = problem["detail"].as_str().expect("words");
            assert!(
                detail.contains(words) && detail.len() < 600,
                "{path}: {detail}"
            );
        }
    }
    for query in [
        "since=2016-06-01T00:00:00Z&step=month",
        "since=2016-06-01T00:00:00Z&step=week&time_zone=Asia/Kolkata",
        "since=2023-06-01T00:00:00Z&step=day&time_zone=Pacific/Apia",
        "since=2011-12-25T00:00:00Z&until=2012-01-05T00:00:00Z&step=day&time_zone=Pacific/Apia",
    ] {
        service.admin_get(&format!("/reports?{query}")).await;
        service.admin_get(&format!("/stats?{query}")).await;
    }
}
