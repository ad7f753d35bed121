//! The parts of a report: visitors, programs, verdicts, groups, tags; and its file.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

use super::{PHONE, ROBOT, export, fold, tap};
use crate::api::exports::read_csv;
use crate::api::submissions::{Form, send};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// The visitors of each bucket, of the period, and of the one before.
fn visitors(report: &Value) -> (Vec<Value>, Value, Value) {
    let buckets = report["buckets"].as_array().expect("buckets").iter();
    let buckets = buckets.map(|bucket| bucket["visitors"].clone()).collect();
    let totals = &report["totals"];
    (
        buckets,
        totals["visitors"].clone(),
        totals["before"]["visitors"].clone(),
    )
}

/// The promise is in the decisions, "Reports".
#[tokio::test]
async fn visitors_are_known_for_30_days_and_nobody_is_followed_from_tag_to_tag() {
    let service = TestService::start().await;
    let one = service.redirecting_tag(json!({})).await;
    let other = service.redirecting_tag(json!({})).await;
    // On the first day two visitors of one tag, one of whom comes twice.
    for agent in [PHONE, PHONE, ROBOT] {
        tap(&service, &one.path(), agent, "en").await;
        service.advance(301_000);
    }
    // On the second day a visitor of both tags counts as two.
    service.advance(DAY);
    for tag in [&one, &other] {
        tap(&service, &tag.path(), PHONE, "en").await;
    }
    service.advance(1);
    let two_days = "/reports?step=day&since=2026-01-01T00:00:00Z&until=2026-01-03T00:00:00Z";
    let both = (vec![json!(2), json!(2)], json!(3));
    for _ in 0..2 {
        let (buckets, total, _) = visitors(&service.admin_get(two_days).await);
        assert_eq!((buckets, total), both);
        fold(&service).await;
    }
    let of = |tag: i64| format!("{two_days}&tag_id={tag}");
    let (buckets, total, before) = visitors(&service.admin_get(&of(one.id)).await);
    assert_eq!((buckets, total), (vec![json!(2), json!(1)], json!(2)));
    assert_eq!(before, json!(0));
    let tags = service.admin_get(two_days).await["tags"].clone();
    assert_eq!(
        tags,
        json!([
            {"tag_id": one.id, "slug": one.slug, "tag_name": tags[0]["tag_name"], "taps": 4, "updates": 0,
             "submissions": 0, "visitors": 2},
            {"tag_id": other.id, "slug": other.slug, "tag_name": tags[1]["tag_name"], "taps": 1, "updates": 0,
             "submissions": 0, "visitors": 1},
        ])
    );
    // An erasure takes the visitors out of the numbers, and the taps stay.
    let erased = format!("/tags/{}/traces", one.id);
    let answer = service.admin(Method::DELETE, &erased, Value::Null).await;
    assert!(answer.status < 300, "{}", answer.body);
    let report = service.admin_get(two_days).await;
    assert_eq!(report["totals"]["taps"], 5);
    assert_eq!(visitors(&report).1, 1);
    // After 30 days the first day is not known, then none is.
    service.advance(29 * DAY);
    let (buckets, total, _) = visitors(&service.admin_get(two_days).await);
    assert_eq!((buckets, total), (vec![Value::Null, json!(1)], Value::Null));
    service.advance(2 * DAY);
    let report = service.admin_get(two_days).await;
    assert_eq!(
        visitors(&report),
        (vec![Value::Null; 2], Value::Null, Value::Null)
    );
    assert_eq!(report["totals"]["taps"], 5);
    assert_eq!(report["tags"][0]["visitors"], Value::Null);
}

