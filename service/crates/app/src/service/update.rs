//! An update of variables with a rolling key, by any sender.

use super::Service;
use domain::experience::PublishedExperience;
use domain::id::{InteractionId, TagId};
use domain::interaction::{KeyedInteraction, VerificationState, VersionRef};
use domain::rolling_key::RollingKey;
use domain::submission::{NewSubmission, SeveralForms};
use domain::tag::PropertyKey;
use storage::{StorageError, TagKey, UpdateRefusal, Updated, VariableUpdate};

/// The part of a tap that updates with its key need. It never changes, so it can be cached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFrom {
    /// Tag that was tapped.
    pub tag_id: TagId,
    /// The experience and version that the visitor got.
    pub page: Option<VersionRef>,
    /// Verdict on the tap.
    pub verification: VerificationState,
}

/// An update that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Reason for the refusal.
    pub why: UpdateRefusal,
    /// Whether the submission is kept until the owner saves it.
    pub kept: bool,
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
    /// Consumes `key` and writes `data` in one storage operation. If a form of the tap's page sends
    /// the data, the operation also stores the submission; `form` is the form's number, if the
    /// sender gave it. `request` is the digest by which a repeated request is recognised. Returns
    /// the refusal, if there is one. It is recorded for the trace of the key's tap, and says
    /// whether the submission is kept.
    pub async fn update(
        &self,
        key: &RollingKey,
        request: Option<[u8; 32]>,
        form: Option<usize>,
        data: Vec<(PropertyKey, String)>,
    ) -> Result<Option<Refused>, StorageError> {
        let refused = |why| Refused { why, kept: false };
        let Some(id) = self.key_mask.interaction_id(key) else {
            return Ok(Some(refused(UpdateRefusal::InvalidKey)));
        };
        let Ok(submission) = self.submission(id, form, &data).await? else {
            // The reason is about the page, so only who has a live key learns it.
            let why = match self.live_key(key).await? {
                None => UpdateRefusal::InvalidKey,
                Some((issued, _)) if issued.consumed.is_some() => UpdateRefusal::Consumed,
                Some(_) => UpdateRefusal::SeveralForms,
            };
            return Ok(Some(refused(why)));
        };
        let update = VariableUpdate {
            id,
            hash: key.hash(),
            request,
            submission,
            data,
            simulated_offset: self.storage.simulated_offset(),
        };
        let refused = match self.storage.update_variables(update).await? {
            Updated::Done(_) | Updated::Repeated => return Ok(None),
            Updated::Refused(why) => Refused { why, kept: false },
            Updated::Kept(why) => Refused { why, kept: true },
        };
        tracing::debug!(interaction = %id, refusal = ?refused.why, "an update was refused");
        self.storage
            .note_refused_update(id, self.clock.now(), &refused.why);
        Ok(Some(refused))
    }

    /// The form that sends `data`. The tap of the key and the published version of its page
    /// determine it, and neither ever changes.
    async fn submission(
        &self,
        id: InteractionId,
        form: Option<usize>,
        data: &[(PropertyKey, String)],
    ) -> Result<Result<Option<NewSubmission>, SeveralForms>, StorageError> {
        let known = self.recent_taps.get(&id);
        let from = match known {
            Some(from) => from,
            None => match self.storage.issued_key(id).await? {
                Some((_, tap)) => SentFrom::from(&tap),
                None => return Ok(Ok(None)),
            },
        };
        let Some(published) = self.page_of(from).await? else {
            return Ok(Ok(None));
        };
        let page = (&*published.content, published.version);
        Ok(NewSubmission::of(page, from.verification, form, data))
    }

    /// The published page of a tap, in the version of that time.
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
