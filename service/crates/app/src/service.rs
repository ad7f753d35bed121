//! The common parts of all use cases, made once.

mod chip_keys;
mod deliveries;
mod derivations;
mod group_cache;
mod live_key;
mod live_settings;
mod page_mark;
mod phone_cache;
mod previews;
mod tag_cache;
mod tally;
mod tap_tag;
mod template_cache;
mod update;

use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use quick_cache::sync::Cache;

pub(crate) use chip_keys::{ChipCode, KeysOfChip, tag_of_chip};
use deliveries::Deliveries;
use derivations::Derivations;
pub(crate) use derivations::NotDerived;
use live_settings::LiveSettings;
pub(crate) use page_mark::unmarked;
use phone_cache::PhoneCache;
use previews::Previews;
use tag_cache::TagCache;
pub use tag_cache::{CachedTag, FoundInlay};
pub(crate) use tally::Tally;
use tally::{OPENED_AGAIN, WRONG_CODES};
pub(crate) use tap_tag::candidate;
use template_cache::TemplateCache;
pub use template_cache::{Matched, OpenedInlay, TapTemplate, TemplateTapInlay};
pub(crate) use update::SentFrom;

use crate::kiosk::KioskState;
use crate::mail_breaker::Breaker;
use crate::metrics::Metrics;
use crate::s3_server::S3Server;
use crate::studio::{MediaNames, Proofs};
use crate::tag_address::TagAddress;
use domain::caller::Caller;
use domain::clock::{Clock, Millis, Timestamp};
use domain::entropy::Entropy;
use domain::id::{InteractionId, TagId};
use domain::keyring::Keyring;
use domain::rolling_key::KeyMask;
use domain::settings::Layers;
use inlay::Uid;
use storage::{Access, Storage, StorageError};

/// Bytes of the tag cache's budget for each recent tap that is cached, for the update that may
/// follow it. A cached tap takes 64 bytes, so taps take a 32nd of the budget.
const BUDGET_OF_A_TAP: usize = 2_048;

/// The parts of a service. The caller chooses each of them.
pub struct Parts {
    /// The database, for whom this service works.
    pub storage: Storage,
    /// The time, for everything the storage does not decide.
    pub clock: Arc<dyn Clock>,
    /// Source of randomness for keys and ids.
    pub entropy: Arc<dyn Entropy>,
    /// Opens the keys of inlays.
    pub keyring: Keyring,
    /// The defaults below the stored settings, and the fixed values above them.
    pub layers: Layers,
    /// Memory for the configuration of tags, in bytes.
    pub tag_cache: usize,
    /// The server of backups in buckets.
    pub s3_server: S3Server,
}

/// The service, as it works for somebody: for itself, which includes taps, or for the caller of a
/// request. What works for a caller has no way back to the service's own work.
pub struct Service {
    shared: Arc<Shared>,
    /// The operations on the database, for whom the service works.
    pub storage: Access,
}

