//! What its operator should know.

use serde_json::{Value, json};
use tapdesk_tests::Receiver;

use super::{start, webhook};

#[tokio::test]
async fn a_url_that_is_opened_again_and_again_is_told_once_and_a_few_times_are_not() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let events = json!({"events": ["alert.copied_url"]});
    let (id, _) = webhook(&service, &receiver, events).await;
    let (tag, mut inlay) = service.bottle().await;
    let (shared, copied) = (inlay.url(&tag), inlay.url(&tag));
    // One is opened first, and then a few times more.
    for _ in 0..9 {
        service.tap(&shared).await;
    }
    for _ in 0..20 {
        service.tap(&copied).await;
    }
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("the alert is raised");
    let told = receiver.wait_for(1).await[0].json();
    assert_eq!(told["type"], "alert.copied_url");
    assert_eq!(told["data"]["tag_id"], tag.id);
    assert_eq!(told["data"]["counter"], 2);
    assert!(told["data"]["message"].is_string(), "{told}");
    // It is told once.
    service.tap(&copied).await;
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("nothing is left");
    let test = format!("/webhooks/{id}/test");
    super::post(&service, &test, Value::Null).await.expect(200);
    let told = receiver.wait_for(2).await;
    assert_eq!(told[1].json()["type"], "webhook.test");
}
