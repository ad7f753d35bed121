//! A URL template as the admin API shows it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{MasterKeyId, UrlTemplateId};
use crate::inlay::Technology;
use crate::inlay::key::KeyCheck;
use crate::inlay::technology::Mode;
use crate::inlay::template::MacStart;
use crate::inventory::{SharedKey, UrlTemplate};

/// The form of the URLs of a batch of inlays.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UrlTemplate)]
pub(crate) struct UrlTemplateView {
    /// Its identifier.
    pub(super) id: UrlTemplateId,
    /// Its name.
    name: String,
    /// The URL with its placeholders.
    template: String,
    /// The chip.
    technology: Technology,
    /// Its cipher.
    mode: Mode,
    /// Where the MAC's input begins.
    mac_from: MacStart,
    /// The NDEF prefix code the chip is written with.
    #[schema(maximum = 4)]
    ndef_prefix: u8,
    /// Characters of `{enc}`; null without it.
    enc_length: Option<usize>,
    /// Byte of the tamper pair in the decrypted file data; null if it is not there.
    tamper_at: Option<usize>,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes under each of its own meta keys.
    meta_key_checks: Vec<KeyCheck>,
    /// The master keys whose shared meta keys open its codes, too.
    master_key_ids: Vec<MasterKeyId>,
    /// How many inlays use it.
    inlays: u64,
    /// Its host; with a slug in it, an example.
    host: String,
    /// When the first real tap of one of its inlays came in; null before. A code of an inlay that is
    /// not known yet, or a wrong one, is no tap of theirs.
    first_tap_at: Option<Timestamp>,
}

impl From<UrlTemplate> for UrlTemplateView {
    fn from(template: UrlTemplate) -> Self {
        let fields = template.fields;
        let settings = fields.template.settings();
        let keys = &fields.keys;
        Self {
            id: template.id,
            template: settings.template.clone(),
            technology: settings.technology,
            mode: settings.mode,
            mac_from: settings.mac_from,
            ndef_prefix: fields.template.ndef_prefix(),
            enc_length: settings.enc_length,
            tamper_at: settings.tamper_at,
            meta_key_checks: keys.iter().filter_map(SharedKey::own_check).collect(),
            master_key_ids: keys.iter().filter_map(SharedKey::master_key_id).collect(),
            inlays: template.inlays,
            host: fields.template.sample_host(),
            first_tap_at: template.first_tap_at,
            name: fields.name,
        }
    }
}
