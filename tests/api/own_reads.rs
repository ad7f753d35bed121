//! `/admin/v1/own-reads`: reads by this application do not count as missing taps.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

async fn note(service: &TestService, body: Value) {
    let noted = service.admin(Method::POST, "/own-reads", body).await;
    assert_eq!(noted.status, 204, "{}", noted.body);
}

/// The counters of the newest interaction, and the number of missing reads before it.
async fn newest(service: &TestService) -> [u64; 3] {
    let page = service.admin_get("/interactions?limit=1").await;
    ["counter", "last_counter", "missed_reads"].map(|name| page["items"][0][name].as_u64().unwrap())
}

#[tokio::test]
async fn a_read_by_this_application_is_no_gap() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let mut read = || format!("{}{}", service.base(), inlay.url(&tag));
    let first = read();
    note(&service, json!({"url": first})).await;
    note(&service, json!({"url": first})).await;
    // The code stays unspent.
    service.tap(&first).await;
    assert_eq!(newest(&service).await, [1, 0, 0]);

    note(&service, json!({"url": read()})).await;
    // Somebody else reads the chip.
    read();
    let fourth = read();
    let run = service.admin(Method::POST, "/verification", json!({"url": fourth}));
    let steps = run.await.expect(200)["steps"].clone();
    assert!(
        steps
            .to_string()
            .contains("4 after 2: one read never reached the service"),
        "{steps}"
    );
    service.tap(&fourth).await;
    assert_eq!(newest(&service).await, [4, 2, 1]);

    // An interrupted read may have raised the counter, too.
    read();
    note(&service, json!({"url": read(), "torn": 1})).await;
    service.tap(&read()).await;
    assert_eq!(newest(&service).await, [7, 6, 0]);

    // A copied URL, a URL that verifies nothing and an unknown URL are no reads of the inlay.
    let other = json!({"uid": "04AABBCCDDEEFF", "technology": "ntag213"});
    note(&service, json!({"url": read(), "chip": other})).await;
    note(&service, json!({"url": first})).await;
    note(&service, json!({"url": "https://else.example/"})).await;
    service.tap(&read()).await;
    assert_eq!(newest(&service).await, [9, 7, 1]);

    service.advance(1);
    let stats = service.admin_get("/stats").await;
    assert_eq!(stats["attention"]["counter_gaps"], 2);
    let missed = service.admin_get("/interactions?missed_reads=true").await;
    assert_eq!(missed["items"].as_array().unwrap().len(), 2);
}
