//! The unchanged configuration `service/deploy/haproxy.cfg`, in front of two nodes.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tapdesk_tests::{Client, ServiceProcess, TestDatabase, eventually, free_port, within_attempts};

use crate::postgres::node;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/deploy/haproxy.cfg");

/// Debian installs it in a folder for administrators.
const PROGRAM: &str = "/usr/sbin/haproxy";

/// A running load balancer, which is stopped when this is dropped.
pub(crate) struct Balancer {
    process: Child,
    address: String,
}

impl Balancer {
    /// In front of these nodes, with the admin API open to the network `owner`.
    pub(crate) fn start(nodes: [&ServiceProcess; 2], owner: &str) -> Self {
        let address = format!("127.0.0.1:{}", free_port());
        let process = Command::new(PROGRAM)
            .args(["-db", "-f", CONFIG])
            .env("LISTEN", &address)
            .env("NODE_A", nodes[0].authority())
            .env("NODE_B", nodes[1].authority())
            .env("OWNER", owner)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("haproxy is installed");
        Self { process, address }
    }

    pub(crate) async fn client(&self, token: &str) -> Client {
        let client = Client::new(format!("http://{}", self.address), token);
        eventually("the balancer finds its nodes", async || {
            let ready = client.get("/ready").send().await.ok()?;
            (ready.status() == 200).then_some(())
        })
        .await;
        client
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn behind_a_balancer(database: &TestDatabase) -> ServiceProcess {
    let launch = node(database)
        .env("TAPDESK_TRUSTED_PROXIES", "127.0.0.1/32")
        .env("TAPDESK_EXPOSE_ADMIN", "1");
    launch.start().await
}

#[tokio::test]
async fn a_node_may_end_and_come_back_and_no_visitor_notices() {
    let database = TestDatabase::create_migrated().await;
    let one = behind_a_balancer(&database).await;
    let other = behind_a_balancer(&database).await;
    let tag = one.redirecting_tag(Value::Null).await;
    let balancer = Balancer::start([&one, &other], "192.0.2.0/24");
    let visitor = balancer.client("").await;
    let mut ending = Some(one);
    let mut left = 0;
    for visit in 0..60 {
        if visit == 20 {
            let status = ending.take().expect("it runs").terminate().await;
            assert!(status.success());
        }
        let tap = visitor.tap(&tag.path()).await;
        assert!(visitor.payload(tap.key()).await["tag_verified"].is_null());
        left = visit + 1;
    }
    assert_eq!(other.scan_count(&tag).await, left, "each counts once");
}

/// With a node's default delay. Visitors do not retry, and neither does the load balancer once a
/// node has taken the request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_behind_the_balancer_leaves_no_request_without_an_answer() {
    // On a busy machine, the balancer may notice a restart too late.
    within_attempts(3, restart_behind_the_balancer).await;
}

/// Restarts a node during visits. `Err` is another status than the one of a tap.
async fn restart_behind_the_balancer() -> Result<(), u16> {
    let database = TestDatabase::create_migrated().await;
    let delayed = || async {
        let launch = node(&database)
            .env("TAPDESK_TRUSTED_PROXIES", "127.0.0.1/32")
            .env("TAPDESK_SHUTDOWN_DELAY", "3");
        launch.start().await
    };
    let (one, other) = (delayed().await, delayed().await);
    let tag = one.redirecting_tag(Value::Null).await;
    let balancer = Balancer::start([&one, &other], "192.0.2.0/24");
    let visitor = balancer.client("").await;
    let ended = Arc::new(AtomicBool::new(false));
    let visitors: Vec<_> = (0..16)
        .map(|_| {
            let (visitor, path) = (visitor.another(), tag.path());
            let ended = Arc::clone(&ended);
            tokio::spawn(async move {
                let mut taps = 0;
                while !ended.load(Ordering::Relaxed) {
                    let status = visitor.tap(&path).await.status;
                    if status != 302 {
                        return Err(status);
                    }
                    taps += 1;
                }
                Ok(taps)
            })
        })
        .collect();
    assert!(one.terminate().await.success());
    ended.store(true, Ordering::Relaxed);
    let mut taps = 0;
    for visitor in visitors {
        taps += visitor.await.expect("a visitor does not panic")?;
    }
    assert_eq!(other.scan_count(&tag).await, taps, "each counts once");
    Ok(())
}

#[tokio::test]
async fn the_administration_is_reached_from_the_owners_network_alone() {
    let database = TestDatabase::create_migrated().await;
    let one = behind_a_balancer(&database).await;
    let other = behind_a_balancer(&database).await;
    for (owner, status) in [("127.0.0.0/8", 200), ("192.0.2.0/24", 404)] {
        let balancer = Balancer::start([&one, &other], owner);
        let client = balancer.client(one.admin_token()).await;
        let asked = client.admin_request(reqwest::Method::GET, "/tags");
        assert_eq!(asked.send().await.expect("it answers").status(), status);
        let metrics = client.get("/metrics").bearer_auth(client.admin_token());
        let metrics = metrics.send().await.expect("it answers");
        assert_eq!(metrics.status(), status);
    }
}
