//! `POST /admin/v1/inlays`.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::keys::KeyRequest;
use super::view::InlayView;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{InlayFields, InvalidInlay, MemberPatch, NewInlay};
use inlay::key::{AesKey, SomeKey};
use inlay::technology::{Family, Mode};
use inlay::{MacFrom, Mirror, Technology, Uid};

/// An inlay to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewInlay)]
pub(crate) struct NewInlayBody {
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
    /// The chip's `SDMMetaReadKey`, for encrypted UID and counter.
    meta_key: Option<AesKey>,
    /// The chip's `SDMFileReadKey`, or its only key: 32 hex digits, or 20 for a SIC43NT.
    file_key: Option<SomeKey>,
    /// The master key from which the inlay's keys are derived, instead of keys of its own.
    master_key_id: Option<MasterKeyId>,
    /// The highest counter that the previous service accepted. Codes up to it are used up.
    #[serde(default)]
    last_counter: u32,
    /// Whether to accept a factory key. Codes with it prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

impl NewInlayBody {
    /// Checks the inlay and seals its keys, ready to be stored.
    pub(in crate::admin) async fn seal(self, service: &Service) -> Result<NewInlay, ApiError> {
        let of_424 = self.technology.family() == Family::Ntag424;
        if of_424 && self.url_template_id.is_none() && self.mirror == MemberPatch::Keep {
            return Err(ApiError::Invalid(FieldError::of(
                "mirror",
                "An ntag424dna needs a mirror: \"plain\" or \"encrypted\" as it is encoded, or null if it makes no codes; or a url_template_id.",
            )));
        }
        let request = KeyRequest {
            meta_key: self.meta_key.into(),
            file_key: self.file_key.into(),
            master_key_id: self.master_key_id.into(),
            allow_factory_keys: self.allow_factory_keys,
        };
        if self.last_counter > self.technology.counter_max() {
            return Err(ApiError::invalid(InvalidInlay::LastCounter(
                self.technology,
            )));
        }
        let keys = request.seal(service, self.uid, self.technology).await?;
        let mode = mode(service, self.mode, self.url_template_id).await?;
        let fields = InlayFields {
            technology: self.technology,
            mode,
            url_template_id: self.url_template_id,
            tag_id: self.tag_id,
            mirror: self.mirror.apply(None),
            mac_from: self.mac_from.unwrap_or(MacFrom::None),
            keys: keys.apply(None).map_err(ApiError::invalid)?,
            blocked_at: None,
        };
        fields.validate().map_err(ApiError::invalid)?;
        Ok(NewInlay {
            uid: self.uid,
            fields,
            simulated: false,
            last_counter: self.last_counter,
        })
    }
}

/// The mode of an inlay: the sent one, otherwise that of its template.
pub(super) async fn mode(
    service: &Service,
    sent: Option<Mode>,
    template: Option<UrlTemplateId>,
) -> Result<Mode, ApiError> {
    if let Some(mode) = sent {
        return Ok(mode);
    }
    let Some(id) = template else {
        return Ok(Mode::Aes);
    };
    // If the template does not exist, the operation that stores the inlay fails.
    let template = service.storage.url_template(id).await?;
    Ok(template.map_or(Mode::Aes, |template| template.fields.settings().mode))
}

/// Create an inlay
///
/// Keys are write-only: Tapdesk never shows them again. The UID of a deleted inlay can be used
/// again. Codes that were accepted with the same keys are not accepted a second time.
#[utoipa::path(
    post, path = "/inlays", tag = "inlays",
    request_body = NewInlayBody,
    responses((status = CREATED, body = InlayView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(body): Body<NewInlayBody>,
) -> Result<(StatusCode, Edited<InlayView>), ApiError> {
    let inlay = body.seal(&service).await?;
    let inlay = service.storage.insert_inlay(inlay).await?;
    let inlay = Edited::shown_as(inlay, InlayView::from);
    Ok((StatusCode::CREATED, inlay))
}
