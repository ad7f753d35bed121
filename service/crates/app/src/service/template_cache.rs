//! Keeps URL templates in memory, in the form that taps need, until they change.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::id::{InlayId, TagId, UrlTemplateId};
use domain::inventory::{SharedKey, SharedKeySource, URL_TEMPLATES_MAX, UrlTemplate};
use domain::keyring::{Keyring, KeyringError};
use inlay::key::InlayKeys;
use inlay::technology::ntag424::MetaKey;
use inlay::template::{Addressed, Request, Template, host_without_port};
use inlay::{Technology, Uid};
use storage::{Access, CachedPart, StorageError, TemplateInlay};

/// Cached templates with their keys.
pub struct TemplateCache {
    storage: Access,
    keyring: Arc<Keyring>,
    templates: RwLock<Option<(u64, Arc<Templates>)>>,
}

/// All templates, by their hosts.
#[derive(Default)]
pub struct Templates {
    by_host: HashMap<String, Vec<Arc<TapTemplate>>>,
    /// Templates with a slug in their host.
    any_host: Vec<Arc<TapTemplate>>,
    by_id: HashMap<UrlTemplateId, Arc<TapTemplate>>,
}

/// A template with its shared keys prepared.
pub struct TapTemplate {
    /// Identifier of the template.
    pub id: UrlTemplateId,
    /// Template that passed all checks.
    pub template: Template,
    keys: Result<Vec<MetaKey>, KeyringError>,
    /// Whether a real tap was recorded at its address. It can be `false` if another node recorded
    /// it.
    tapped: AtomicBool,
}

/// An inlay that writes its URLs by a template, with its keys opened.
#[derive(Clone, Debug)]
pub struct OpenedInlay {
    /// The data that check its codes.
    pub(super) codes: TemplateTapInlay,
    /// The tag that it is bound to.
    pub tag_id: Option<TagId>,
    /// Whether it belongs to the simulated world.
    pub simulated: bool,
}

impl Deref for OpenedInlay {
    type Target = TemplateTapInlay;

    fn deref(&self) -> &TemplateTapInlay {
        &self.codes
    }
}

/// The part of an inlay that its tag keeps in memory. It is small, because a million tags may have
/// one each.
#[derive(Clone, Debug)]
pub struct TemplateTapInlay {
    /// Identifier of the inlay.
    pub id: InlayId,
    /// UID of its chip.
    pub uid: Uid,
    /// Technology of its chip.
    pub technology: Technology,
    /// URL template that its chip writes.
    pub url_template_id: UrlTemplateId,
    /// Whether its owner blocked it.
    pub blocked: bool,
    /// Rises whenever its keys are replaced, or it is blocked or unblocked.
    pub(crate) key_version: u32,
    /// Opened keys of its chip.
    pub keys: InlayKeys,
}

impl TemplateCache {
    /// A cache without any templates yet.
    pub(super) fn new(storage: Access, keyring: Arc<Keyring>) -> Self {
        Self {
            storage,
            keyring,
            templates: RwLock::default(),
        }
    }

    /// The templates with their present configuration.
    pub async fn current(&self) -> Result<Arc<Templates>, StorageError> {
        if let Some(templates) = self.kept() {
            return Ok(templates);
        }
        // The epoch is read first, so that a later change makes the entry invalid.
        let epoch = self.storage.configuration_epoch();
        let templates = Arc::new(self.read().await?);
        if let Some(epoch) = epoch {
            let mut kept = self
                .templates
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            *kept = Some((epoch, Arc::clone(&templates)));
        }
        Ok(templates)
    }

    fn kept(&self) -> Option<Arc<Templates>> {
        let kept = self
            .templates
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let (of, templates) = kept.as_ref()?;
        let changed = self.storage.changed_at(CachedPart::UrlTemplates)?;
        (changed <= *of).then(|| Arc::clone(templates))
    }