impl Deref for Service {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// The parts of a service that all requests share.
pub struct Shared {
    database: Storage,
    /// The time, for everything the storage does not decide.
    pub clock: Arc<dyn Clock>,
    /// Source of randomness for keys and ids.
    pub entropy: Arc<dyn Entropy>,
    /// Opens the keys of inlays.
    pub keyring: Arc<Keyring>,
    /// Issues and reads rolling keys.
    pub key_mask: KeyMask,
    /// Names images to visitors.
    pub media: MediaNames,
    /// Proves the addresses of the stand-in to which simulated taps were redirected.
    pub(crate) stand_ins: Proofs,
    /// Proves the address in the URLs of chips.
    pub tag_address: TagAddress,
    /// Configuration of tags, as taps need it.
    pub tags: Arc<TagCache>,
    /// URL templates and their inlays, as taps need them.
    pub templates: Arc<TemplateCache>,
    /// Staff phones, as taps with their cookie need them.
    pub phones: PhoneCache,
    /// Proves the forms of staff pages.
    pub(crate) staff_forms: Proofs,
    /// Counts wrong codes of chips whose codes can be guessed.
    pub(crate) guesses: Tally<Uid>,
    /// Counts the same for UIDs of no inlay. Counting takes time, which must not reveal whether a
    /// UID exists.
    pub(crate) guesses_at_nobody: Tally<Uid>,
    /// Recent taps whose keys may be used soon.
    pub(crate) recent_taps: Cache<InteractionId, SentFrom>,
    /// Counts repeated openings of used codes, by tag and counter.
    pub(crate) copies: Tally<(TagId, u32)>,
    /// Bounds the slow derivations that codes ask for.
    pub(crate) derivations: Derivations,
    /// Held by the search for the template of URLs: only one runs at a time.
    pub solver: Arc<tokio::sync::Mutex<()>>,
    /// Previews that are not stored yet.
    previews: Previews,
    /// Whether the alert for low disk space was already raised.
    pub(crate) disk_low: AtomicBool,
    /// Webhooks that are being delivered.
    pub webhooks: Deliveries,
    /// Whether the mail server can be used.
    pub(crate) mail_breaker: Breaker,
    /// The metrics for operators.
    pub metrics: Metrics,
    /// The defaults below the stored settings, and the fixed values above them.
    pub layers: Layers,
    /// The server of backups in buckets.
    pub s3_server: S3Server,
    /// The settings in force, and the logo of plain pages.
    live_settings: LiveSettings,
    /// The kiosk in this process; `None` if none is shown.
    kiosk: RwLock<Option<KioskState>>,
    /// Held while the demonstration is made or removed.
    pub(crate) demo_change: tokio::sync::Mutex<()>,
    /// Held while a scheduled backup is made.
    pub(crate) backing_up: tokio::sync::Mutex<()>,
}

impl Shared {
    /// The kiosk in this process; `None` if none is shown.
    pub fn kiosk(&self) -> Option<KioskState> {
        *self.kiosk.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the state of the kiosk for the desk and for the metrics.
    pub fn report_kiosk(&self, state: Option<KioskState>) {
        *self.kiosk.write().unwrap_or_else(PoisonError::into_inner) = state;
        self.metrics.kiosk(state);
    }
}

impl Service {
    /// Assembles a service, which works for itself. Fails if the secrets and settings cannot be
    /// read from the database.
    pub async fn new(parts: Parts) -> Result<Arc<Self>, StorageError> {
        let storage = parts.storage.as_service();
        let secrets = storage.secrets().await?;
        let live_settings = LiveSettings::read(&storage, &parts.layers).await?;
        let keyring = Arc::new(parts.keyring);
        let templates = TemplateCache::new(storage.clone(), Arc::clone(&keyring));
        let templates = Arc::new(templates);
        let tags = TagCache::new(
            storage.clone(),
            Arc::clone(&keyring),
            Arc::clone(&templates),
            &*parts.entropy,
            parts.tag_cache,
        );
        let tags = Arc::new(tags);
        let shared = Arc::new(Shared {
            key_mask: KeyMask::new(secrets.key_mask),
            media: MediaNames::new(&secrets.client),
            stand_ins: Proofs::new(&secrets.client, "where simulated taps lead"),
            staff_forms: Proofs::new(&secrets.client, "the forms of staff pages"),
            phones: PhoneCache::new(storage.clone()),
            tag_address: TagAddress::new(&secrets.client),
            metrics: Metrics::new(parts.storage.metrics(), tags.metrics()),
            tags,
            templates,
            guesses: Tally::new(WRONG_CODES),
            guesses_at_nobody: Tally::new(WRONG_CODES),
            recent_taps: Cache::new(parts.tag_cache / BUDGET_OF_A_TAP),
            copies: Tally::new(OPENED_AGAIN),
            derivations: Derivations::default(),
            solver: Arc::default(),
            previews: Previews::default(),
            disk_low: AtomicBool::new(false),
            webhooks: Deliveries::default(),
            mail_breaker: Breaker::default(),
            database: parts.storage,
            clock: parts.clock,
            entropy: parts.entropy,
            keyring,
            layers: parts.layers,
            s3_server: parts.s3_server,
            live_settings,
            kiosk: RwLock::default(),
            demo_change: tokio::sync::Mutex::default(),
            backing_up: tokio::sync::Mutex::default(),
        });
        Ok(Arc::new(Self { shared, storage }))
    }

    /// The same service, working for `caller`.
    pub fn on_behalf_of(&self, caller: &Arc<Caller>) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::clone(&self.shared),
            storage: self.database.on_behalf_of(caller),
        })
    }

    /// Commits the accepted writes, and closes the database. The service does nothing afterwards.
    pub async fn close(&self) {
        self.database.close().await;
    }

    /// The time that decides whether a key has expired: simulated keys use simulated time.
    pub async fn now_in(&self, simulated: bool) -> Result<Timestamp, StorageError> {
        let offset = if simulated {
            self.storage.simulated_offset()
        } else {
            Millis::ZERO
        };
        Ok(self.storage.now().await?.plus(offset))
    }
}
