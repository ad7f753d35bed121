//! Configuration of tags as taps need it, kept in memory. What is kept was read
//! under an epoch of the configuration and is void under the next one; counters,
//! keys and properties are never kept.

use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::experience::{Content, PublishedExperience};
use crate::id::{InlayId, TagId};
use crate::inlay::verify::Candidate;
use crate::keyring::{Keyring, KeyringError};
use crate::metrics::CacheMetrics;
use crate::storage::{BoundInlay, Storage, StorageError, TagKey, TagTap};
use crate::tag::{Status, Tag};

/// Tags kept at the most.
const KEPT: usize = 200_000;

/// The cache.
pub(crate) struct TagCache {
    storage: Arc<dyn Storage>,
    keyring: Arc<Keyring>,
    by_slug: Cache<Box<str>, Kept>,
    by_id: Cache<TagId, Kept>,
    metrics: CacheMetrics,
}

#[derive(Clone)]
struct Kept {
    epoch: u64,
    tag: Arc<CachedTag>,
}

/// A tag with its inlays' keys at hand.
#[derive(Debug)]
pub(crate) struct CachedTag {
    tap: TagTap,
    candidates: Result<Vec<Candidate>, KeyringError>,
}

impl TagCache {
    /// Nothing is kept yet.
    pub(super) fn new(storage: Arc<dyn Storage>, keyring: Arc<Keyring>) -> Self {
        Self {
            storage,
            keyring,
            by_slug: Cache::new(KEPT),
            by_id: Cache::new(KEPT),
            metrics: CacheMetrics::default(),
        }
    }

    /// How often a tag was at hand.
    pub(crate) fn metrics(&self) -> &CacheMetrics {
        &self.metrics
    }

    /// A tag as it is configured now. `None` for no tag, or a deleted one.
    pub(crate) async fn get(
        &self,
        key: TagKey<'_>,
    ) -> Result<Option<Arc<CachedTag>>, StorageError> {
        // The epoch is read first: what changes after it makes the entry void.
        let epoch = self.storage.configuration_epoch();
        let kept = match key {
            TagKey::Slug(slug) => self.by_slug.get(slug),
            TagKey::Id(id) => self.by_id.get(&id),
        };
        if let Some(kept) = kept.filter(|kept| Some(kept.epoch) == epoch) {
            self.metrics.hits.inc();
            return Ok(Some(kept.tag));
        }
        self.metrics.misses.inc();
        let Some(tag) = self.read(key).await? else {
            return Ok(None);
        };
        let tag = Arc::new(tag);
        if let Some(epoch) = epoch {
            let kept = Kept {
                epoch,
                tag: Arc::clone(&tag),
            };
            let slug = match key {
                // It may be a former one.
                TagKey::Slug(slug) => slug,
                TagKey::Id(_) => tag.slug(),
            };
            self.by_slug.insert(slug.into(), kept.clone());
            self.by_id.insert(tag.id(), kept);
        }
        Ok(Some(tag))
    }

    /// A tag as it is configured now, read past the cache.
    pub(crate) async fn read(&self, key: TagKey<'_>) -> Result<Option<CachedTag>, StorageError> {
        let tap = self.storage.tag_tap(key).await?;
        Ok(tap.map(|tap| CachedTag::new(tap, &self.keyring)))
    }
}

impl CachedTag {
    /// A tag as it was just read.
    fn new(tap: TagTap, keyring: &Keyring) -> Self {
        let candidates = tap
            .rolling
            .iter()
            .map(|inlay| Candidate::of(inlay, keyring))
            .collect();
        Self { tap, candidates }
    }

    /// Its id.
    pub(crate) fn id(&self) -> TagId {
        self.tap.tag.id
    }

    /// The last part of its URL as it is now; it may have been found by a former one.
    pub(crate) fn slug(&self) -> &str {
        self.tap.tag.fields.slug.as_str()
    }

    /// Whether it is in use.
    pub(crate) fn status(&self) -> Status {
        self.tap.tag.fields.status
    }

    /// Whether it lives in the simulated world.
    pub(crate) fn simulated(&self) -> bool {
        self.tap.tag.simulated
    }

    /// The tag; its properties are empty here, and its counts are old.
    pub(crate) fn tag(&self) -> &Tag {
        &self.tap.tag
    }

    /// Its experience's published version.
    pub(crate) fn experience(&self) -> Option<&PublishedExperience> {
        self.tap.experience.as_ref()
    }

    /// The studio experience's id as the payload names it: empty for a redirect.
    pub(crate) fn studio_id(&self) -> String {
        match &self.tap.experience {
            Some(PublishedExperience {
                version, content, ..
            }) if matches!(**content, Content::Studio { .. }) => version.experience_id.to_string(),
            _ => String::new(),
        }
    }

    /// Whether it has an inlay that makes codes.
    pub(crate) fn rolls(&self) -> bool {
        !self.tap.rolling.is_empty()
    }

    /// Its inlays that make codes, with their keys.
    pub(crate) fn candidates(&self) -> Result<&[Candidate], KeyringError> {
        self.candidates.as_deref().map_err(Clone::clone)
    }

    /// The inlay behind the candidate at `index`, and the version of its keys.
    pub(crate) fn inlay(&self, index: usize) -> (InlayId, u32) {
        let inlay = &self.tap.rolling[index];
        (inlay.id, inlay.key_version)
    }

    /// Whether it has an inlay that makes no codes.
    pub(crate) fn has_static_inlay(&self) -> bool {
        self.tap.has_static_inlay
    }
}

impl Candidate {
    /// An inlay with its keys opened.
    pub(crate) fn of(inlay: &BoundInlay, keyring: &Keyring) -> Result<Self, KeyringError> {
        Ok(Self {
            uid: inlay.uid,
            mirror: inlay.mirror,
            mac_from: inlay.mac_from,
            keys: keyring.inlay_keys(&inlay.keys, inlay.uid, inlay.mirror)?,
        })
    }
}
