//! `/admin/v1/kiosk`, and the same state in the metrics.

use serde_json::{Value, json};
use tapdesk_service::clock::Timestamp;
use tapdesk_service::kiosk::KioskState;
use tapdesk_tests::TestService;

#[tokio::test]
async fn a_kiosks_state_is_seen_from_the_desk_and_by_metrics() {
    let service = TestService::start().await;
    let none = service.admin_get("/kiosk").await;
    assert_eq!(none, json!({"state": null}), "no kiosk is shown");
    let state = KioskState {
        has_screen: true,
        has_reader: false,
        visits_today: 41,
        last_visit_at: Some(Timestamp::from_millis(1_700_000_000_000)),
    };
    service.service().report_kiosk(Some(state));
    let shown = service.admin_get("/kiosk").await["state"].clone();
    assert_eq!(
        (
            &shown["has_screen"],
            &shown["has_reader"],
            &shown["visits_today"]
        ),
        (&json!(true), &json!(false), &json!(41))
    );
    let metrics = service.metrics().await;
    for line in [
        "tapdesk_kiosk_screen 1",
        "tapdesk_kiosk_reader 0",
        "tapdesk_kiosk_last_visit_seconds 1700000000",
    ] {
        assert!(metrics.contains(&format!("\n{line}\n")), "{metrics}");
    }
    service.service().report_kiosk(None);
    assert_eq!(service.admin_get("/kiosk").await["state"], Value::Null);
    let metrics = service.metrics().await;
    assert!(metrics.contains("\ntapdesk_kiosk_screen 0\n"), "{metrics}");
}
