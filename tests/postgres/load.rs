//! Visitors and owners' servers that use both nodes, and retry refused requests. A journal has the
//! acknowledged requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::json;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_tests::client::base64;
use tapdesk_tests::{
    Answer, Answering as _, Client, ServiceProcess, TapResult, TestDatabase, TestInlay, TestTag,
    eventually,
};
use tokio::task::JoinSet;

/// Number of workers, each with its own tag.
const WORKERS: usize = 8;
/// Pause before a refused request is repeated.
const PAUSE: Duration = Duration::from_millis(20);

/// The results of all requests so far.
#[derive(Debug, Default)]
struct Journal {
    /// Keys of acknowledged taps.
    taps: Vec<String>,
    /// Keys of acknowledged updates.
    updates: Vec<String>,
    /// The number of acknowledged updates of each worker.
    done: [usize; WORKERS],
    /// The number of responses with 503.
    refused: usize,
    /// The longest time until a response, in milliseconds.
    slowest: i64,
}

/// Workers that tap and update until they are stopped.
pub(crate) struct Load {
    journal: Arc<Mutex<Journal>>,
    stop: Arc<AtomicBool>,
    workers: JoinSet<Worker>,
}

/// A tag whose inlay is tapped repeatedly. Each acknowledged tap is followed by an update, which is
/// repeated until it is acknowledged.
struct Worker {
    number: usize,
    tag: TestTag,
    inlay: TestInlay,
    nodes: Vec<Client>,
    journal: Arc<Mutex<Journal>>,
    requests: usize,
    clock: SystemClock,
}

impl Load {
    /// Starts workers that call the nodes in turn.
    pub(crate) async fn start(nodes: &[ServiceProcess]) -> Self {
        let journal = Arc::<Mutex<Journal>>::default();
        let stop = Arc::<AtomicBool>::default();
        let mut workers = JoinSet::new();
        for number in 0..WORKERS {
            let (tag, inlay) = nodes[0].bottle().await;
            let mut worker = Worker {
                number,
                tag,
                inlay,
                nodes: nodes.iter().map(|node| node.another()).collect(),
                journal: Arc::clone(&journal),
                requests: number,
                clock: SystemClock::start(),
            };
            let stop = Arc::clone(&stop);
            workers.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    worker.work().await;
                }
                worker
            });
        }
        Self {
            journal,
            stop,
            workers,
        }
    }

    /// Waits until each worker has `count` more acknowledged updates.
    pub(crate) async fn goes_on(&self, count: usize) {
        let before = lock(&self.journal).done;
        eventually("all go on", || async {
            let done = lock(&self.journal).done;
            let more = done
                .iter()
                .zip(before)
                .all(|(now, then)| *now >= then + count);
            more.then_some(())
        })
        .await;
    }

    /// Waits until a request is refused.
    pub(crate) async fn is_refused(&self) {
        let before = lock(&self.journal).refused;
        eventually("something is refused", || async {
            (lock(&self.journal).refused > before).then_some(())
        })
        .await;
    }

    /// Stops the workers, and asserts that everything acknowledged is stored, once each. Returns
    /// the longest time until a response, in milliseconds.
    pub(crate) async fn check(self, node: &ServiceProcess, database: &TestDatabase) -> i64 {
        self.stop.store(true, Ordering::Relaxed);
        let workers = self.workers.join_all().await;
        let journal = std::mem::take(&mut *lock(&self.journal));
        assert!(!journal.taps.is_empty() && !journal.updates.is_empty());
        for rk in &journal.taps {
            let payload = node.payload(rk).await;
            assert_eq!(payload["tag_verified"], json!(true), "a tap is lost");
        }
        for rk in &journal.updates {
            let again = node.update(rk, json!({"registered": "again"})).await;
            assert_eq!(again.status, 400, "a consumed key updates again");
        }
        let mut recorded = 0;
        for worker in &workers {
            let value = node.variable(&worker.tag, "registered").await;
            let last = journal.done[worker.number].to_string();
            assert_eq!(value, Some(last), "an update is lost, or done twice");
            recorded += node.scan_count(&worker.tag).await;
        }
        assert!(recorded >= journal.taps.len() as u64);
        nothing_is_there_twice(database).await;
        journal.slowest
    }
}

/// Asserts that nothing was counted, accepted or done more often than it happened.
async fn nothing_is_there_twice(database: &TestDatabase) {
    let client = database.look_into().await;
    for (what, sql) in [
        (
            "counters accepted twice",
            "SELECT count(*) FROM (SELECT FROM interactions WHERE reason = 'verified'
                 GROUP BY inlay_id, counter HAVING count(*) > 1) twice",
        ),
        (
            "tags whose count is not that of their taps",
            "SELECT count(*) FROM visits v WHERE client = ''
                 AND scans <> (SELECT count(*) FROM interactions i WHERE i.tag_id = v.tag_id)",
        ),
        (
            "taps counted twice, or not",
            "SELECT abs((SELECT sum(taps)::BIGINT FROM tap_counts) - (SELECT count(*) FROM interactions))",
        ),
        (
            "updates without a key",
            "SELECT count(*) FROM updates u LEFT JOIN interactions i ON i.id = u.interaction_id
                 WHERE i.key_hash IS NULL",
        ),
    ] {
        let found = client.query_one(sql, &[]).await.expect("it is SQL");
        assert_eq!(found.get::<_, i64>(0), 0, "{what}");
    }
}

impl Worker {
    async fn work(&mut self) {
        let url = self.inlay.url(&self.tag);
        let Some(answer) = self.ask(|node| node.get(&url)).await else {
            return;
        };
        let rk = TapResult::of(answer).key().to_owned();
        lock(&self.journal).taps.push(rk.clone());
        let number = lock(&self.journal).done[self.number] + 1;
        let record =
            json!({"rolling_key": base64(&rk), "data": {"registered": number.to_string()}});
        let update = |node: &Client| {
            let request = node.post("/v2/interactions/data");
            request.header("idempotency-key", number).json(&record)
        };
        loop {
            if let Some(answer) = self.ask(update).await {
                answer.expect(200);
                break;
            }
        }
        let mut journal = lock(&self.journal);
        journal.done[self.number] = number;
        journal.updates.push(rk);
    }

    /// Calls the nodes in turn. `None` if the request is refused at this moment.
    async fn ask(&mut self, request: impl FnOnce(&Client) -> RequestBuilder) -> Option<Answer> {
        self.requests += 1;
        let node = &self.nodes[self.requests % self.nodes.len()];
        let asked = self.clock.now();
        let answer = request(node).answer().await;
        let took = self.clock.now().since(asked).get();
        let refused = answer.status == 503;
        {
            let mut journal = lock(&self.journal);
            journal.slowest = journal.slowest.max(took);
            journal.refused += usize::from(refused);
        }
        if !refused {
            return Some(answer);
        }
        assert_eq!(answer.header("retry-after"), Some("1"));
        tokio::time::sleep(PAUSE).await;
        None
    }
}

fn lock(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
