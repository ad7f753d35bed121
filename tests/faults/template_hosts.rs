//! The example configurations of proxies with TLS before one service, on the loopback address: the
//! files of `service/deploy/template-hosts` and `service/deploy/one-server`.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use rcgen::{CertifiedKey, KeyPair};
use serde_json::json;
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_tests::{ServiceProcess, eventually, free_port};
use tempfile::TempDir;

use crate::faults::launch;

const HOST: &str = "tags.example.com";
/// Starts a proxy with an example.
type Start = fn(&str, &ServiceProcess, u16, &Path) -> Proxy;
/// Each proxy with its example for the hosts of URL templates.
const OF_TEMPLATES: [(Start, &str); 3] = [
    (
        nginx,
        include_str!("../../service/deploy/template-hosts/nginx.conf"),
    ),
    (
        haproxy,
        include_str!("../../service/deploy/template-hosts/haproxy.cfg"),
    ),
    (
        caddy,
        include_str!("../../service/deploy/template-hosts/Caddyfile"),
    ),
];
/// The same for the host of the tag URL.
const OF_ONE_SERVER: [(Start, &str); 3] = [
    (
        nginx,
        include_str!("../../service/deploy/one-server/nginx.conf"),
    ),
    (
        haproxy,
        include_str!("../../service/deploy/one-server/haproxy.cfg"),
    ),
    (
        caddy,
        include_str!("../../service/deploy/one-server/Caddyfile"),
    ),
];

/// Paths that no proxy hands on.
const OF_ADMINISTRATION: [&str; 6] = [
    "/admin/v1/tags",
    "/docs",
    "/docs/README.md",
    "/llms.txt",
    "/metrics",
    "/openapi.json",
];

/// A running proxy, which is stopped when this is dropped.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes an example with the places changed that its owner changes, and no others.
fn changed(example: &str, places: &[(&str, String)], path: &Path) {
    let mut config = example.to_owned();
    for (theirs, ours) in places {
        // The comments name these places, too.
        let is_comment = |line: &&str| line.trim_start().starts_with('#');
        let lines = config.lines().filter(|line| !is_comment(line));
        assert_eq!(
            lines.filter(|line| line.contains(theirs)).count(),
            1,
            "{theirs}"
        );
        config = config.replace(theirs, ours);
    }
    std::fs::write(path, config).unwrap();
}

fn nginx(example: &str, service: &ServiceProcess, port: u16, folder: &Path) -> Proxy {
    let at = |name: &str| folder.join(name).display().to_string();
    let path = folder.join("nginx.conf");
    let places = [
        ("listen 443 ssl", format!("listen 127.0.0.1:{port} ssl")),
        ("/etc/ssl/tags.example.com.pem", at("host.pem")),
        ("/etc/ssl/tags.example.com.key", at("host.key")),
        ("127.0.0.1:8787", service.authority().to_owned()),
        // A folder that a test may write to.
        (
            "http {",
            "http { access_log off; client_body_temp_path body; proxy_temp_path proxy; \
             fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;"
                .to_owned(),
        ),
    ];
    changed(example, &places, &path);
    let process = Command::new("/usr/sbin/nginx")
        .arg("-p")
        .arg(folder)
        .arg("-c")
        .arg(&path)
        .args(["-e", "stderr", "-g"])
        .arg("daemon off; master_process off; pid nginx.pid;")
        .stdout(Stdio::null())
        .spawn();
    Proxy(process.expect("nginx is installed"))
}

fn haproxy(example: &str, service: &ServiceProcess, port: u16, folder: &Path) -> Proxy {
    let both = folder.join("both.pem");
    let of_file = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    std::fs::write(&both, of_file("host.pem") + &of_file("host.key")).unwrap();
    let path = folder.join("haproxy.cfg");
    let places = [
        (
            ":443 ssl crt /etc/haproxy/tags.example.com.pem",
            format!("127.0.0.1:{port} ssl crt {}", both.display()),
        ),
        ("127.0.0.1:8787", service.authority().to_owned()),
    ];
    changed(example, &places, &path);
    let process = Command::new("/usr/sbin/haproxy")
        .args(["-db", "-f"])
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Proxy(process.expect("haproxy is installed"))
}

fn caddy(example: &str, service: &ServiceProcess, port: u16, folder: &Path) -> Proxy {
    let path = folder.join("Caddyfile");
    let at = |name: &str| folder.join(name).display().to_string();
    let places = [
        // The certificate and port of the test.
        (
            "tags.example.com {",
            format!(
                "{{\n\tadmin off\n\tauto_https off\n}}\n{HOST}:{port} {{\n\tbind 127.0.0.1\n\ttls {} {}",
                at("host.pem"),
                at("host.key")
            ),
        ),
        ("127.0.0.1:8787", service.authority().to_owned()),
    ];
    changed(example, &places, &path);
    let process = Command::new("caddy")
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(&path)
        // The proxy stores its state there.
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder)
        .env("XDG_CONFIG_HOME", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Proxy(process.expect("Caddy is installed"))
}

/// The head of a response at the host, over TLS; empty if there is none.
async fn get(folder: &Path, port: u16, path: &str) -> String {
    ask(folder, port, path, &[]).await
}

