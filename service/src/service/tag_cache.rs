//! Configuration of tags as taps need it, kept in memory. What is kept of a tag or of an
//! experience is void once it is changed; counters, keys and properties are never kept.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::ops::Deref;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::tap_tag::TapTag;
use super::template_cache::{OpenedInlay, TemplateCache};
use crate::clock::Stopwatch;
use crate::experience::{Content, PublishedExperience};
use crate::id::{ExperienceId, TagId};
use crate::inlay::Uid;
use crate::inlay::verify::Candidate;
use crate::keyring::{Keyring, KeyringError};
use crate::metrics::CacheMetrics;
use crate::storage::{BoundInlay, Part, Storage, StorageError, TagKey, TagTap};

/// What the cache itself takes for a tag: its place by id, and that by slug.
pub(super) const PLACE: usize = 56;
pub(super) const PLACE_BY_SLUG: usize = 40;
/// About what a tag takes with both places, if its texts are short: by it the budget is shared
/// between them.
pub(super) const TAG: usize = 300;
/// Experiences kept at the most. Owners have few, and many tags of each.
const EXPERIENCES: usize = 1_000;
/// Tags that are read at once ahead of their taps.
const PAGE: usize = 500;

/// The cache.
pub(crate) struct TagCache {
    storage: Arc<dyn Storage>,
    keyring: Arc<Keyring>,
    templates: Arc<TemplateCache>,
    tags: Cache<TagId, Kept<TapTag>, Bytes>,
    /// Which tag has the slug with this hash. What is found says by itself whether it has it.
    ids: Cache<u64, TagId>,
    /// Which tag has the inlay with the UID of this hash, if the inlay writes by a template.
    of_inlays: Cache<u64, TagId>,
    hasher: RandomState,
    experiences: Cache<ExperienceId, Kept<Option<PublishedExperience>>>,
    metrics: CacheMetrics,
}

/// What was read under an epoch of configuration.
struct Kept<T> {
    epoch: u64,
    value: Arc<T>,
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self {
            epoch: self.epoch,
            value: Arc::clone(&self.value),
        }
    }
}

#[derive(Clone)]
struct Bytes;

impl Weighter<TagId, Kept<TapTag>> for Bytes {
    fn weight(&self, _: &TagId, kept: &Kept<TapTag>) -> u64 {
        (PLACE + kept.value.bytes()) as u64
    }
}

/// A tag with its inlays' keys at hand, and what a tap leads to.
#[derive(Clone, Debug)]
pub(crate) struct CachedTag {
    tag: Arc<TapTag>,
    experience: Arc<Option<PublishedExperience>>,
}

impl Deref for CachedTag {
    type Target = TapTag;

    fn deref(&self) -> &TapTag {
        &self.tag
    }
}

