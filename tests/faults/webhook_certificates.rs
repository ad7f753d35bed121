//! Receivers whose TLS certificate does not fit: the log of attempts says what is wrong with it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use reqwest::Method;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use serde_json::{Value, json};

use super::launch;

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// An authority that the service trusts.
fn authority() -> (Issuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = named("Authority of a test");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("it signs itself");
    (Issuer::new(params, key), certificate.pem())
}

/// A certificate with its key.
struct Certified(CertificateDer<'static>, PrivateKeyDer<'static>);

/// A certificate for `name`, signed by the authority or by itself. `until` is the year at whose
/// beginning it ends.
fn certificate(name: &str, until: i32, by: Option<&Issuer<'static, KeyPair>>) -> Certified {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    params.distinguished_name = named("Receiver of a test");
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().expect("a key");
    let signed = match by {
        Some(issuer) => params.signed_by(&key, issuer),
        None => params.self_signed(&key),
    };
    let der = signed.expect("it is signed").der().clone();
    Certified(der, PrivatePkcs8KeyDer::from(key.serialize_der()).into())
}

/// A receiver that answers 204 to whoever takes its certificate; its URL.
fn receiver(Certified(certificate, key): Certified) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate with its key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else {
                continue;
            };
            let mut tls = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut stream = Stream::new(&mut tls, &mut connection);
            let mut request = [0; 4096];
            // Who refuses the certificate sends nothing.
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(answer);
            }
        }
    });
    format!("https://localhost:{port}/hook")
}

#[tokio::test]
async fn a_certificate_that_does_not_fit_is_told_in_plain_words() {
    let (issuer, pem) = authority();
    let mut launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let trusted = launch.folder.path().join("trusted.pem");
    std::fs::write(&trusted, pem).expect("the file can be written");
    // What the system trusts, on Linux.
    launch = launch.env("SSL_CERT_FILE", &trusted.to_string_lossy());
    let service = launch.start().await;
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
        let webhook = json!({"url": receiver(certificate), "events": ["tap.verified"]});
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
