//! Power loss: an answer that acknowledges a write leaves after the write's
//! commit is on disk. A killed process cannot show this, for the system keeps
//! what it has written; the order of its system calls can.

use serde_json::json;
use tapdesk_tests::eventually;
use tapdesk_tests::strace::can_trace;

use super::launch;

/// Calls that reach the disk or a socket.
const CALLS: &str = "trace=fdatasync,fsync,write,writev,sendto,sendmsg";

#[tokio::test]
async fn before_each_acknowledged_answer_there_is_an_fdatasync_of_the_log_of_the_database() {
    if !can_trace() {
        return;
    }
    let launch = launch();
    let trace = launch.folder.path().join("trace");
    let output = trace.to_string_lossy().into_owned();
    let launch = launch.under_strace(&["-y", "-s", "80", "-e", CALLS, "-o", &output]);
    let service = launch.start().await;
    let (tag, mut inlay) = service.bottle().await;
    let rounds = 20;
    for i in 0..rounds {
        let tap = service.tap(&inlay.url(&tag)).await;
        let data = json!({"registered": i.to_string()});
        service.update(tap.key(), data).await.expect(200);
    }
    let status = service.terminate().await;
    assert!(status.success(), "{status}: {}", launch.log());

    let trace = eventually("the trace is whole", || async {
        let trace = std::fs::read_to_string(&trace).expect("the trace is text");
        trace.ends_with("+++ exited with 0 +++\n").then_some(trace)
    });
    let acknowledged = synced_before_each_answer(&trace.await);
    assert_eq!(acknowledged.len(), 2 * rounds, "taps and updates");
    assert!(
        acknowledged.iter().all(|synced| *synced),
        "{acknowledged:?}"
    );
}

/// For each answer to a tap or an update, whether the database's log was synced
/// since the answer before it.
fn synced_before_each_answer(trace: &str) -> Vec<bool> {
    let mut syncing = std::collections::HashSet::new();
    let mut synced = false;
    let mut answers = Vec::new();
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').expect("a line begins with its thread");
        let call = call.trim_start();
        let sync = call.starts_with("fdatasync(") || call.starts_with("fsync(");
        if sync && call.contains("tapdesk.db-wal>") {
            if call.ends_with("<unfinished ...>") {
                syncing.insert(thread);
            } else {
                synced |= call.ends_with("= 0");
            }
        } else if call.contains("sync resumed>") {
            synced |= syncing.remove(thread) && call.ends_with("= 0");
        } else if call.contains("HTTP/1.1 302 Found") || call.contains("User Data updated") {
            answers.push(std::mem::take(&mut synced));
        }
    }
    answers
}
