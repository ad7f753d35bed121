//! Configuration of tags as taps need it, kept in memory. What is kept was read
//! under an epoch of the configuration and is void under the next one; counters,
//! keys and properties are never kept.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::template_cache::{OpenedInlay, TemplateCache};
use crate::experience::{Content, PublishedExperience};
use crate::id::{InlayId, TagId, UrlTemplateId};
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
    templates: Arc<TemplateCache>,
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
    of_templates: Result<Vec<OpenedInlay>, KeyringError>,
    /// Whether codes of one of its inlays can ever prove a tap.
    rolls: bool,
}

impl TagCache {
    /// Nothing is kept yet.
    pub(super) fn new(
        storage: Arc<dyn Storage>,
        keyring: Arc<Keyring>,
        templates: Arc<TemplateCache>,
    ) -> Self {
        Self {
            storage,
            keyring,
            templates,
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
        let Some(tap) = self.storage.tag_tap(key).await? else {
            return Ok(None);
        };
        let mut rolls = !tap.inlays.rolling.is_empty();
        if !tap.inlays.of_templates.is_empty() {
            let templates = self.templates.current().await?;
            rolls |= tap.inlays.of_templates.iter().any(|inlay| {
                let template = templates.get(inlay.url_template_id);
                template.is_some_and(|template| template.template.proves_taps())
            });
        }
        Ok(Some(CachedTag::new(tap, rolls, &self.keyring)))
    }
}

impl CachedTag {
    /// A tag as it was just read.
    fn new(tap: TagTap, rolls: bool, keyring: &Keyring) -> Self {
        let candidates = tap
            .inlays
            .rolling
            .iter()
            .map(|inlay| Candidate::of(inlay, keyring))
            .collect();
        let of_templates = tap
            .inlays
            .of_templates
            .iter()
            .map(|inlay| OpenedInlay::of(inlay, keyring))
            .collect();
        Self {
            tap,
            candidates,
            of_templates,
            rolls,
        }
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

    /// Whether it has an inlay whose codes can ever prove a tap.
    pub(crate) fn rolls(&self) -> bool {
        self.rolls
    }

    /// Its inlays that write their URLs by templates, with their keys.
    pub(crate) fn of_templates(&self) -> Result<&[OpenedInlay], KeyringError> {
        self.of_templates.as_deref().map_err(Clone::clone)
    }

    /// The template of the address at which a tap was: that of the inlay that made its code, or
    /// else of its first inlay; `None` for the canonical form.
    pub(crate) fn url_template(&self, inlay: Option<InlayId>) -> Option<UrlTemplateId> {
        let inlays = &self.tap.inlays;
        let made = inlays
            .of_templates
            .iter()
            .find(|known| Some(known.id) == inlay);
        let only = || {
            inlays
                .of_templates
                .first()
                .filter(|_| inlays.rolling.is_empty())
        };
        made.or_else(only).map(|inlay| inlay.url_template_id)
    }

    /// Its inlays that make codes of the canonical form, with their keys.
    pub(crate) fn candidates(&self) -> Result<&[Candidate], KeyringError> {
        self.candidates.as_deref().map_err(Clone::clone)
    }

    /// The inlay behind the candidate at `index`, and the version of its keys.
    pub(crate) fn inlay(&self, index: usize) -> (InlayId, u32) {
        let inlay = &self.tap.inlays.rolling[index];
        (inlay.id, inlay.key_version)
    }

    /// Whether it has an inlay whose codes prove nothing, or that makes none.
    pub(crate) fn has_static_inlay(&self) -> bool {
        let inlays = &self.tap.inlays;
        inlays.has_static
            || inlays
                .of_templates
                .iter()
                .any(|inlay| !inlay.technology.rolls())
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
