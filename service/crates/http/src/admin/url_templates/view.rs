//! A URL template in the admin API.

use serde::Serialize;
use utoipa::ToSchema;

use domain::clock::Timestamp;
use domain::id::{ExperienceId, GroupId, MasterKeyId, UrlTemplateId};
use domain::inventory::{SharedKey, UnlistedMode, UrlTemplate};
use inlay::Technology;
use inlay::key::KeyCheck;
use inlay::technology::Mode;
use inlay::template::{Lookup, MacStart};

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
    /// How a tap finds the inlay if no code proves it; null if the slug or an authentic code does.
    lookup: Option<Lookup>,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes with each of the template's own meta
    /// keys.
    meta_key_checks: Vec<KeyCheck>,
    /// The master keys whose shared meta keys also open codes of the template, and whose file keys
    /// check the codes of unlisted chips.
    master_key_ids: Vec<MasterKeyId>,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes with the shared file key; null without
    /// one.
    shared_file_key_check: Option<KeyCheck>,
    /// The answer to authentic codes of chips that are no inlays.
    unlisted: UnlistedMode,
    /// Maximum number of tags that taps create in a UTC day.
    create_limit: u32,
    /// When a tap last found the limit of its day reached; null if none did.
    limited_at: Option<Timestamp>,
    /// The experience of tags that taps create.
    experience_id: Option<ExperienceId>,
    /// The group of tags that taps create.
    group_id: Option<GroupId>,
    /// Number of inlays that use the template.
    inlays: u64,
    /// The host of the URL; if it contains a slug, an example.
    host: String,
    /// When the first real tap of one of its inlays arrived; null before. A code of an unknown
    /// inlay, or an invalid code, does not count. If chips write nothing into its URLs, the first
    /// tap of any tag counts.
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
            lookup: settings.lookup,
            meta_key_checks: keys.iter().filter_map(SharedKey::own_check).collect(),
            master_key_ids: keys.iter().filter_map(SharedKey::master_key_id).collect(),
            shared_file_key_check: fields
                .unlisted
                .file_key
                .as_ref()
                .map(|key| key.fingerprint.check()),
            unlisted: fields.unlisted.mode,
            create_limit: fields.unlisted.create_limit,
            limited_at: template.limited_at,
            experience_id: fields.unlisted.place.experience_id,
            group_id: fields.unlisted.place.group_id,
            inlays: template.inlays,
            host: fields.template.sample_host(),
            first_tap_at: template.first_tap_at,
            name: fields.name.into(),
        }
    }
}
