//! `/admin/v1/reports`, compared with counts of exported interactions.

mod calendar;
mod files;
mod kept;
mod oracle;
mod parts;

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, Client, TestService, TestTag};

use crate::api::exports::{read_csv, read_jsonl};
use crate::api::submissions::{Form, send};

const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15";
const ROBOT: &str = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0";

async fn tap(client: &Client, path: &str, agent: &str, languages: &str) -> Option<String> {
    let request = client.get(path).header("user-agent", agent);
    let answer = request.header("accept-language", languages).answer().await;
    assert!([200, 302].contains(&answer.status), "{}", answer.body);
    answer.header("location").map(str::to_owned)
}

async fn export(client: &Client, path: &str) -> String {
    let request = client.admin_request(Method::GET, path);
    let answer = request.answer().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

/// Taps by a member of the export, counted independently.
async fn recounted(client: &Client, member: &str) -> BTreeMap<String, u64> {
    let rows = read_jsonl(&export(client, "/interactions/export?format=jsonl").await);
    let mut counts = BTreeMap::new();
    for row in rows {
        let value = match &row[member] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// Taps by an entry of the report's list.
fn reported(report: &Value, list: &str, member: &str) -> BTreeMap<String, u64> {
    let items = report[list].as_array().expect("a list").iter();
    let counts = items.map(|item| {
        let value = match &item[member] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (value, item["taps"].as_u64().expect("a number"))
    });
    counts.collect()
}

/// Asserts that report and export agree, whether or not the report's counts are already stored.
async fn compare(service: &TestService) -> Value {
    let report = service.admin_get("/reports?step=hour").await;
    for (list, member, of_export) in [
        ("experiences", "experience_id", "experience_id"),
        ("technologies", "value", "tech"),
        ("countries", "value", "country"),
        ("systems", "value", "system"),
        ("languages", "value", "language"),
        ("reasons", "value", "reason"),
    ] {
        let expected = recounted(service, of_export).await;
        assert_eq!(reported(&report, list, member), expected, "{list}");
    }
    let stats = service.admin_get("/stats").await;
    let totals = stats["totals"].as_object().expect("totals").values();
    let taps: u64 = totals.filter_map(Value::as_u64).sum();
    assert_eq!(report["totals"]["taps"], taps);
    for list in ["buckets", "hours"] {
        let items = report[list].as_array().expect("a list").iter();
        let sum: u64 = items.filter_map(|item| item["taps"].as_u64()).sum();
        assert_eq!(sum, taps, "{list}");
    }
    assert_eq!(report["complete"], true);
    report
}

async fn fold(service: &TestService) {
    while service
        .service()
        .storage
        .fold_reports()
        .await
        .expect("counted")
    {}
}

#[tokio::test]
async fn counts_are_those_of_the_export_before_and_after_they_are_kept() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service.redirecting_tag(json!({"has_qr_code": true})).await;
    let unset = service.tag(json!({"name": "Unset"})).await;
    for round in 0..3 {
        tap(&service, &inlay.url(&bottle), PHONE, "de-AT,en;q=0.5").await;
        tap(&service, &poster.path(), ROBOT, "pt-BR").await;
        tap(&service, &poster.path(), "curl/8.5.0", "").await;
        tap(&service, &unset.path(), PHONE, "en").await;
        service.advance(if round == 1 { 26 * 3_600_000 } else { 301_000 });
        compare(&service).await;
        fold(&service).await;
        compare(&service).await;
    }
    let report = compare(&service).await;
    assert_eq!(
        reported(&report, "systems", "value"),
        [
            ("android".to_owned(), 3),
            ("ios".to_owned(), 6),
            ("other".to_owned(), 3),
        ]
        .into()
    );
    assert_eq!(reported(&report, "languages", "value")["de"], 3);
    // Counted twice at once, each tap still counts once.
    tap(&service, &poster.path(), ROBOT, "pt-BR").await;
    let storage = &service.service().storage;
    let (one, other) = tokio::join!(storage.fold_reports(), storage.fold_reports());
    one.and(other).expect("counted");
    service.advance(1);
    compare(&service).await;
    let service = service.restart(1).await;
    compare(&service).await;
}

#[tokio::test]
async fn an_update_and_a_submission_count_at_their_tap() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let (bottle, mut inlay) = service.bottle().await;
    let updated = service.tap(&inlay.url(&bottle)).await;
    service.tap(&inlay.url(&bottle)).await;
    fold(&service).await;
    // The hour ends between the tap and its update.
    service.advance(299_000);
    let answer = service
        .update(updated.key(), json!({"registered": "true"}))
        .await;
    answer.expect(200);
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    service.advance(1);
    for _ in 0..2 {
        let report = service.admin_get("/reports").await;
        let (totals, before) = (&report["totals"], &report["totals"]["before"]);
        let expected = json!({"taps": 3, "updates": 2, "submissions": 1, "visitors": 2, "programs": 0, "before": before});
        assert_eq!(totals, &expected);
        let expected =
            json!({"taps": 0, "updates": 0, "submissions": 0, "visitors": 0, "programs": 0});
        assert_eq!(before, &expected);
        let path = format!("/reports?experience_id={}", form.experience);
        let of_form = service.admin_get(&path).await;
        assert_eq!(of_form["totals"]["taps"], 1);
        assert_eq!(of_form["totals"]["submissions"], 1);
        assert_eq!(of_form["experiences"][0]["name"], "Ask");
        fold(&service).await;
    }
    // An erased submission still counts, because it existed.
    let newest = service.admin_get("/submissions?limit=1").await;
    let path = format!("/submissions/{}", newest["items"][0]["id"]);
    let erased = service.admin(Method::DELETE, &path, Value::Null).await;
    erased.expect(204);
    // A period consists of whole days: on the eighth day the first day is in the previous period.
    service.advance(8 * 24 * 3_600_000);
    let report = service.admin_get("/reports?step=day").await;
    assert_eq!(report["totals"]["taps"], 0);
    assert_eq!(
        report["totals"]["before"]["taps"], 3,
        "the period before has them"
    );
    assert_eq!(report["totals"]["before"]["submissions"], 1);
}

/// Test taps are in no count of a report, stored or not, and are reported separately.
#[tokio::test]
async fn test_taps_are_in_no_count_of_a_report_and_are_said_apart() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service.redirecting_tag(json!({})).await;
    let announce = async |path: &str, origin: &str| {
        let body = json!({"path": path, "origin": origin});
        let announced = service.admin(Method::POST, "/test-taps", body).await;
        assert_eq!(announced.status, 204, "{}", announced.body);
    };
    service.tap(&inlay.url(&bottle)).await;
    let url = inlay.url(&bottle);
    announce(&url, "reader").await;
    let tested = service.tap(&url).await;
    let data = json!({"registered": "true"});
    service.update(tested.key(), data).await.expect(200);
    announce(&poster.path(), "kiosk").await;
    service.tap(&poster.path()).await;
    service.advance(1);
    let of = service.admin_get(&bottle.admin_path()).await["experience_id"].clone();
    for _ in 0..2 {
        let report = service.admin_get("/reports").await;
        let totals = &report["totals"];
        assert_eq!(
            (&totals["taps"], &totals["updates"]),
            (&json!(1), &json!(0))
        );
        assert_eq!(report["test_taps"], json!({"reader": 1, "kiosk": 1}));
        let of_bottle = service
            .admin_get(&format!("/reports?experience_id={of}"))
            .await;
        assert_eq!(of_bottle["test_taps"], json!({"reader": 1, "kiosk": 0}));
        let rows = read_csv(&export(&service, "/reports/export").await);
        let tests = rows.iter().filter(|row| row["dimension"] == "test_taps");
        let tests: Vec<_> = tests.map(|row| (&row["value"], &row["taps"])).collect();
        let one = json!("1");
        assert_eq!(tests, [(&json!("reader"), &one), (&json!("kiosk"), &one)]);
        fold(&service).await;
    }
    let simulated = service.admin_get("/reports?simulated=true").await;
    assert_eq!(simulated["test_taps"], json!({"reader": 0, "kiosk": 0}));
    let limited = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [of]});
    let limited = service.admin_create("/tokens", limited).await;
    let limited = Client::new(service.base(), limited["token"].as_str().unwrap());
    let report = limited.admin_get("/reports").await;
    assert_eq!(report["test_taps"], json!({"reader": 1, "kiosk": 0}));
}

