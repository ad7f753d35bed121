//! The wall clock was set back while no service ran.

use reqwest::Method;
use serde_json::{Value, json};

use crate::faults::launch;

#[tokio::test]
async fn keys_from_a_later_wall_clock_count_as_expired_the_log_says_so_and_it_goes_on() {
    let later = launch().env("TAPDESK_TEST_CLOCK", "1");
    let service = later.start().await;
    let (tag, mut inlay) = service.bottle().await;
    let hour = json!({"advance_ms": 3_600_000});
    service
        .admin(Method::POST, "/clock", hour)
        .await
        .expect(200);
    let early = service.tap(&inlay.url(&tag)).await;
    assert!(service.payload(early.key()).await.is_object());
    assert!(service.terminate().await.success());

    let mut now = later.clone();
    now.environment
        .retain(|(name, _)| name != "TAPDESK_TEST_CLOCK");
    let service = now.start().await;
    assert!(now.log().contains("count as expired"), "{}", now.log());
    assert_eq!(service.payload(early.key()).await, json!([]));
    let data = json!({"registered": "true"});
    assert_eq!(service.update(early.key(), data.clone()).await.status, 400);
    let tap = service.tap(&inlay.url(&tag)).await;
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        Value::Bool(true)
    );
    service.update(tap.key(), data).await.expect(200);
}