#[tokio::test]
async fn programs_are_counted_apart_from_people() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    let program = async || tap(&service, &tag.path(), "WhatsApp/2.23.20.0", "").await;
    program().await;
    program().await;
    tap(&service, &tag.path(), PHONE, "en").await;
    service.advance(DAY);
    program().await;
    service.advance(1);
    let report = service
        .admin_get("/reports?step=day&since=2026-01-01T00:00:00Z")
        .await;
    let programs: Vec<_> = report["buckets"]
        .as_array()
        .expect("buckets")
        .iter()
        .map(|bucket| (&bucket["taps"], &bucket["visitors"], &bucket["programs"]))
        .collect();
    let (zero, one, two) = (json!(0), json!(1), json!(2));
    assert_eq!(programs, [(&one, &one, &two), (&zero, &zero, &one)]);
    let totals = &report["totals"];
    assert_eq!((&totals["taps"], &totals["programs"]), (&one, &json!(3)));
    let last = service
        .admin_get("/reports?step=day&since=2026-01-02T00:00:00Z")
        .await;
    assert_eq!(last["totals"]["before"]["programs"], 2);
    // A preview is of no experience, and of the real world.
    let experience = report["experiences"][0]["experience_id"].clone();
    for query in [
        format!("experience_id={experience}"),
        format!("tag_id={}", tag.id),
        "group_id=1".to_owned(),
    ] {
        let report = service.admin_get(&format!("/reports?{query}")).await;
        assert_eq!(report["totals"]["programs"], Value::Null, "{query}");
    }
    let simulated = service.admin_get("/reports?simulated=true").await;
    assert_eq!(simulated["totals"]["programs"], 0);
    let limited = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [experience]});
    let limited = service.admin_create("/tokens", limited).await;
    let limited = Client::new(service.base(), limited["token"].as_str().unwrap());
    assert_eq!(
        limited.admin_get("/reports").await["totals"]["programs"],
        Value::Null
    );
}

/// The taps of each verdict.
fn verdicts(report: &Value) -> Vec<(&str, u64)> {
    let verdicts = report["verdicts"].as_array().expect("verdicts").iter();
    let taps = verdicts.map(|one| {
        (
            one["verdict"].as_str().unwrap(),
            one["taps"].as_u64().unwrap(),
        )
    });
    taps.collect()
}

#[tokio::test]
async fn a_report_has_verdicts_and_their_reasons() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service.redirecting_tag(json!({"has_qr_code": true})).await;
    let url = inlay.url(&bottle);
    service.tap(&url).await;
    service.advance(301_000);
    service.tap(&url).await;
    service.tap(&poster.path()).await;
    service.tap(&poster.path()).await;
    service.advance(1);
    for _ in 0..2 {
        let report = service.admin_get("/reports").await;
        assert_eq!(
            verdicts(&report),
            [("verified", 1), ("not_verified", 1), ("not_checked", 2)]
        );
        let reasons = super::reported(&report, "reasons", "value");
        let expected = [("replayed", 1), ("static", 2), ("verified", 1)];
        assert_eq!(
            reasons,
            expected.map(|(name, taps)| (name.to_owned(), taps)).into()
        );
        let of = format!("/reports?tag_id={}", bottle.id);
        let of_bottle = service.admin_get(&of).await;
        assert_eq!(
            verdicts(&of_bottle),
            [("verified", 1), ("not_verified", 1), ("not_checked", 0)]
        );
        fold(&service).await;
    }
}

