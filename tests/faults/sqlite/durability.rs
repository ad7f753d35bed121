//! Power loss: a response that acknowledges a write is sent after its commit is on disk. Killing a
//! process cannot show this, because the system keeps the data that was written; the order of its
//! system calls can.

use std::collections::HashMap;
use std::path::PathBuf;

use futures_util::future::join_all;
use serde_json::json;
use tapdesk_tests::strace::can_trace;
use tapdesk_tests::{ServiceProcess, eventually, within_attempts};

use super::launch;

/// Calls that reach the disk or a socket.
const CALLS: &str = "trace=fdatasync,fsync,read,recvfrom,write,writev,sendto,sendmsg";

/// A service with a trace of its system calls.
struct Traced {
    service: ServiceProcess,
    trace: PathBuf,
}

impl Traced {
    /// Starts one. `None` if this machine cannot trace.
    async fn start() -> Option<Self> {
        if !can_trace() {
            return None;
        }
        let launch = launch();
        let trace = launch.folder.path().join("trace");
        let output = trace.to_string_lossy().into_owned();
        let launch = launch.under_strace(&["-y", "-s", "80", "-e", CALLS, "-o", &output]);
        Some(Self {
            service: launch.start().await,
            trace,
        })
    }

    /// Ends it, and evaluates its trace.
    async fn end(self) -> Answers {
        let Self { service, trace } = self;
        let launch = service.launch().clone();
        let status = service.terminate().await;
        assert!(status.success(), "{status}: {}", launch.log());
        let trace = eventually("the trace is whole", || async {
            let trace = std::fs::read_to_string(&trace).expect("the trace is text");
            trace.ends_with("+++ exited with 0 +++\n").then_some(trace)
        });
        Answers::of(&trace.await)
    }
}

fn assert_synced(answers: &Answers, count: usize) {
    assert_eq!(answers.synced.len(), count, "taps and updates");
    assert!(answers.synced.iter().all(|synced| *synced), "{answers:?}");
}

#[tokio::test]
async fn before_each_acknowledged_answer_there_is_an_fdatasync_of_the_log_of_the_database() {
    let Some(traced) = Traced::start().await else {
        return;
    };
    let service = &traced.service;
    let (tag, mut inlay) = service.bottle().await;
    let rounds = 20;
    for i in 0..rounds {
        let tap = service.tap(&inlay.url(&tag)).await;
        let data = json!({"registered": i.to_string()});
        service.update(tap.key(), data).await.expect(200);
    }
    assert_synced(&traced.end().await, 2 * rounds);
}

/// Many requests wait for one commit: none is answered by the commit before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_connections_that_share_commits_each_is_answered_after_its_own() {
    const COUNT: usize = 2 * CONNECTIONS * ROUNDS;
    // On a busy machine, the requests may come one after the other, so that no commit is shared.
    within_attempts(5, async || {
        let Some(traced) = Traced::start().await else {
            return Ok(());
        };
        let answers = many_connections(traced).await;
        assert_synced(&answers, COUNT);
        println!("{} commits of {COUNT}", answers.syncs);
        (answers.syncs < COUNT).then_some(()).ok_or(answers.syncs)
    })
    .await;
}

const CONNECTIONS: usize = 32;
/// Taps of each connection, each with an update.
const ROUNDS: usize = 10;

async fn many_connections(traced: Traced) -> Answers {
    let visitors = (0..CONNECTIONS).map(|_| async {
        let (tag, inlay) = traced.service.bottle().await;
        (traced.service.another(), tag, inlay)
    });
    let visitors = join_all(visitors).await.into_iter();
    let visits = visitors.map(|(client, tag, mut inlay)| {
        tokio::spawn(async move {
            for i in 0..ROUNDS {
                let tap = client.tap(&inlay.url(&tag)).await;
                let data = json!({"registered": i.to_string()});
                client.update(tap.key(), data).await.expect(200);
            }
        })
    });
    for visited in join_all(visits).await {
        visited.unwrap();
    }
    traced.end().await
}

/// The responses to taps and updates in a trace.
#[derive(Debug, Default)]
struct Answers {
    /// For each response, whether the database's log was synced between its request and it.
    synced: Vec<bool>,
    /// How often the log was synced.
    syncs: usize,
}

impl Answers {
    fn of(trace: &str) -> Self {
        let mut answers = Self::default();
        // Positions are lines. A call that others interrupt has two lines, and runs between them.
        let (mut syncing, mut reading) = (HashMap::new(), HashMap::new());
        let mut requests = HashMap::new();
        // The position at which the newest completed sync began: it covers everything written
        // before.
        let mut synced_to = None;
        for (place, line) in trace.lines().enumerate() {
            let (thread, call) = line.split_once(' ').expect("a line begins with its thread");
            let call = call.trim_start();
            let goes_on = call.ends_with("<unfinished ...>");
            let sync = call.starts_with("fdatasync(") || call.starts_with("fsync(");
            let began = if sync && call.contains("tapdesk.db-wal>") {
                if goes_on {
                    syncing.insert(thread, place);
                }
                (!goes_on).then_some(place)
            } else if call.contains("sync resumed>") {
                syncing.remove(thread)
            } else {
                None
            };
            if let Some(began) = began.filter(|_| call.ends_with("= 0")) {
                synced_to = synced_to.max(Some(began));
                answers.syncs += 1;
            }
            let read = if call.starts_with("recvfrom(") || call.starts_with("read(") {
                let read = (connection(call), place);
                if goes_on {
                    reading.insert(thread, read);
                }
                (!goes_on).then_some(read)
            } else if call.contains("recvfrom resumed>") || call.contains("read resumed>") {
                reading.remove(thread)
            } else {
                None
            };
            let is_request = call.contains("\"GET /") || call.contains("\"POST /");
            if let Some((connection, place)) = read.filter(|_| is_request) {
                requests.insert(connection, place);
            }
            if call.contains("HTTP/1.1 302 Found") || call.contains("User Data updated") {
                let request = requests.remove(connection(call)).expect("it was asked");
                answers.synced.push(synced_to > Some(request));
            }
        }
        answers
    }
}

/// The file or socket of a call.
fn connection(call: &str) -> &str {
    let about = call.split_once('(').map_or("", |(_, about)| about);
    about
        .split_once('>')
        .map_or("", |(connection, _)| connection)
}
