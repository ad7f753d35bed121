//! Webhooks of a service that is killed under load, to a receiver that comes and goes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::storage::LEASE_MILLIS;
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::{Client, Receiver, eventually, eventually_within, free_port, length};
use tokio::task::block_in_place;

use super::launch;
use super::load::Load;

/// A service that was killed in the middle of an attempt leaves it to whoever comes next, once its
/// lease is over: on other nodes nobody knows that it is gone.
const LEASE_AND_MORE: Duration = Duration::from_millis(LEASE_MILLIS.unsigned_abs() + 30_000);

/// The `webhook-id` of every tap that is stored.
async fn stored(service: &Client) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut after = String::new();
    loop {
        let page = service
            .admin_get(&format!("/interactions?limit=500{after}"))
            .await;
        for item in page["items"].as_array().expect("items") {
            let at = item["at"].as_str().expect("a time");
            let at: tapdesk_service::clock::Timestamp =
                serde_json::from_value(json!(at)).expect("a time");
            ids.insert(format!("tap_{}_{}", item["id"], at.millis()));
        }
        match &page["next"] {
            Value::String(next) => after = format!("&after={next}"),
            _ => return ids,
        }
    }
}

#[tokio::test]
async fn every_tap_that_is_stored_is_told_and_a_repeat_says_the_same() {
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let receiver = Receiver::start().await;
    let mut service = launch.start().await;
    let webhook = json!({
        "url": receiver.url(),
        "events": ["tap.verified", "tap.not_verified", "tap.not_checked"],
    });
    let created = service.admin_create("/webhooks", webhook).await;
    let secret = created["secret"].as_str().expect("a secret").to_owned();
    let mut load = Load::new(&service, 4).await;
    for _ in 0..length(3, 30) {
        let client = service.another();
        let launched = load
            .work_until(&client, 40, async || service.kill().await)
            .await;
        service = launched.start().await;
        load.check(&service).await;
    }
    let stored = stored(&service).await;
    assert!(stored.len() >= 40, "{}", stored.len());
    let requests = eventually_within(LEASE_AND_MORE, "every tap is told", async || {
        let requests = receiver.received();
        let told: BTreeSet<_> = requests.iter().map(|one| one.id().to_owned()).collect();
        (told == stored).then_some(requests)
    })
    .await;
    let mut bodies = BTreeMap::new();
    for one in &requests {
        one.verify(&secret);
        let first = bodies.entry(one.id()).or_insert(&one.body);
        assert_eq!(*first, &one.body);
    }
}

/// A receiver of its own process, with the library that others publish.
struct Program {
    /// The interpreter and its script.
    command: [PathBuf; 2],
    /// Its endpoint.
    id: Value,
    port: u16,
    journal: PathBuf,
    secret: String,
    child: Child,
}

/// The repository.
fn root() -> &'static Path {
    let service = Path::new(env!("CARGO_MANIFEST_DIR"));
    service.parent().expect("the service is in a folder")
}

impl Program {
    /// Receivers in Python and in Node, each with an endpoint of its own.
    async fn both(service: &Client, folder: &Path) -> Vec<Self> {
        let python = root().join("target/venv/bin/python");
        let scripts = [
            (python, "receiver.py"),
            (PathBuf::from("node"), "receiver.mjs"),
        ];
        let mut programs = Vec::new();
        for (interpreter, script) in scripts {
            let port = free_port();
            let webhook = json!({
                "url": format!("http://127.0.0.1:{port}/{script}"),
                "events": ["tap.verified", "tap.not_verified", "tap.not_checked"],
            });
            let created = service.admin_create("/webhooks", webhook).await;
            let command = [
                interpreter,
                root().join("tests/webhook_receivers").join(script),
            ];
            let journal = folder.join(format!("{script}.journal"));
            let secret = created["secret"].as_str().expect("a secret").to_owned();
            let child = Self::run(&command, port, &journal, &secret);
            programs.push(Self {
                command,
                id: created["id"].clone(),
                port,
                journal,
                secret,
                child,
            });
        }
        for program in &programs {
            program.listens().await;
        }
        programs
    }

