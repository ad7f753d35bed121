//! Visitors and owners' servers at work, with a journal of acknowledged requests.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tapdesk_tests::{Client, TapResult, TestInlay, TestTag, TryAnswering as _};
use tokio::task::JoinSet;

/// The writes that the service has acknowledged.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Keys of acknowledged taps, all verified.
    taps: Vec<String>,
    /// Keys of acknowledged updates.
    updates: Vec<String>,
}

/// A tag whose inlay is tapped repeatedly. After each tap, an update increments its variable.
struct Worker {
    tag: TestTag,
    inlay: TestInlay,
    acknowledged_taps: u64,
    acknowledged: u64,
    sent: u64,
}

/// Several workers, over one or more runs of a service.
pub(super) struct Load {
    workers: Vec<Worker>,
    journal: Arc<Mutex<Journal>>,
}

impl Load {
    /// `count` workers, each with its own tag.
    pub(super) async fn new(service: &Client, count: usize) -> Self {
        let mut workers = Vec::new();
        for _ in 0..count {
            let (tag, inlay) = service.bottle().await;
            workers.push(Worker {
                tag,
                inlay,
                acknowledged_taps: 0,
                acknowledged: 0,
                sent: 0,
            });
        }
        Self {
            workers,
            journal: Arc::default(),
        }
    }

    /// Works until the service is gone. `end` stops it after this number of taps and updates was
    /// acknowledged, and at least one of each.
    pub(super) async fn work_until<T>(
        &mut self,
        client: &Client,
        acknowledged: usize,
        end: impl AsyncFnOnce() -> T,
    ) -> T {
        let mut tasks = JoinSet::new();
        for mut worker in self.workers.drain(..) {
            let (client, journal) = (client.another(), Arc::clone(&self.journal));
            tasks.spawn(async move {
                worker.work(&client, &journal).await;
                worker
            });
        }
        let journal = &self.journal;
        tapdesk_tests::eventually("the load is acknowledged", || async {
            let journal = lock(journal);
            // An update comes after its tap.
            (journal.size() >= acknowledged && !journal.updates.is_empty()).then_some(())
        })
        .await;
        let ended = end().await;
        self.workers = tasks.join_all().await;
        ended
    }

    /// Asserts that everything acknowledged since the last check is stored.
    pub(super) async fn check(&self, service: &Client) {
        let Journal { taps, updates } = std::mem::take(&mut *lock(&self.journal));
        assert!(!taps.is_empty() && !updates.is_empty());
        for rk in taps {
            let payload = service.payload(&rk).await;
            assert_eq!(payload["tag_verified"], json!(true), "a tap is lost");
        }
        for rk in updates {
            let again = service.update(&rk, json!({"registered": "again"})).await;
            assert_eq!(again.status, 400, "a consumed key updates again");
        }
        for worker in &self.workers {
            let value = service.variable(&worker.tag, "registered").await;
            let value: u64 = value.map_or(0, |value| value.parse().unwrap_or(0));
            let possible = worker.acknowledged..=worker.sent;
            assert!(possible.contains(&value), "{value} is not of {possible:?}");
            let scans = service.scan_count(&worker.tag).await;
            assert!(scans >= worker.acknowledged_taps, "scans are lost");
        }
    }
}

impl Worker {
    async fn work(&mut self, client: &Client, journal: &Mutex<Journal>) {
        loop {
            let url = self.inlay.url(&self.tag);
            let Ok(answer) = client.get(&url).try_answer().await else {
                return;
            };
            let rk = TapResult::of(answer).key().to_owned();
            self.acknowledged_taps += 1;
            lock(journal).taps.push(rk.clone());
            self.sent += 1;
            let data = json!({"registered": self.sent.to_string()});
            let Ok(answer) = client.update_request(&rk, &data).try_answer().await else {
                return;
            };
            answer.expect(200);
            self.acknowledged = self.sent;
            lock(journal).updates.push(rk);
        }
    }
}

impl Journal {
    fn size(&self) -> usize {
        self.taps.len() + self.updates.len()
    }
}

fn lock(journal: &Mutex<Journal>) -> std::sync::MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