#[tokio::test]
async fn the_report_of_a_tag_has_its_taps_with_updates_and_submissions() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let (bottle, mut inlay) = service.bottle().await;
    let updated = service.tap(&inlay.url(&bottle)).await;
    service
        .update(updated.key(), json!({"registered": "true"}))
        .await
        .expect(200);
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let announced = json!({"path": form.tag.path(), "origin": "reader"});
    service
        .admin(Method::POST, "/test-taps", announced)
        .await
        .expect(204);
    service.tap(&form.tag.path()).await;
    service.advance(1);
    for _ in 0..2 {
        for (tag, expected) in [(bottle.id, [1, 1, 0]), (form.tag.id, [1, 1, 1])] {
            let report = service.admin_get(&format!("/reports?tag_id={tag}")).await;
            let totals = &report["totals"];
            let counts = ["taps", "updates", "submissions"].map(|name| &totals[name]);
            assert_eq!(json!(counts), json!(expected), "{tag}");
            let last = report["buckets"].as_array().expect("buckets").last();
            assert_eq!(last.expect("a bucket")["taps"], 1);
            assert_eq!(report["complete"], true);
            assert_eq!(report["experiences"].as_array().map(Vec::len), Some(1));
            assert_eq!(report["tags"].as_array().map(Vec::len), Some(1));
        }
        let of_form = format!("/reports?tag_id={}", form.tag.id);
        let of_form = service.admin_get(&of_form).await;
        assert_eq!(of_form["experiences"][0]["name"], "Ask");
        assert_eq!(of_form["test_taps"], json!({"reader": 1, "kiosk": 0}));
        let of_bottle = format!("/reports?tag_id={}", bottle.id);
        let of_bottle = service.admin_get(&of_bottle).await;
        assert_eq!(of_bottle["test_taps"], json!({"reader": 0, "kiosk": 0}));
        fold(&service).await;
    }
    let unknown = service.admin_get("/reports?tag_id=999").await;
    assert_eq!(unknown["totals"]["taps"], 0);
    let limited = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [form.experience]});
    let limited = service.admin_create("/tokens", limited).await;
    let limited = Client::new(service.base(), limited["token"].as_str().unwrap());
    let out = limited
        .admin_get(&format!("/reports?tag_id={}", bottle.id))
        .await;
    assert_eq!(
        (&out["totals"]["taps"], &out["tags"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(out["totals"]["visitors"], 0);
}

/// The groups of a report with their taps, and those of the period before.
async fn groups(client: &Client, query: &str) -> Vec<(i64, u64, u64)> {
    let report = client.admin_get(&format!("/reports?{query}")).await;
    let groups = report["groups"].as_array().expect("groups").iter();
    let taps = groups.map(|group| {
        let id = group["group_id"].as_i64().unwrap();
        let before = group["before"]["taps"].as_u64().unwrap();
        (id, group["taps"].as_u64().unwrap(), before)
    });
    taps.collect()
}

#[tokio::test]
async fn groups_are_counted_with_everything_below_them() {
    let service = TestService::start().await;
    let create = async |kind: &str, parent: Option<i64>| {
        let group = json!({"kind": kind, "name": format!("A {kind}"), "parent_id": parent});
        let created = service.admin_create("/groups", group).await;
        created["id"].as_i64().expect("an id")
    };
    let wines = create("folder", None).await;
    let product = create("product", Some(wines)).await;
    let batch = create("batch", Some(product)).await;
    let beers = create("folder", None).await;
    let mut paths = Vec::new();
    for group in [Some(wines), Some(batch), Some(beers), None] {
        let tag = service.redirecting_tag(json!({"group_id": group})).await;
        paths.push(tag.path());
    }
    // A tap of the day before, and then one of each tag and one more of the batch.
    service.tap(&paths[1]).await;
    service.advance(DAY);
    for path in paths.iter().chain([&paths[1]]) {
        tap(&service, path, ROBOT, "en").await;
    }
    service.advance(1);
    let day = "step=day&since=2026-01-02T00:00:00Z";
    let below = |group: i64| format!("{day}&group_id={group}");
    let of_batch =
        |scopes: Value| json!({"name": "B", "scopes": scopes, "group_ids": [product, batch]});
    let colleague = service
        .admin_create("/tokens", of_batch(json!(["read"])))
        .await;
    let colleague = Client::new(service.base(), colleague["token"].as_str().unwrap());
    for _ in 0..2 {
        assert_eq!(groups(&service, day).await, [(wines, 3, 1), (beers, 1, 0)]);
        assert_eq!(groups(&service, &below(wines)).await, [(product, 2, 1)]);
        assert_eq!(groups(&service, &below(product)).await, [(batch, 2, 1)]);
        assert!(groups(&service, &below(batch)).await.is_empty());
        assert_eq!(groups(&colleague, day).await, [(product, 2, 1)]);
        assert_eq!(groups(&colleague, &below(product)).await, [(batch, 2, 1)]);
        assert!(groups(&colleague, &below(beers)).await.is_empty());
        let of_product = service
            .admin_get(&format!("/reports?{}", below(product)))
            .await;
        assert_eq!(of_product["totals"]["taps"], 2);
        assert_eq!(of_product["totals"]["visitors"], 1);
        assert_eq!(of_product["tags"].as_array().map(Vec::len), Some(1));
        let of_colleague = colleague.admin_get(&format!("/reports?{day}")).await;
        assert_eq!(of_colleague["totals"]["visitors"], 1);
        fold(&service).await;
    }
    let rows = read_csv(&export(&service, &format!("/reports/export?{day}")).await);
    let of_groups = rows.iter().filter(|row| row["dimension"] == "group");
    let of_groups: Vec<_> = of_groups
        .map(|row| (&row["name"], &row["taps"], &row["taps_before"]))
        .collect();
    let (folder, three, one, zero) = (json!("A folder"), json!("3"), json!("1"), json!("0"));
    assert_eq!(of_groups, [(&folder, &three, &one), (&folder, &one, &zero)]);
}

#[tokio::test]
async fn the_file_has_the_series_and_the_names() {
    let service = TestService::start().await;
    let experience =
        json!({"name": "=Wines", "kind": "redirect", "target_url": "https://owner.example/"});
    let experience = service.experience(experience).await;
    let tag = service
        .tag(json!({"name": "Bottle 41", "experience_id": experience}))
        .await;
    tap(&service, &tag.path(), PHONE, "de").await;
    tap(&service, &tag.path(), "WhatsApp/2.23.20.0", "").await;
    service.advance(7 * DAY);
    tap(&service, &tag.path(), PHONE, "de").await;
    service.advance(1);
    let query = "step=week&time_zone=Europe/Berlin&since=2025-12-31T12:00:00Z";
    let rows = read_csv(&export(&service, &format!("/reports/export?{query}")).await);
    let row = |dimension: &str, value: &str| {
        let found = rows
            .iter()
            .find(|row| row["dimension"] == dimension && row["value"] == value);
        let row = found.unwrap_or_else(|| panic!("{dimension} {value}: {rows:?}"));
        let cells = [
            "name",
            "taps",
            "visitors",
            "programs",
            "taps_before",
            "visitors_before",
        ];
        cells.map(|cell| row[cell].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(row("total", ""), ["", "2", "1", "1", "0", "0"]);
    let weeks = rows.iter().filter(|row| row["dimension"] == "week");
    let weeks: Vec<_> = weeks.map(|row| row["value"].as_str().unwrap()).collect();
    assert_eq!(
        weeks,
        ["2025-12-29T00:00:00+01:00", "2026-01-05T00:00:00+01:00"]
    );
    assert_eq!(row("week", weeks[0]), ["2026-W01", "1", "1", "1", "", ""]);
    assert_eq!(row("week", weeks[1]), ["2026-W02", "1", "1", "0", "", ""]);
    let id = experience.to_string();
    assert_eq!(row("experience", &id), ["'=Wines", "2", "", "", "0", ""]);
    assert_eq!(
        row("tag", &tag.id.to_string()),
        ["Bottle 41", "2", "1", "", "", ""]
    );
    assert_eq!(row("reason", "static")[1], "2");
    assert_eq!(row("verdict", "not_checked")[1], "2");
    assert_eq!(row("verdict", "verified")[1], "0");
    assert_eq!(row("language", "de")[1], "2");
    for query in ["format=jsonl", "format=ods", "format=csv&formatt=csv"] {
        let path = format!("/reports/export?{query}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
    let workbook = service.admin_request(Method::GET, "/reports/export?format=xlsx");
    let workbook = workbook.send().await.expect("an answer");
    assert_eq!(
        workbook.headers()["content-disposition"],
        "attachment; filename=\"report.xlsx\""
    );
}
