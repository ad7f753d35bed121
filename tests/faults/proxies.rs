//! Proxies in front of a service, with their usual configuration: `HAProxy` with the example for
//! operators, nginx with its defaults.

use std::process::{Child, Command, Stdio};

use serde_json::json;
use tapdesk_tests::{Client, ServiceProcess, TapResult, TestTag, eventually, free_port};
use tempfile::TempDir;

use crate::faults::launch;
use crate::postgres::balancer::Balancer;

/// Debian installs it in a folder for administrators.
const NGINX: &str = "/usr/sbin/nginx";

/// A running nginx, which is stopped when this is dropped.
struct Nginx {
    process: Child,
    address: String,
    _folder: TempDir,
}

impl Nginx {
    /// In front of `service`, with a minimal configuration: the limits of a head are nginx's
    /// defaults.
    fn start(service: &ServiceProcess) -> Self {
        let address = format!("127.0.0.1:{}", free_port());
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let config = format!(
            "daemon off; master_process off; pid nginx.pid; error_log stderr crit;
             events {{}}
             http {{
                 access_log off;
                 client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                 uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                 server {{
                     listen {address};
                     location / {{
                         proxy_pass http://{};
                         proxy_set_header Host $http_host;
                         proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                     }}
                 }}
             }}",
            service.authority()
        );
        let path = folder.path().join("nginx.conf");
        std::fs::write(&path, config).expect("the configuration can be written");
        let process = Command::new(NGINX)
            .arg("-p")
            .arg(folder.path())
            .arg("-c")
            .arg(&path)
            .args(["-e", "stderr"])
            .stdout(Stdio::null())
            .spawn()
            .expect("nginx is installed");
        Self {
            process,
            address,
            _folder: folder,
        }
    }

    async fn client(&self) -> Client {
        let client = Client::new(format!("http://{}", self.address), "");
        eventually("nginx finds its service", async || {
            let ready = client.get("/ready").send().await.ok()?;
            (ready.status() == 200).then_some(())
        })
        .await;
        client
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A service with the longest cookie, and a tag of the longest slug that leads to `target`.
async fn service_with(target: &str, attributes: serde_json::Value) -> (ServiceProcess, TestTag) {
    let launch = launch()
        .env("TAPDESK_TRUSTED_PROXIES", "127.0.0.1/32")
        .env("TAPDESK_TAG_URL", "https://tags.example/t");
    let service = launch.start().await;
    let more = json!({
        "slug": "a".repeat(64),
        "variables": {"a": "", "b": ""},
        "attributes": attributes,
    });
    let tag = service.tag_to(target, more).await;
    (service, tag)
}

/// The response to a tap through each proxy. The whole head has to pass.
async fn through_proxies(service: &ServiceProcess, tag: &TestTag) -> Vec<TapResult> {
    let balancer = Balancer::start([service, service], "192.0.2.0/24");
    let nginx = Nginx::start(service);
    let mut taps = Vec::new();
    for visitor in [balancer.client("").await, nginx.client().await] {
        let tap = visitor.tap(&tag.path()).await;
        assert_eq!(tap.status, 302, "{:?}", tap.answer);
        let cookie = tap.answer.header("set-cookie").expect("a cookie");
        assert!(cookie.ends_with("; Secure"), "{cookie}");
        assert!(service.payload(tap.key()).await.is_object());
        taps.push(tap);
    }
    taps
}

#[tokio::test]
async fn no_value_of_a_visitor_stops_a_tags_redirect_behind_haproxy_or_nginx() {
    let target = "https://owner.example/{{tag:variable:a}}?b={{tag:variable:b}}";
    let (service, tag) = service_with(target, json!({})).await;
    let long = "/".repeat(4096);
    let fitting = "x".repeat(3400);
    for (a, b) in [(&long, &long), (&fitting, &long), (&fitting, &fitting)] {
        let tap = service.tap(&tag.path()).await;
        let update = service.update(tap.key(), json!({"a": a, "b": b}));
        update.await.expect(200);
        for tap in through_proxies(&service, &tag).await {
            assert!(tap.location.expect("a redirect").len() <= 3584);
        }
    }
}

#[tokio::test]
async fn the_longest_target_passes_haproxy_and_nginx() {
    let longest = format!("https://owner.example/{}", "x".repeat(3584 - 22 - 48));
    let (service, tag) = service_with("{{tag:attribute:url}}", json!({"url": longest})).await;
    for tap in through_proxies(&service, &tag).await {
        assert_eq!(tap.location.expect("a redirect").len(), 3584);
    }
}
