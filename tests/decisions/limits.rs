//! Rate limits: only refused requests count against a client, and taps never do.

use serde_json::{Value, json};
use tapdesk_service::settings::parse_network;
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answer, Answering as _, Options, TestService};

/// Makes as many refused requests as are allowed per minute.
async fn use_up(service: &TestService) {
    for _ in 0..60 {
        let refused = service.payload_answer("invalid").await;
        assert_eq!((refused.status, refused.body.as_str()), (200, "[]"));
    }
}

#[track_caller]
fn assert_limited(answer: &Answer) {
    assert_eq!(answer.status, 429, "{}", answer.body);
    let seconds = answer.header("retry-after").map(str::parse::<u64>);
    assert!(matches!(seconds, Some(Ok(1..=60))), "{seconds:?}");
}

/// A call of the admin API with a wrong token.
async fn wrong_token(service: &TestService) -> Answer {
    let request = service.get("/admin/v1/tags/1").bearer_auth("wrong");
    request.answer().await
}

#[tokio::test]
async fn the_61st_refusal_in_a_minute_is_429_with_the_body_of_its_operation() {
    let service = TestService::start().await;
    use_up(&service).await;
    let payload = service.payload_answer("invalid").await;
    assert_limited(&payload);
    assert_eq!(payload.body, "[]");
    for _ in 0..30 {
        let invalid = service.update("invalid", json!({"a": "b"})).await;
        assert_eq!(invalid.status, 400);
        assert_eq!(service.update_record(&json!({})).await.status, 400);
        assert_eq!(wrong_token(&service).await.status, 401);
        assert_eq!(wrong_token(&service).await.status, 401);
    }
    let invalid = service.update("invalid", json!({"a": "b"})).await;
    assert_limited(&invalid);
    assert_eq!(invalid.json()["error"], json!(true));
    assert!(invalid.json()["message"].is_string());
    let malformed = service.update_record(&json!({})).await;
    assert_limited(&malformed);
    let admin = wrong_token(&service).await;
    assert_limited(&admin);
    assert_eq!(
        admin.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(admin.json()["status"], json!(429));
}

/// Many clients may share one address. One that guesses tokens must not change another's response
/// to an expired key.
#[tokio::test]
async fn payload_update_and_admin_refusals_of_an_address_are_counted_apart() {
    let service = TestService::start_with(|options| options.settings.rate_limit = Some(1)).await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": []});
    let page = service.experience(page).await;
    let tag = service.tag(json!({"name": "Bottle", "experience_id": page}));
    let tag = tag.await;
    assert_eq!(wrong_token(&service).await.status, 401);
    assert_limited(&wrong_token(&service).await);
    assert_eq!(service.payload_answer("invalid").await.status, 200);
    assert_limited(&service.payload_answer("invalid").await);
    let refused = service.update("invalid", json!({"a": "b"})).await;
    assert_eq!(refused.status, 400, "the first refused update");
    assert_limited(&service.update("invalid", json!({"a": "b"})).await);
    // A form without JavaScript counts as an update.
    let form = service.post_form(&tag.path(), &[("rolling_key", "invalid")]);
    assert_limited(&form.answer().await);
}

#[tokio::test]
async fn valid_calls_are_always_served() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    use_up(&service).await;
    assert_limited(&service.payload_answer("invalid").await);
    for _ in 0..3 {
        let tap = service.tap(&inlay.url(&tag)).await;
        assert!(service.payload(tap.key()).await.is_object());
        service
            .update(tap.key(), json!({"registered": "true"}))
            .await
            .expect(200);
    }
    service.admin_get(&tag.admin_path()).await;
}

#[tokio::test]
async fn valid_calls_do_not_count() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let rk = base64(service.tap(&tag.path()).await.key());
    for _ in 0..100 {
        assert!(service.payload_answer(&rk).await.json().is_object());
    }
    use_up(&service).await;
}

#[tokio::test]
async fn taps_are_never_limited_however_they_end() {
    let service = TestService::start().await;
    let (tag, _) = service.bottle().await;
    for _ in 0..100 {
        let tap = service.tap(&format!("{}?uid=0&token=0", tag.path())).await;
        assert_eq!(tap.status, 302);
        assert_eq!(service.tap("/t/unknown-slug").await.status, 404);
    }
    use_up(&service).await;
}

#[tokio::test]
async fn a_minute_later_a_client_is_refused_in_the_usual_way() {
    let service = TestService::start().await;
    use_up(&service).await;
    assert_limited(&service.payload_answer("invalid").await);
    service.advance(60_000);
    use_up(&service).await;
    assert_limited(&service.payload_answer("invalid").await);
}

