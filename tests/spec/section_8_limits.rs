//! Section 8: limits of a request and of its values.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

#[tokio::test]
async fn the_5_minutes_apply_to_both_operations() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let (in_time, too_late) = (
        service.tap(&tag.path()).await,
        service.tap(&tag.path()).await,
    );
    let data = json!({"registered": "true"});
    service.advance(299_999);
    assert!(service.payload(in_time.key()).await.is_object());
    assert_eq!(
        service.update(in_time.key(), data.clone()).await.status,
        200
    );
    service.advance(1);
    assert_eq!(service.payload(too_late.key()).await, json!([]));
    assert_eq!(service.update(too_late.key(), data).await.status, 400);
}
