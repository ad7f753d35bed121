//! Which key is this, is it ours, and does it live?

use super::Service;
use crate::interaction::KeyedInteraction;
use crate::rolling_key::{IssuedKey, RollingKey, is_live};
use crate::storage::StorageError;

impl Service {
    /// What was issued as `key`, and the interaction that it was issued with. `None` for
    /// a key that is not ours or no longer lives: nobody learns which. A consumed key
    /// lives until its five minutes are over.
    ///
    /// What may be done with it is not decided here: an update is one storage operation.
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
