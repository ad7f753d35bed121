//! The receivers of the guide accept what the service signs, and nothing else.

use std::process::Stdio;

use reqwest::Client;
use serde_json::json;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_tests::{PATIENCE, ServiceProcess, eventually, free_port, receiver};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout, Command};

use super::super::run_at;
use super::{chapter, interpreter, programs, with_demo, written};

/// A receiver of the guide, which is killed when this is dropped.
struct Running {
    name: String,
    url: String,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Running {
    async fn start(
        service: &ServiceProcess,
        program: &(String, String),
        port: u16,
        secret: &str,
    ) -> Self {
        let path = written(service, program);
        let [interpreter, arguments @ ..] = interpreter(&program.0) else {
            panic!("{} has no interpreter", program.0)
        };
        let mut command = Command::new(interpreter);
        command.args(arguments);
        let address = format!("127.0.0.1:{port}");
        if *interpreter == "php" {
            command.args(["-S", &address]);
        }
        let mut child = command
            .arg(path)
            .env("WEBHOOK_SECRET", secret)
            .env("PORT", port.to_string())
            // PHP remembers events in files.
            .env("TMPDIR", service.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        eventually("a receiver of the guide", async || {
            TcpStream::connect(&address).await.ok()
        })
        .await;
        Self {
            name: program.0.clone(),
            url: format!("http://{address}/"),
            lines: BufReader::new(stdout).lines(),
            _child: child,
        }
    }

    /// The next line of its output.
    async fn line(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("a line comes in time").expect("text");
        line.expect("it goes on")
    }

    /// Sends a request with these headers. Returns the status.
    async fn sent(&self, [id, time, signature]: [&str; 3], body: &'static str) -> u16 {
        let client = Client::builder().no_proxy().build().expect("a client");
        let request = client
            .post(&self.url)
            .header("webhook-id", id)
            .header("webhook-timestamp", time)
            .header("webhook-signature", signature)
            .body(body);
        let answer = request.send().await;
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        answer.status().as_u16()
    }
}

const BODY: &str = r#"{"type":"webhook.test","data":{"message":"é"}}"#;

/// A receiver accepts signed requests once, and refuses others.
async fn verifies(running: &mut Running, secret: &str) {
    let now = SystemClock::start().now().unix_seconds();
    let other = format!("whsec_{}", "c".repeat(32));
    let sign =
        |secret: &str, id: &str, time: i64| receiver::signature(secret, id, time, BODY.as_bytes());
    let time = now.to_string();
    let good = sign(secret, "evt_1", now);
    for _ in 0..2 {
        let status = running.sent(["evt_1", &time, &good], BODY).await;
        assert_eq!(status, 204, "{}", running.name);
    }
    let rotated = format!(
        "{} {}",
        sign(&other, "evt_2", now),
        sign(secret, "evt_2", now)
    );
    let status = running.sent(["evt_2", &time, &rotated], BODY).await;
    assert_eq!(status, 204, "{}", running.name);

    let old = (now - 600).to_string();
    let late = sign(secret, "evt_3", now - 600);
    let early = (now + 600).to_string();
    let ahead = sign(secret, "evt_3", now + 600);
    let long = "9".repeat(5_000);
    let foreign = sign(&other, "evt_3", now);
    let texts = [&time, &good, &foreign, &old, &late, &early, &ahead, &long];
    let [time, good, foreign, old, late, early, ahead, long] = texts.map(String::as_str);
    for (headers, body) in [
        (["evt_1", time, good], r#"{"type":"tap.verified"}"#),
        (["evt_3", time, good], BODY),
        (["evt_3", time, foreign], BODY),
        (["evt_3", time, ""], BODY),
        (["evt_3", time, "v1,"], BODY),
        (["evt_3", old, late], BODY),
        (["evt_3", early, ahead], BODY),
        (["evt_3", "", good], BODY),
        (["evt_3", "now", good], BODY),
        (["evt_3", long, good], BODY),
    ] {
        let status = running.sent(headers, body).await;
        assert_eq!(status, 400, "{}: {headers:?}", running.name);
    }
    assert_eq!(running.line().await, "webhook.test evt_1");
    assert_eq!(running.line().await, "webhook.test evt_2");
}

#[tokio::test]
async fn each_receiver_of_the_guide_accepts_what_the_service_signs_and_nothing_else() {
    let service = with_demo().await;
    let programs = programs(&chapter("webhooks.md"));
    for language in ["mjs", "py", "php"] {
        let name = format!("receiver.{language}");
        let program = programs.iter().find(|(named, _)| *named == name);
        let program = program.unwrap_or_else(|| panic!("there is no {name}"));
        let port = free_port();
        let hook = json!({
            "url": format!("http://127.0.0.1:{port}/"), "events": ["tap.verified"],
            "filter": {"world": "simulated"},
        });
        let hook = service.admin_create("/webhooks", hook).await;
        let secret = hook["secret"].as_str().expect("a secret");
        let mut running = Running::start(&service, program, port, secret).await;
        verifies(&mut running, secret).await;

        let arguments = ["trigger", "tap.verified", "--tag", "demo-bottle"];
        run_at(&service, &arguments).await.good();
        let line = running.line().await;
        assert!(line.starts_with("tap.verified tap_"), "{name}: {line}");
        // Its receiver ends here.
        let path = format!("/webhooks/{}", hook["id"]);
        let gone = service.admin(reqwest::Method::DELETE, &path, json!(null));
        gone.await.expect(204);
    }
}
