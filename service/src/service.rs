//! Everything a request needs, in one place, made once.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::admin_token::{AdminToken, Admins};
use crate::client::Clients;
use crate::clock::Clock;
use crate::countries::Countries;
use crate::entropy::Entropy;
use crate::keyring::Keyring;
use crate::metrics::Metrics;
use crate::proof::Proofs;
use crate::refusals::{Operation, Refusals};
use crate::rolling_key::KeyMask;
use crate::settings::{Layers, Overrides, Settings};
use crate::storage::{Invalid, SettingsEdit, Storage, StorageError};
use crate::studio::MediaNames;
use crate::tap::TagCache;

/// What a service is made of. The caller chooses each part.
pub struct Parts {
    /// The database.
    pub storage: Arc<dyn Storage>,
    /// The time, for everything the storage does not decide.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Opens inlay keys.
    pub keyring: Keyring,
    /// Countries of addresses.
    pub countries: Countries,
    /// The admin token that is not stored, if there is one.
    pub admin_token: Option<AdminToken>,
    /// What the stored settings stand on and under.
    pub layers: Layers,
}

/// The service. It is shared by all requests; the router is made from it.
pub struct Service {
    /// The database.
    pub storage: Arc<dyn Storage>,
    /// The time, for everything the storage does not decide.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Opens inlay keys.
    pub keyring: Keyring,
    /// Issues and reads rolling keys.
    pub key_mask: KeyMask,
    /// Tells clients apart.
    pub clients: Clients,
    /// Names images to visitors.
    pub media: MediaNames,
    /// Knows the addresses to which it sent simulated taps.
    pub(crate) stand_ins: Proofs,
    /// Countries of addresses.
    pub countries: Countries,
    /// Knows admin tokens.
    pub admins: Admins,
    /// Configuration of tags, as taps need it.
    pub tags: TagCache,
    /// Counts refusals by client.
    pub refusals: Refusals,
    /// What is counted for operators.
    pub metrics: Metrics,
    /// What the stored settings stand on and under.
    pub layers: Layers,
    settings: RwLock<Arc<Settings>>,
    /// What is stored of them. Held from the storing to their being in force.
    stored_settings: tokio::sync::Mutex<Overrides>,
    /// Held while the demonstration is made or removed.
    pub(crate) demo_change: tokio::sync::Mutex<()>,
    /// Where it listens, once it does.
    listening: OnceLock<SocketAddr>,
}

impl Service {
    /// Assembles a service. Fails where the database does not give its secrets
    /// and settings.
    pub async fn new(parts: Parts) -> Result<Arc<Self>, StorageError> {
        let secrets = parts.storage.secrets().await?;
        let stored = parts.storage.settings().await?;
        let settings = parts.layers.in_force(&stored).map_err(Invalid::from)?;
        Ok(Arc::new(Self {
            key_mask: KeyMask::new(secrets.key_mask),
            media: MediaNames::new(&secrets.client),
            stand_ins: Proofs::new(&secrets.client, "where simulated taps lead"),
            clients: Clients::new(secrets.client),
            tags: TagCache::default(),
            refusals: Refusals::new(Arc::clone(&parts.clock)),
            metrics: Metrics::new(parts.storage.panics()),
            countries: parts.countries,
            admins: Admins::new(parts.admin_token),
            storage: parts.storage,
            clock: parts.clock,
            entropy: parts.entropy,
            keyring: parts.keyring,
            listening: OnceLock::new(),
            layers: parts.layers,
            settings: RwLock::new(Arc::new(settings)),
            stored_settings: tokio::sync::Mutex::new(stored),
            demo_change: tokio::sync::Mutex::default(),
        }))
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts a refused call from `address`. If it is past the limit, the seconds
    /// after which the client may be refused again.
    pub(crate) fn refused(&self, operation: Operation, address: IpAddr) -> Option<u64> {
        let limit = self.settings().rate_limit;
        self.refusals.count(operation, address, limit)
    }

    /// Puts other settings in force, until the stored ones are changed.
    pub fn set_settings(&self, settings: Settings) {
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// Changes the stored settings and puts them in force. Answers what is stored now.
    pub async fn change_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError> {
        let mut known = self.stored_settings.lock().await;
        let stored = self.storage.edit_settings(edit).await?;
        self.set_settings(self.layers.in_force(&stored).map_err(Invalid::from)?);
        known.clone_from(&stored);
        Ok(stored)
    }

    /// Puts the stored settings in force, where another node has changed them.
    pub async fn follow_settings(&self) -> Result<(), StorageError> {
        let mut known = self.stored_settings.lock().await;
        let stored = self.storage.settings().await?;
        if stored != *known {
            self.set_settings(self.layers.in_force(&stored).map_err(Invalid::from)?);
            *known = stored;
        }
        Ok(())
    }

    /// Notes where the service listens: an address by which the admin API may be addressed.
    pub fn set_listening(&self, address: SocketAddr) {
        // The first listener counts; a service has one.
        let _ = self.listening.set(address);
    }

    /// Whether the service listens on `address`.
    pub fn listens_on(&self, address: IpAddr) -> bool {
        self.listening
            .get()
            .is_some_and(|listening| listening.ip().to_canonical() == address)
    }
}
