//! Certificates that the service obtains itself, from Pebble, whose nonces fail at random.

mod authority;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::{Client, Method, redirect};
use rustls::{ClientConfig, ClientConnection, Stream};
use serde_json::json;
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_tests::{
    Launch, Receiver, ServiceProcess, TestDatabase, eventually, files_containing, free_port,
};
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::{BINARY, launch};
use authority::{Authority, Refusal};

const DOMAIN: &str = "tags.example.com";
/// The two domains of a service.
const DOMAINS: &str = "tags.example.com,shop.example.com";

/// The certificate that a listener presents for `domain`, which the authority gave out, and the
/// answer; `None` if there is none.
async fn opened(
    authority: &Authority,
    port: u16,
    domain: &'static str,
    path: &str,
) -> Option<(Vec<u8>, String)> {
    let tls = Arc::clone(&authority.issued);
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {domain}\r\nuser-agent: Mozilla/5.0\r\nconnection: close\r\n\r\n"
    );
    let opened = tokio::task::spawn_blocking(move || {
        let mut tls = ClientConnection::new(tls, domain.try_into().unwrap()).unwrap();
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
        let mut stream = Stream::new(&mut tls, &mut socket);
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let certificate = tls.peer_certificates()?.first()?.to_vec();
        Some((certificate, answer.to_lowercase()))
    });
    opened.await.unwrap()
}

/// The certificate that is presented for the domain, once there is one.
async fn certificate(authority: &Authority, port: u16) -> Vec<u8> {
    eventually("there is a certificate", async || {
        Some(opened(authority, port, DOMAIN, "/health").await?.0)
    })
    .await
}

/// Waits for another certificate than `former`.
async fn replaced(authority: &Authority, port: u16, former: &[u8]) -> Vec<u8> {
    eventually("the certificate is replaced", async || {
        let (present, _) = opened(authority, port, DOMAIN, "/health").await?;
        (present != former).then_some(present)
    })
    .await
}

async fn advance(service: &ServiceProcess, span: Millis) -> Timestamp {
    let advance = json!({"advance_ms": span.get()});
    let answer = service.admin(Method::POST, "/clock", advance).await;
    serde_json::from_value(answer.expect(200)["now"].clone()).expect("a time")
}

/// How many attempts have failed.
async fn failures(service: &ServiceProcess) -> u64 {
    let metrics = service.metrics().await;
    let mut lines = metrics.lines();
    let line = lines.find_map(|line| line.strip_prefix("tapdesk_certificate_failures_total "));
    line.expect("it is counted").parse().expect("a number")
}

async fn failed(service: &ServiceProcess, times: u64) {
    eventually("attempts fail", async || {
        (failures(service).await >= times).then_some(())
    })
    .await;
}

/// The report of `doctor`.
async fn doctor(service: &ServiceProcess) -> String {
    let launch = service.launch();
    let report = Command::new(BINARY)
        .args(["doctor", "--database", &launch.database_url().await])
        .envs(launch.environment.iter().cloned())
        .env("TAPDESK_ADMIN_TOKEN", service.admin_token())
        .env("TAPDESK_URL", service.base())
        // A machine without a network waits for no name server.
        .env("RES_OPTIONS", "timeout:1 attempts:1")
        .output()
        .await
        .expect("the binary can be started");
    String::from_utf8_lossy(&report.stdout).into_owned()
}

/// Taps by https that go on until [`Self::end`]: on one connection, and on a new one for each.
struct Taps {
    ended: Arc<AtomicBool>,
    task: JoinHandle<u64>,
}

impl Taps {
    async fn begin(service: &ServiceProcess, authority: &Authority, port: u16) -> Self {
        let tag = service.tag_to("https://owner.example/", json!(null)).await;
        let url = format!("https://{DOMAIN}:{port}/t/{}", tag.slug);
        let clients = [5, 0].map(|idle| tapping_client(&authority.issued, port, idle));
        let ended = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn({
            let ended = Arc::clone(&ended);
            async move {
                // Often enough to come while the certificate is replaced, and the machine has other
                // work, too.
                let mut pace = tokio::time::interval(Duration::from_millis(20));
                let mut taps = 0;
                while !ended.load(Ordering::Relaxed) {
                    pace.tick().await;
                    for client in &clients {
                        let answer = client.get(&url).send().await.expect("a tap is answered");
                        assert_eq!(answer.status(), 302);
                        taps += 1;
                    }
                }
                taps
            }
        });
        Self { ended, task }
    }

