//! Keeps the configuration of tags in memory, in the form that taps need. An entry becomes invalid
//! when the tag, a group above it, or the experience changes. Counters, keys and properties of tags
//! are never cached.

mod cached_tag;

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::ops::Deref;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::group_cache::GroupCache;
use super::tap_tag::TapTag;
use super::template_cache::{OpenedInlay, TemplateCache};
use crate::kept::Kept;
use crate::metrics::CacheMetrics;
use domain::clock::Stopwatch;
use domain::entropy::Entropy;
use domain::experience::PublishedExperience;
use domain::group::{Lineage, led_to};
use domain::id::{ExperienceId, TagId};
use domain::keyring::{Keyring, KeyringError, WrappedKeys};
use domain::tag::{Slug, Tag, TagFields};
use inlay::Uid;
use inlay::key::AesKey;
use inlay::slug::is_slug;
use inlay::template::{Field, MacStart, Template};
use storage::{Access, CachedPart, NamedTag, StorageError, TagInlays, TagKey, TagTap};

/// The cache's own overhead for a tag, in bytes: its entry by id, and its entry by slug.
pub(super) const PLACE: usize = 56;
pub(super) const PLACE_BY_SLUG: usize = 40;
/// The approximate size of a tag with both entries, if its texts are short. The budget is divided
/// by it.
pub(super) const TAG: usize = 300;
/// The most keys that an inlay has: one for its PICC data, and one for its MAC.
const INLAY_KEYS_MAX: usize = 2;
/// Maximum number of cached experiences. Owners have few, with many tags each.
const EXPERIENCES: usize = 1_000;
/// Groups take a sixteenth of the budget for tags: there are fewer of them.
const SHARE_OF_GROUPS: usize = 16;
/// Tags that are read in one query when the cache is filled.
const PAGE: usize = 500;

/// Cached tags and experiences.
pub struct TagCache {
    storage: Access,
    keyring: Arc<Keyring>,
    templates: Arc<TemplateCache>,
    tags: Cache<TagId, Kept<TapTag>, Bytes>,
    /// The tag that has the slug with this hash. The tag itself shows whether it really has the
    /// slug.
    ids: Cache<u64, TagId>,
    /// The tag whose slug has capitals and is the one with this hash in small letters, if no other
    /// slug is.
    small_letters: Cache<u64, TagId>,
    /// The tag whose inlay has the UID with this hash, if the inlay writes by a template.
    of_inlays: Cache<u64, TagId>,
    /// A wrapped key that belongs to no inlay. Opening it takes as long as opening an inlay's key.
    nobodys_key: Vec<u8>,
    hasher: RandomState,
    experiences: Cache<ExperienceId, Kept<Option<PublishedExperience>>>,
    groups: GroupCache,
    metrics: CacheMetrics,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<TagId, Kept<TapTag>> for Bytes {
    fn weight(&self, _: &TagId, kept: &Kept<TapTag>) -> u64 {
        (PLACE + kept.value.bytes()) as u64
    }
}

/// A tag with the opened keys of its inlays, and its experience.
#[derive(Clone, Debug)]
pub struct CachedTag {
    tag: Arc<TapTag>,
    /// Its group, with the groups above.
    lineage: Option<Arc<Lineage>>,
    /// Its slugs that are the text which named it but for case. `None`: that text is its present
    /// slug, in any case if no other slug is the same but for case.
    named_by: Option<Arc<[Slug]>>,
    experience: Arc<Option<PublishedExperience>>,
    /// For a preview: properties and counts that replace the stored ones.
    previewed: Option<Arc<Tag>>,
    /// Whether the tag is not stored, so that its id means nothing.
    is_sample: bool,
}

impl Deref for CachedTag {
    type Target = TapTag;

