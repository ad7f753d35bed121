//! Webhooks of a service that is killed under load, to a receiver that comes and goes.

mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::storage::LEASE;
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::{
    Client, Reaction, Receiver, TapResult, TestTag, TryAnswering as _, eventually,
    eventually_within, free_port, length,
};
use tokio::sync::watch;
use tokio::task::block_in_place;

use super::launch;
use super::load::Load;
use stored::{EVENTS, is_all_told, stored};

/// A service that was killed during an attempt leaves it to the next one, once its lease has
/// expired: other nodes cannot know that it is gone. On a busy machine an attempt may fail twice,
/// and is then repeated after five minutes.
const LEASE_AND_MORE: Duration = Duration::from_millis(LEASE.get().unsigned_abs() + 420_000);

/// Creates a webhook of all these events, and returns its secret.
async fn of_all_events(service: &Client, receiver: &Receiver) -> String {
    let webhook = json!({
        "url": receiver.url(), "events": EVENTS, "filter": {"world": "all"},
    });
    let created = service.admin_create("/webhooks", webhook).await;
    created["secret"].as_str().expect("a secret").to_owned()
}

/// A tag with a form on its page.
async fn form(service: &Client) -> TestTag {
    let fields = json!([{"label": "Name", "kind": "text", "variable": "name"}]);
    let blocks = json!([{"type": "form", "submit_label": "Send", "fields": fields}]);
    let page = json!({"name": "Ask", "kind": "studio", "blocks": blocks});
    let experience = service.experience(page).await;
    let tag = json!({"name": "Form", "experience_id": experience, "variables": {"name": ""}});
    service.tag(tag).await
}

/// Number of seals that are opened in each round, if it lasts long enough.
const SEALS: usize = 20;

/// Creates a webhook that is sent a tap; `receiver` answers that it is gone.
async fn ending(service: &Client, receiver: &Receiver) {
    let webhook = json!({"url": receiver.url(), "events": ["tap.verified", "tap.not_checked"]});
    service.admin_create("/webhooks", webhook).await;
}

/// Creates a simulated chip with a seal, and returns the path of its taps.
async fn seal(service: &Client) -> String {
    let template = json!({
        "name": "Seals", "technology": "ntag424dna_tt", "mac_from": "uid",
        "template": "https://d.example/v?u={uid}&n={counter}&t={tamper}&c={mac}",
    });
    let template = service.admin_create("/url-templates", template).await;
    let chip = json!({"name": "Bottle", "url_template_id": template["id"]});
    let chip = service.admin_create("/simulator/inlays", chip).await;
    format!("/simulator/inlays/{}/tap", chip["id"])
}

/// Taps an open seal, and a closed one. Returns whether both are acknowledged; `None` if the
/// service is gone.
async fn open_seal(service: &Client, path: &str) -> Option<bool> {
    let mut stored = true;
    for seal in ["sealed", "open"] {
        let tap = service.admin_request(Method::POST, path);
        let tap = tap.json(&json!({"follow": true, "seal": seal}));
        stored &= tap.try_answer().await.ok()?.status == 200;
    }
    Some(stored)
}

