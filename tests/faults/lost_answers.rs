//! A connection that is cut before the response arrives.

use serde_json::json;
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answering as _, RawClient, ServiceProcess, TapResult, eventually, length};

use crate::faults::launch;

/// Sends a request, and closes the connection without reading.
async fn send_and_hang_up(service: &ServiceProcess, request: &str) {
    let mut client = RawClient::connect(service.authority()).await;
    client.send(request).await;
}

#[tokio::test]
async fn an_update_whose_answer_was_lost_can_be_asked_for_again_with_its_idempotency_key() {
    let service = launch().start().await;
    let tag = service.redirecting_tag(json!({})).await;
    for i in 0..length(20, 500) {
        let tap = service.tap(&tag.path()).await;
        let record =
            json!({"rolling_key": base64(tap.key()), "data": {"registered": i.to_string()}});
        let body = record.to_string();
        let head = format!(
            "POST /v2/interactions/data HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             idempotency-key: {i}\r\ncontent-length: {}\r\n\r\n",
            service.authority(),
            body.len()
        );
        send_and_hang_up(&service, &(head + &body)).await;
        let again = service
            .post("/v2/interactions/data")
            .header("content-type", "application/json")
            .header("idempotency-key", i)
            .body(body);
        again.answer().await.expect(200);
        let value = service.variable(&tag, "registered").await;
        assert_eq!(value, Some(i.to_string()));
    }
}

#[tokio::test]
async fn a_tap_whose_answer_was_lost_is_recorded_and_its_url_verifies_no_second_time() {
    let service = launch().start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let request = format!(
        "GET {url} HTTP/1.1\r\nhost: {}\r\nuser-agent: a\r\n\r\n",
        service.authority()
    );
    let mut client = RawClient::connect(service.authority()).await;
    client.send(request).await;
    eventually("the tap is recorded", || async {
        (service.scan_count(&tag).await == 1).then_some(())
    })
    .await;
    drop(client);
    // Without the cookie of the lost response, a retry looks like a copy.
    let again = TapResult::of(service.get(&url).answer().await);
    let payload = service.payload(again.key()).await;
    assert_eq!(payload["tag_verified"], json!(false));
}
