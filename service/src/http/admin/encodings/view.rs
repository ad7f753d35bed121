//! An encoding as the admin API shows it: without its commands.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::encoding::{Outcome, Reason, State, Target};
use crate::id::{EncodingId, EncodingRunId, InlayId, TagId, UrlTemplateId};
use crate::inlay::{Mirror, Uid};
use crate::storage::StoredEncoding;

/// An encoding.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Encoding)]
pub(crate) struct EncodingView {
    /// Its identifier.
    id: EncodingId,
    /// The chip.
    uid: Uid,
    /// The tag that it is to be an inlay of; null to wipe.
    tag_id: Option<TagId>,
    /// The run that it is part of.
    run_id: Option<EncodingRunId>,
    /// Whether it is to be as it left the factory.
    wipe: bool,
    /// How far it is.
    state: State,
    /// Why the chip is not encoded, or not now.
    reason: Option<Reason>,
    /// The number of its turn.
    seq: u32,
    /// The version with which its keys are written.
    generation: Option<u8>,
    /// Its URL template; null for the canonical form.
    url_template_id: Option<UrlTemplateId>,
    /// How it shows UID and counter in the canonical form.
    mirror: Option<Mirror>,
    /// The inlay, once it is verified.
    inlay_id: Option<InlayId>,
    /// The counter of the read that proved it.
    counter: Option<u32>,
    /// When it began.
    created_at: Timestamp,
    /// When its last turn was made.
    updated_at: Timestamp,
}

impl EncodingView {
    /// An encoding that is stored.
    pub(super) fn of(stored: &StoredEncoding) -> Option<Self> {
        let outcome = stored.outcome.as_ref();
        let form = stored.form.as_ref();
        Some(Self {
            id: stored.id?,
            uid: stored.uid,
            tag_id: match stored.target {
                Target::Tag(tag) => Some(tag),
                Target::Factory => None,
            },
            run_id: stored.run_id,
            wipe: stored.target == Target::Factory,
            state: stored.state,
            reason: stored.reason,
            seq: stored.seq,
            generation: stored.generation,
            url_template_id: form.and_then(|form| form.url_template_id),
            mirror: form.and_then(|form| form.mirror),
            inlay_id: outcome.and_then(|outcome: &Outcome| outcome.inlay_id),
            counter: outcome.map(|outcome| outcome.counter),
            created_at: stored.created_at,
            updated_at: stored.updated_at,
        })
    }

    pub(super) fn id(&self) -> EncodingId {
        self.id
    }
}
