//! `POST /admin/v1/inlays`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::keys::KeyRequest;
use super::view::InlayView;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::id::{MasterKeyId, TagId, UrlTemplateId};
use crate::inlay::key::{AesKey, SomeKey};
use crate::inlay::technology::{Family, Mode};
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::inventory::{InlayFields, InvalidInlay, MemberPatch, NewInlay};
use crate::service::Service;

/// An inlay to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewInlay)]
pub(crate) struct NewInlayBody {
    /// The chip's UID.
    uid: Uid,
    /// The chip's technology.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA; by default that of its URL template, or `aes`.
    #[serde(default)]
    mode: Option<Mode>,
    /// Its URL template; null for the canonical form.
    #[serde(default)]
    url_template_id: Option<UrlTemplateId>,
    /// How it shows UID and counter in the canonical form; null if it makes no such codes.
    /// Required of an NTAG 424 DNA without a URL template.
    #[serde(default)]
    #[schema(value_type = Option<Mirror>)]
    mirror: MemberPatch<Mirror>,
    /// Where the part of the URL that its MAC covers begins.
    #[serde(default)]
    mac_from: Option<MacFrom>,
    /// The tag it is bound to; it can be bound later.
    tag_id: Option<TagId>,
    /// The chip's `SDMMetaReadKey`, for the encrypted mirror.
    meta_key: Option<AesKey>,
    /// The chip's `SDMFileReadKey`, or the one key that it has: 32 hex digits, 20 of a SIC43NT.
    file_key: Option<SomeKey>,
    /// The master key its keys are derived from, instead of keys of its own.
    master_key_id: Option<MasterKeyId>,
    /// The highest counter that its former service accepted: codes up to it are spent.
    #[serde(default)]
    last_counter: u32,
    /// Accept a factory key, too; its codes prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

impl NewInlayBody {
    /// The inlay as it is stored: checked, and its keys sealed.
    pub(in crate::http::admin) async fn seal(
        self,
        service: &Service,
    ) -> Result<NewInlay, ApiError> {
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

/// The mode of an inlay: what was sent, or else that of its template.
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
    // One that is missing is refused by the operation that stores the inlay.
    let template = service.storage.url_template(id).await?;
    Ok(template.map_or(Mode::Aes, |template| template.fields.settings().mode))
}

/// Create an inlay
///
/// Keys are write-only: Tapdesk never shows them again. The UID of a deleted inlay can be used
/// again; codes that were accepted under the same keys are not accepted again.
#[utoipa::path(
    post, path = "/inlays", tag = "inlays",
    request_body = NewInlayBody,
    responses((status = CREATED, body = InlayView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(body): Body<NewInlayBody>,
) -> Result<(StatusCode, Edited<InlayView>), ApiError> {
    let inlay = body.seal(&service).await?;
    let id = service.storage.insert_inlay(inlay).await?;
    let inlay = service.storage.inlay(id).await?;
    let inlay = inlay.ok_or(ApiError::NotFound("inlay"))?;
    let inlay = Edited::shown_as(inlay, InlayView::from);
    Ok((StatusCode::CREATED, inlay))
}
