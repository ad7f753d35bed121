//! An inlay in the admin API.

use serde::Serialize;
use utoipa::ToSchema;

use domain::clock::Timestamp;
use domain::id::{InlayId, MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{Inlay, SealedKeys};
use inlay::key::{KeyCheck, KeyFingerprint};
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// An inlay: a chip whose codes Tapdesk can verify.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Inlay)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a member of the answer"
)]
pub(crate) struct InlayView {
    /// Identifier of the inlay; the payload's `device_id`.
    id: InlayId,
    /// UID of the chip.
    uid: Uid,
    /// Type of the chip.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA.
    mode: Mode,
    /// The URL template; null for the canonical form.
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form; null if the chip makes no such
    /// codes.
    mirror: Option<Mirror>,
    /// Start of the part of the URL that the MAC covers.
    mac_from: MacFrom,
    /// The tag of the inlay; null if it has none.
    tag_id: Option<TagId>,
    /// The highest counter that was accepted with the current keys; 0 for none.
    #[schema(value_type = u64)]
    last_counter: u32,
    /// Source of the inlay's keys; null if it has none.
    key_source: Option<KeySource>,
    /// The master key from which the keys are derived.
    master_key_id: Option<MasterKeyId>,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes with the meta key, to compare keys by
    /// eye.
    meta_key_check: Option<KeyCheck>,
    /// The same for the file key.
    file_key_check: Option<KeyCheck>,
    /// Whether the chip's keys 0, 3 and 4 are stored with the inlay, because another program wrote
    /// them. Keys that Tapdesk wrote are not stored here.
    has_other_keys: bool,
    /// Whether the chip still has the keys that a bureau wrote. It gets its own keys when the
    /// delivered chip is placed on the reader.
    bureau_keys: bool,
    /// Whether a key is a factory key, which is publicly known. Codes with it prove nothing.
    factory_keys: bool,
    /// Whether the counter has reached its maximum: the chip makes no further codes.
    used_up: bool,
    /// Whether the owner blocked the inlay, because it was lost or cloned. Its codes are not
    /// verified.
    blocked: bool,
    /// When the inlay was blocked; null if it is not blocked.
    blocked_at: Option<Timestamp>,
    /// Whether the inlay belongs to the simulated world.
    simulated: bool,
}

/// Source of an inlay's keys.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KeySource {
    /// The inlay has keys of its own.
    Own,
    /// The keys are derived from a master key.
    MasterKey,
}

impl InlayView {
    /// Identifier of the inlay.
    pub(super) fn id(&self) -> InlayId {
        self.id
    }
}

impl From<Inlay> for InlayView {
    fn from(inlay: Inlay) -> Self {
        let fields = inlay.fields;
        let keys = fields.keys.as_ref();
        Self {
            id: inlay.id,
            uid: inlay.uid,
            technology: fields.technology,
            mode: fields.mode,
            url_template_id: fields.url_template_id,
            mirror: fields.mirror,
            mac_from: fields.mac_from,
            tag_id: fields.tag_id,
            last_counter: inlay.last_counter,
            key_source: keys.map(|keys| match keys {
                SealedKeys::Own { .. } => KeySource::Own,
                SealedKeys::Diversified { .. } => KeySource::MasterKey,
            }),
            master_key_id: keys.and_then(SealedKeys::master_key_id),
            meta_key_check: keys.and_then(SealedKeys::meta).map(KeyFingerprint::check),
            file_key_check: keys.map(|keys| keys.file().check()),
            has_other_keys: fields.other_keys.is_some(),
            bureau_keys: inlay.bureau_keys,
            factory_keys: keys.is_some_and(|keys| keys.factory(fields.technology, inlay.uid)),
            used_up: inlay.last_counter >= fields.technology.counter_max(),
            blocked: fields.blocked_at.is_some(),
            blocked_at: fields.blocked_at,
            simulated: inlay.simulated,
        }
    }
}
