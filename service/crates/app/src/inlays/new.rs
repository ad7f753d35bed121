//! A new inlay, as a request or the row of a table describes it.

use serde::Deserialize;
use utoipa::ToSchema;

use super::InlayError;
use super::keys::{KeyRequest, OtherKeysRequest};
use crate::service::Service;
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{InlayFields, InvalidInlay, MemberPatch, NewInlay, UrlTemplateFields};
use inlay::key::{AesKey, SomeKey};
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology, Uid};
use storage::StorageError;

/// An inlay to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewInlay)]
pub struct InlayRequest {
    /// UID of the chip.
    uid: Uid,
    /// Type of the chip.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA; by default that of its URL template, or `aes`.
    #[serde(default)]
    mode: Option<Mode>,
    /// The URL template; null for the canonical form.
    #[serde(default)]
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form; null if the chip makes no such
    /// codes. Required for an NTAG 424 DNA without a URL template.
    #[serde(default)]
    #[schema(value_type = Option<Mirror>)]
    mirror: MemberPatch<Mirror>,
    /// Start of the part of the URL that the MAC covers.
    #[serde(default)]
    mac_from: Option<MacFrom>,
    /// The tag of the inlay. It can also be set later.
    tag_id: Option<TagId>,
    /// The chip's `SDMMetaReadKey`, for encrypted UID and counter. With `file_key`, by default the
    /// only shared meta key of the URL template.
    meta_key: Option<AesKey>,
    /// The chip's `SDMFileReadKey`, or its only key: 32 hex digits, or 20 for a SIC43NT. By default
    /// the file key that all chips of the URL template share.
    file_key: Option<SomeKey>,
    /// The master key from which the inlay's keys are derived, instead of keys of its own. If
    /// `meta_key` is sent, too, only the file key is derived. Without `meta_key`, an inlay whose URL
    /// template has one shared meta key that the master key does not derive has that meta key.
    master_key_id: Option<MasterKeyId>,
    /// The chip's other keys, if another program encoded it. They are used only to encode the chip
    /// again, or to wipe it.
    other_keys: Option<OtherKeysRequest>,
    /// The highest counter that the previous service accepted. Codes up to it are used up.
    #[serde(default)]
    #[schema(value_type = u64, maximum = 4_294_967_295_u32)]
    last_counter: u32,
    /// Whether to accept a factory key. Codes with it prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

impl InlayRequest {
    /// Checks the inlay and seals its keys, ready to be stored.
    pub async fn seal(self, service: &Service) -> Result<NewInlay, InlayError> {
        if self.technology.is_canonical()
            && self.url_template_id.is_none()
            && self.mirror == MemberPatch::Keep
        {
            return Err(InlayError::Invalid(FieldError::of(
                "mirror",
                "An ntag424dna needs a mirror: \"plain\" or \"encrypted\" as it is encoded, or null if it makes no codes; or a url_template_id.",
            )));
        }
        let template = template(service, self.url_template_id).await?;
        let shared_file = match (&self.file_key, self.master_key_id, &template) {
            (None, None, Some(template)) => shared_file_key(service, template)?,
            _ => None,
        };
        let request = KeyRequest {
            meta_key: self.meta_key.map_or(MemberPatch::Keep, MemberPatch::Set),
            file_key: self.file_key.or(shared_file.map(SomeKey::Aes)).into(),
            master_key_id: self.master_key_id.into(),
            allow_factory_keys: self.allow_factory_keys,
        };
        if self.last_counter > self.technology.counter_max() {
            return Err(InvalidInlay::LastCounter(self.technology).into());
        }
        let keys = request.seal(service, self.uid, self.technology, template.as_ref());
        let keys = keys.await?;
        let mode = self.mode.unwrap_or_else(|| mode_of(template.as_ref()));
        let fields = InlayFields {
            technology: self.technology,
            mode,
            url_template_id: self.url_template_id,
            tag_id: self.tag_id,
            mirror: self.mirror.apply(None),
            mac_from: self.mac_from.unwrap_or(MacFrom::None),
            keys: keys.apply(None)?,
            other_keys: self.other_keys.map(|keys| keys.seal(service)).transpose()?,
            blocked_at: None,
        };
        fields.validate()?;
        Ok(NewInlay {
            uid: self.uid,
            fields,
            simulated: false,
            last_counter: self.last_counter,
        })
    }
}

/// The file key that all chips of a template share; `None` if there is none.
fn shared_file_key(
    service: &Service,
    template: &UrlTemplateFields,
) -> Result<Option<AesKey>, InlayError> {
    let file = template.unlisted.file_key.as_ref();
    Ok(file
        .map(|file| service.keyring.unwrap(&file.wrapped))
        .transpose()?)
}

/// The URL template of an inlay. If it does not exist, the operation that stores the inlay fails.
pub async fn template(
    service: &Service,
    id: Option<UrlTemplateId>,
) -> Result<Option<UrlTemplateFields>, StorageError> {
    let Some(id) = id else {
        return Ok(None);
    };
    let template = service.storage.url_template(id).await?;
    Ok(template.map(|template| template.fields))
}

/// The mode of an inlay that writes its URLs with `template`, or in the canonical form.
pub fn mode_of(template: Option<&UrlTemplateFields>) -> Mode {
    template.map_or(Mode::Aes, |template| template.settings().mode)
}
