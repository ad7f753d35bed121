//! A URL template in the admin API.

use serde::Serialize;
use utoipa::ToSchema;

use domain::clock::Timestamp;
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::inventory::{SharedKey, UrlTemplate};
use inlay::Technology;
use inlay::key::KeyCheck;
use inlay::technology::Mode;
use inlay::template::MacStart;

/// The format of the URLs of a batch of inlays.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UrlTemplate)]
pub(crate) struct UrlTemplateView {
    /// Identifier of the URL template.
    pub(super) id: UrlTemplateId,
    /// Name of the URL template.
    name: String,
    /// The URL with its placeholders.
    template: String,
    /// Type of the chips.
    technology: Technology,
    /// The cipher mode of the chips.
    mode: Mode,
    /// Start of the MAC input.
    mac_from: MacStart,
    /// The NDEF prefix code on the chips.
    #[schema(maximum = 4)]
    ndef_prefix: u8,
    /// Number of characters of `{enc}`; null without it.
    enc_length: Option<usize>,
    /// Position of the tamper pair in the decrypted file data, in bytes; null without one.
    tamper_at: Option<usize>,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes with each of the template's own meta
    /// keys.
    meta_key_checks: Vec<KeyCheck>,
    /// The master keys whose shared meta keys also open codes of the template.
    master_key_ids: Vec<MasterKeyId>,
    /// Number of inlays that use the template.
    inlays: u64,
    /// The host of the URL; if it contains a slug, an example.
    host: String,
    /// When the first real tap of one of its inlays arrived; null before. A code of an unknown
    /// inlay, or an invalid code, does not count.
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
            name: fields.name.into(),
        }
    }
}
