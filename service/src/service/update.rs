//! An update of variables with a rolling key, whoever sends it.

use super::Service;
use crate::experience::PublishedExperience;
use crate::id::{InteractionId, TagId};
use crate::interaction::{KeyedInteraction, VerificationState, VersionRef};
use crate::rolling_key::RollingKey;
use crate::storage::{StorageError, TagKey, UpdateRefusal, Updated, VariableUpdate};
use crate::submission::NewSubmission;
use crate::tag::PropertyKey;

/// The tap that a key was issued with, as far as its updates need it. None of it ever changes: it
/// can be kept, and need not be read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFrom {
    /// The tag.
    pub(crate) tag_id: TagId,
    /// Where the tap led.
    pub(crate) page: Option<VersionRef>,
    /// What became of it.
    pub(crate) verification: VerificationState,
}

impl From<&KeyedInteraction> for SentFrom {
    fn from(tap: &KeyedInteraction) -> Self {
        Self {
            tag_id: tap.tag_id,
            page: tap.experience,
            verification: tap.verdict.reason().verification(),
        }
    }
}

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
        let known = self.recent_taps.get(&id);
        let from = match known {
            Some(from) => from,
            None => match self.storage.issued_key(id).await? {
                Some((_, tap)) => SentFrom::from(&tap),
                None => return Ok(None),
            },
        };
        let published = self.page_of(from).await?;
        Ok(published.and_then(|published| {
            let page = (&*published.content, published.version);
            NewSubmission::of(page, from.verification, form, data)
        }))
    }

    /// What a tap led to, as it was then.
    pub(crate) async fn page_of(
        &self,
        from: SentFrom,
    ) -> Result<Option<PublishedExperience>, StorageError> {
        let Some(page) = from.page else {
            return Ok(None);
        };
        let tag = self.tags.get(TagKey::Id(from.tag_id)).await?;
        let current = tag.as_ref().and_then(|tag| tag.experience());
        match current.filter(|current| current.version == page) {
            Some(current) => Ok(Some(current.clone())),
            None => self.storage.published(page).await,
        }
    }
}
