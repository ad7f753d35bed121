//! Keeps the counts of all tags: of the keys of attributes, and of the values of each attribute that
//! somebody asked for. A million tags take a second or two to count, and people ask for the same
//! counts again and again.
//!
//! Only counts of all real tags are kept, for callers who reach all of them. Everything else is
//! counted for each answer, and so are tags that are few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Mutex as AsyncMutex;

use super::estimate;
use crate::{Access, StorageError, TagFilter};
use domain::clock::{Millis, Timestamp};
use domain::tag::PropertyKey;

/// Most tags that are counted for each answer: that takes some milliseconds.
const FEW_TAGS: u64 = 8_192;
/// Age from which counts that may be wrong are made again in the background while they stay in use.
const AGING: Millis = Millis::seconds(10);
/// Age from which no caller gets counts that may be wrong. With the time for counting, it stays
/// below 30 s.
const OLD: Millis = Millis::seconds(25);
/// Most items of kept counts, as many as an answer can have.
const ITEMS: usize = 500;
/// Most counts that are kept.
const COUNTS: usize = 64;
/// Most bytes of all kept items. A value can have 4 KiB.
const BYTES: usize = 16 * 1024 * 1024;

/// The subject of a count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Facet {
    /// All keys of attributes.
    Keys,
    /// The values of an attribute.
    Values(PropertyKey),
}

/// The most frequent items of a count.
pub(super) struct Counts {
    /// Keys or values, with how many tags have each.
    pub(super) items: Vec<(String, u64)>,
    /// Whether all items were counted.
    pub(super) exact: bool,
}

impl Counts {
    fn bytes(&self) -> usize {
        self.items.iter().map(|(item, _)| item.len()).sum()
    }
}

/// A moment at which tags are counted, or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    at: Timestamp,
    /// The epoch of the configuration; `None` if it is unknown. Each change of a tag that exists
    /// starts another one.
    epoch: Option<u64>,
    /// The id of the newest tag.
    newest: u64,
}

impl Moment {
    /// Whether counts of this moment are those of `now`.
    fn is_like(&self, now: &Self) -> bool {
        self.epoch.is_some() && (self.epoch, self.newest) == (now.epoch, now.newest)
    }

    /// Whether counts of this moment may be shown `now`, and whether they must be made again.
    fn serves(&self, now: &Self) -> (bool, bool) {
        if self.is_like(now) {
            return (true, false);
        }
        // The clock of a database can go back.
        let age = now.at.since(self.at);
        let serves = (Millis::ZERO..OLD).contains(&age);
        (serves, age >= AGING)
    }
}

/// The counts that this process keeps; empty until somebody asks.
#[derive(Default)]
pub(crate) struct KeptCounts {
    kept: Mutex<HashMap<Facet, Kept>>,
    /// Locked while tags are counted, so that callers who ask at once share one count.
    counting: AsyncMutex<()>,
}

struct Kept {
    counts: Arc<Counts>,
    of: Moment,
}

impl KeptCounts {
    fn kept(&self) -> MutexGuard<'_, HashMap<Facet, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts that may be shown now, and whether they must be made again.
    fn get(&self, facet: &Facet, now: &Moment) -> Option<(Arc<Counts>, bool)> {
        let kept = self.kept();
        let found = kept.get(facet)?;
        let (serves, ages) = found.of.serves(now);
        serves.then(|| (Arc::clone(&found.counts), ages))
    }

    /// Keeps new counts, and gives up the oldest ones if they are too many or too large.
    fn keep(&self, facet: Facet, counts: &Arc<Counts>, of: Moment) {
        let mut kept = self.kept();
        let counts = Arc::clone(counts);
        kept.insert(facet, Kept { counts, of });
        loop {
            let bytes: usize = kept.values().map(|one| one.counts.bytes()).sum();
            if kept.len() <= COUNTS && bytes <= BYTES {
                return;
            }
            let oldest = kept.iter().min_by_key(|(_, one)| one.of.at);
            let Some(oldest) = oldest.map(|(facet, _)| facet.clone()) else {
                return;
            };
            kept.remove(&oldest);
        }
    }
}