    fn run(command: &[PathBuf; 2], port: u16, journal: &Path, secret: &str) -> Child {
        Command::new(&command[0])
            .arg(&command[1])
            .arg(port.to_string())
            .arg(journal)
            .arg(secret)
            .stdin(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}; see .make/setup"))
    }

    async fn listens(&self) {
        eventually("the receiver listens", async || {
            TcpStream::connect(("127.0.0.1", self.port)).ok()
        })
        .await;
    }

    /// As by `kill -9`, and once more.
    async fn kill_and_start(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.child = Self::run(&self.command, self.port, &self.journal, &self.secret);
        self.listens().await;
    }

    /// What failed twice is tried again after five minutes: its operator asks for it sooner. What was
    /// never tried comes by itself, or is lost.
    async fn ask_again(&self, service: &Client, told: &BTreeSet<String>) {
        let path = format!("/webhooks/{}", self.id);
        let log = format!("{path}/attempts?limit=500");
        let log = service.admin_get(&log).await;
        let failed: BTreeSet<_> = log["items"]
            .as_array()
            .expect("attempts")
            .iter()
            .map(|attempt| attempt["event_id"].as_str().expect("an id").to_owned())
            .filter(|id| !told.contains(id))
            .collect();
        for id in failed {
            let again = json!({"event_id": id});
            let resend = format!("{path}/resend");
            let asked = service.admin(Method::POST, &resend, again).await;
            asked.expect(202);
        }
    }

    /// The ids that it took, each with the digest of its content. What was torn by its end was not
    /// answered.
    fn told(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(&self.journal).expect("it has a journal");
        let mut told = BTreeMap::new();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            assert!(line["refused"].is_null(), "{:?}: {line}", self.command);
            let text = |name: &str| line[name].as_str().expect("a text").to_owned();
            let (id, digest) = (text("id"), text("digest"));
            let first = told.entry(id).or_insert_with(|| digest.clone());
            assert_eq!(*first, digest, "a repeat says the same: {line}");
        }
        told
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What each was told is what is stored, to the id.
async fn all_is_told(service: &Client, programs: &[Program]) {
    let stored = stored(service).await;
    assert!(stored.len() >= 40, "{}", stored.len());
    for program in programs {
        eventually_within(LEASE_AND_MORE, "every tap is told", async || {
            let told: BTreeSet<_> = program.told().into_keys().collect();
            if told == stored {
                return Some(());
            }
            program.ask_again(service, &told).await;
            None
        })
        .await;
    }
}

#[tokio::test]
async fn published_libraries_verify_all_while_the_service_and_they_are_killed() {
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let mut service = launch.start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut programs = Program::both(&service, folder.path()).await;
    let mut load = Load::new(&service, 4).await;
    for round in 0..length(4, 40) {
        let client = service.another();
        // Each receiver once: what fails a second time is tried again after five minutes.
        let receiver = programs.get_mut(round);
        let launched = load
            .work_until(&client, 40, async || {
                if let Some(receiver) = receiver {
                    receiver.kill_and_start().await;
                }
                service.kill().await
            })
            .await;
        service = launched.start().await;
        load.check(&service).await;
    }
    all_is_told(&service, &programs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn published_libraries_verify_all_while_postgres_crashes() {
    let cluster = Cluster::start(&[]);
    let database = cluster.create_database().await;
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let launch = launch.with_wrapping_key().on(&database);
    let service = launch.start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut programs = Program::both(&service, folder.path()).await;
    let (tag, _) = service.bottle().await;
    for round in 0..length(3, 30) {
        let tapping = (0..4).map(|_| {
            let (client, path) = (service.another(), tag.path());
            tokio::spawn(async move {
                let mut answered = 0;
                loop {
                    // While the database is away there is no answer, or one that says so.
                    let answer = client.get(&path).send().await;
                    answered += usize::from(answer.is_ok_and(|answer| answer.status() != 503));
                    if answered >= 10 {
                        break;
                    }
                }
            })
        });
        let tapping: Vec<_> = tapping.collect();
        block_in_place(|| cluster.stop());
        if let Some(receiver) = programs.get_mut(round) {
            receiver.kill_and_start().await;
        }
        block_in_place(|| cluster.go_on());
        for task in tapping {
            task.await.expect("taps are answered again");
        }
    }
    all_is_told(&service, &programs).await;
}