#[tokio::test]
async fn the_file_has_the_counts_of_the_report_and_a_limited_token_its_own_alone() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let form = Form::new(&service).await;
    service.tap(&inlay.url(&bottle)).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    fold(&service).await;
    service.tap(&inlay.url(&bottle)).await;
    service.advance(1);
    let rows = read_csv(&export(&service, "/reports/export").await);
    let taps = |rows: &[Value], dimension: &str| -> u64 {
        let of = rows.iter().filter(|row| row["dimension"] == dimension);
        of.map(|row| row["taps"].as_str().unwrap().parse::<u64>().unwrap())
            .sum()
    };
    for dimension in [
        "experience",
        "technology",
        "country",
        "system",
        "language",
        "hour_of_week",
    ] {
        assert_eq!(taps(&rows, dimension), 3, "{dimension}");
    }
    let limited =
        json!({"name": "Shop", "scopes": ["read", "export"], "experience_ids": [form.experience]});
    let limited = service.admin_create("/tokens", limited).await;
    let limited = Client::new(service.base(), limited["token"].as_str().unwrap());
    let report = limited.admin_get("/reports").await;
    assert_eq!(report["totals"]["taps"], 1);
    assert_eq!(report["experiences"].as_array().map(Vec::len), Some(1));
    let rows = read_csv(&export(&limited, "/reports/export").await);
    assert_eq!(taps(&rows, "experience"), 1);
}

