//! Receivers with an invalid TLS certificate: the log of attempts names the cause.

use std::net::Ipv4Addr;

use reqwest::Method;
use serde_json::{Value, json};

use super::certificates::{certificate, server, trusting_launch};

#[tokio::test]
async fn a_certificate_that_does_not_fit_is_told_in_plain_words() {
    let (launch, issuer) = trusting_launch();
    let service = launch.env("TAPDESK_PRIVATE_WEBHOOKS", "1").start().await;
    for (certificate, error) in [
        (certificate("localhost", 2100, Some(&issuer)), None),
        (
            certificate("localhost", 2100, None),
            Some("is signed by nobody whom this machine trusts"),
        ),
        (
            certificate("another.example", 2100, Some(&issuer)),
            Some("is for another host name"),
        ),
        (
            certificate("localhost", 2021, Some(&issuer)),
            Some("has expired"),
        ),
    ] {
        let port = server(Ipv4Addr::LOCALHOST.into(), certificate);
        let url = format!("https://localhost:{port}/hook");
        let webhook = json!({"url": url, "events": ["tap.verified"]});
        let created = service.admin_create("/webhooks", webhook).await;
        let path = format!("/webhooks/{}", created["id"]);
        let test = format!("{path}/test");
        let tested = service
            .admin(Method::POST, &test, Value::Null)
            .await
            .expect(200);
        let log = service.admin_get(&format!("{path}/attempts")).await;
        let attempt = &log["items"][0];
        assert_eq!(tested["error"], attempt["error"]);
        match error {
            None => assert_eq!(
                (&attempt["status"], &attempt["error"]),
                (&json!(204), &Value::Null)
            ),
            Some(words) => {
                let said = attempt["error"].as_str().expect("words");
                let whole = format!("The TLS certificate of the endpoint {words}");
                assert!(said.starts_with(&whole), "{said}");
                assert!(said.ends_with('.') && !said.contains("localhost"), "{said}");
                assert_eq!(attempt["status"], Value::Null);
            }
        }
    }
}