    /// Ends them: none has failed.
    async fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        let taps = self.task.await.expect("each tap was answered");
        assert!(taps > 0);
    }
}

fn tapping_client(issued: &Arc<ClientConfig>, port: u16, idle: usize) -> Client {
    Client::builder()
        .no_proxy()
        // Without a name, it would get a preview.
        .user_agent("Mozilla/5.0")
        .redirect(redirect::Policy::none())
        .tls_backend_preconfigured(ClientConfig::clone(issued))
        .resolve(DOMAIN, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .pool_max_idle_per_host(idle)
        .build()
        .unwrap()
}

/// A service with a certificate for the domain, and the port of https.
async fn with_certificate(authority: &Authority) -> (ServiceProcess, u16, Vec<u8>) {
    authority.lead(DOMAIN).await;
    let port = free_port();
    let launch = authority.configured(launch(), DOMAIN, authority.http_port, port);
    let service = launch.start().await;
    let certificate = certificate(authority, port).await;
    (service, port, certificate)
}

#[tokio::test]
async fn a_name_without_an_address_is_told_and_gets_its_certificate_once_it_has_one() {
    let authority = Authority::start().await;
    let port = free_port();
    let launch = authority.configured(launch(), DOMAINS, authority.http_port, port);
    let service = launch.env("TAPDESK_PRIVATE_WEBHOOKS", "1").start().await;
    let receiver = Receiver::start().await;
    let alerts = json!({"url": receiver.url(), "events": ["alert.certificate_failed"]});
    service.admin_create("/webhooks", alerts).await;
    let tag = service.tag_to("https://owner.example/", json!(null)).await;

    // Both domains fail, and the third failure of each raises an alert.
    failed(&service, 2).await;
    assert!(opened(&authority, port, DOMAIN, "/health").await.is_none());
    let report = doctor(&service).await;
    assert!(
        report.contains("FAIL  Certificate  There is none for "),
        "{report}"
    );
    advance(&service, Millis::minutes(2)).await;
    failed(&service, 4).await;
    assert_eq!(receiver.received().len(), 0);
    advance(&service, Millis::minutes(15)).await;
    failed(&service, 6).await;
    let told = receiver.wait_for(2).await[0].json();
    assert_eq!(told["type"], "alert.certificate_failed");
    assert_eq!(told["data"]["valid_until"], json!(null));
    let message = told["data"]["message"].as_str().expect("a sentence");
    assert!(
        message.contains("shop.example.com") || message.contains(DOMAIN),
        "{message}"
    );
    assert_eq!(service.tap(&tag.path()).await.status, 302);

    for domain in [DOMAIN, "shop.example.com"] {
        authority.lead(domain).await;
    }
    advance(&service, Millis::hours(1)).await;
    let first = certificate(&authority, port).await;
    let other = eventually("the other domain has a certificate", async || {
        opened(&authority, port, "shop.example.com", "/health").await
    })
    .await;
    assert_ne!(other.0, first, "each domain has its own");
    let unknown = opened(&authority, port, "other.example.com", "/health").await;
    assert!(unknown.is_none());

    // Visitors get taps at https, and nothing of the owner; http leads them there.
    let path = format!("/t/{}", tag.slug);
    let (_, answer) = opened(&authority, port, DOMAIN, &path).await.unwrap();
    assert!(answer.starts_with("http/1.1 302"), "{answer}");
    assert!(
        answer.contains("\nstrict-transport-security: max-age=31536000\r"),
        "{answer}"
    );
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["tag_url"]["value"], "https://tags.example.com/t");
    let (_, answer) = opened(&authority, port, DOMAIN, "/admin/v1/tags")
        .await
        .unwrap();
    assert!(answer.starts_with("http/1.1 404"), "{answer}");
    at_http(authority.http_port).await;

    let report = doctor(&service).await;
    assert!(
        report.contains("ok    Certificate  the one for shop.example.com is valid until "),
        "{report}"
    );
    let metrics = service.metrics().await;
    let expiry = "\ntapdesk_certificate_expiry_seconds ";
    let (_, expiry) = metrics.split_once(expiry).expect("it is there");
    assert!(!expiry.starts_with('0'), "{metrics}");
}

