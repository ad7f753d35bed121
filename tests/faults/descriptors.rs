//! Few descriptors, and many who connect.

use serde_json::Value;
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Launch, RawClient, TestTag};

/// More connections than descriptors, and no more than the system lets wait to be accepted.
const CONNECTIONS: usize = 120;

/// The service under a limit of open files, as `ulimit` sets it.
fn limited(ulimit: &str) -> Launch {
    let mut launch = crate::faults::launch();
    let script = format!("{ulimit} && exec \"$0\" \"$@\"");
    let shell = ["sh", "-c", &script].map(str::to_owned);
    launch.command.splice(0..0, shell);
    launch
}

fn tap(tag: &TestTag) -> String {
    format!(
        "GET {} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
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
    for client in &mut open {
        client.send(rest).await;
    }
    for client in open {
        assert_eq!(statuses(&client.read_to_end().await), [302]);
    }
    assert_eq!(service.scan_count(&tag).await, CONNECTIONS as u64);
    let log = service.launch().log();
    assert!(log.contains("could not be accepted"), "{log}");
}