#[tokio::test]
async fn the_limit_is_a_setting() {
    let service = TestService::start_with(|options| options.settings.rate_limit = Some(3)).await;
    for _ in 0..3 {
        assert_eq!(service.payload_answer("invalid").await.status, 200);
    }
    assert_limited(&service.payload_answer("invalid").await);
    let service = TestService::start_with(|options| options.settings.rate_limit = None).await;
    for _ in 0..100 {
        assert_eq!(service.payload_answer("invalid").await.status, 200);
    }
}

#[tokio::test]
async fn a_forwarded_address_does_not_tell_clients_apart_by_itself() {
    let service = TestService::start().await;
    for i in 0..60 {
        refused_for(&service, &format!("203.0.113.{i}")).await;
    }
    assert_limited(&refused_for(&service, "203.0.113.200").await);
}

/// A refused call that claims to be forwarded for `addresses`.
async fn refused_for(service: &TestService, addresses: &str) -> Answer {
    service
        .get("/v2/interactions/rk_payload?rk=invalid")
        .header("x-forwarded-for", addresses)
        .answer()
        .await
}

fn behind_a_proxy(options: &mut Options) {
    let networks = ["127.0.0.1", "10.0.0.0/8"];
    options.settings.trusted_proxies = networks
        .iter()
        .map(|network| parse_network(network).expect("a network"))
        .collect();
    options.settings.rate_limit = Some(1);
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_forwarded_address_is_the_client() {
    let service = TestService::start_with(behind_a_proxy).await;
    assert_eq!(refused_for(&service, "203.0.113.1").await.status, 200);
    assert_eq!(refused_for(&service, "203.0.113.2").await.status, 200);
    assert_limited(&refused_for(&service, "203.0.113.1").await);
}

#[tokio::test]
async fn what_stands_left_of_the_last_strange_address_was_written_by_strangers() {
    let service = TestService::start_with(behind_a_proxy).await;
    assert_eq!(refused_for(&service, "203.0.113.1").await.status, 200);
    for addresses in [
        "198.51.100.1, 203.0.113.1",
        "198.51.100.2,203.0.113.1, 10.1.2.3",
        "garbage, 203.0.113.1",
    ] {
        assert_limited(&refused_for(&service, addresses).await);
    }
}

#[tokio::test]
async fn ipv6_clients_are_told_apart_by_their_64() {
    let service = TestService::start_with(behind_a_proxy).await;
    assert_eq!(refused_for(&service, "2001:db8:1:1::1").await.status, 200);
    assert_eq!(refused_for(&service, "2001:db8:1:2::1").await.status, 200);
    assert_limited(&refused_for(&service, "2001:db8:1:1:ffff::9").await);
}

#[tokio::test]
async fn a_forwarded_address_is_read_in_every_form_that_proxies_write() {
    for (forms, other) in [
        (
            [
                "203.0.113.1",
                "203.0.113.1:49152",
                "\"203.0.113.1:49153\"",
                "for=203.0.113.1;proto=https",
            ],
            "203.0.113.2:49152",
        ),
        (
            [
                "2001:db8:1:1::1",
                "[2001:db8:1:1::2]:49152",
                "\"[2001:db8:1:1::3]\"",
                "for=\"[2001:db8:1:1::4]:1\"",
            ],
            "[2001:db8:1:2::1]:49152",
        ),
    ] {
        let service = TestService::start_with(behind_a_proxy).await;
        let [first, same @ ..] = forms;
        assert_eq!(refused_for(&service, first).await.status, 200);
        for form in same {
            assert_limited(&refused_for(&service, form).await);
            assert_limited(
                &refused_for(&service, &format!("198.51.100.9, {form}, 10.1.2.3:80")).await,
            );
        }
        assert_eq!(refused_for(&service, other).await.status, 200, "{other}");
    }
}

#[tokio::test]
async fn what_strangers_write_before_a_proxy_hides_no_address() {
    let service = TestService::start_with(behind_a_proxy).await;
    let forwarded = async |value: &[u8]| {
        let value = reqwest::header::HeaderValue::from_bytes(value).expect("a header's value");
        let request = service.get("/v2/interactions/rk_payload?rk=invalid");
        request.header("x-forwarded-for", value).answer().await
    };
    assert_eq!(forwarded(b"203.0.113.1").await.status, 200);
    assert_eq!(forwarded(b"\xff\xfe, 203.0.113.2").await.status, 200);
    assert_limited(&forwarded(b"\xff\xfe, 203.0.113.1:80").await);
}
