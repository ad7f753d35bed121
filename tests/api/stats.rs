//! `/admin/v1/stats`.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService};

fn bucket(at: &str, verified: u64, not_verified: u64, not_checked: u64) -> Value {
    json!({"at": at, "verified": verified, "not_verified": not_verified, "not_checked": not_checked})
}

#[tokio::test]
async fn taps_are_counted_by_the_hour_and_what_needs_attention_is_told() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let poster = service.tag(json!({"name": "Poster"})).await;
    let url = inlay.url(&tag);
    service.tap(&url).await;
    service.tap(&url).await;
    service.advance(2 * 3_600_000);
    inlay.code();
    service.tap(&inlay.url(&tag)).await;
    service.tap(&poster.path()).await;
    service.tap(&poster.path()).await;

    let stats = service.admin_get("/stats?since=2026-01-01T12:30:00Z").await;
    let expected = json!({
        "since": "2026-01-01T12:00:00Z", "until": "2026-01-01T14:00:00Z", "step": "hour", "time_zone": "UTC",
        "buckets": [
            bucket("2026-01-01T12:00:00Z", 1, 1, 0),
            bucket("2026-01-01T13:00:00Z", 0, 0, 0),
        ],
        "totals": {"verified": 1, "not_verified": 1, "not_checked": 0},
        "test_taps": {"reader": 0, "kiosk": 0},
        "reasons": [{"reason": "replayed", "taps": 1}, {"reason": "verified", "taps": 1}],
        "previews": 0,
        "top_tags": [{"tag_id": tag.id, "slug": tag.slug, "tag_name": "Bottle 41", "taps": 2}],
        "attention": {"replays": 1, "counter_gaps": 0, "unset_tags": 0, "factory_keys": 0, "used_up": 0, "opened_tags": 0, "failing_notifications": 0, "low_disk_mebibytes": null},
        "complete": true,
    });
    assert_eq!(stats, expected, "up to now, which is 14:00");

    service.advance(1);
    let stats = service.admin_get("/stats?step=day").await;
    let buckets = stats["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), 8, "seven days back, and today");
    assert_eq!(buckets[7], bucket("2026-01-01T00:00:00Z", 2, 1, 2));
    assert_eq!(
        stats["totals"],
        json!({"verified": 2, "not_verified": 1, "not_checked": 2})
    );
    let taps = |tag: &Value| (tag["tag_name"].clone(), tag["taps"].clone());
    let top: Vec<_> = stats["top_tags"]
        .as_array()
        .expect("tags")
        .iter()
        .map(taps)
        .collect();
    assert_eq!(
        top,
        [(json!("Bottle 41"), json!(3)), (json!("Poster"), json!(2))]
    );
    assert_eq!(
        stats["attention"],
        json!({"replays": 1, "counter_gaps": 1, "unset_tags": 1, "factory_keys": 0, "used_up": 0, "opened_tags": 0, "failing_notifications": 0, "low_disk_mebibytes": null})
    );
}

