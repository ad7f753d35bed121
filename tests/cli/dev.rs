//! `dev`: a service for development and tests, from its line to its end.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::clock::Stopwatch;
use tapdesk_tests::{Answering as _, Client, PATIENCE, Receiver, TapResult, eventually};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::BINARY;

/// How long a rolling key is valid, in milliseconds.
const KEY_LIFETIME: u64 = 300_000;

/// How long the fastest of some starts may take. The goal is 200 ms for a release build on an idle
/// machine. This build is not optimized, and other tests run beside it.
const READY: Duration = Duration::from_secs(1);

/// A running service, and the line that it printed.
struct Dev {
    client: Client,
    line: Value,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Deref for Dev {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .arg("dev")
        .args(arguments)
        .env_remove("TAPDESK_ADMIN_TOKEN")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

impl Dev {
    async fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments)
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary can be started");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line.expect("it starts in time").expect("stdout is text");
        let line: Value = serde_json::from_str(&line.expect("it prints a line")).expect("JSON");
        let text = |name: &str| line[name].as_str().expect("a text").to_owned();
        Self {
            client: Client::new(text("url"), text("token")),
            stdin: child.stdin.take(),
            line,
            child,
            lines,
        }
    }

    /// The line, with a fixed text for the port.
    fn line_without_port(&self) -> String {
        self.without_port(&self.line.to_string())
    }

    fn without_port(&self, text: &str) -> String {
        text.replace(self.authority(), "HOST:PORT")
    }

    /// The path of a tap of the tag with this slug.
    fn inlay_of(&self, slug: &str) -> String {
        let tags = self.line["tags"].as_array().expect("a list");
        let tag = tags.iter().find(|tag| tag["slug"] == slug);
        let tag = tag.unwrap_or_else(|| panic!("no {slug}: {}", self.line));
        format!("/simulator/inlays/{}/tap", tag["inlay"]["id"])
    }

    /// The URL of the next tap of an inlay.
    async fn one_time_url(&self, slug: &str) -> String {
        let tapped = self
            .admin(Method::POST, &self.inlay_of(slug), json!({}))
            .await
            .expect(200);
        tapped["url"].as_str().expect("a URL").to_owned()
    }

    async fn next_tap(&self, slug: &str) -> TapResult {
        self.tap(&self.one_time_url(slug).await).await
    }

    /// The folder of its database.
    fn folder(&self) -> PathBuf {
        let pid = self.child.id().expect("it runs");
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its files");
        let mut files = open.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        let database = files.find(|file| file.ends_with("tapdesk.db"));
        let database = database.expect("its database is open");
        database.parent().expect("a folder").to_owned()
    }

    fn send(&self, signal: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &pid])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "kill works");
    }

    /// Waits for its end. It must have printed nothing after its line.
    async fn ended(&mut self) -> ExitStatus {
        let end = async {
            assert_eq!(
                self.lines.next_line().await.expect("text"),
                None,
                "one line"
            );
            self.child.wait().await.expect("a child can be waited for")
        };
        tokio::time::timeout(PATIENCE, end).await.expect("it ends")
    }
}

#[tokio::test]
async fn dev_prints_one_line_with_all_that_a_test_needs() {
    let service = Dev::start(&["--seed", "7"]).await;
    let line = &service.line;
    assert_eq!(
        (&line["seed"], &line["now"]),
        (&json!(7), &json!("2026-01-01T00:00:00Z"))
    );
    assert!(service.base().starts_with("http://127.0.0.1:"));
    let tags = line["tags"].as_array().unwrap();
    let slugs: Vec<_> = tags
        .iter()
        .map(|tag| tag["slug"].as_str().unwrap())
        .collect();
    assert_eq!(slugs, ["demo-bottle", "demo-jacket", "demo-poster"]);
    for tag in tags {
        let stored = service.admin_get(&format!("/tags/{}", tag["id"])).await;
        for member in ["name", "slug", "url"] {
            assert_eq!(stored[member], tag[member], "{member}");
        }
        assert_eq!(stored["experience_id"], tag["experience"]["id"]);
        assert_eq!(tag["experience"]["name"], "Register product (demo)");
        if tag["slug"] == "demo-poster" {
            assert_eq!(tag["inlay"], Value::Null);
            continue;
        }
        let path = format!("/simulator/inlays/{}", tag["inlay"]["id"]);
        let inlay = service.admin_get(&path).await;
        assert_eq!(
            (&inlay["tag_id"], &inlay["uid"]),
            (&tag["id"], &tag["inlay"]["uid"])
        );
    }
}

