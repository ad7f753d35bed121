//! Mail servers with TLS: the certificate must fit. No secret of a mail server or a chat comes into the
//! log.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::client::base64;
use tapdesk_tests::{Encryption, MailServer, Receiver, eventually};

use super::certificates::{certificate, config, trusting_launch};

const PASSWORD: &str = "horse-battery-staple";
/// The part of a chat's URL that nobody may know.
const CHAT_PATH: &str = "T0/secret-of-the-chat";

#[tokio::test]
async fn a_mail_server_is_trusted_only_with_a_certificate_that_fits() {
    let (launch, issuer) = trusting_launch();
    let launch = launch.env("TAPDESK_LOG", "trace");
    let service = launch.env("TAPDESK_PRIVATE_WEBHOOKS", "1").start().await;
    for security in ["tls", "starttls"] {
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
            let config = config(certificate);
            let server = MailServer::with(match security {
                "tls" => Encryption::AtOnce(config),
                _ => Encryption::OnRequest(config),
            });
            server.demand_login("anna", PASSWORD);
            // Each way to log in sends the password in another form.
            server.offer_logins(if security == "tls" { "PLAIN" } else { "LOGIN" });
            let settings = json!({
                "host": "localhost", "port": server.port(), "security": security,
                "user": "anna", "password": PASSWORD, "from": "tapdesk@example.com",
            });
            service
                .admin(Method::PUT, "/mail", settings)
                .await
                .expect(200);
            let to = json!({"to": "anna@example.com"});
            let tested = service
                .admin(Method::POST, "/mail/test", to)
                .await
                .expect(200);
            match error {
                None => {
                    assert_eq!(tested["error"], Value::Null, "{security}");
                    let mail = &server.taken()[0];
                    assert!(mail.encrypted, "{security}");
                    assert_eq!(mail.user.as_deref(), Some("anna"));
                }
                Some(words) => {
                    let said = tested["error"].as_str().expect("words");
                    let whole = format!("The TLS certificate of the mail server {words}");
                    assert!(said.starts_with(&whole), "{security}: {said}");
                    assert!(server.taken().is_empty());
                }
            }
        }
    }
    let chat = Receiver::start().await;
    let notification = json!({
        "kind": "alert", "events": ["alert.disk_low"],
        "channel": {"chat": format!("{}/{CHAT_PATH}", chat.url())},
    });
    let created = service.admin_create("/notifications", notification).await;
    let test = format!("/notifications/{}/test", created["id"]);
    let tested = service.admin(Method::POST, &test, Value::Null).await;
    assert_eq!(tested.expect(200)["delivered"], true);
    assert_eq!(chat.received().len(), 1);
    // The log shows what the service does, so a secret would be in it, too.
    let log = eventually("the test of the chat is logged", async || {
        let log = service.launch().log();
        log.contains("/notifications/{id}/test").then_some(log)
    })
    .await;
    for talkative in ["DEBUG", "/mail/test"] {
        assert!(log.contains(talkative), "{talkative} is not in the log");
    }
    let encoded = [base64(&format!("\0anna\0{PASSWORD}")), base64(PASSWORD)];
    let encoded = encoded.each_ref().map(|text| text.trim_end_matches('='));
    for secret in [PASSWORD, CHAT_PATH].into_iter().chain(encoded) {
        assert!(!log.contains(secret), "the log has {secret}");
    }
}