    fn deref(&self) -> &TapTag {
        &self.tag
    }
}

/// The result of looking up a UID.
pub enum FoundInlay {
    /// No inlay that writes its URLs by a template has this UID.
    Unknown,
    /// An inlay whose tag is in the cache: the database was not queried.
    AtHand(OpenedInlay),
    /// An inlay from the database; or why its keys cannot be opened.
    Stored(Result<OpenedInlay, KeyringError>),
}

impl TagCache {
    /// An empty cache that will hold at most `budget` bytes.
    pub(super) fn new(
        storage: Access,
        keyring: Arc<Keyring>,
        templates: Arc<TemplateCache>,
        entropy: &dyn Entropy,
        budget: usize,
    ) -> Self {
        // A locked keyring cannot open the keys of inlays either.
        let nobodys_key = keyring.wrap(AesKey::FACTORY.expose(), entropy);
        let groups = GroupCache::new(storage.clone(), budget / SHARE_OF_GROUPS);
        let tags = budget / TAG;
        let by_slug = tags * PLACE_BY_SLUG;
        let options = OptionsBuilder::new()
            .estimated_items_capacity(tags)
            .weight_capacity(budget.saturating_sub(by_slug) as u64)
            // A tenth of the capacity remembers the keys of recently dropped entries, without their
            // values.
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
            small_letters: Cache::new(tags),
            of_inlays: Cache::new(tags),
            nobodys_key: nobodys_key.unwrap_or_default(),
            hasher: RandomState::new(),
            experiences: Cache::new(EXPERIENCES),
            groups,
            metrics: CacheMetrics::default(),
        }
    }

    /// How often a tag was in the cache.
    pub fn metrics(&self) -> &CacheMetrics {
        &self.metrics
    }

    /// A tag with its present configuration. `None` if there is no such tag, or it is deleted.
    pub async fn get(&self, key: TagKey<'_>) -> Result<Option<CachedTag>, StorageError> {
        let (found, named_by) = match self.tag(key).await? {
            Some(tag) => (Some(tag), None),
            None => match self.named(key).await? {
                Some(named) => (self.tag(TagKey::Id(named.tag)).await?, Some(named.slugs)),
                None => return Ok(None),
            },
        };
        let Some(tag) = found else {
            return Ok(None);
        };
        let lineage = self.groups.lineage(tag.group_id()).await?;
        let led_by = led_by(&tag, lineage.as_deref());
        let experience = self.experience(led_by).await?;
        Ok(Some(CachedTag {
            tag,
            lineage,
            named_by: named_by.map(Arc::from),
            experience,
            previewed: None,
            is_sample: false,
        }))
    }

    /// The tag with this id, or with this text as its present slug. One in memory is found by its
    /// slug in any case, if no other slug is the same but for case.
    async fn tag(&self, key: TagKey<'_>) -> Result<Option<Arc<TapTag>>, StorageError> {
        let known = match key {
            TagKey::Slug(slug) => self.by_slug(slug),
            TagKey::Id(id) => self.at_hand(Some(id)),
        };
        if let Some(tag) = known {
            self.metrics.hits.inc();
            return Ok(Some(tag));
        }
        if let TagKey::Slug(slug) = key
            && !is_slug(slug)
        {
            return Ok(None);
        }
        self.metrics.misses.inc();
        // Boxed, so that the futures of taps whose tag is in memory stay small.
        Box::pin(self.load(key)).await
    }

