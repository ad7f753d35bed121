//! Taps of staff phones in figures: statistics, reports, orders and conditions.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::{Answering as _, TestService};

use super::phone;
use crate::api::tags::all;

#[tokio::test]
async fn taps_of_staff_are_in_no_statistic() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read"]).await;
    service.tap(&inlay.url(&tag)).await;
    for _ in 0..3 {
        staff.staff_tap(&inlay.url(&tag)).await;
    }
    staff.staff_tap(&tag.path()).await;
    service.advance(1);
    let stats = service.admin_get("/stats").await;
    assert_eq!(
        stats["totals"],
        json!({"verified": 1, "not_verified": 0, "not_checked": 0})
    );
    assert_eq!(stats["test_taps"], json!({"reader": 0, "kiosk": 0}));
    assert_eq!(stats["top_tags"][0]["taps"], 1, "{stats}");
    let report = service.admin_get("/reports").await;
    assert_eq!(report["totals"]["taps"], 1, "{report}");
    assert_eq!(report["test_taps"], json!({"reader": 0, "kiosk": 0}));
    let page = service.admin_get("/interactions").await;
    let made_by = page["items"].as_array().expect("taps").iter();
    let staff = made_by.filter(|tap| tap["staff"] == true).count();
    assert_eq!(staff, 4);
}

/// Also in the figures of one tag, group and experience, and in each list and file of interactions.
#[tokio::test]
async fn taps_of_staff_are_marked_and_in_the_figures_of_nothing() {
    let service = TestService::start().await;
    let group = json!({"kind": "product", "name": "Wine"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    let (tag, mut inlay) = service.bottle().await;
    let into = json!({"group_id": group});
    service.admin_patch(&tag.admin_path(), into).await;
    let experience = service.admin_get(&tag.admin_path()).await["experience_id"].clone();
    let staff = phone(&service, &["read"]).await;
    service.tap(&inlay.url(&tag)).await;
    for _ in 0..2 {
        staff.staff_tap(&inlay.url(&tag)).await;
    }
    service.advance(1);
    for narrowed in [
        format!("tag_id={}", tag.id),
        format!("group_id={group}"),
        format!("experience_id={experience}"),
    ] {
        let report = service.admin_get(&format!("/reports?{narrowed}")).await;
        assert_eq!(report["totals"]["taps"], 1, "{narrowed}: {report}");
        let tests = json!({"reader": 0, "kiosk": 0});
        assert_eq!(report["test_taps"], tests, "{narrowed}");
    }
    let stats = service.admin_get(&format!("/stats?group_id={group}")).await;
    assert_eq!(stats["totals"]["verified"], 1, "{stats}");
    // A tag counts all taps, and how many of them were none of visitors.
    let counted = service.admin_get(&tag.admin_path()).await;
    assert_eq!(
        (&counted["scan_count"], &counted["test_scan_count"]),
        (&json!(3), &json!(2))
    );
    let metrics = service.metrics().await;
    let line = r#"tapdesk_taps_total{reason="verified",origin="staff"} 2"#;
    assert!(metrics.contains(line), "{metrics}");

    let file = async |query: &str| {
        let path = format!("/interactions/export?{query}");
        let request = service.admin_request(Method::GET, &path);
        request.answer().await.body
    };
    let lines = file("format=jsonl").await;
    let marked = |line: &&str| line.contains(r#""staff":true"#);
    assert_eq!(lines.lines().filter(marked).count(), 2, "{lines}");
    let table = file("format=csv&columns=id,staff").await;
    assert_eq!(table.matches(",true").count(), 2, "{table}");
    let id = service.last_interaction().await;
    let one = service.admin_get(&format!("/interactions/{id}")).await;
    assert_eq!(
        (&one["staff"], &one["origin"]),
        (&json!(true), &json!("staff"))
    );
}

/// The list shows visitors' taps, so that is what it is ordered by.
#[tokio::test]
async fn tags_are_ordered_by_the_taps_of_visitors() {
    let service = TestService::start().await;
    let staff = phone(&service, &["read"]).await;
    let mut ids = Vec::new();
    // Taps of visitors and of staff; the ids ascend.
    for (visitors, checks) in [(1, 3), (2, 0), (0, 5), (0, 0)] {
        let tag = service.tag(json!({"name": "Poster"})).await;
        for _ in 0..visitors {
            service.tap(&tag.path()).await;
        }
        for _ in 0..checks {
            staff.staff_tap(&tag.path()).await;
        }
        ids.push(tag.id);
    }
    let expected = [ids[2], ids[3], ids[0], ids[1]];
    for limit in 1..=4 {
        let listed = async |sort: &str| -> Vec<i64> {
            let tags = all(&service, &format!("/tags?sort={sort}"), limit).await;
            let ids = tags.iter().map(|tag| tag["id"].as_i64().expect("an id"));
            ids.collect()
        };
        assert_eq!(listed("scans").await, expected, "by {limit}");
        let mut backwards = listed("-scans").await;
        backwards.reverse();
        assert_eq!(backwards, expected, "by {limit}");
    }
}

/// Otherwise a buyer would see the page of a bottle that was opened before.
#[tokio::test]
async fn a_visitor_after_staff_is_the_first() {
    let service = TestService::start().await;
    let second = json!([{"type": "scan_count", "at_least": 2}]);
    let experience = json!({"name": "Wine", "kind": "redirect", "target_url": "https://owner.example/first",
        "rules": [{"when": second, "target_url": "https://owner.example/again"}]});
    let experience = service.experience(experience).await;
    let tag = service
        .tag(json!({"name": "Bottle", "experience_id": experience}))
        .await;
    let staff = phone(&service, &["read"]).await;
    for expected in ["first", "again"] {
        for _ in 0..2 {
            staff.staff_tap(&tag.path()).await;
        }
        let location = service.tap(&tag.path()).await.location.expect("a redirect");
        assert!(location.contains(expected), "{location}");
    }
}
