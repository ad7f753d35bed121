//! The database crashes, closes connections, hangs, or is unreachable, under load: every
//! acknowledged write is stored, nothing is done twice, nobody waits for long, and everything
//! continues without help.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::{Answering as _, ServiceProcess, eventually, length, skip, within_attempts};
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::postgres::load::Load;
use crate::postgres::network::{Failure, Network};
use crate::postgres::{node, two};

/// Time limit for the recovery once the database is back, in milliseconds: earlier requests are
/// abandoned after 4 seconds and repeated, and parallel tests take the rest.
const RECOVERY: i64 = 10_000;
/// Time limit of any response, in milliseconds: 4 seconds for a statement, and 5 more for a write
/// until its outcome is known.
const LONGEST: i64 = 15_000;

/// The number of outages of each kind.
fn rounds() -> usize {
    length(1, 10)
}

/// How often an outage is repeated, until nothing of it takes longer than its limit.
const ATTEMPTS: usize = 5;

/// Waits until no node is ready, while all of them still run.
async fn unready(nodes: &[ServiceProcess]) {
    for node in nodes {
        let ready = eventually("the node is not ready", || async {
            let ready = node.get("/ready").answer().await;
            (ready.status == 503).then_some(ready)
        })
        .await;
        assert_eq!(ready.header("retry-after"), Some("1"));
        assert_eq!(node.get("/health").answer().await.status, 200);
    }
}

/// Waits until all workers continue and every node is ready. Returns the time that it took, in
/// milliseconds.
async fn recovers(
    load: &Load,
    nodes: &[ServiceProcess],
    back: Timestamp,
    clock: &SystemClock,
) -> i64 {
    load.goes_on(1).await;
    for node in nodes {
        eventually("the node is ready", || async {
            (node.get("/ready").answer().await.status == 200).then_some(())
        })
        .await;
    }
    clock.now().since(back).get()
}