/// Everything but challenges is led to https, and nothing that has a body.
async fn at_http(port: u16) {
    let client = Client::builder()
        .no_proxy()
        // Without a name, it would get a preview.
        .user_agent("Mozilla/5.0")
        .redirect(redirect::Policy::none())
        .tls_backend_preconfigured(unused_tls())
        .build()
        .unwrap();
    let ask = async |method: Method, host: &str, path: &str| {
        let url = format!("http://127.0.0.1:{port}{path}");
        let request = client.request(method, url).header("host", host);
        let answer = request.send().await.unwrap();
        let location = answer.headers().get("location");
        let location = location.map(|to| to.to_str().unwrap().to_owned());
        (answer.status().as_u16(), location)
    };
    let led = Some("https://tags.example.com/t/a?b=%20c".to_owned());
    for (method, host) in [
        (Method::GET, DOMAIN),
        (Method::HEAD, DOMAIN),
        (Method::GET, "TAGS.example.com:80"),
    ] {
        let answer = ask(method, host, "/t/a?b=%20c").await;
        assert_eq!(answer, (308, led.clone()), "{host}");
    }
    assert_eq!(
        ask(Method::POST, DOMAIN, "/v2/interactions/data").await,
        (405, None)
    );
    assert_eq!(
        ask(Method::GET, "other.example.com", "/").await,
        (404, None)
    );
    for token in ["nothing", "%00", &"a".repeat(200)] {
        let path = format!("/.well-known/acme-challenge/{token}");
        assert_eq!(
            ask(Method::GET, DOMAIN, &path).await,
            (404, None),
            "{token}"
        );
    }
}

fn unused_tls() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

#[tokio::test]
async fn a_renewal_that_is_refused_keeps_the_certificate_and_the_pause_that_was_asked_for() {
    let authority = Authority::start().await;
    let (service, port, first) = with_certificate(&authority).await;
    let taps = Taps::begin(&service, &authority, port).await;
    assert_eq!(authority.orders(), 1);
    authority.refuse(Refusal {
        status: 429,
        kind: "rateLimited",
        retry_after: Some(2 * 60 * 60),
    });
    // After two thirds of 90 days.
    let now = advance(&service, Millis::days(61)).await;
    failed(&service, 1).await;
    let log = eventually("the failure is in the log", async || {
        let log = service.launch().log();
        log.contains("takes no more orders for now").then_some(log)
    })
    .await;
    let next = log
        .rsplit_once("The next attempt is at ")
        .expect("a time")
        .1;
    let next = json!(next.lines().next());
    let next: Timestamp = serde_json::from_value(next).expect("a time");
    assert!(next >= now.plus(Millis::hours(2)), "{next}");
    let report = doctor(&service).await;
    assert!(
        report.contains("warn  Certificate") && report.contains("its renewal failed"),
        "{report}"
    );
    assert_eq!(certificate(&authority, port).await, first);

    // The authority has forgotten the account meanwhile, and a new one is made.
    authority.refuse(Refusal {
        status: 400,
        kind: "accountDoesNotExist",
        retry_after: None,
    });
    advance(&service, Millis::hours(3)).await;
    replaced(&authority, port, &first).await;
    taps.end().await;
    assert!(files_containing(service.folder(), b"PRIVATE KEY").is_empty());
}

#[tokio::test]
async fn a_certificate_that_was_revoked_is_replaced_while_taps_go_on() {
    let authority = Authority::start().await;
    let (service, port, first) = with_certificate(&authority).await;
    let taps = Taps::begin(&service, &authority, port).await;
    // The look after six hours finds nothing to do, and the next one a period that has passed.
    advance(&service, Millis::hours(7)).await;
    eventually("the authority is asked", async || {
        authority.was_asked().then_some(())
    })
    .await;
    assert_eq!(certificate(&authority, port).await, first);
    authority.revoke();
    let second = eventually("the certificate is replaced", async || {
        advance(&service, Millis::hours(7)).await;
        let (present, _) = opened(&authority, port, DOMAIN, "/health").await?;
        (present != first).then_some(present)
    })
    .await;
    taps.end().await;

    assert_eq!(authority.orders(), 2);

    // A restart needs no order.
    let launch = service.launch().clone();
    assert!(service.terminate().await.success());
    let service = launch.start().await;
    assert_eq!(certificate(&authority, port).await, second);
    assert_eq!(authority.orders(), 2);
    assert_eq!(failures(&service).await, 0);
}

