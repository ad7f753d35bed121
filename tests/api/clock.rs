//! `/admin/v1/clock`.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::TestService;

#[tokio::test]
async fn the_clock_is_read_and_moved_forward() {
    let service = TestService::start().await;
    let clock = service.admin_get("/clock").await;
    assert_eq!(clock, json!({"now": "2026-01-01T12:00:00Z"}));
    let moved = service
        .admin(Method::POST, "/clock", json!({"advance_ms": 300_000}))
        .await;
    assert_eq!(moved.expect(200), json!({"now": "2026-01-01T12:05:00Z"}));
    assert_eq!(
        service.admin_get("/clock").await,
        json!({"now": "2026-01-01T12:05:00Z"})
    );
}

#[tokio::test]
async fn the_clock_is_moved_neither_back_nor_past_ten_years_at_once() {
    let service = TestService::start().await;
    for body in [
        json!({}),
        json!({"advance_ms": -1}),
        json!({"advance_ms": 1.5}),
        json!({"advance_ms": 315_360_000_001_u64}),
        json!({"advance_ms": 1, "now": "2026-01-01T12:00:00Z"}),
    ] {
        service
            .admin(Method::POST, "/clock", body)
            .await
            .expect(422);
    }
    assert_eq!(
        service.admin_get("/clock").await,
        json!({"now": "2026-01-01T12:00:00Z"})
    );
}
