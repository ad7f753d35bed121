//! Keeps URL templates in memory, in the form that taps need, until they change.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::chip_keys::{ChipKeys, Opener};
use super::page_mark::unmarked;
use crate::kept::Slot;
use domain::id::{InlayId, TagId, UrlTemplateId};
use domain::inventory::{
    ChipPlace, SealedMasterKey, SharedKey, SharedKeySource, URL_TEMPLATES_MAX, UnlistedMode,
    UrlTemplate, UrlTemplateFields,
};
use domain::keyring::{Keyring, KeyringError};
use inlay::key::InlayKeys;
use inlay::technology::ntag424::MetaKey;
use inlay::template::{Addressed, Decoded, Request, Template, host_name, ranked};
use inlay::{Technology, Uid};
use storage::{Access, CachedPart, StorageError, TemplateInlay};

/// Cached templates with their keys.
pub struct TemplateCache {
    storage: Access,
    keyring: Arc<Keyring>,
    templates: Slot<Templates>,
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
    /// The answer to chips that are no inlays.
    pub(crate) unlisted: UnlistedMode,
    /// The experience and the group of tags that taps create.
    pub(crate) place: ChipPlace,
    keys: Result<Keys, KeyringError>,
    /// Whether a real tap was recorded at its address. It can be `false` if another node recorded
    /// it.
    tapped: AtomicBool,
}

/// The opened keys of a template.
#[derive(Default)]
struct Keys {
    /// The keys that open PICC data.
    meta: Vec<MetaKey>,
    /// The keys of any of its chips.
    chips: ChipKeys,
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
            templates: Slot::default(),
        }
    }

    /// The templates with their present configuration.
    pub async fn current(&self) -> Result<Arc<Templates>, StorageError> {
        let read = || Box::pin(self.read());
        self.templates
            .current_or(&self.storage, CachedPart::UrlTemplates, read)
            .await
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
            let keys = self.keys(&fields).await?;
            let template = Arc::new(TapTemplate {
                id,
                template: fields.template,
                unlisted: fields.unlisted.mode,
                place: fields.unlisted.place,
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

    async fn keys(
        &self,
        fields: &UrlTemplateFields,
    ) -> Result<Result<Keys, KeyringError>, StorageError> {
        let mut masters = Vec::new();
        for id in fields.keys.iter().filter_map(SharedKey::master_key_id) {
            masters.extend(self.storage.master_key(id).await?);
        }
        Ok(self.opened(fields, masters))
    }

    fn opened(
        &self,
        fields: &UrlTemplateFields,
        masters: Vec<SealedMasterKey>,
    ) -> Result<Keys, KeyringError> {
        let (template, keyring) = (&fields.template, &self.keyring);
        let mut keys = Keys::default();
        for key in &fields.keys {
            let (opened, master_key_id) = match &key.source {
                SharedKeySource::Own(wrapped) => (Some(keyring.unwrap(wrapped)?), None),
                SharedKeySource::Master(id) => {
                    let master = masters.iter().find(|master| master.id == *id);
                    let opened = master.map(|master| SharedKey::open_master(master, keyring));
                    (opened.transpose()?.flatten(), Some(*id))
                }
            };
            if let Some(key) = opened {
                keys.meta.push(template.meta_key(&key));
                keys.chips.openers.push(Opener { key, master_key_id });
            }
        }
        if fields.knows_unlisted() {
            keys.chips.open(fields, masters, keyring)?;
        }
        Ok(keys)
    }
}

/// A template that a request matches, and the values in the request.
pub type Matched = (Arc<TapTemplate>, Addressed);

impl Templates {
    /// The templates that a request matches, in the order in which they are asked for its tag:
    /// those that it matches unchanged; else after correction; else with literal text in another
    /// case. A reading with all values of a chip is preferred. Nearly always there is one template.
    pub fn find(&self, request: &Request<'_>) -> Vec<Matched> {
        // Without templates, decoding each tap would be work for nothing.
        if self.by_id.is_empty() {
            return Vec::new();
        }
        let sent = request.decoded();
        let found = self.at(&sent);
        // No other reading of a URL without a query finds the values of a chip in it.
        if is_complete(&found) || (!found.is_empty() && request.query.is_empty()) {
            return found;
        }
        let forgiven = request.forgiven();
        let unchanged = (request.path, request.query);
        let (path, query) = forgiven
            .as_ref()
            .map_or(unchanged, |(path, query)| (*path, &**query));
        // Apps append a slash to whole URLs. The script of a page appends its mark behind it.
        let (without_mark, _) = unmarked(query);
        let meant = Request {
            host: request.host,
            path,
            query: without_mark.strip_suffix('/').unwrap_or(query),
        };
        let meant = meant.decoded();
        let mut first = found;
        for sent in [meant.clone(), sent.in_any_case(), meant.in_any_case()] {
            let found = self.at(&sent);
            if is_complete(&found) {
                return found;
            }
            if first.is_empty() {
                first = found;
            }
        }
        first
    }

    /// The templates that a request matches.
    fn at(&self, sent: &Decoded<'_>) -> Vec<Matched> {
        let here = self.by_host.get(&sent.host).into_iter().flatten();
        let templates = here.chain(&self.any_host);
        let found = ranked(templates.map(|of| (of, &of.template)), sent).into_iter();
        found
            .map(|(template, addressed)| (Arc::clone(template), addressed))
            .collect()
    }

    /// The template with this identifier.
    pub fn get(&self, id: UrlTemplateId) -> Option<&Arc<TapTemplate>> {
        self.by_id.get(&id)
    }

    /// Whether a template answers at this host.
    pub fn answer_at(&self, host: &str) -> bool {
        self.by_host.contains_key(&host_name(host))
            || self
                .any_host
                .iter()
                .any(|template| template.template.answers_at(host))
    }

    /// Scheme, host and port of the templates with a fixed host, such as `https://tags.example`.
    pub fn origins(&self) -> BTreeSet<String> {
        let templates = self.by_host.values().flatten();
        templates.filter_map(|of| origin(&of.template)).collect()
    }

    /// The paths of the URLs at this host, with `*` for each placeholder, each once.
    pub fn paths_at(&self, host: &str) -> Vec<String> {
        let here = self.by_host.get(host).into_iter().flatten();
        let elsewhere = self.any_host.iter();
        let elsewhere = elsewhere.filter(|of| of.template.answers_at(host));
        let mut paths = Vec::new();
        for of in here.chain(elsewhere) {
            let path = of.template.path_pattern();
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

/// Whether the template that is asked first has all values of its code.
fn is_complete(found: &[Matched]) -> bool {
    let first = found.first();
    first.is_some_and(|(_, addressed)| addressed.is_complete())
}

/// Scheme, host and port at which a phone opens the URLs of a template.
fn origin(template: &Template) -> Option<String> {
    let address = template.address("");
    // Wallets open the scheme of bolt cards by https.
    let (_, place) = address.split_once("://")?;
    let scheme = if template.is_https() { "https" } else { "http" };
    let url = url::Url::parse(&format!("{scheme}://{place}")).ok()?;
    Some(url.origin().ascii_serialization())
}

impl TapTemplate {
    /// Its shared meta keys, prepared.
    pub fn keys(&self) -> Result<&[MetaKey], KeyringError> {
        let keys = self.keys.as_ref().map_err(Clone::clone)?;
        Ok(&keys.meta)
    }

    /// The keys of any of its chips.
    pub(crate) fn chip_keys(&self) -> Result<&ChipKeys, KeyringError> {
        let keys = self.keys.as_ref().map_err(Clone::clone)?;
        Ok(&keys.chips)
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
