//! Slow derivations of keys. Any wrong code at a URL template asks for some, so few run at a time,
//! and few wait. Derived keys are not kept: a code that is answered sooner would reveal that its UID
//! was tapped before.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// Searches that run at a time, because each keeps a core busy that taps need.
const RUNNING: usize = 1;
/// Searches that run or wait. With four master keys one takes some 20 ms, so the last one waits for
/// about a second.
const ADMITTED: usize = 48;

/// The places of slow derivations, on this node.
pub(crate) struct Derivations {
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotDerived {
    /// Too many searches wait, and this one was not begun.
    Busy,
    /// The search panicked, which the log explains.
    Panicked,
}

impl Default for Derivations {
    fn default() -> Self {
        Self {
            admitted: Arc::new(Semaphore::new(ADMITTED)),
            running: Arc::new(Semaphore::new(RUNNING)),
        }
    }
}

impl Derivations {
    /// Runs `search` on a thread that serves no taps, after the ones that came before it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotDerived> {
        let place = Arc::clone(&self.admitted).try_acquire_owned();
        let place = place.map_err(|_| NotDerived::Busy)?;
        let turn = Arc::clone(&self.running).acquire_owned().await;
        let turn = turn.map_err(|_| NotDerived::Busy)?;
        let searching = tokio::task::spawn_blocking(move || {
            // If the visitor goes away the work continues, so both must last as long as the work.
            let _held = (place, turn);
            search()
        });
        searching.await.map_err(|_| NotDerived::Panicked)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn few_slow_derivations_run_at_a_time_and_few_wait() {
        let derivations = Arc::new(Derivations::default());
        let (running, most, begun) = (
            AtomicUsize::new(0),
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        );
        let counts = Arc::new((running, most, begun));
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let search = || {
            let (counts, gate) = (Arc::clone(&counts), Arc::clone(&gate));
            move || {
                let (running, most, begun) = &*counts;
                begun.fetch_add(1, Ordering::SeqCst);
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                // Ends once the test lets all of them end.
                let _ = gate.lock().unwrap().recv();
                running.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let mut admitted = Vec::new();
        for _ in 0..ADMITTED {
            let (derivations, search) = (Arc::clone(&derivations), search());
            admitted.push(tokio::spawn(async move { derivations.run(search).await }));
        }
        while derivations.admitted.available_permits() > 0 || counts.2.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..500 {
            assert_eq!(derivations.run(search()).await, Err(NotDerived::Busy));
        }
        assert_eq!(
            counts.2.load(Ordering::SeqCst),
            RUNNING,
            "none more was begun"
        );
        drop(release);
        for one in admitted {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
        assert_eq!(counts.1.load(Ordering::SeqCst), RUNNING);
        assert_eq!(counts.2.load(Ordering::SeqCst), ADMITTED);
        assert_eq!(derivations.run(|| 1).await, Ok(1), "there is room again");
    }

    #[tokio::test]
    async fn a_search_that_panics_gives_its_place_back() {
        let derivations = Derivations::default();
        for _ in 0..=ADMITTED {
            let panicked = derivations.run(|| panic!("on purpose")).await;
            assert_eq!(panicked, Err::<(), _>(NotDerived::Panicked));
        }
    }
}