#[tokio::test]
async fn dev_is_ready_in_a_moment() {
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let starting = Stopwatch::start();
        let service = Dev::start(&[]).await;
        fastest = fastest.min(starting.elapsed());
        service.get("/ready").answer().await.expect(200);
    }
    assert!(fastest < READY, "{fastest:?}");
}

#[tokio::test]
async fn dev_with_one_seed_repeats_lines_taps_and_keys() {
    let (first, second) = (
        Dev::start(&["--seed", "7"]).await,
        Dev::start(&["--seed", "7"]).await,
    );
    assert_eq!(first.line_without_port(), second.line_without_port());
    let worlds = async |service: &Dev| {
        let url = service.one_time_url("demo-bottle").await;
        let tap = service.tap(&url).await;
        let payload = service.payload(tap.key()).await.to_string();
        let made = service
            .admin_create("/tags", json!({"name": "Bottle"}))
            .await;
        let texts = [url, tap.key().to_owned(), payload, made.to_string()];
        texts.map(|text| service.without_port(&text))
    };
    assert_eq!(worlds(&first).await, worlds(&second).await);

    let other = Dev::start(&["--seed", "8"]).await;
    for member in ["token", "seed"] {
        assert_ne!(first.line[member], other.line[member], "{member}");
    }
}

#[tokio::test]
async fn dev_without_a_seed_names_the_one_it_drew_and_has_the_time_of_the_machine() {
    let drawn = Dev::start(&[]).await;
    let seed = drawn.line["seed"].to_string();
    let again = Dev::start(&["--seed", &seed]).await;
    assert_eq!(drawn.line["token"], again.line["token"]);
    let inlays = |service: &Dev| service.line["tags"][0]["inlay"].clone();
    assert_eq!(inlays(&drawn), inlays(&again));
    assert_ne!(drawn.line["now"], again.line["now"]);
}

#[tokio::test]
async fn dev_verifies_a_tap_and_takes_one_update_with_its_key() {
    let service = Dev::start(&["--seed", "1"]).await;
    for slug in ["demo-bottle", "demo-jacket"] {
        let url = service.one_time_url(slug).await;
        let tap = service.tap(&url).await;
        assert_eq!(service.payload(tap.key()).await["tag_verified"], true);
        let update = json!({"registered": "true"});
        service.update(tap.key(), update).await.expect(200);
        let again = service
            .update(tap.key(), json!({"registered": "false"}))
            .await;
        assert_ne!(again.status, 200, "a key is used once");
        let replayed = service.tap(&url).await;
        assert_eq!(service.payload(replayed.key()).await["tag_verified"], false);
    }
    let tags = service
        .admin_get("/tags?simulated=true&q=demo-bottle")
        .await;
    let tag = service
        .admin_get(&format!("/tags/{}", tags["items"][0]["id"]))
        .await;
    assert_eq!(tag["variables"]["registered"], "true");
}

#[tokio::test]
async fn dev_has_a_clock_that_expires_keys() {
    for arguments in [&["--seed", "1"][..], &[]] {
        let service = Dev::start(arguments).await;
        let tap = service.next_tap("demo-bottle").await;
        assert_ne!(service.payload(tap.key()).await, json!([]));
        service
            .admin(
                Method::POST,
                "/clock",
                json!({"advance_ms": KEY_LIFETIME + 1}),
            )
            .await
            .expect(200);
        assert_eq!(service.payload(tap.key()).await, json!([]));
        let next = service.next_tap("demo-bottle").await;
        assert_eq!(service.payload(next.key()).await["tag_verified"], true);
    }
}

