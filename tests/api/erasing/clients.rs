//! The data that recognizes a client is kept for 30 days, and differs between tags.

use serde_json::Value;
use tapdesk_service::housekeeping;
use tapdesk_tests::TestService;

use super::open;
use super::tables::bytes;

const DAY: i64 = 24 * 60 * 60 * 1000;
const OF_TAPS: &str = "SELECT client FROM interactions ORDER BY id";
const OF_VISITS: &str = "SELECT client FROM visits WHERE length(client) > 0";

async fn sweep(service: &TestService) {
    housekeeping::sweep(service.service())
        .await
        .expect("house is kept");
}

#[tokio::test]
async fn no_table_has_the_digest_of_a_client_after_30_days() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    for _ in 0..3 {
        open(&service, &inlay.url(&tag)).await;
    }
    let first = bytes(&service, OF_TAPS).await[0].clone();
    assert!(first.is_some());
    service.advance(30 * DAY - 1);
    sweep(&service).await;
    open(&service, &inlay.url(&tag)).await;
    assert!(bytes(&service, OF_TAPS).await.iter().all(Option::is_some));
    service.advance(2);
    sweep(&service).await;
    let taps = bytes(&service, OF_TAPS).await;
    let erased: Vec<_> = taps.iter().map(Option::is_none).collect();
    assert_eq!(erased, [true, true, true, false]);

    // The visitor came again, and so is recognized for 30 more days. After that nothing is left.
    service.advance(30 * DAY);
    sweep(&service).await;
    for sql in [OF_TAPS, OF_VISITS] {
        let digests = bytes(&service, sql).await;
        assert!(digests.iter().all(Option::is_none), "{sql}");
    }
    let held = super::tables::holding_bytes(&service, &first.expect("a digest")).await;
    assert!(held.is_empty(), "{held:?}");
    // Taps, verdicts and counts remain.
    assert_eq!(service.scan_count(&tag).await, 4);
    let taps = service.admin_get("/interactions").await;
    let verified = taps["items"].as_array().expect("taps").iter();
    assert!(verified.clone().count() == 4);
    assert!(
        verified
            .map(|tap| &tap["reason"])
            .all(|one| one == "verified")
    );
}

#[tokio::test]
async fn a_client_has_another_digest_at_each_tag() {
    let service = TestService::start().await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let (tag, mut inlay) = service.bottle().await;
        open(&service, &inlay.url(&tag)).await;
        open(&service, &inlay.url(&tag)).await;
        let taps = bytes(&service, OF_TAPS).await;
        let [before, last] = &taps[taps.len() - 2..] else {
            panic!("two taps")
        };
        assert_eq!(before, last, "the same at one tag");
        seen.push(last.clone());
        let tapped = open(&service, &inlay.url(&tag)).await;
        let payload = service.payload(tapped.key()).await;
        assert_eq!(payload["device"]["r"], Value::Bool(true));
    }
    assert_ne!(seen[0], seen[1]);
}
