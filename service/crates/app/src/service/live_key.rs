//! Finds the interaction of a rolling key, if the key is ours and has not expired.

use super::Service;
use domain::interaction::KeyedInteraction;
use domain::rolling_key::{IssuedKey, RollingKey, is_live};
use storage::StorageError;

impl Service {
    /// The stored part of `key`, and the interaction that it was issued with. `None` if the key is
    /// not ours or has expired: the caller cannot distinguish the two. A consumed key stays valid
    /// until its five minutes are over.
    ///
    /// Whether the key may be used is not decided here: an update is one storage operation.
    pub(crate) async fn live_key(
        &self,
        key: &RollingKey,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
        let Some(id) = self.key_mask.interaction_id(key) else {
            return Ok(None);
        };
        let found = self.storage.issued_key(id).await?;
        Ok(found.filter(|(issued, interaction)| {
            issued.hash == key.hash() && is_live(issued.issued_at, interaction.read_at)
        }))
    }
}
