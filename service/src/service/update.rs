//! An update of variables with a rolling key, whoever sends it.

use super::Service;
use crate::rolling_key::RollingKey;
use crate::storage::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use crate::tag::PropertyKey;

impl Service {
    /// Consumes `key` and writes `data`, in one storage operation. `request` is the digest by
    /// which the same request is known when it is sent again. Answers why it was refused, if it
    /// was, which is noted for the trace of the key's tap.
    pub(crate) async fn update(
        &self,
        key: &RollingKey,
        request: Option<[u8; 32]>,
        data: Vec<(PropertyKey, String)>,
    ) -> Result<Option<UpdateRefusal>, StorageError> {
        let Some(id) = self.key_mask.interaction_id(key) else {
            return Ok(Some(UpdateRefusal::InvalidKey));
        };
        let update = VariableUpdate {
            id,
            hash: key.hash(),
            request,
            data,
            simulated_offset: self.storage.simulated_offset(),
        };
        Ok(match self.storage.update_variables(update).await? {
            Updated::Done(_) | Updated::Repeated => None,
            Updated::Refused(refusal) => {
                tracing::debug!(interaction = %id, ?refusal, "an update was refused");
                self.storage
                    .note_refused_update(id, self.clock.now(), &refusal);
                Some(refusal)
            }
        })
    }
}
