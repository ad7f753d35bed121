//! An inlay as the admin API shows it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{InlayId, MasterKeyId, TagId, UrlTemplateId};
use crate::inlay::key::{KeyCheck, KeyFingerprint};
use crate::inlay::technology::Mode;
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::inventory::{Inlay, SealedKeys};

/// An inlay.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Inlay)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a member of the answer"
)]
pub(crate) struct InlayView {
    /// Its identifier; the payload's `device_id`.
    id: InlayId,
    /// The chip's UID.
    uid: Uid,
    /// The chip's technology.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA.
    mode: Mode,
    /// Its URL template; null for the canonical form.
    url_template_id: Option<UrlTemplateId>,
    /// How it shows UID and counter in the canonical form; null if it makes no such codes.
    mirror: Option<Mirror>,
    /// Where the part of the URL that its MAC covers begins.
    mac_from: MacFrom,
    /// The tag it is bound to.
    tag_id: Option<TagId>,
    /// The highest counter accepted under its keys; 0 for none.
    last_counter: u32,
    /// Where its keys come from; null if it has none.
    key_source: Option<KeySource>,
    /// The master key they are diversified from.
    master_key_id: Option<MasterKeyId>,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes under its meta key, to compare by eye.
    meta_key_check: Option<KeyCheck>,
    /// The same under its file key.
    file_key_check: Option<KeyCheck>,
    /// Whether its chip still has the keys that a bureau wrote: it gets its own when it is laid down at goods-in.
    bureau_keys: bool,
    /// Whether it has a factory key, which everyone knows: its codes prove nothing.
    factory_keys: bool,
    /// Whether its counter has reached its end: the chip makes no further codes.
    used_up: bool,
    /// Whether its owner blocked it, because it was lost or cloned: its codes are not verified.
    blocked: bool,
    /// Since when it is blocked.
    blocked_at: Option<Timestamp>,
    /// Whether it lives in the simulated world.
    simulated: bool,
}

/// Where an inlay's keys come from.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KeySource {
    /// They are its own.
    Own,
    /// They are diversified from a master key.
    MasterKey,
}

impl InlayView {
    /// Its identifier.
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
            bureau_keys: inlay.bureau_keys,
            factory_keys: keys.is_some_and(|keys| keys.factory(fields.technology, inlay.uid)),
            used_up: inlay.last_counter >= fields.technology.counter_max(),
            blocked: fields.blocked_at.is_some(),
            blocked_at: fields.blocked_at,
            simulated: inlay.simulated,
        }
    }
}