impl TagCache {
    /// Nothing is kept yet; at most `budget` bytes will be.
    pub(super) fn new(
        storage: Arc<dyn Storage>,
        keyring: Arc<Keyring>,
        templates: Arc<TemplateCache>,
        budget: usize,
    ) -> Self {
        let tags = budget / TAG;
        let by_slug = tags * PLACE_BY_SLUG;
        let options = OptionsBuilder::new()
            .estimated_items_capacity(tags)
            .weight_capacity(budget.saturating_sub(by_slug) as u64)
            // Those that were dropped lately are known for a while by nothing but a place.
            .ghost_allocation(0.1)
            .build()
            .expect("both capacities are set");
        Self {
            storage,
            keyring,
            templates,
            tags: Cache::with_options(
                options,
                Bytes,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            ids: Cache::new(tags),
            of_inlays: Cache::new(tags),
            hasher: RandomState::new(),
            experiences: Cache::new(EXPERIENCES),
            metrics: CacheMetrics::default(),
        }
    }

    /// How often a tag was at hand.
    pub(crate) fn metrics(&self) -> &CacheMetrics {
        &self.metrics
    }

    /// A tag as it is configured now. `None` for no tag, or a deleted one.
    pub(crate) async fn get(&self, key: TagKey<'_>) -> Result<Option<CachedTag>, StorageError> {
        let Some(tag) = self.tag(key).await? else {
            return Ok(None);
        };
        let experience = self.experience(tag.experience_id()).await?;
        Ok(Some(CachedTag { tag, experience }))
    }

    async fn tag(&self, key: TagKey<'_>) -> Result<Option<Arc<TapTag>>, StorageError> {
        let id = match key {
            TagKey::Slug(slug) => self.ids.get(&self.hash(slug)),
            TagKey::Id(id) => Some(id),
            TagKey::Inlay(uid) => self.of_inlays.get(&self.hash(uid)),
        };
        let kept = id.and_then(|id| self.holds(Part::Tag(id), self.tags.get(&id)));
        if let Some(tag) = kept.filter(|tag| tag.is(key)) {
            self.metrics.hits.inc();
            return Ok(Some(tag));
        }
        self.metrics.misses.inc();
        // The epoch is read first: what changes after it makes the entry void.
        let epoch = self.storage.configuration_epoch();
        let Some(tap) = self.storage.tag_tap(key).await? else {
            return Ok(None);
        };
        let tag = Arc::new(self.opened(tap).await?);
        if let Some(epoch) = epoch {
            self.keep(epoch, &tag);
        }
        Ok(Some(tag))
    }

    /// The inlay with this UID, if it writes its URLs by a template. It comes with its tag, which
    /// the tap needs next, so that both are read at once; one on no tag is read alone.
    pub(crate) async fn inlay(
        &self,
        uid: Uid,
    ) -> Result<Option<Result<OpenedInlay, KeyringError>>, StorageError> {
        let tag = self.tag(TagKey::Inlay(uid)).await?;
        if let Some(tag) = tag
            && let Some(inlay) = tag.of_template(uid)
        {
            return Ok(Some(Ok(OpenedInlay {
                codes: inlay.clone(),
                tag_id: Some(tag.id()),
                simulated: tag.simulated(),
            })));
        }
        // Of one whose keys are locked the reason is told.
        let found = self.storage.template_inlay(uid).await?;
        Ok(found.map(|inlay| OpenedInlay::of(&inlay, &self.keyring)))
    }

    async fn experience(
        &self,
        id: Option<ExperienceId>,
    ) -> Result<Arc<Option<PublishedExperience>>, StorageError> {
        let Some(id) = id else {
            return Ok(Arc::default());
        };
        if let Some(kept) = self.holds(Part::Experience(id), self.experiences.get(&id)) {
            return Ok(kept);
        }
        let epoch = self.storage.configuration_epoch();
        let value = Arc::new(self.storage.published_now(id).await?);
        if let Some(epoch) = epoch {
            let value = Arc::clone(&value);
            self.experiences.insert(id, Kept { epoch, value });
        }
        Ok(value)
    }

    /// A tag as it is configured now, read past the cache.
    pub(crate) async fn read(&self, key: TagKey<'_>) -> Result<Option<CachedTag>, StorageError> {
        let Some(tap) = self.storage.tag_tap(key).await? else {
            return Ok(None);
        };
        let experience = match tap.tag.fields.experience_id {
            Some(id) => self.storage.published_now(id).await?,
            None => None,
        };
        Ok(Some(CachedTag {
            tag: Arc::new(self.opened(tap).await?),
            experience: Arc::new(experience),
        }))
    }

    /// Reads tags ahead of their taps, until all are at hand or the budget is used. It takes
    /// at most half of a processor.
    pub(crate) async fn fill(&self) -> Result<(), StorageError> {
        let mut after = TagId(0);
        loop {
            let stopwatch = Stopwatch::start();
            let Some(epoch) = self.storage.configuration_epoch() else {
                return Ok(());
            };
            let page = self.storage.tag_taps(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.tag.id;
            let weight = self.tags.weight();
            for tap in page {
                let tag = Arc::new(self.opened(tap).await?);
                self.keep(epoch, &tag);
            }
            // Full: what comes in drops what is there.
            if self.tags.weight() <= weight {
                return Ok(());
            }
            tokio::time::sleep(stopwatch.elapsed()).await;
        }
    }

    async fn opened(&self, tap: TagTap) -> Result<TapTag, StorageError> {
        if tap.inlays.of_templates.is_empty() {
            return Ok(TapTag::new(tap, &self.keyring, |_| false));
        }
        let templates = self.templates.current().await?;
        // The settings of a template that has inlays never change.
        Ok(TapTag::new(tap, &self.keyring, |id| {
            let template = templates.get(id);
            template.is_some_and(|template| template.template.proves_taps())
        }))
    }

    /// What is kept of a part, if the part was not changed since.
    fn holds<T>(&self, part: Part, kept: Option<Kept<T>>) -> Option<Arc<T>> {
        let kept = kept?;
        let changed = self.storage.changed_at(part)?;
        (changed <= kept.epoch).then_some(kept.value)
    }

    fn keep(&self, epoch: u64, tag: &Arc<TapTag>) {
        self.ids.insert(self.hash(tag.slug()), tag.id());
        for inlay in tag.of_templates().unwrap_or_default() {
            self.of_inlays.insert(self.hash(inlay.uid), tag.id());
        }
        let value = Arc::clone(tag);
        self.tags.insert(tag.id(), Kept { epoch, value });
    }

    fn hash(&self, key: impl Hash) -> u64 {
        self.hasher.hash_one(key)
    }
}

impl CachedTag {
    /// Its experience's published version.
    pub(crate) fn experience(&self) -> Option<&PublishedExperience> {
        Option::as_ref(&self.experience)
    }

    /// The studio experience's id as the payload names it: empty for a redirect.
    pub(crate) fn studio_id(&self) -> String {
        match self.experience() {
            Some(PublishedExperience {
                version, content, ..
            }) if matches!(**content, Content::Studio { .. }) => version.experience_id.to_string(),
            _ => String::new(),
        }
    }
}

impl Candidate {
    /// An inlay with its keys opened.
    pub(crate) fn of(inlay: &BoundInlay, keyring: &Keyring) -> Result<Self, KeyringError> {
        Ok(Self {
            uid: inlay.uid,
            mirror: inlay.mirror,
            mac_from: inlay.mac_from,
            keys: keyring.canonical_keys(&inlay.keys, inlay.uid, inlay.mirror)?,
        })
    }
}
