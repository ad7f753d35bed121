//! Many visitors open one one-time URL at the same time.

use serde_json::json;
use tapdesk_tests::{TestService, at_once, length};

use super::{payload, tap};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_1000_taps_with_one_url_exactly_one_is_true() {
    let service = TestService::start().await;
    for _ in 0..length(1, 10) {
        let (tag, mut inlay) = service.bottle().await;
        let url = inlay.url(&tag);
        let client = &service.another();
        let verified = at_once(1_000, |_| {
            let (client, url) = (client.clone(), url.clone());
            async move {
                let tap = tap(&client, &url).await;
                assert_eq!(tap.status, 302, "{}", tap.answer.body);
                payload(&client, tap.key()).await["tag_verified"].clone()
            }
        })
        .await;
        let count = |value| verified.iter().filter(|v| **v == value).count();
        assert_eq!((count(json!(true)), count(json!(false))), (1, 999));
        assert_eq!(service.scan_count(&tag).await, 1_000);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_codes_at_once_the_highest_is_true_and_the_counter_ends_there() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    let last: u32 = length(300, 3_000);
    let url = |counter| tag.with(&inlay.code_at(counter));
    let client = &service.another();
    let verified = at_once(last as usize, |i| {
        let url = url(u32::try_from(i).expect("few") + 1);
        let client = client.clone();
        async move {
            let tap = tap(&client, &url).await;
            let payload = payload(&client, tap.key()).await;
            payload["tag_verified"].as_bool().expect("a verdict")
        }
    })
    .await;
    assert_eq!(verified.last(), Some(&true));
    let again = service.tap(&url(last)).await;
    let payload = service.payload(again.key()).await;
    assert_eq!(payload["tag_verified"], json!(false));
    let true_ones = verified.iter().filter(|verified| **verified).count();
    assert_eq!(service.taps("verified").await, true_ones as u64);
}