/// Whether an outage kept its limits: the time until all workers continued, and the longest wait for
/// a response, in milliseconds.
fn in_time(recovery: i64, longest: i64) -> Result<(), String> {
    let took = format!("recovered after {recovery} ms, the longest wait was {longest} ms");
    println!("{took}");
    (recovery < RECOVERY && longest < LONGEST)
        .then_some(())
        .ok_or(took)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_crashes_under_load_and_nothing_acknowledged_is_lost() {
    let cluster = Cluster::start(&[]);
    let database = cluster.create_database().await;
    let nodes = two(&database).await;
    let clock = SystemClock::start();
    for _ in 0..rounds() {
        within_attempts(ATTEMPTS, async || {
            let load = Load::start(&nodes).await;
            load.goes_on(5).await;
            block_in_place(|| cluster.stop());
            load.is_refused().await;
            unready(&nodes).await;
            block_in_place(|| cluster.go_on());
            let recovery = recovers(&load, &nodes, clock.now(), &clock).await;
            in_time(recovery, load.check(&nodes[0], &database).await)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_hangs_up_under_load_and_all_goes_on() {
    let cluster = Cluster::start(&[]);
    let database = cluster.create_database().await;
    let nodes = two(&database).await;
    let clock = SystemClock::start();
    let client = database.look_into().await;
    let all = "FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let (open, end) = (
        format!("SELECT count(*) {all}"),
        format!("SELECT count(pg_terminate_backend(pid)) {all}"),
    );
    let mut recoveries = Vec::new();
    for _ in 0..rounds() {
        let load = Load::start(&nodes).await;
        for _ in 0..5 {
            load.goes_on(2).await;
            eventually("both nodes have connections", || async {
                let open = client.query_one(&open, &[]).await.expect("it may");
                (open.get::<_, i64>(0) >= 4).then_some(())
            })
            .await;
            client.query_one(&end, &[]).await.expect("it may");
            recoveries.push(recovers(&load, &nodes, clock.now(), &clock).await);
        }
        load.check(&nodes[1], &database).await;
    }
    println!("recovered after {recoveries:?} ms");
    assert!(recoveries.iter().any(|time| *time < RECOVERY));
}

/// A certificate for a server's address, and its key, in a folder that the server may read.
struct Certificate(TempDir);

impl Certificate {
    fn of(address: &str) -> Self {
        const NOBODY: u32 = 65_534;
        let made = rcgen::generate_simple_self_signed([address.to_owned()]).expect("an address");
        let folder = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        let open = Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.0.path(), open).expect("it is ours");
        let key = folder.path("server.key");
        std::fs::write(folder.path("server.crt"), made.cert.pem()).expect("there is room");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("there is room");
        std::fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("it is ours");
        chown(&key, Some(NOBODY), Some(NOBODY)).expect("root may give a file away");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn setting(name: &str, file: &Path) -> String {
        format!("{name}={}", file.display())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_way_to_the_database_fails_under_load_and_lost_answers_are_found_out() {
    let address = match Network::possible() {
        Ok(address) => address,
        Err(why) => {
            skip(why);
            return;
        }
    };
    let certificate = Certificate::of(&address.to_string());
    let root = certificate.path("server.crt");
    let settings = [
        "ssl=on",
        &Certificate::setting("ssl_cert_file", &root),
        &Certificate::setting("ssl_key_file", &certificate.path("server.key")),
    ];
    let cluster = Cluster::start_apart(address, &settings);
    let network = Network::to(&cluster);
    let database = cluster.create_database().await;
    let launch = node(&database).env("PGSSLROOTCERT", &root.to_string_lossy());
    let nodes = [launch.start().await, launch.start().await];
    let clock = SystemClock::start();
    for failure in [Failure::AnswersAreLost, Failure::LinkIsDown].repeat(rounds()) {
        within_attempts(ATTEMPTS, async || {
            let load = Load::start(&nodes).await;
            load.goes_on(5).await;
            network.fail(failure);
            load.is_refused().await;
            unready(&nodes).await;
            network.repair(failure);
            let recovery = recovers(&load, &nodes, clock.now(), &clock).await;
            in_time(recovery, load.check(&nodes[0], &database).await)
        })
        .await;
    }
}

#[tokio::test]
async fn a_database_that_hangs_is_waited_for_no_longer_than_it_takes_to_say_so() {
    let cluster = Cluster::start(&["fsync=off"]);
    let database = cluster.create_database().await;
    let node = node(&database).start().await;
    let (tag, mut inlay) = node.bottle().await;
    let used = node.redirecting_tag(Value::Null).await;
    let key = node.tap(&used.path()).await.key().to_owned();
    let client = database.look_into().await;
    let hang = "BEGIN; LOCK TABLE counters, updates IN EXCLUSIVE MODE";
    client.batch_execute(hang).await.expect("it may");
    let url = inlay.url(&tag);
    let clock = SystemClock::start();
    let data = json!({"registered": "yes"});
    within_attempts(5, async || {
        let before = clock.now();
        let (tap, update) = tokio::join!(node.tap(&url), node.update(&key, data.clone()));
        let waited = clock.now().since(before).get();
        for answer in [&tap.answer, &update] {
            assert_eq!(answer.status, 503, "{}", answer.body);
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        (waited < LONGEST).then_some(()).ok_or(waited)
    })
    .await;
    client.batch_execute("ROLLBACK").await.expect("it may");
    let tap = node.tap(&url).await;
    assert_eq!(node.payload(tap.key()).await["tag_verified"], true);
    node.update(&key, data).await.expect(200);
}

/// As after a wrong promotion of a standby, or if an operator prevents writing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_become_read_only_makes_its_node_not_ready_with_the_reason() {
    let cluster = Cluster::start(&[]);
    let database = cluster.create_database().await;
    let service = node(&database).start().await;
    let client = database.look_into().await;
    let set = |mode: &'static str| {
        let client = &client;
        async move {
            let change = format!("ALTER SYSTEM SET default_transaction_read_only = {mode}");
            client.batch_execute(&change).await.expect("it may");
            let reload = "SELECT pg_reload_conf()";
            client.batch_execute(reload).await.expect("it may");
        }
    };
    let tag = service.redirecting_tag(Value::Null).await;
    set("on").await;
    let ready = eventually("the node is not ready", || async {
        let ready = service.get("/ready").answer().await;
        (ready.status == 503).then_some(ready)
    })
    .await;
    let reason = ready.json()["reason"].clone();
    let reason = reason.as_str().expect("a reason");
    assert!(reason.contains("read-only"), "{reason}");
    let refused = service.tap(&tag.path()).await;
    assert_eq!(refused.status, 503, "{:?}", refused.answer);
    assert_eq!(refused.answer.header("retry-after"), Some("1"));
    let metrics = service.metrics().await;
    assert!(metrics.contains("tapdesk_database_up 0"), "{metrics}");
    let failed = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("tapdesk_write_failures_total{"))
        .any(|line| !line.ends_with(" 0"));
    assert!(failed, "{metrics}");
    set("off").await;
    eventually("the node is ready", || async {
        (service.get("/ready").answer().await.status == 200).then_some(())
    })
    .await;
    // Each connection notices the setting separately.
    eventually("taps are stored again", || async {
        (service.tap(&tag.path()).await.status == 302).then_some(())
    })
    .await;
}
