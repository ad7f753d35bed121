//! Keeps staff phones in memory, so that a tap with their cookie asks no database. Taps without the
//! cookie do not come here.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::kept::Kept;
use domain::admin_token::TokenHash;
use domain::phone::{Phone, PhoneState};
use storage::{Access, CachedPart, StorageError};

/// The phones that were paired, by the hashes of their secrets.
type Phones = HashMap<TokenHash, Arc<Phone>>;

/// The staff phones in memory, all together.
pub struct PhoneCache {
    storage: Access,
    phones: RwLock<Option<Kept<Phones>>>,
}

impl PhoneCache {
    /// A cache without any phones yet.
    pub(super) fn new(storage: Access) -> Self {
        Self {
            storage,
            phones: RwLock::default(),
        }
    }

    /// The phone whose cookie has the secret with this hash. `None` if there is none, or it has
    /// expired by the database's time.
    pub async fn by_secret(&self, secret: TokenHash) -> Result<Option<Arc<Phone>>, StorageError> {
        let phones = self.current().await?;
        // The lookup uses the hash, so its timing can only reveal a hash that the attacker chose.
        let Some(phone) = phones.get(&secret) else {
            return Ok(None);
        };
        if phone.expires_at.is_some() {
            let now = self.storage.now().await?;
            if phone.state(now) == PhoneState::Expired {
                return Ok(None);
            }
        }
        Ok(Some(Arc::clone(phone)))
    }

    async fn current(&self) -> Result<Arc<Phones>, StorageError> {
        if let Some(phones) = self.kept() {
            return Ok(phones);
        }
        // The epoch is read first, so that a later change makes the entry invalid.
        let epoch = self.storage.configuration_epoch();
        let mut phones = Phones::new();
        for paired in self.storage.paired_phones().await? {
            let phone = Arc::new(paired.phone);
            let hashes = paired.cookies.hashes();
            phones.extend(hashes.map(|hash| (hash, Arc::clone(&phone))));
        }
        let value = Arc::new(phones);
        if let Some(epoch) = epoch {
            let kept = Kept {
                epoch,
                value: Arc::clone(&value),
            };
            let mut phones = self.phones.write().unwrap_or_else(PoisonError::into_inner);
            *phones = Some(kept);
        }
        Ok(value)
    }

    fn kept(&self) -> Option<Arc<Phones>> {
        let kept = self.phones.read().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref()?;
        let is_current = kept.is_current(&self.storage, CachedPart::Phones);
        is_current.then(|| Arc::clone(&kept.value))
    }
}