impl Access {
    /// The counts of all tags that match, if they are kept: those of this moment, or of one in the
    /// last 30 seconds. `None` if the caller must count by itself. With `estimate`, they are only
    /// kept ones.
    pub(super) async fn kept_counts(
        &self,
        filter: &TagFilter,
        facet: Facet,
        estimate: bool,
    ) -> Result<Option<Arc<Counts>>, StorageError> {
        if self.is_limited() || *filter != TagFilter::default() {
            return Ok(None);
        }
        let now = self.moment().await?;
        if now.newest <= FEW_TAGS {
            return Ok(None);
        }
        let found = self.counted().get(&facet, &now);
        if let Some((counts, ages)) = found {
            if ages {
                self.count_in_background(facet);
            }
            return Ok(Some(counts));
        }
        if estimate {
            return Ok(None);
        }
        let _counting = self.counted().counting.lock().await;
        // The caller before may have counted the same.
        let now = self.moment().await?;
        if let Some((counts, _)) = self.counted().get(&facet, &now) {
            return Ok(Some(counts));
        }
        self.count(facet, now).await.map(Some)
    }

    /// The present moment, which must be known before tags are counted.
    async fn moment(&self) -> Result<Moment, StorageError> {
        let at = self.now().await?;
        let epoch = self.configuration_epoch();
        let newest = self.read("newest_tag", (), |db, ()| Box::pin(estimate::newest(db)));
        Ok(Moment {
            at,
            epoch,
            newest: newest.await?,
        })
    }

    /// Counts, unless tags are being counted already. If it fails, a later caller counts.
    fn count_in_background(&self, facet: Facet) {
        // The request does not wait for it.
        let access = self.storage.as_service();
        tokio::spawn(async move {
            if let Ok(_counting) = access.counted().counting.try_lock()
                && let Ok(now) = access.moment().await
            {
                let _ = access.count(facet, now).await;
            }
        });
    }

    /// Counts and keeps the result. `now` is a moment before.
    async fn count(&self, facet: Facet, now: Moment) -> Result<Arc<Counts>, StorageError> {
        let filter = TagFilter::default();
        let counts = match &facet {
            Facet::Keys => {
                let counted = self.count_keys(filter, ITEMS, false).await?;
                let keys = counted.keys.into_iter();
                Counts {
                    items: keys.map(|(key, count)| (key.to_string(), count)).collect(),
                    exact: counted.exact,
                }
            }
            Facet::Values(key) => {
                let counted = self.count_values(filter, key.clone(), ITEMS, false).await?;
                Counts {
                    items: counted.values,
                    exact: counted.exact,
                }
            }
        };
        let counts = Arc::new(counts);
        self.counted().keep(facet, &counts, now);
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(seconds: i64, epoch: u64, newest: u64) -> Moment {
        Moment {
            at: Timestamp::from_millis(Millis::seconds(seconds).get()),
            epoch: Some(epoch),
            newest,
        }
    }

    fn counts(bytes: usize) -> Arc<Counts> {
        Arc::new(Counts {
            items: vec![("x".repeat(bytes), 1)],
            exact: true,
        })
    }

    fn values(of: usize) -> Facet {
        Facet::Values(PropertyKey::parse(&format!("key{of}")).unwrap())
    }

    #[test]
    fn counts_serve_until_tags_change_and_then_for_less_than_30_seconds() {
        let of = moment(100, 7, 10_000);
        for (now, serves, ages) in [
            (moment(100, 7, 10_000), true, false),
            (moment(100_000, 7, 10_000), true, false),
            (moment(105, 8, 10_000), true, false),
            (moment(105, 7, 10_001), true, false),
            (moment(110, 8, 10_000), true, true),
            (moment(124, 8, 10_000), true, true),
            (moment(125, 8, 10_000), false, true),
            (moment(99, 8, 10_000), false, false),
        ] {
            assert_eq!(of.serves(&now), (serves, ages), "{now:?}");
        }
        let unknown = |of: Moment| Moment { epoch: None, ..of };
        let later = moment(200, 7, 10_000);
        assert!(!unknown(of).serves(&unknown(later)).0);
    }

    #[test]
    fn the_oldest_counts_are_given_up_when_they_are_too_many_or_too_large() {
        let kept = KeptCounts::default();
        let now = moment(1_000, 7, 10_000);
        for (of, second) in (0..=COUNTS).zip(0..) {
            kept.keep(values(of), &counts(1), moment(second, 7, 10_000));
        }
        assert!(kept.get(&values(0), &now).is_none());
        assert!(kept.get(&values(1), &now).is_some());
        kept.keep(Facet::Keys, &counts(BYTES), now);
        assert!(kept.get(&values(COUNTS), &now).is_none());
        assert_eq!(kept.kept().len(), 1);
    }
}
