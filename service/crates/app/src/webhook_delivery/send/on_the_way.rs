//! Attempts in progress, and the places that they occupy.

use std::collections::HashMap;

use tokio::task::{Id, JoinSet};

use domain::id::WebhookId;
use storage::panics::Panicked;

/// Number of simultaneous attempts of endpoints that answer well, and the same number for all
/// others.
const PLACES: usize = 64;

/// Attempts in progress. Each frees its place when it ends, for whatever reason.
pub(super) struct OnTheWay<T> {
    tasks: JoinSet<T>,
    /// For each attempt, its endpoint, and whether the endpoint is held back.
    of: HashMap<Id, (WebhookId, bool)>,
}

impl<T> Default for OnTheWay<T> {
    fn default() -> Self {
        Self {
            tasks: JoinSet::new(),
            of: HashMap::new(),
        }
    }
}

impl<T: Send + 'static> OnTheWay<T> {
    /// Begins an attempt. It needs no free place: another node may have left more attempts than
    /// there are places, and these are already leased.
    pub(super) fn begin(
        &mut self,
        webhook: WebhookId,
        held_back: bool,
        attempt: impl Future<Output = T> + Send + 'static,
    ) {
        let task = self.tasks.spawn(attempt);
        self.of.insert(task.id(), (webhook, held_back));
    }

    /// The result of the next attempt that ends; `None` if no attempt is in progress.
    pub(super) async fn next(&mut self) -> Option<Result<T, Panicked>> {
        let (id, made) = match self.tasks.join_next_with_id().await? {
            Ok((id, made)) => (id, Ok(made)),
            Err(error) => (error.id(), Err(Panicked)),
        };
        self.of.remove(&id);
        Some(made)
    }

    /// Whether no attempt is in progress.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Number of free places, for endpoints that answer well or for those that are held back.
    pub(super) fn free(&self, held_back: bool) -> usize {
        let taken = self.of.values().filter(|(_, held)| *held == held_back);
        PLACES.saturating_sub(taken.count())
    }

    /// Endpoints with at least `each` attempts in progress.
    pub(super) fn full(&self, each: usize) -> Vec<WebhookId> {
        let mut busy: HashMap<WebhookId, usize> = HashMap::new();
        for (webhook, _) in self.of.values() {
            *busy.entry(*webhook).or_default() += 1;
        }
        busy.retain(|_, many| *many >= each);
        busy.into_keys().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_attempt_gives_its_place_back_also_if_it_panics() {
        let mut on_the_way = OnTheWay::default();
        let (good, bad) = (WebhookId::new(1), WebhookId::new(2));
        on_the_way.begin(good, false, async {});
        for _ in 0..3 {
            on_the_way.begin(bad, true, async { panic!("a test's own panic") });
        }
        assert_eq!(on_the_way.free(false), PLACES - 1);
        assert_eq!(on_the_way.free(true), PLACES - 3);
        assert_eq!(on_the_way.full(2), [bad]);
        let (mut made, mut panicked) = (0, 0);
        while let Some(one) = on_the_way.next().await {
            match one {
                Ok(()) => made += 1,
                Err(Panicked) => panicked += 1,
            }
        }
        assert_eq!((made, panicked), (1, 3));
        assert_eq!(on_the_way.free(false), PLACES);
        assert_eq!(on_the_way.free(true), PLACES);
        assert!(on_the_way.full(1).is_empty() && on_the_way.is_empty());
    }
}
