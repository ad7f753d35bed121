//! Keeps staff phones in memory, so that a tap with their cookie asks no database. Taps without the
//! cookie do not come here.

use std::collections::HashMap;
use std::sync::Arc;

use crate::kept::Slot;
use domain::admin_token::TokenHash;
use domain::phone::{Phone, PhoneState};
use storage::{Access, CachedPart, StorageError};

/// The phones that were paired, by the hashes of their secrets.
type Phones = HashMap<TokenHash, Arc<Phone>>;

/// The staff phones in memory, all together.
pub struct PhoneCache {
    storage: Access,
    phones: Slot<Phones>,
}

impl PhoneCache {
    /// A cache without any phones yet.
    pub(super) fn new(storage: Access) -> Self {
        Self {
            storage,
            phones: Slot::default(),
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
        let read = || self.read();
        self.phones
            .current_or(&self.storage, CachedPart::Phones, read)
            .await
    }

    async fn read(&self) -> Result<Phones, StorageError> {
        let mut phones = Phones::new();
        for paired in self.storage.paired_phones().await? {
            let phone = Arc::new(paired.phone);
            let hashes = paired.cookies.hashes();
            phones.extend(hashes.map(|hash| (hash, Arc::clone(&phone))));
        }
        Ok(phones)
    }
}