#[tokio::test]
async fn dev_leads_to_the_page_of_a_developer_and_calls_webhooks_on_this_machine() {
    let receiver = Receiver::start().await;
    let page = "http://127.0.0.1:9/product.html";
    let service = Dev::start(&["--page", page]).await;
    assert_eq!(service.line["tags"][0]["experience"]["name"], "Your page");
    let tap = service.next_tap("demo-jacket").await;
    let location = tap.location.as_deref().unwrap();
    assert!(location.starts_with(&format!("{page}?rk=")), "{location}");
    let webhook = json!({"url": receiver.url(), "events": ["tap.verified"]});
    let webhook = service.admin_create("/webhooks", webhook).await;
    let path = format!("/webhooks/{}/test", webhook["id"]);
    let tested = service.admin(Method::POST, &path, Value::Null).await;
    assert_eq!(tested.expect(200)["delivered"], true);

    let refused = command(&["--page", "product.html"]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("--page") && said.contains("http://"),
        "{said}"
    );
}

#[tokio::test]
async fn dev_limits_no_client_that_calls_wrongly() {
    let service = Dev::start(&[]).await;
    for _ in 0..100 {
        assert_eq!(service.payload("no-such-key").await, json!([]));
        service
            .update("no-such-key", json!({"a": "b"}))
            .await
            .expect(400);
    }
}

#[tokio::test]
async fn dev_ends_with_sigterm_or_ctrl_c_and_leaves_no_files() {
    for signal in ["TERM", "INT"] {
        let mut service = Dev::start(&["--seed", "1"]).await;
        service.next_tap("demo-bottle").await;
        let folder = service.folder();
        if Path::new("/dev/shm").is_dir() {
            assert!(
                folder.starts_with("/dev/shm"),
                "in memory: {}",
                folder.display()
            );
        }
        service.send(signal);
        assert_eq!(service.ended().await.code(), Some(0), "{signal}");
        assert!(!folder.exists(), "{signal}: {}", folder.display());
    }
}

#[tokio::test]
async fn dev_removes_the_folders_of_killed_services_and_no_others() {
    let mut killed = Dev::start(&[]).await;
    let mut running = Dev::start(&[]).await;
    let (left, kept) = (killed.folder(), running.folder());
    killed.send("KILL");
    assert_eq!(killed.ended().await.code(), None);
    assert!(kept.exists());
    let _next = Dev::start(&[]).await;
    eventually("the folder is removed", async || {
        (!left.exists()).then_some(())
    })
    .await;
    running.next_tap("demo-bottle").await;
    running.send("TERM");
    assert_eq!(running.ended().await.code(), Some(0));
}

#[tokio::test]
async fn dev_ends_with_the_program_that_called_it_only_if_it_was_asked_to() {
    let mut orphan = Dev::start(&["--until-stdin-closes"]).await;
    let mut other = Dev::start(&[]).await;
    let folder = orphan.folder();
    for service in [&mut orphan, &mut other] {
        drop(service.stdin.take());
    }
    assert_eq!(orphan.ended().await.code(), Some(0));
    assert!(!folder.exists(), "{}", folder.display());
    assert_eq!(other.next_tap("demo-bottle").await.status, 302);
}

#[tokio::test]
async fn dev_says_that_its_port_is_in_use() {
    let service = Dev::start(&[]).await;
    let (_, port) = service.authority().rsplit_once(':').unwrap();
    let refused = command(&["--port", port]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stdout.is_empty());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains(&format!("Port {port} is used")), "{said}");
    assert!(said.contains("--port"), "{said}");
}
