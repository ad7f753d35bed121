//! An encoding in the admin API, without its commands.

use serde::Serialize;
use utoipa::ToSchema;

use domain::clock::Timestamp;
use domain::id::{EncodingId, EncodingRunId, InlayId, TagId, UrlTemplateId};
use domain::tag_url::TagUrlReason;
use encoding::{Goal, Reason, StateWord, shown_uid};
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology};
use storage::StoredEncoding;

/// The encoding of a chip.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Encoding)]
pub(crate) struct EncodingView {
    /// Identifier of the encoding.
    id: EncodingId,
    /// UID of the chip: 7 bytes, or 4 bytes of a chip with random UIDs.
    #[schema(pattern = "^([0-9A-F]{14}|08[0-9A-F]{6})$")]
    uid: String,
    /// The tag of the new inlay; null for a wipe.
    tag_id: Option<TagId>,
    /// The run that the encoding is part of.
    run_id: Option<EncodingRunId>,
    /// Whether the chip returns to its factory state.
    wipe: bool,
    /// The progress of the encoding.
    state: StateWord,
    /// Why the chip is not encoded, or not at the moment.
    reason: Option<Reason>,
    /// The number of the current turn.
    seq: u32,
    /// The version of the keys to write.
    generation: Option<u8>,
    /// The URL template; null for the canonical form.
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form.
    mirror: Option<Mirror>,
    /// Start of the MAC input in the canonical form.
    mac_from: Option<MacFrom>,
    /// The type of chip; null for a wipe.
    technology: Option<Technology>,
    /// The cipher mode of the chip; null for a wipe.
    mode: Option<Mode>,
    /// Whether the keys are random instead of derived from the encoding root.
    own_keys: bool,
    /// Whether the chip gets a write password, or loses it; null if a password stays.
    write_password: Option<bool>,
    /// Whether the tag may have other inlays, too.
    additional: bool,
    /// The inlay, once the chip is verified.
    inlay_id: Option<InlayId>,
    /// The counter of the read that verified the chip.
    counter: Option<u32>,
    /// The address on the chip, and whether it worked after the chip was verified; null for a wipe.
    address: Option<EncodingAddress>,
    /// When the encoding began.
    created_at: Timestamp,
    /// When the last turn was created.
    updated_at: Timestamp,
}

/// The address that a chip contains.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EncodingAddress {
    /// The tag URL, or the part of a URL template before its first placeholder.
    tag_url: String,
    /// Whether this service was reached through the address. Null if nobody has tried yet, or if
    /// the address belongs to a URL template, where Tapdesk has no test URL.
    opened: Option<bool>,
    /// Why the service was not reached.
    reason: Option<TagUrlReason>,
}

impl EncodingView {
    /// Converts an encoding of the database.
    pub(super) fn of(stored: &StoredEncoding) -> Option<Self> {
        let outcome = stored.state.outcome();
        let form = stored.form.as_ref();
        Some(Self {
            id: stored.id?,
            uid: shown_uid(stored.uid),
            tag_id: stored.goal.tag(),
            run_id: stored.run_id,
            wipe: stored.goal == Goal::Factory,
            state: stored.state.word(),
            reason: stored.state.reason(),
            seq: stored.seq,
            generation: stored.generation,
            url_template_id: form.and_then(|form| form.url_template_id),
            mirror: form.and_then(|form| form.mirror),
            // Without a mirror, the URL has no MAC of this kind.
            mac_from: form.and_then(|form| form.mirror.map(|_| form.mac_from)),
            technology: form.map(|form| form.template.technology),
            mode: form.map(|form| form.template.mode),
            own_keys: form.is_some_and(|form| form.own_keys),
            write_password: form.and_then(|form| form.write_password),
            additional: form.is_some_and(|form| form.additional),
            inlay_id: outcome.and_then(|outcome| outcome.inlay_id),
            counter: outcome.map(|outcome| outcome.counter),
            address: form.map(|form| {
                let address = outcome.and_then(|outcome| outcome.address);
                EncodingAddress {
                    tag_url: form.address(),
                    opened: address.map(|address| address.opened),
                    reason: address.and_then(|address| address.reason),
                }
            }),
            created_at: stored.created_at,
            updated_at: stored.updated_at,
        })
    }

    pub(super) fn id(&self) -> EncodingId {
        self.id
    }
}
