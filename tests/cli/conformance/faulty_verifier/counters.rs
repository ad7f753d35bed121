//! The counters that a verifier keeps, right or with a fault.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tapdesk_service::inlay::Uid;

use super::Fault;

/// The counter of each chip before the run: above that of the used URL, and near the judge's first.
const BEFORE: u32 = 95;
/// The largest rise that a verifier with small gaps accepts. The judge leaves out more.
const SMALL: u32 = 16;
/// Turns of the runtime for which a slow verifier waits for another request. Enough that requests on
/// other connections arrive.
const TURNS: usize = 10_000;

#[derive(Default)]
struct Stored {
    last: HashMap<Option<Uid>, u32>,
    urls: HashSet<String>,
    spent: HashSet<u32>,
}

pub(super) struct Counters {
    fault: Option<Fault>,
    stored: Mutex<Stored>,
    inside: AtomicUsize,
}

impl Counters {
    /// The counters after a restart.
    pub(super) fn new(fault: Option<Fault>) -> Self {
        Self {
            fault,
            stored: Mutex::default(),
            inside: AtomicUsize::new(0),
        }
    }

    fn with<T>(&self, see: impl FnOnce(&mut Stored) -> T) -> T {
        see(&mut self.stored.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The chip whose counter is compared.
    fn chip(&self, uid: Uid) -> Option<Uid> {
        (self.fault != Some(Fault::OneCounterForAll)).then_some(uid)
    }

    /// Sees the counter of a code whose MAC is wrong.
    pub(super) fn see_forged(&self, uid: Uid, counter: u32) {
        let chip = self.chip(uid);
        self.with(|stored| match self.fault {
            Some(Fault::ForgedCounterStored) => {
                let last = stored.last.entry(chip).or_insert(BEFORE);
                *last = counter.max(*last);
            }
            Some(Fault::ForgedCounterSpent) => {
                stored.spent.insert(counter);
            }
            _ => {}
        });
    }

    fn is_new(&self, stored: &mut Stored, uid: Uid, counter: u32, url: &str) -> bool {
        let before = match self.fault {
            Some(Fault::CounterNotKept) => 0,
            _ => BEFORE,
        };
        let last = stored.last.get(&self.chip(uid)).copied().unwrap_or(before);
        match self.fault {
            Some(Fault::NoCounter) => true,
            Some(Fault::SameCounter) => counter >= last,
            Some(Fault::OnlyLastCounter) => counter != last,
            Some(Fault::UrlsInsteadOfCounters) => stored.urls.insert(url.to_owned()),
            Some(Fault::CounterOf16Bits) => (counter & 0xFFFF) > (last & 0xFFFF),
            Some(Fault::SmallGapsOnly) => (last + 1..=last + SMALL).contains(&counter),
            Some(Fault::ForgedCounterSpent) if stored.spent.contains(&counter) => false,
            _ => counter > last,
        }
    }

    /// Accepts the counter of an authentic code, once.
    pub(super) async fn accept(&self, uid: Uid, counter: u32, url: &str) -> bool {
        let chip = self.chip(uid);
        if self.fault != Some(Fault::CheckThenStore) {
            return self.with(|stored| {
                let is_new = self.is_new(stored, uid, counter, url);
                if is_new {
                    stored.last.insert(chip, counter);
                }
                is_new
            });
        }
        let is_new = self.with(|stored| self.is_new(stored, uid, counter, url));
        self.inside.fetch_add(1, Ordering::SeqCst);
        for _ in 0..TURNS {
            if self.inside.load(Ordering::SeqCst) > 1 {
                break;
            }
            tokio::task::yield_now().await;
        }
        if is_new {
            self.with(|stored| stored.last.insert(chip, counter));
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
        is_new
    }
}
