//! Pebble, an authority for tests of ACME, with the names that it looks up, and a gate before it: the
//! gate refuses orders, and says when a certificate is to be renewed, which Pebble does not.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use rcgen::CertifiedKey;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::{Value, json};
use tapdesk_service::{Limits, serve_tls};
use tapdesk_tests::{Launch, eventually, free_ports};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// How long Pebble's certificates are valid: as long as those of Let's Encrypt.
const VALID_SECONDS: u64 = 90 * 24 * 60 * 60;

/// A refusal of an order.
#[derive(Clone, Copy)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// Type of the problem, without ACME's prefix.
    pub(super) kind: &'static str,
    pub(super) retry_after: Option<u64>,
}

/// The state of the gate.
#[derive(Default)]
struct Orders {
    /// Orders that Pebble took.
    taken: usize,
    /// The refusals of the next orders.
    refusals: VecDeque<Refusal>,
    /// The certificates of which somebody asked when they are to be renewed, by the path of the question.
    looked_at: HashSet<String>,
    /// Those that are to be renewed now.
    revoked: HashSet<String>,
}

struct Gate {
    pebble: String,
    http: reqwest::Client,
    orders: Mutex<Orders>,
}

/// A process that ends when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The authority. It asks for challenges at [`Self::http_port`].
pub(super) struct Authority {
    gate: Arc<Gate>,
    directory: String,
    names: String,
    /// The port at which it expects the answers to its challenges.
    pub(super) http_port: u16,
    /// TLS that trusts the certificates that it gives out.
    pub(super) issued: Arc<ClientConfig>,
    folder: TempDir,
    _processes: [Process; 2],
}

impl Authority {
    /// Starts it. It knows no name yet.
    pub(super) async fn start() -> Self {
        Self::start_with(None).await
    }

    /// Starts one that makes accounts only for whoever has this id and key.
    pub(super) async fn with_accounts(id: &str, key: &str) -> Self {
        Self::start_with(Some((id, key))).await
    }

