//! Many owners' servers use one rolling key, or change one variable, at the same time.

use serde_json::{Value, json};
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answering as _, TestService, at_once, length};

use super::{payload, tap, update};

const INVALID: &str = r#"{"error": true, "message": "Invalid rolling key"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_1000_tasks_consuming_one_key_exactly_one_succeeds() {
    // Without a rate limit, so that each refused request gets its own status, and not 429.
    let service = TestService::start_with(|options| options.settings.rate_limit = None).await;
    let tag = service.redirecting_tag(Value::Null).await;
    for _ in 0..length(1, 10) {
        let tap = service.tap(&tag.path()).await;
        let rk = tap.key();
        let client = &service.another();
        let answers = at_once(1_000, |i| {
            let (client, rk) = (client.clone(), rk.to_owned());
            async move {
                let data = json!({"registered": i.to_string()});
                update(&client, &rk, data).await
            }
        })
        .await;
        let winners: Vec<_> = (0..1_000).filter(|i| answers[*i].status == 200).collect();
        let [winner] = winners[..] else {
            panic!("{} updates succeeded", winners.len());
        };
        let losers = answers
            .iter()
            .filter(|answer| answer.status == 400 && answer.body == INVALID);
        assert_eq!(losers.count(), 999);
        let value = service.variable(&tag, "registered").await;
        assert_eq!(value, Some(winner.to_string()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_request_sent_many_times_at_once_with_an_idempotency_key_is_one_update() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let record = json!({"rolling_key": base64(tap.key()), "data": {"registered": "true"}});
    let client = &service.another();
    let statuses = at_once(length(100, 1_000), |_| {
        let request = client.post("/v2/interactions/data");
        let request = request.header("idempotency-key", "once").json(&record);
        async move { request.answer().await.status }
    })
    .await;
    assert!(statuses.iter().all(|status| *status == 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_1000_updates_of_one_variable_with_different_keys_all_succeed_and_one_is_last() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let client = &service.another();
    let answers = at_once(1_000, |i| {
        let (client, path) = (client.clone(), tag.path());
        async move {
            let tap = tap(&client, &path).await;
            let data = json!({"registered": i.to_string()});
            update(&client, tap.key(), data).await
        }
    })
    .await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    let value = service.variable(&tag, "registered").await.expect("a value");
    assert!(value.parse::<usize>().is_ok_and(|i| i < 1_000), "{value}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_that_are_updated_together_stay_together() {
    let service = TestService::start().await;
    let tag = service
        .redirecting_tag(json!({"variables": {"a": "", "b": ""}}))
        .await;
    let client = &service.another();
    at_once(length(300, 3_000), |i| {
        let (client, path) = (client.clone(), tag.path());
        async move {
            let tap = tap(&client, &path).await;
            let data = json!({"a": i.to_string(), "b": i.to_string()});
            update(&client, tap.key(), data).await.expect(200);
        }
    })
    .await;
    let tag = service.admin_get(&tag.admin_path()).await;
    assert_eq!(tag["variables"]["a"], tag["variables"]["b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_keys_of_many_taps_at_once_are_different_and_valid() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let client = &service.another();
    let mut keys = at_once(length(500, 5_000), |_| {
        let (client, path) = (client.clone(), tag.path());
        async move {
            let tap = tap(&client, &path).await;
            let payload = payload(&client, tap.key()).await;
            assert_eq!(payload["rk"], json!(tap.rk));
            payload["interaction_ids"][0].as_i64().expect("an id")
        }
    })
    .await;
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
    assert_eq!(service.scan_count(&tag).await, all as u64);
}
