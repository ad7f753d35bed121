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
use crate::id::{MasterKeyId, TagId};
use crate::inlay::key::AesKey;
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::inventory::{InlayFields, MemberPatch, NewInlay};
use crate::service::Service;

/// An inlay to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewInlay)]
pub(crate) struct NewInlayBody {
    /// The chip's UID.
    uid: Uid,
    /// The chip's make.
    technology: Technology,
    /// How it shows UID and counter; null where it makes no codes. Required
    /// where the chip can make them.
    #[serde(default)]
    #[schema(value_type = Option<Mirror>)]
    mirror: MemberPatch<Mirror>,
    /// Where the part of the URL that its MAC covers begins.
    #[serde(default)]
    mac_from: Option<MacFrom>,
    /// The tag it is fixed to; it can be bound later.
    tag_id: Option<TagId>,
    /// The chip's `SDMMetaReadKey`, for the encrypted mirror.
    meta_key: Option<AesKey>,
    /// The chip's `SDMFileReadKey`.
    file_key: Option<AesKey>,
    /// The master key its keys are diversified from, instead of keys of its own.
    master_key_id: Option<MasterKeyId>,
    /// Takes the all-zero factory key, too: its codes prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

impl NewInlayBody {
    /// The inlay as it is stored: checked, and its keys sealed.
    pub(in crate::http::admin) async fn seal(
        self,
        service: &Service,
    ) -> Result<NewInlay, ApiError> {
        if self.technology.rolls() && self.mirror == MemberPatch::Keep {
            return Err(ApiError::Invalid(FieldError::of(
                "mirror",
                "An ntag424dna needs a mirror: \"plain\" or \"encrypted\" as it is encoded, or null where it makes no codes.",
            )));
        }
        let request = KeyRequest {
            meta_key: self.meta_key.into(),
            file_key: self.file_key.into(),
            master_key_id: self.master_key_id.into(),
            allow_factory_keys: self.allow_factory_keys,
        };
        let keys = request.seal(service, self.uid).await?;
        let fields = InlayFields {
            technology: self.technology,
            tag_id: self.tag_id,
            mirror: self.mirror.apply(None),
            mac_from: self.mac_from.unwrap_or(MacFrom::None),
            keys: keys.apply(None).map_err(ApiError::invalid)?,
        };
        fields.validate().map_err(ApiError::invalid)?;
        Ok(NewInlay {
            uid: self.uid,
            fields,
            simulated: false,
        })
    }
}

/// Create an inlay
///
/// Keys go in and never come out. The UID of a deleted inlay may be used
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