/// Opens a page and sends its form. Returns whether it was acknowledged; `None` if the service is
/// gone.
async fn send_form(service: &Client, tag: &TestTag) -> Option<bool> {
    let path = tag.path();
    let page = service.get(&path).try_answer().await.ok()?.body;
    let key = page.split_once(r#"name="rolling_key" value=""#);
    let Some((key, _)) = key.and_then(|(_, rest)| rest.split_once('"')) else {
        return Some(false);
    };
    let fields = [
        ("rolling_key", key),
        ("form", "1"),
        ("tag:variable:name", "Ada"),
    ];
    let sent = service.post_form(&path, &fields).try_answer().await.ok()?;
    Some(sent.status == 200)
}

#[tokio::test]
async fn everything_that_is_stored_is_told_and_a_repeat_says_the_same() {
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let receiver = Receiver::start().await;
    let mut service = launch.start().await;
    let secret = of_all_events(&service, &receiver).await;
    let form = Arc::new(form(&service).await);
    let seal = Arc::new(seal(&service).await);
    let mut load = Load::new(&service, 4).await;
    let over = Receiver::start().await;
    over.react(Reaction::status(410));
    let rounds = length(1, 30);
    for _ in 0..rounds {
        ending(&service, &over).await;
        let client = service.another();
        let (owner, sealed) = (service.another(), Arc::clone(&seal));
        let (opened, mut opening) = watch::channel(0);
        let sealing = tokio::spawn(async move {
            for _ in 0..SEALS {
                let Some(stored) = open_seal(&owner, &sealed).await else {
                    break;
                };
                opened.send_modify(|many| *many += usize::from(stored));
            }
        });
        let (visitor, of) = (service.another(), Arc::clone(&form));
        let (sent, mut sending) = watch::channel(0);
        let visiting = tokio::spawn(async move {
            while let Some(stored) = send_form(&visitor, &of).await {
                sent.send_modify(|many| *many += usize::from(stored));
            }
        });
        let launched = load
            .work_until(&client, 40, async || {
                let sent = sending.wait_for(|many| *many >= 10).await;
                drop(sent.expect("forms are sent"));
                let opened = opening.wait_for(|many| *many >= 3).await;
                drop(opened.expect("seals are opened"));
                service.kill().await
            })
            .await;
        visiting.await.expect("visitors go when it is gone");
        sealing.await.expect("so does who opens seals");
        service = launched.start().await;
        load.check(&service).await;
    }
    is_all_told(&service, &receiver, &secret, rounds).await;
}

/// Taps and updates. Returns whether the update was acknowledged.
async fn update(service: &Client, tag: &TestTag) -> bool {
    let Ok(tap) = service.get(&tag.path()).try_answer().await else {
        return false;
    };
    let Some(key) = TapResult::of(tap).rk else {
        return false;
    };
    let update = service.update_request(&key, &json!({"registered": "true"}));
    let update = update.try_answer().await;
    update.is_ok_and(|answer| answer.status == 200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_is_stored_is_told_while_postgres_crashes() {
    let cluster = Cluster::start(&[]);
    let database = cluster.create_database().await;
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let launch = launch.with_wrapping_key().on(&database);
    let service = launch.start().await;
    let receiver = Receiver::start().await;
    let secret = of_all_events(&service, &receiver).await;
    let form = Arc::new(form(&service).await);
    let tag = Arc::new(service.redirecting_tag(Value::Null).await);
    let seal = Arc::new(seal(&service).await);
    let over = Receiver::start().await;
    over.react(Reaction::status(410));
    let rounds = length(1, 30);
    for _ in 0..rounds {
        ending(&service, &over).await;
        let visiting = (0..5).map(|number| {
            let (client, form, tag) = (service.another(), Arc::clone(&form), Arc::clone(&tag));
            let seal = Arc::clone(&seal);
            tokio::spawn(async move {
                let mut stored = 0;
                // While the database is away there is no response, or an error.
                while stored < 5 {
                    stored += usize::from(if number == 4 {
                        open_seal(&client, &seal).await == Some(true)
                    } else if number % 2 == 0 {
                        send_form(&client, &form).await == Some(true)
                    } else {
                        update(&client, &tag).await
                    });
                }
            })
        });
        let visiting: Vec<_> = visiting.collect();
        block_in_place(|| cluster.stop());
        block_in_place(|| cluster.go_on());
        for task in visiting {
            task.await.expect("forms and updates are stored again");
        }
    }
    is_all_told(&service, &receiver, &secret, rounds).await;
}

/// A receiver in its own process, with another library for Standard Webhooks.
struct Program {
    /// The interpreter and its script.
    command: [PathBuf; 2],
    /// The id of its endpoint.
    id: Value,
    port: u16,
    journal: PathBuf,
    secret: String,
    child: Child,
}

/// The root of the repository.
pub(super) fn root() -> &'static Path {
    let service = Path::new(env!("CARGO_MANIFEST_DIR"));
    service.parent().expect("the service is in a folder")
}

impl Program {
    /// Receivers in Python and in Node, each with its own endpoint.
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

    /// Kills it like `kill -9`, and starts it again.
    async fn kill_and_start(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.child = Self::run(&self.command, self.port, &self.journal, &self.secret);
        self.listens().await;
    }

    /// A delivery that failed twice is retried after five minutes, so the operator asks for it
    /// earlier. A delivery that was never tried is sent anyway, or lost.
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

    /// The ids that it accepted, each with the digest of its content. Requests that its end
    /// interrupted were not answered.
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

/// Asserts that each receiver got exactly the stored events, by id.
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
    for round in 0..length(2, 40) {
        let client = service.another();
        // Each receiver is killed once, because a second failure is retried after five minutes.
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
    for round in 0..length(2, 30) {
        let tapping = (0..4).map(|_| {
            let (client, path) = (service.another(), tag.path());
            tokio::spawn(async move {
                let mut answered = 0;
                loop {
                    // While the database is away there is no response, or an error.
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
