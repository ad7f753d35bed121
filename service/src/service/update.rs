//! An update of variables with a rolling key, whoever sends it.

use super::Service;
use crate::id::InteractionId;
use crate::rolling_key::RollingKey;
use crate::storage::{StorageError, TagKey, UpdateRefusal, Updated, VariableUpdate};
use crate::submission::NewSubmission;
use crate::tag::PropertyKey;

impl Service {
    /// Consumes `key` and writes `data`, in one storage operation, which also stores what was sent
    /// if a form of the tap's page sends it: `form` is its number, if the sender says one. `request`
    /// is the digest by which the same request is known when it is sent again. Answers why it was
    /// refused, if it was, which is noted for the trace of the key's tap.
    pub(crate) async fn update(
        &self,
        key: &RollingKey,
        request: Option<[u8; 32]>,
        form: Option<usize>,
        data: Vec<(PropertyKey, String)>,
    ) -> Result<Option<UpdateRefusal>, StorageError> {
        let Some(id) = self.key_mask.interaction_id(key) else {
            return Ok(Some(UpdateRefusal::InvalidKey));
        };
        let update = VariableUpdate {
            id,
            hash: key.hash(),
            request,
            submission: self.submission(id, form, &data).await?,
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

    /// The form that sends `data`. Nothing that it is found by ever changes: the tap of the key,
    /// and the published version of its page.
    async fn submission(
        &self,
        id: InteractionId,
        form: Option<usize>,
        data: &[(PropertyKey, String)],
    ) -> Result<Option<NewSubmission>, StorageError> {
        let Some((_, tap)) = self.storage.issued_key(id).await? else {
            return Ok(None);
        };
        let Some(page) = tap.experience else {
            return Ok(None);
        };
        let tag = self.tags.get(TagKey::Id(tap.tag_id)).await?;
        let current = tag.as_ref().and_then(|tag| tag.experience());
        let published = match current.filter(|current| current.version == page) {
            Some(current) => Some(current.clone()),
            None => self.storage.published(page).await?,
        };
        let verification = tap.verdict.reason().verification();
        Ok(published.and_then(|published| {
            NewSubmission::of((&published.content, page), verification, form, data)
        }))
    }
}