#[tokio::test]
async fn after_the_loss_of_the_key_beside_a_sqlite_file_there_is_a_new_certificate() {
    let authority = Authority::start().await;
    let (service, port, first) = with_certificate(&authority).await;
    let launch = service.launch().clone();
    assert!(service.terminate().await.success());
    let key = launch.folder.path().join("inlay.key");
    std::fs::remove_file(key).expect("certificates made the key");
    let service = launch.start().await;
    assert!(opened(&authority, port, DOMAIN, "/health").await.is_none());
    // Not before an hour has passed since the order.
    advance(&service, Millis::hours(2)).await;
    replaced(&authority, port, &first).await;
    assert_eq!(authority.orders(), 2);
}

#[tokio::test]
async fn two_nodes_share_one_certificate_and_either_answers_the_authority() {
    let authority = Authority::start().await;
    let database = TestDatabase::create().await;
    let node = |domain: &str, http_port, https_port| {
        let launch = Launch::on_sqlite(BINARY).on(&database).with_wrapping_key();
        let launch = launch.env("PGPASSWORD", database.password());
        authority.configured(launch, domain, http_port, https_port)
    };
    let ports = [free_port(), free_port()];
    // The authority reaches only this node, which orders nothing for the domain.
    let other = node("other.example.com", authority.http_port, ports[1]);
    let other = other.start().await;
    authority.lead(DOMAIN).await;
    let one = node(DOMAIN, free_port(), ports[0]).start().await;
    let first = certificate(&authority, ports[0]).await;
    let taps = Taps::begin(&one, &authority, ports[0]).await;
    let orders = authority.orders();
    assert!(other.terminate().await.success());
    let other = node(DOMAIN, authority.http_port, ports[1]).start().await;
    assert_eq!(certificate(&authority, ports[1]).await, first);
    assert_eq!(authority.orders(), orders, "it is not ordered again");

    // One of them renews it, and both serve it.
    advance(&other, Millis::days(61)).await;
    let second = replaced(&authority, ports[0], &first).await;
    assert_eq!(replaced(&authority, ports[1], &first).await, second);
    assert_eq!(authority.orders(), orders + 1);
    taps.end().await;
}

#[tokio::test]
async fn a_node_without_the_key_does_not_start_with_certificates_of_its_own() {
    let database = TestDatabase::create().await;
    let launch = Launch::on_sqlite(BINARY).on(&database);
    let launch = launch
        .env("PGPASSWORD", database.password())
        .env("TAPDESK_ACME", DOMAIN)
        .env("TAPDESK_HTTP_LISTEN", "127.0.0.1:0")
        .env("TAPDESK_HTTPS_LISTEN", "127.0.0.1:0");
    let (status, log) = launch.start_in_vain().await;
    assert!(!status.success());
    assert!(log.contains("TAPDESK_KEY_FILE"), "{log}");
}

#[tokio::test]
async fn an_authority_that_binds_accounts_gets_the_id_and_the_key_of_the_operators() {
    let key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
    let authority = Authority::with_accounts("kid-1", key).await;
    authority.lead(DOMAIN).await;
    let port = free_port();
    let launch = authority.configured(launch(), DOMAIN, authority.http_port, port);
    let service = launch.start().await;
    failed(&service, 1).await;
    let report = doctor(&service).await;
    assert!(report.contains("name it with --acme-account"), "{report}");
    let launch = service.launch().clone();
    assert!(service.terminate().await.success());

    let file = launch.folder.path().join("account");
    std::fs::write(&file, format!("kid-1 {key}\n")).unwrap();
    let launch = launch.env("TAPDESK_ACME_ACCOUNT", &file.to_string_lossy());
    let service = launch.start().await;
    advance(&service, Millis::minutes(2)).await;
    certificate(&authority, port).await;
    assert!(!service.launch().log().contains(key));
}