/// The same for a request with these options of curl.
async fn ask(folder: &Path, port: u16, path: &str, options: &[&str]) -> String {
    let output = tokio::process::Command::new("curl")
        .args([
            "--silent",
            "--http1.1",
            "--max-time",
            "180",
            "--output",
            "/dev/null",
        ])
        .args(["--dump-header", "-", "--noproxy", "*", "--cacert"])
        .arg(folder.join("host.pem"))
        .args(["--resolve", &format!("{HOST}:{port}:127.0.0.1")])
        .args(options)
        .arg(format!("https://{HOST}:{port}{path}"))
        .output()
        .await
        .expect("curl is installed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder with a certificate for the host, and its key.
fn with_certificate() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let names = [HOST.to_owned()];
    let certificate: CertifiedKey<KeyPair> = rcgen::generate_simple_self_signed(names).unwrap();
    let CertifiedKey { cert, signing_key } = certificate;
    std::fs::write(folder.path().join("host.pem"), cert.pem()).unwrap();
    std::fs::write(folder.path().join("host.key"), signing_key.serialize_pem()).unwrap();
    folder
}

/// Waits until the proxy hands requests on.
async fn found(folder: &Path, port: u16) {
    eventually("the proxy finds the service", async || {
        let head = get(folder, port, "/nothing-here").await;
        head.contains(" 404").then_some(())
    })
    .await;
}

/// The cookie of a phone that was paired through the proxy.
async fn paired(service: &ServiceProcess, folder: &Path, port: u16) -> String {
    let phone = json!({"name": "Bench", "scopes": ["read"]});
    let phone = service.admin_create("/phones", phone).await;
    let url = phone["pair_url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("https://{HOST}")).unwrap();
    let origin = format!("origin: https://{HOST}:{port}");
    let options = ["--data", "", "--header", origin.as_str()];
    let head = ask(folder, port, path, &options).await;
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let cookie = headers.find(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let (_, cookie) = cookie.unwrap_or_else(|| panic!("no cookie: {head}"));
    assert!(cookie.starts_with("__Host-tapdesk_staff="), "{cookie}");
    assert!(cookie.trim_end().ends_with("; Secure"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn the_examples_bring_the_hosts_of_templates_to_a_service_with_tls() {
    let service = launch()
        .env("TAPDESK_TRUSTED_PROXIES", "127.0.0.1/32")
        .start()
        .await;
    // A template below a path of the service: the proxies' rule ends at `/metrics`.
    let text = format!("https://{HOST}/metrics/v?p={{picc}}&c={{mac}}");
    let key = "11".repeat(16);
    let template = json!({
        "name": "Batch", "template": text, "technology": "ntag424dna", "meta_keys": [key],
    });
    let template = service.admin_create("/url-templates", template).await;
    let tag = service.tag_to("https://owner.example/", json!(null)).await;
    let inlay = json!({
        "uid": "04112233445580", "technology": "ntag424dna", "tag_id": tag.id,
        "url_template_id": template["id"], "meta_key": key, "file_key": "22".repeat(16),
    });
    service.inlay(inlay).await;
    let chip = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
    let keys = InlayKeys::Aes(Keys {
        meta: Some(AesKey::from_bytes([0x11; 16])),
        file: AesKey::from_bytes([0x22; 16]),
    });

    let folder = with_certificate();
    for (counter, (start, example)) in (1..).zip(OF_TEMPLATES) {
        let port = free_port();
        let _proxy = start(example, &service, port, folder.path());
        found(folder.path(), port).await;
        let get = async |path: &str| get(folder.path(), port, path).await;
        let read = Read {
            uid: "04112233445580".parse().unwrap(),
            counter,
            keys: &keys,
            picc: None,
            tamper: "",
            file_data: &[],
            random: [3; 24],
        };
        let url = chip.url(None, &chip.make_code(None, &read).unwrap());
        let path = url.split_once(HOST).unwrap().1;
        let head = get(path).await.to_lowercase();
        assert!(head.lines().next().unwrap().contains(" 302"), "{head}");
        let mut lines = head.lines();
        let cookie = lines.find(|line| line.starts_with("set-cookie: "));
        assert!(cookie.unwrap().ends_with("; secure"), "{head}");
        let newest = service.admin_get("/interactions?limit=1").await;
        assert_eq!(newest["items"][0]["tag_verified"], json!(true));
        // Without the proxy's rule the service would answer 421, or these pages if the host is that
        // of the tag URL.
        for path in OF_ADMINISTRATION {
            let head = get(path).await;
            let is_blocked = head.lines().next().unwrap().contains(" 404");
            assert!(is_blocked, "{path}: {head}: {example}");
        }
    }
}

#[tokio::test]
async fn the_examples_of_one_server_hand_on_taps_and_nothing_for_the_admin_api() {
    let service = launch()
        .env("TAPDESK_TRUSTED_PROXIES", "127.0.0.1/32")
        .env("TAPDESK_TAG_URL", &format!("https://{HOST}/t"))
        .start()
        .await;
    let tag = service.tag_to("https://owner.example/", json!(null)).await;
    let folder = with_certificate();
    for (start, example) in OF_ONE_SERVER {
        let port = free_port();
        let _proxy = start(example, &service, port, folder.path());
        found(folder.path(), port).await;
        let status = async |path: &str| {
            let head = get(folder.path(), port, path).await;
            let line = head.lines().next().unwrap_or_default();
            line.split(' ').nth(1).map(str::to_owned)
        };
        let tap = status(&format!("/t/{}", tag.slug)).await;
        assert_eq!(tap.as_deref(), Some("302"), "{example}");
        let cookie = paired(&service, folder.path(), port).await;
        let cookie = format!("cookie: {cookie}");
        let path = format!("/t/{}", tag.slug);
        let tap = ask(folder.path(), port, &path, &["--header", &cookie]).await;
        let leads = tap.contains(" 303") && tap.contains(": /staff/taps/");
        assert!(leads, "{tap}: {example}");
        // Without the proxy's rule the service would answer these, or ask for a token.
        for path in OF_ADMINISTRATION {
            let answer = status(path).await;
            assert_eq!(answer.as_deref(), Some("404"), "{path}: {example}");
        }
    }
}
