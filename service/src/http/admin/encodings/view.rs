//! An encoding as the admin API shows it: without its commands.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::encoding::{Outcome, Reason, State, Target, shown_uid};
use crate::id::{EncodingId, EncodingRunId, InlayId, TagId, UrlTemplateId};
use crate::inlay::technology::Mode;
use crate::inlay::{MacFrom, Mirror, Technology};
use crate::storage::StoredEncoding;

/// An encoding.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Encoding)]
pub(crate) struct EncodingView {
    /// Its identifier.
    id: EncodingId,
    /// The chip: 7 bytes, or 4 of one with random UIDs.
    #[schema(pattern = "^([0-9A-F]{14}|08[0-9A-F]{6})$")]
    uid: String,
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
    /// Where the MAC's input begins in the canonical form.
    mac_from: Option<MacFrom>,
    /// The chip that it is for; null to wipe.
    technology: Option<Technology>,
    /// Its mode; null to wipe.
    mode: Option<Mode>,
    /// Whether its keys are random ones instead of derived from the encoding root.
    own_keys: bool,
    /// Whether the tag may have other inlays, too.
    additional: bool,
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
            uid: shown_uid(stored.uid),
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
            // Without a mirror the URL has no MAC of this kind.
            mac_from: form.and_then(|form| form.mirror.map(|_| form.mac_from)),
            technology: form.map(|form| form.template.technology),
            mode: form.map(|form| form.template.mode),
            own_keys: form.is_some_and(|form| form.own_keys),
            additional: form.is_some_and(|form| form.additional),
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