#[tokio::test]
async fn test_taps_are_counted_apart_from_those_of_visitors() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let poster = service.tag(json!({"name": "Poster"})).await;
    let announce = async |path: &str, origin: &str| {
        let body = json!({"path": path, "origin": origin});
        service.admin(Method::POST, "/test-taps", body).await
    };
    service.tap(&inlay.url(&tag)).await;
    let (tested, shown) = (inlay.url(&tag), inlay.url(&tag));
    assert_eq!(announce(&tested, "reader").await.status, 204);
    service.tap(&tested).await;
    assert_eq!(announce(&shown, "kiosk").await.status, 204);
    service.tap(&shown).await;
    // An announcement covers one tap of its URL, and a visitor cannot make one.
    assert_eq!(announce(&poster.path(), "reader").await.status, 204);
    service.tap(&poster.path()).await;
    service.tap(&poster.path()).await;
    let forged = service
        .post("/admin/v1/test-taps")
        .json(&json!({"path": "/t/x", "origin": "kiosk"}));
    assert_eq!(forged.answer().await.status, 401);
    for wrong in ["t/x", ""] {
        assert_eq!(announce(wrong, "reader").await.status, 422, "{wrong}");
    }

    service.advance(1);
    let stats = service.admin_get("/stats").await;
    assert_eq!(
        stats["totals"],
        json!({"verified": 1, "not_verified": 0, "not_checked": 1})
    );
    assert_eq!(stats["test_taps"], json!({"reader": 2, "kiosk": 1}));
    let top = stats["top_tags"].as_array().expect("tags").iter();
    assert!(top.clone().all(|tag| tag["taps"] == 1), "{stats}");
    let page = service.admin_get("/interactions").await;
    let origins: Vec<_> = page["items"]
        .as_array()
        .expect("interactions")
        .iter()
        .map(|tap| tap["origin"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(origins, ["visitor", "reader", "kiosk", "reader", "visitor"]);
    // A tag's count includes all taps, and says how many of them were tests.
    let tag = service.admin_get(&format!("/tags/{}", tag.id)).await;
    assert_eq!(
        (&tag["scan_count"], &tag["test_scan_count"]),
        (&json!(3), &json!(2))
    );
    let metrics = service.metrics().await;
    for line in [
        r#"tapdesk_taps_total{reason="verified",origin="visitor"} 1"#,
        r#"tapdesk_taps_total{reason="verified",origin="reader"} 1"#,
        r#"tapdesk_taps_total{reason="verified",origin="kiosk"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    let csv = service.get("/admin/v1/interactions/export?format=csv&columns=id,origin");
    let csv = csv.bearer_auth(service.admin_token()).answer().await.body;
    assert_eq!(csv.matches(",reader").count(), 2, "{csv}");
}

#[tokio::test]
async fn inlays_that_prove_nothing_or_nothing_more_need_attention() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    service.tap(&tag.with(&inlay.code_at(0x00FF_FFFF))).await;
    let zero = "00000000000000000000000000000000";
    service
        .inlay(json!({
            "uid": "04AABBCCDDEEFF", "technology": "ntag424dna", "mirror": "plain",
            "file_key": zero, "allow_factory_keys": true,
        }))
        .await;
    let attention = &service.admin_get("/stats").await["attention"];
    assert_eq!(
        (&attention["factory_keys"], &attention["used_up"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test]
async fn the_simulated_world_is_counted_apart() {
    let service = TestService::start().await;
    service
        .admin_create("/simulator/inlays", json!({"name": "Twin"}))
        .await;
    let tap = json!({"follow": true});
    service
        .admin(Method::POST, "/simulator/inlays/1/tap", tap)
        .await
        .expect(200);
    service.advance(1);
    for (query, verified) in [("", 0), ("?simulated=true", 1), ("?simulated=all", 1)] {
        let stats = service.admin_get(&format!("/stats{query}")).await;
        assert_eq!(stats["totals"]["verified"], verified, "{query}");
    }
}

#[tokio::test]
async fn a_stretch_of_time_that_is_none_or_too_long_is_refused() {
    let service = TestService::start().await;
    for query in [
        "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
        "since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z",
        "since=2025-01-01T00:00:00Z",
        "since=0001-01-01T00:00:00Z&step=day",
        "step=year",
    ] {
        let path = format!("/stats?{query}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
    service
        .admin_get("/stats?since=2025-01-01T00:00:00Z&step=day")
        .await;
}

#[tokio::test]
async fn previews_that_programs_got_are_counted_apart_from_taps() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let open = async |agent: &str| {
        let request = service.get(&url).header("user-agent", agent);
        assert_eq!(request.answer().await.status, 200);
    };
    open("WhatsApp/2.23.20.0").await;
    open("Twitterbot/1.0").await;
    service.advance(2 * 3_600_000 + 1_000);
    open("").await;
    let previews = async |service: &TestService, query: &str| {
        let stats = service.admin_get(&format!("/stats{query}")).await;
        assert_eq!(stats["totals"]["verified"], json!(0));
        stats["previews"].clone()
    };
    // The service starts at noon.
    let first = "?since=2026-01-01T12:00:00Z&until=2026-01-01T13:00:00Z";
    let last = "?since=2026-01-01T14:00:00Z";
    for (query, count) in [("", 3), (first, 2), (last, 1), ("?simulated=true", 0)] {
        assert_eq!(previews(&service, query).await, json!(count), "{query}");
    }
    // The counts are in the database, so the next start has them, and so does each node.
    let service = service.restart(0).await;
    assert_eq!(previews(&service, "").await, json!(3));
    assert_eq!(service.scan_count(&tag).await, 0);
}
