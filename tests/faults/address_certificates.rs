//! Tag addresses with an invalid TLS certificate: the check names the cause.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::{network_address, skip, within_attempts};

use super::certificates::{certificate, server, trusting_launch};

#[tokio::test]
async fn the_check_of_an_address_names_the_fault_of_its_certificate() {
    // The check does not open addresses of this computer.
    let Some(here) = network_address() else {
        return skip("this machine has no address on a network");
    };
    let (launch, issuer) = trusting_launch();
    let service = launch.start().await;
    let host = here.to_string();
    for (certificate, reason, detail) in [
        (
            certificate(&host, 2021, Some(&issuer)),
            "tls",
            "The TLS certificate of the server at this address has expired. Renew it there.",
        ),
        (
            certificate("another.example", 2100, Some(&issuer)),
            "tls",
            "The TLS certificate of the server at this address is for another host name.",
        ),
        (
            certificate(&host, 2100, None),
            "tls",
            "The TLS certificate of the server at this address is signed by nobody whom this machine trusts:",
        ),
        // A valid certificate, but the server is not this service.
        (
            certificate(&host, 2100, Some(&issuer)),
            "other_server",
            "Another server answers at https://",
        ),
    ] {
        let tag_url = format!("https://{here}:{}/t", server(here, certificate));
        let body = json!({"tag_url": tag_url});
        // On a busy machine, an answer may come too late.
        let checked = within_attempts(5, async || {
            let answer = service.admin(Method::POST, "/tag-url/check", body.clone());
            let checked = answer.await.expect(200);
            if checked["reason"] == "timeout" {
                Err(checked)
            } else {
                Ok(checked)
            }
        })
        .await;
        assert_eq!(checked["state"], "failed", "{checked}");
        assert_eq!(checked["reason"], reason, "{checked}");
        let said = checked["detail"].as_str().expect("words");
        assert!(said.starts_with(detail), "{said}");
    }
}