    async fn start_with(account: Option<(&str, &str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hosts = ["127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(hosts).unwrap();
        fs::write(folder.path().join("host.pem"), cert.pem()).unwrap();
        fs::write(folder.path().join("host.key"), signing_key.serialize_pem()).unwrap();
        let first = free_ports(6);
        let [acme, management, http_port, tls, dns, names] =
            [0, 1, 2, 3, 4, 5].map(|place| first + place);
        let processes = [
            names_process(dns, names),
            pebble(
                folder.path(),
                [acme, management, http_port, tls],
                dns,
                account,
            ),
        ];
        let http = client(&trusting(&[cert.der().clone()]));
        let root = format!("https://127.0.0.1:{management}/roots/0");
        let root = eventually("Pebble answers", async || {
            let answer = http.get(&root).send().await.ok()?;
            answer.text().await.ok()
        })
        .await;
        let root = CertificateDer::from_pem_slice(root.as_bytes()).unwrap();
        let gate = Arc::new(Gate {
            pebble: format!("https://127.0.0.1:{acme}"),
            http,
            orders: Mutex::default(),
        });
        let port = open(Arc::clone(&gate), folder.path()).await;
        let authority = Self {
            gate,
            directory: format!("https://127.0.0.1:{port}/dir"),
            names: format!("http://127.0.0.1:{names}"),
            http_port,
            issued: trusting(&[root]),
            folder,
            _processes: processes,
        };
        eventually("names are looked up", async || {
            let names = plain_client().get(&authority.names).send().await;
            names.ok().map(drop)
        })
        .await;
        authority
    }

    /// `launch` with certificates of this authority for `domains`, which answers its challenges at
    /// `challenge_port` and serves https at `tls_port`.
    pub(super) fn configured(
        &self,
        launch: Launch,
        domains: &str,
        challenge_port: u16,
        tls_port: u16,
    ) -> Launch {
        launch
            .env("TAPDESK_ACME", domains)
            .env("TAPDESK_ACME_DIRECTORY", &self.directory)
            .env("TAPDESK_ACME_CA", &self.trusted().to_string_lossy())
            .env(
                "TAPDESK_HTTP_LISTEN",
                &format!("127.0.0.1:{challenge_port}"),
            )
            .env("TAPDESK_HTTPS_LISTEN", &format!("127.0.0.1:{tls_port}"))
            .env("TAPDESK_TEST_CLOCK", "1")
    }

    /// The file that verifies its server.
    fn trusted(&self) -> PathBuf {
        self.folder.path().join("host.pem")
    }

    /// Lets a name lead to this machine.
    pub(super) async fn lead(&self, domain: &str) {
        let body = json!({"host": domain, "addresses": ["127.0.0.1"]});
        let url = format!("{}/add-a", self.names);
        let set = plain_client().post(url).body(body.to_string()).send();
        assert!(set.await.unwrap().status().is_success());
    }

    /// Refuses the next order.
    pub(super) fn refuse(&self, refusal: Refusal) {
        self.gate.orders.lock().unwrap().refusals.push_back(refusal);
    }

    /// Revokes the certificates that somebody has asked about. Those that replace them are good: however often
    /// the holder asks, there is one order for each.
    pub(super) fn revoke(&self) {
        let mut orders = self.gate.orders.lock().unwrap();
        let orders = &mut *orders;
        orders.revoked.clone_from(&orders.looked_at);
    }

    /// Whether somebody has asked when a certificate is to be renewed.
    pub(super) fn was_asked(&self) -> bool {
        !self.gate.orders.lock().unwrap().looked_at.is_empty()
    }

    /// How many orders the authority has taken.
    pub(super) fn orders(&self) -> usize {
        self.gate.orders.lock().unwrap().taken
    }
}

/// A resolver with names of its own, and no other.
fn names_process(dns: u16, management: u16) -> Process {
    let process = Command::new("pebble-challtestsrv")
        .args(["-http01", "", "-https01", "", "-tlsalpn01", ""])
        .args(["-defaultIPv4", "", "-defaultIPv6", ""])
        .args(["-dns01", &format!("127.0.0.1:{dns}")])
        .args(["-management", &format!("127.0.0.1:{management}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(process.expect("Pebble's resolver is installed"))
}

fn pebble(
    folder: &Path,
    [acme, management, http, tls]: [u16; 4],
    dns: u16,
    account: Option<(&str, &str)>,
) -> Process {
    let config = json!({"pebble": {
        "listenAddress": format!("127.0.0.1:{acme}"),
        "managementListenAddress": format!("127.0.0.1:{management}"),
        "certificate": folder.join("host.pem"),
        "privateKey": folder.join("host.key"),
        "httpPort": http,
        "tlsPort": tls,
        "ocspResponderURL": "",
        "externalAccountBindingRequired": account.is_some(),
        "externalAccountMACKeys": account.map(|(id, key)| json!({id: key})),
        "certificateValidityPeriod": VALID_SECONDS,
    }});
    let path = folder.join("pebble.json");
    fs::write(&path, config.to_string()).unwrap();
    let process = Command::new("pebble")
        .arg("-config")
        .arg(&path)
        .args(["-dnsserver", &format!("127.0.0.1:{dns}")])
        // It waits up to 15 s before it asks for a challenge otherwise.
        .env("PEBBLE_VA_NOSLEEP", "1")
        // Every second request is refused for its nonce.
        .env("PEBBLE_WFE_NONCEREJECT", "50")
        // Each order needs a new proof.
        .env("PEBBLE_AUTHZREUSE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(process.expect("Pebble is installed"))
}

/// TLS that trusts these certificates.
fn trusting(trusted: &[CertificateDer<'static>]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in trusted {
        roots.add(certificate.clone()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    // A resumed session has the certificate of its first handshake.
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

fn client(tls: &Arc<ClientConfig>) -> reqwest::Client {
    let client = reqwest::Client::builder().no_proxy();
    let client = client.tls_backend_preconfigured(ClientConfig::clone(tls));
    client.build().unwrap()
}

/// A client without TLS, which still has to have some.
fn plain_client() -> reqwest::Client {
    client(&trusting(&[]))
}

/// Opens the gate, and returns its port.
async fn open(gate: Arc<Gate>, folder: &Path) -> u16 {
    let certificate = CertificateDer::from_pem_file(folder.join("host.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("host.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new().fallback(pass).with_state(gate);
    let served = serve_tls(
        listener,
        Arc::new(tls),
        router,
        Limits::default(),
        std::future::pending(),
    );
    tokio::spawn(served);
    port
}

async fn pass(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if path.starts_with("/renewal-info/") {
        let mut orders = gate.orders.lock().unwrap();
        let is_revoked = orders.revoked.contains(&path);
        orders.looked_at.insert(path);
        return renewal_info(is_revoked);
    }
    let is_order = path == "/order-plz";
    if is_order {
        let refusal = gate.orders.lock().unwrap().refusals.pop_front();
        if let Some(refusal) = refusal {
            return refused(refusal);
        }
    }
    let host = request.headers()["host"].to_str().unwrap().to_owned();
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let url = format!("{}{}", gate.pebble, parts.uri);
    let passed = gate.http.request(parts.method, url);
    // With the gate's host, so that Pebble's URLs lead here.
    let passed = passed.headers(without_length(parts.headers)).body(body);
    let answer = passed.send().await.unwrap();
    let (status, headers) = (answer.status(), without_length(answer.headers().clone()));
    if is_order && status == StatusCode::CREATED {
        gate.orders.lock().unwrap().taken += 1;
    }
    let mut bytes = answer.bytes().await.unwrap().to_vec();
    if path == "/dir" {
        let mut directory: Value = serde_json::from_slice(&bytes).unwrap();
        directory["renewalInfo"] = json!(format!("https://{host}/renewal-info"));
        bytes = directory.to_string().into_bytes();
    }
    (status, headers, Body::from(bytes)).into_response()
}

fn without_length(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(CONTENT_LENGTH);
    headers.remove(TRANSFER_ENCODING);
    headers
}

/// A period that has passed, or one that is far away.
fn renewal_info(now: bool) -> Response {
    let year = if now { 2020 } else { 2100 };
    let window = json!({"suggestedWindow": {
        "start": format!("{year}-01-01T00:00:00Z"), "end": format!("{year}-01-02T00:00:00Z"),
    }});
    ([(RETRY_AFTER, "21600")], axum::Json(window)).into_response()
}

fn refused(refusal: Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap();
    let problem = json!({
        "type": format!("urn:ietf:params:acme:error:{}", refusal.kind),
        "detail": "refused by the gate", "status": refusal.status,
    });
    let kind = [(CONTENT_TYPE, "application/problem+json")];
    let mut answer = (status, kind, problem.to_string()).into_response();
    if let Some(seconds) = refusal.retry_after {
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    answer
}
