//! Few file descriptors, and many connections.

use serde_json::Value;
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Launch, RawClient, TestTag, eventually};

/// More connections than descriptors, but no more than the system queues.
const CONNECTIONS: usize = 120;

/// A request that keeps its connection; the other constant is the end of its response.
const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: a\r\n\r\n";
const HEALTHY: &str = r#"{"status":"ok"}"#;

/// The service with a limit of open files, as set by `ulimit`.
fn limited(ulimit: &str) -> Launch {
    let mut launch = crate::faults::launch();
    let script = format!("{ulimit} && exec \"$0\" \"$@\"");
    let shell = ["sh", "-c", &script].map(str::to_owned);
    launch.command.splice(0..0, shell);
    launch
}

fn tap(tag: &TestTag) -> String {
    format!(
        "GET {} HTTP/1.1\r\nhost: a\r\nuser-agent: a\r\nconnection: close\r\n\r\n",
        tag.path()
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_low_limit_of_open_files_is_raised_as_far_as_the_system_lets_it() {
    let service = limited("ulimit -Sn 64").start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut client = RawClient::connect(service.authority()).await;
        client.send("GET ").await;
        open.push(client);
    }
    let mut client = RawClient::connect(service.authority()).await;
    client.send(tap(&tag)).await;
    assert_eq!(statuses(&client.read_to_end().await), [302]);
    let log = service.launch().log();
    assert!(!log.contains("could not be accepted"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_descriptors_connections_wait_and_every_tap_is_answered() {
    let service = limited("ulimit -n 64").start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let request = tap(&tag);
    let (beginning, rest) = request.split_at(8);
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut client = RawClient::connect(service.authority()).await;
        client.send(beginning).await;
        open.push(client);
    }
    // Connections with an incomplete head are not idle, so none is closed.
    eventually("no descriptor is left", async || {
        let log = service.launch().log();
        log.contains("could not be accepted").then_some(())
    })
    .await;
    for client in &mut open {
        client.send(rest).await;
    }
    for client in open {
        assert_eq!(statuses(&client.read_to_end().await), [302]);
    }
    assert_eq!(service.scan_count(&tag).await, CONNECTIONS as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_give_way_to_new_ones_and_the_oldest_go_first() {
    let service = limited("ulimit -n 64").start().await;
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut client = RawClient::connect(service.authority()).await;
        client.send(HEALTH).await;
        let said = client.read_until(HEALTHY).await;
        assert_eq!(statuses(&said), [200], "{said}");
        open.push(client);
    }
    let log = service.launch().log();
    assert!(
        !log.contains("could not be accepted"),
        "nobody waits: {log}"
    );
    // The connection that has been idle for the longest time is closed, and the newest is not.
    let mut newest = open.pop().expect("it is open");
    newest.send(HEALTH).await;
    assert_eq!(statuses(&newest.read_until(HEALTHY).await), [200]);
    assert_eq!(open.swap_remove(0).read_to_end().await, "");
}