    /// Reads a tag from the database into the cache.
    async fn load(&self, key: TagKey<'_>) -> Result<Option<Arc<TapTag>>, StorageError> {
        // The epoch is read first, so that a later change makes the entry invalid.
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

    /// The cached tag with this slug, or the only one that has it but for case.
    fn by_slug(&self, slug: &str) -> Option<Arc<TapTag>> {
        // Hashes can collide.
        let exact = self.at_hand(self.ids.get(&self.hash(slug)));
        if let Some(tag) = exact.filter(|tag| tag.slug() == slug) {
            return Some(tag);
        }
        let small = self.hash(slug.to_ascii_lowercase().as_str());
        let mut ids = [&self.ids, &self.small_letters].into_iter();
        ids.find_map(|ids| {
            let tag = self.at_hand(ids.get(&small));
            tag.filter(|tag| tag.is_only(slug))
        })
    }

    /// The tag that a text names which is nobody's present slug.
    async fn named(&self, key: TagKey<'_>) -> Result<Option<NamedTag>, StorageError> {
        match key {
            TagKey::Slug(slug) if is_slug(slug) => self.storage.named_tag(slug).await,
            TagKey::Slug(_) | TagKey::Id(_) => Ok(None),
        }
    }

    /// The cached tag, if it is still current.
    fn at_hand(&self, id: Option<TagId>) -> Option<Arc<TapTag>> {
        let id = id?;
        self.holds(CachedPart::Tag(id), self.tags.get(&id))
    }

    /// The inlay with this UID, if it writes its URLs by a template. If its tag is not in the
    /// cache, the inlay is read without its tag and opened, as it is for an unknown UID.
    pub async fn inlay(&self, uid: Uid) -> Result<FoundInlay, StorageError> {
        let tag = self.at_hand(self.of_inlays.get(&self.hash(uid)));
        if let Some(tag) = tag
            && let Some(inlay) = tag.of_template(uid)
        {
            self.metrics.hits.inc();
            return Ok(FoundInlay::AtHand(OpenedInlay {
                codes: inlay.clone(),
                tag_id: Some(tag.id()),
                simulated: tag.simulated(),
            }));
        }
        self.metrics.misses.inc();
        let found = self.storage.template_inlay(uid).await?;
        let keys = found.as_ref().and_then(|inlay| inlay.keys.as_ref());
        self.open_nobodys_keys(keys.map_or(0, WrappedKeys::count));
        Ok(found.map_or(FoundInlay::Unknown, |inlay| {
            FoundInlay::Stored(OpenedInlay::of(&inlay, &self.keyring))
        }))
    }

    /// Does the same work as looking up an unknown inlay.
    pub(crate) async fn look_for_nobody(&self) -> Result<(), StorageError> {
        // No chip has this UID.
        let nobody = Uid::from_bytes([0; 7]);
        let found = self.storage.template_inlay(nobody).await?;
        std::hint::black_box(found);
        self.open_nobodys_keys(0);
        Ok(())
    }

    /// Opens further keys in addition to the `own` keys of an inlay, so that every UID costs as
    /// many as an inlay with two keys.
    fn open_nobodys_keys(&self, own: usize) {
        for _ in own..INLAY_KEYS_MAX {
            std::hint::black_box(self.keyring.unwrap(&self.nobodys_key).is_ok());
        }
    }

    async fn experience(
        &self,
        id: Option<ExperienceId>,
    ) -> Result<Arc<Option<PublishedExperience>>, StorageError> {
        let Some(id) = id else {
            return Ok(Arc::default());
        };
        if let Some(kept) = self.holds(CachedPart::Experience(id), self.experiences.get(&id)) {
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

    /// A tag with its present configuration, read from the database instead of the cache.
    pub async fn read(&self, key: TagKey<'_>) -> Result<Option<CachedTag>, StorageError> {
        let (found, named_by) = match self.storage.tag_tap(key).await? {
            Some(tap) => (Some(tap), None),
            None => match self.named(key).await? {
                Some(named) => {
                    let tag = TagKey::Id(named.tag);
                    (self.storage.tag_tap(tag).await?, Some(named.slugs))
                }
                None => return Ok(None),
            },
        };
        let Some(tap) = found else {
            return Ok(None);
        };
        let lineage = match tap.tag.fields.group_id {
            Some(group) => self.storage.lineage(group).await?,
            None => None,
        };
        let tag = Arc::new(self.opened(tap).await?);
        let experience = match led_by(&tag, lineage.as_deref()) {
            Some(id) => self.storage.published_now(id).await?,
            None => None,
        };
        Ok(Some(CachedTag {
            tag,
            lineage,
            named_by: named_by.map(Arc::from),
            experience: Arc::new(experience),
            previewed: None,
            is_sample: false,
        }))
    }

    /// A tag for a preview that is not stored. It has no inlay.
    pub async fn sample(&self, tag: Tag) -> Result<CachedTag, StorageError> {
        let lineage = self.groups.lineage(tag.fields.group_id).await?;
        let tap = TagTap {
            tag: tag.clone(),
            inlays: TagInlays::default(),
            is_only_spelling: false,
        };
        let sample = CachedTag {
            tag: Arc::new(TapTag::new(tap, &self.keyring, |_| false)),
            lineage,
            named_by: None,
            experience: Arc::default(),
            previewed: None,
            is_sample: true,
        };
        Ok(sample.showing(tag))
    }

    /// A tag that a tap is about to create, with the experience that it will have.
    pub(crate) async fn unborn(&self, fields: &TagFields) -> Result<CachedTag, StorageError> {
        let sample = self.sample(Tag::unborn(fields.clone())).await?;
        let led_by = led_by(&sample.tag, sample.lineage.as_deref());
        let experience = self.experience(led_by).await?;
        Ok(CachedTag {
            experience,
            ..sample
        })
    }

    /// Reads tags before their first taps, until all are in the cache or the budget is used. It
    /// takes at most half of a processor.
    pub(crate) async fn fill(&self) -> Result<(), StorageError> {
        let mut after = None;
        loop {
            let stopwatch = Stopwatch::start();
            let Some(epoch) = self.storage.configuration_epoch() else {
                return Ok(());
            };
            let page = self.storage.tag_taps(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.tag.id);
            let weight = self.tags.weight();
            for tap in page {
                let tag = Arc::new(self.opened(tap).await?);
                self.keep(epoch, &tag);
            }
            // The cache is full: new entries would replace others.
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
        let mut inlays = tap.inlays.of_templates.iter();
        let may_cover_slug = inlays.any(|inlay| {
            let template = templates.get(inlay.url_template_id);
            template.is_some_and(|template| may_cover_slug(&template.template))
        });
        let slug = tap.tag.fields.slug.clone();
        let has_spellings = may_cover_slug && !tap.is_only_spelling;
        let mut tag = TapTag::new(tap, &self.keyring, |id| {
            let template = templates.get(id);
            template.is_some_and(|template| template.template.proves_taps())
        });
        if has_spellings && let Some(named) = self.storage.named_tag(slug.as_str()).await? {
            tag.add_spellings(named.slugs.into_iter().filter(|other| *other != slug));
        }
        Ok(tag)
    }

    /// The cached value of a part, if the part did not change since.
    fn holds<T>(&self, part: CachedPart, kept: Option<Kept<T>>) -> Option<Arc<T>> {
        let current = kept.filter(|kept| kept.is_current(&self.storage, part));
        current.map(|kept| kept.value)
    }

    fn keep(&self, epoch: u64, tag: &Arc<TapTag>) {
        self.ids.insert(self.hash(tag.slug()), tag.id());
        if tag.has_small_letters() {
            let small = tag.slug().to_ascii_lowercase();
            self.small_letters
                .insert(self.hash(small.as_str()), tag.id());
        }
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

/// The experience that a tap gets: that of the recall, if there is one.
fn led_by(tag: &TapTag, lineage: Option<&Lineage>) -> Option<ExperienceId> {
    match lineage.and_then(Lineage::recall) {
        Some(recall) => recall.experience_id,
        None => led_to(tag.own_experience_id(), lineage),
    }
}

/// Whether a template's MAC may be made over the slug.
fn may_cover_slug(template: &Template) -> bool {
    template.has(Field::Slug) && template.settings().mac_from != MacStart::None
}
