//! `/admin/v1/tag-url`: the address in chips' URLs is completed, opened and proved.

mod carried;
mod gate;
mod visits;

use std::net::TcpListener;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::Exposure;
use tapdesk_service::clock::Stopwatch;
use tapdesk_tests::{Client, TestService, network_address, skip};

/// A service, and a client that reaches it like a phone.
async fn on_network() -> Option<(TestService, Client)> {
    let mut service = TestService::start().await;
    let network = service.listen_on_network(Exposure::PublicOnly);
    if network.is_none() {
        skip("this machine has no address on a network");
    }
    network.map(|network| (service, network))
}

async fn check(service: &TestService, tag_url: &str) -> Value {
    let body = json!({"tag_url": tag_url});
    let watch = Stopwatch::start();
    let answer = service.admin(Method::POST, "/tag-url/check", body).await;
    assert!(watch.elapsed() < Duration::from_secs(20), "{tag_url}");
    answer.expect(200)
}

async fn check_of_setting(service: &TestService) -> Value {
    service.admin_get("/settings").await["tag_url"]["check"].clone()
}

#[tokio::test]
async fn an_address_is_completed_before_it_is_checked_and_shown_without_being_opened() {
    let service = TestService::start().await;
    for (typed, whole) in [
        ("192.0.2.2:8787", "http://192.0.2.2:8787/t"),
        ("tags.example.com", "https://tags.example.com/t"),
        ("tags.example.com/x/", "https://tags.example.com/x"),
    ] {
        let shown = service
            .admin_get(&format!("/tag-url?tag_url={typed}"))
            .await;
        assert_eq!(shown["tag_url"], whole);
        assert_eq!(shown["in_force"], false);
        assert_eq!(shown["check"], Value::Null);
        assert_eq!(
            shown["phone_url"],
            Value::Null,
            "whoever may read could prove any address with it"
        );
    }
    let own = service.admin_get("/tag-url").await;
    let expected = json!({
        "tag_url": format!("{}/t", service.base()), "in_force": true, "check": null, "phone_url": null,
    });
    assert_eq!(
        own, expected,
        "no phone can open an address of this computer"
    );
    for (path, method, body) in [
        ("/tag-url?tag_url=my%20shop", Method::GET, Value::Null),
        (
            "/tag-url/check",
            Method::POST,
            json!({"tag_url": "ftp://tags.example"}),
        ),
        ("/tag-url/check", Method::POST, json!({"tag_url": ""})),
    ] {
        let refused = service.admin(method, path, body).await.expect(422);
        assert_eq!(refused["errors"][0]["field"], "tag_url", "{path}");
    }
    let unknown = json!({"tag_url": "tags.example.com", "follow": true});
    let refused = service.admin(Method::POST, "/tag-url/check", unknown).await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "follow");
}

#[tokio::test]
async fn an_address_of_the_own_computer_is_named_without_being_opened() {
    let service = TestService::start().await;
    // Without a body, the setting itself is checked.
    let answer = service
        .admin(Method::POST, "/tag-url/check", Value::Null)
        .await;
    let own = answer.expect(200);
    assert_eq!(
        (&own["state"], &own["reason"]),
        (&json!("failed"), &json!("loopback"))
    );
    assert_eq!(own["tag_url"], format!("{}/t", service.base()));
    let mut names: Vec<_> = own.as_object().unwrap().keys().cloned().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["checked_at", "detail", "reason", "state", "tag_url"]
    );
    assert_eq!(check_of_setting(&service).await, own);
    for typed in ["localhost:8787", "[::1]", "0.0.0.0:80"] {
        assert_eq!(
            check(&service, typed).await["reason"],
            "loopback",
            "{typed}"
        );
    }
}

#[tokio::test]
async fn a_name_without_an_address_is_told() {
    let service = TestService::start().await;
    let reported = check(&service, "tags.tapdesk.invalid").await;
    assert_eq!(reported["tag_url"], "https://tags.tapdesk.invalid/t");
    assert_eq!(
        (&reported["state"], &reported["reason"]),
        (&json!("failed"), &json!("dns"))
    );
}

#[tokio::test]
async fn an_address_that_leads_here_is_proved_and_its_proof_is_the_settings_once_it_is_one() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let proved = check(&service, network.authority()).await;
    let tag_url = format!("{}/t", network.base());
    assert_eq!(proved["tag_url"], tag_url);
    assert_eq!(
        (&proved["state"], &proved["reason"]),
        (&json!("proved"), &Value::Null),
        "{proved}"
    );
    assert_eq!(
        check_of_setting(&service).await,
        Value::Null,
        "it is of another address"
    );
    service
        .admin_patch("/settings", json!({"tag_url": tag_url}))
        .await;
    assert_eq!(check_of_setting(&service).await, proved);
    let service = service.restart(0).await;
    assert_eq!(check_of_setting(&service).await, proved);
    let moved = json!({"tag_url": "https://tags.example/t"});
    let moved = service.admin_patch("/settings", moved).await;
    assert_eq!(moved["tag_url"]["check"], Value::Null);
    // After the restart nothing listens at this address.
    let failed = check(&service, &tag_url).await;
    assert_eq!(failed["reason"], "refused", "{failed}");
}

#[tokio::test]
async fn each_wrong_address_has_its_reason_and_nothing_is_told_of_another_server() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let mut other = TestService::start().await;
    let other = other.listen_on_network(Exposure::WithAdmin).unwrap();
    let own = network_address().unwrap();
    let free = TcpListener::bind((own, 0)).unwrap().local_addr().unwrap();
    let no_tls = format!("https://{}", network.authority());
    let shop = format!("{}/shop", network.authority());
    for (typed, reason) in [
        (free.to_string(), "refused"),
        (no_tls, "tls"),
        (other.authority().to_owned(), "other_server"),
        (shop, "path"),
    ] {
        let reported = check(&service, &typed).await;
        assert_eq!(
            (&reported["state"], &reported["reason"]),
            (&json!("failed"), &json!(reason)),
            "{reported}"
        );
        let detail = reported["detail"].as_str().unwrap();
        assert!(!detail.contains("leads nowhere"), "{detail}");
        if reason == "path" {
            assert!(
                detail.contains(&format!("{}/t", network.base())),
                "{detail}"
            );
        }
    }
}

#[tokio::test]
async fn whoever_may_not_change_settings_looks_and_checks_nothing() {
    let service = TestService::start().await;
    let token = json!({"name": "Desk", "scopes": ["read", "encode"]});
    let token = service.admin_create("/tokens", token).await;
    let desk = Client::new(service.base(), token["token"].as_str().unwrap());
    desk.admin_get("/tag-url").await;
    let refused = desk.admin(Method::POST, "/tag-url/check", json!({})).await;
    assert_eq!(refused.expect(403)["scope"], "admin");
}