    /// The templates, read from the database instead of the cache.
    pub async fn read(&self) -> Result<Templates, StorageError> {
        let mut templates = Templates::default();
        let stored = self.storage.url_templates(None, URL_TEMPLATES_MAX).await?;
        for UrlTemplate {
            id,
            fields,
            first_tap_at,
            ..
        } in stored
        {
            let keys = self.meta_keys(&fields.template, &fields.keys).await?;
            let template = Arc::new(TapTemplate {
                id,
                template: fields.template,
                keys,
                tapped: AtomicBool::new(first_tap_at.is_some()),
            });
            templates.by_id.insert(id, Arc::clone(&template));
            match template.template.literal_host() {
                Some(host) => {
                    let host = host.to_owned();
                    templates.by_host.entry(host).or_default().push(template);
                }
                None => templates.any_host.push(template),
            }
        }
        Ok(templates)
    }

    async fn meta_keys(
        &self,
        template: &Template,
        keys: &[SharedKey],
    ) -> Result<Result<Vec<MetaKey>, KeyringError>, StorageError> {
        let mut opened = Vec::with_capacity(keys.len());
        for key in keys {
            let key = match &key.source {
                SharedKeySource::Own(wrapped) => self.keyring.unwrap(wrapped).map(Some),
                SharedKeySource::Master(id) => match self.storage.master_key(*id).await? {
                    Some(master) => SharedKey::open_master(&master, &self.keyring),
                    None => Ok(None),
                },
            };
            match key {
                Ok(key) => opened.extend(key.map(|key| template.meta_key(&key))),
                Err(locked) => return Ok(Err(locked)),
            }
        }
        Ok(Ok(opened))
    }
}

impl Templates {
    /// The template that a request matches, either unchanged or after correction, and the values in
    /// the request.
    pub fn find(&self, request: &Request<'_>) -> Option<(Arc<TapTemplate>, Addressed)> {
        self.at(request).or_else(|| {
            let (path, query) = request.forgiven()?;
            let (host, query) = (request.host, &*query);
            self.at(&Request { host, path, query })
        })
    }

    /// The template that a request matches unchanged. There is at most one, because no URL matches
    /// two.
    fn at(&self, request: &Request<'_>) -> Option<(Arc<TapTemplate>, Addressed)> {
        let host = host_without_port(request.host).to_ascii_lowercase();
        let here = self.by_host.get(&host).into_iter().flatten();
        here.chain(&self.any_host).find_map(|template| {
            let addressed = template.template.read(request)?;
            Some((Arc::clone(template), addressed))
        })
    }

    /// The template with this identifier.
    pub fn get(&self, id: UrlTemplateId) -> Option<&Arc<TapTemplate>> {
        self.by_id.get(&id)
    }

    /// Whether a template answers at this host.
    pub fn answer_at(&self, host: &str) -> bool {
        self.by_host.contains_key(host_without_port(host))
            || self
                .any_host
                .iter()
                .any(|template| template.template.answers_at(host))
    }
}

impl TapTemplate {
    /// Its shared keys, prepared.
    pub fn keys(&self) -> Result<&[MetaKey], KeyringError> {
        self.keys.as_deref().map_err(Clone::clone)
    }

    /// Whether a real tap was recorded at its address, if this node knows it.
    pub(crate) fn was_tapped(&self) -> bool {
        self.tapped.load(Ordering::Relaxed)
    }

    /// Records that a real tap came in at its address.
    pub(crate) fn note_tap(&self) {
        if !self.was_tapped() {
            self.tapped.store(true, Ordering::Relaxed);
        }
    }
}

impl std::fmt::Debug for TapTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TapTemplate({})", self.id)
    }
}

impl OpenedInlay {
    /// An inlay with its keys opened.
    pub(super) fn of(inlay: &TemplateInlay, keyring: &Keyring) -> Result<Self, KeyringError> {
        Ok(Self {
            codes: TemplateTapInlay::of(inlay, keyring)?,
            tag_id: inlay.tag_id,
            simulated: inlay.simulated,
        })
    }
}

impl TemplateTapInlay {
    /// An inlay with its keys opened.
    pub(super) fn of(inlay: &TemplateInlay, keyring: &Keyring) -> Result<Self, KeyringError> {
        Ok(Self {
            id: inlay.id,
            uid: inlay.uid,
            technology: inlay.technology,
            url_template_id: inlay.url_template_id,
            blocked: inlay.blocked,
            key_version: inlay.key_version,
            keys: keyring.inlay_keys(inlay.keys.as_ref(), inlay.uid, inlay.technology)?,
        })
    }
}
