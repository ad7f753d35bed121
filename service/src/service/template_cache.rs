//! URL templates as taps need them, kept in memory until they are changed, as the tags are.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::id::{InlayId, TagId, UrlTemplateId};
use crate::inlay::key::InlayKeys;
use crate::inlay::technology::ntag424::MetaKey;
use crate::inlay::template::{Addressed, Request, Template, host_without_port};
use crate::inlay::{Technology, Uid};
use crate::inventory::{SharedKey, SharedKeySource, URL_TEMPLATES_MAX, UrlTemplate};
use crate::keyring::{Keyring, KeyringError};
use crate::storage::{Part, Storage, StorageError, TemplateInlay};

/// The cache.
pub(crate) struct TemplateCache {
    storage: Arc<dyn Storage>,
    keyring: Arc<Keyring>,
    templates: RwLock<Option<(u64, Arc<Templates>)>>,
}

/// All templates, by their hosts.
#[derive(Default)]
pub(crate) struct Templates {
    by_host: HashMap<String, Vec<Arc<TapTemplate>>>,
    /// Those with a slug in their host.
    any_host: Vec<Arc<TapTemplate>>,
    by_id: HashMap<UrlTemplateId, Arc<TapTemplate>>,
}

/// A template with its shared keys made ready.
pub(crate) struct TapTemplate {
    /// Its identifier.
    pub(crate) id: UrlTemplateId,
    /// The template.
    pub(crate) template: Template,
    keys: Result<Vec<MetaKey>, KeyringError>,
    /// Whether a real tap was recorded at its address; `false` also if another node recorded it.
    tapped: AtomicBool,
}

/// An inlay that writes its URLs by a template, with its keys opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenedInlay {
    /// What its codes are checked by.
    pub(super) codes: TemplateTapInlay,
    /// The tag it is bound to.
    pub(crate) tag_id: Option<TagId>,
    /// Whether it lives in the simulated world.
    pub(crate) simulated: bool,
}

impl Deref for OpenedInlay {
    type Target = TemplateTapInlay;

    fn deref(&self) -> &TemplateTapInlay {
        &self.codes
    }
}

/// The same as its tag has it: a million tags may have one each.
#[derive(Clone, Debug)]
pub(crate) struct TemplateTapInlay {
    /// The inlay.
    pub(crate) id: InlayId,
    /// Its UID.
    pub(crate) uid: Uid,
    /// Its chip.
    pub(crate) technology: Technology,
    /// The template.
    pub(crate) url_template_id: UrlTemplateId,
    /// Whether its owner blocked it.
    pub(crate) blocked: bool,
    /// Rises if its keys are replaced, or if it is blocked or unblocked.
    pub(crate) key_version: u32,
    /// Its keys.
    pub(crate) keys: InlayKeys,
}

impl TemplateCache {
    /// Nothing is kept yet.
    pub(super) fn new(storage: Arc<dyn Storage>, keyring: Arc<Keyring>) -> Self {
        Self {
            storage,
            keyring,
            templates: RwLock::default(),
        }
    }

    /// The templates as they are configured now.
    pub(crate) async fn current(&self) -> Result<Arc<Templates>, StorageError> {
        if let Some(templates) = self.kept() {
            return Ok(templates);
        }
        // The epoch is read first: what changes after it makes the entry void.
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
        let changed = self.storage.changed_at(Part::UrlTemplates)?;
        (changed <= *of).then(|| Arc::clone(templates))
    }

    /// The templates, read past the cache.
    pub(crate) async fn read(&self) -> Result<Templates, StorageError> {
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
    /// The template at whose address a request is, and what the request contains. There is one at
    /// the most: no URL is of two.
    pub(crate) fn find(&self, request: &Request<'_>) -> Option<(Arc<TapTemplate>, Addressed)> {
        let host = host_without_port(request.host).to_ascii_lowercase();
        let here = self.by_host.get(&host).into_iter().flatten();
        here.chain(&self.any_host).find_map(|template| {
            let addressed = template.template.read(request)?;
            Some((Arc::clone(template), addressed))
        })
    }

    /// A template.
    pub(crate) fn get(&self, id: UrlTemplateId) -> Option<&Arc<TapTemplate>> {
        self.by_id.get(&id)
    }

    /// Whether a template answers at this host.
    pub(crate) fn answer_at(&self, host: &str) -> bool {
        self.by_host.contains_key(host_without_port(host))
            || self
                .any_host
                .iter()
                .any(|template| template.template.answers_at(host))
    }
}

impl TapTemplate {
    /// Its shared keys, made ready.
    pub(crate) fn keys(&self) -> Result<&[MetaKey], KeyringError> {
        self.keys.as_deref().map_err(Clone::clone)
    }

    /// Whether a real tap was recorded at its address, as far as this node knows.
    pub(crate) fn was_tapped(&self) -> bool {
        self.tapped.load(Ordering::Relaxed)
    }

    /// Notes that one was.
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