#[tokio::test]
async fn a_split_keeps_its_visitors_and_its_shares_are_counted() {
    let service = TestService::start().await;
    let to = |name: &str| format!("https://owner.example/{name}");
    let redirect = json!({
        "name": "Two offers", "kind": "redirect", "target_url": to("other"), "rules": [
            {"when": [{"type": "split", "from": 0, "until": 40}], "target_url": to("a")},
            {"when": [{"type": "split", "from": 40, "until": 80}], "target_url": to("b")},
        ],
    });
    let experience = service.experience(redirect).await;
    let tag = json!({"name": "Bottle", "experience_id": experience, "variables": {"x": ""}});
    let tag: TestTag = service.tag(tag).await;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for visitor in 0..60 {
        let agent = format!("{PHONE} Visitor/{visitor}");
        let mut offers = Vec::new();
        for _ in 0..2 {
            let location = tap(&service, &tag.path(), &agent, "en").await;
            let location = location.expect("a redirect");
            let offer = url::Url::parse(&location).expect("a URL").path().to_owned();
            *found.entry(offer.clone()).or_default() += 1;
            offers.push(offer);
            service.advance(1_000);
        }
        assert_eq!(offers[0], offers[1], "who comes again gets the same");
    }
    let report = service
        .admin_get(&format!("/reports?experience_id={experience}"))
        .await;
    let split: Vec<_> = report["split"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|arm| {
            (
                arm["from"].as_u64().unwrap(),
                arm["until"].as_u64().unwrap(),
                arm["taps"].as_u64().unwrap(),
            )
        })
        .collect();
    let of = |offer: &str| found.get(offer).copied().unwrap_or_default();
    assert_eq!(
        split,
        [
            (0, 40, of("/a")),
            (40, 80, of("/b")),
            (80, 100, of("/other"))
        ]
    );
    assert!(split.iter().all(|(_, _, taps)| *taps > 0), "{split:?}");
    assert_eq!(found.values().sum::<u64>(), 120);
}

#[tokio::test]
async fn a_stretch_of_time_that_is_none_or_too_long_is_refused() {
    let service = TestService::start().await;
    for query in [
        "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
        "since=2025-01-01T00:00:00Z",
        "since=0001-01-01T00:00:00Z&step=day",
        "step=year",
        "experience=7",
    ] {
        for path in ["/reports", "/reports/export"] {
            let path = format!("{path}?{query}");
            let answer = service.admin(Method::GET, &path, Value::Null).await;
            answer.expect(422);
        }
    }
}
