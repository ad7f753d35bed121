//! `PATCH /admin/v1/inlays/{id}`.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::keys::KeyRequest;
use super::view::InlayView;
use crate::field_error::FieldError;
use crate::http::admin::body::Patch;
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{
    ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written,
};
use crate::id::{InlayId, MasterKeyId, TagId};
use crate::inlay::key::AesKey;
use crate::inlay::{MacFrom, Mirror};
use crate::inventory::{InlayFields, MemberPatch};
use crate::service::Service;

/// What of an inlay can be changed. What is not sent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InlayPatch {
    /// Binds it to a tag, or with null to none.
    #[serde(default)]
    #[schema(value_type = Option<TagId>)]
    tag_id: MemberPatch<TagId>,
    /// How it shows UID and counter; null where it makes no codes any more.
    #[serde(default)]
    #[schema(value_type = Option<Mirror>)]
    mirror: MemberPatch<Mirror>,
    /// Where the part of the URL that its MAC covers begins. It cannot be null: `none` is the empty input.
    #[serde(default)]
    #[schema(value_type = Option<MacFrom>, nullable = false)]
    mac_from: MemberPatch<MacFrom>,
    /// Another `SDMMetaReadKey`.
    #[serde(default)]
    #[schema(value_type = Option<AesKey>)]
    meta_key: MemberPatch<AesKey>,
    /// Another `SDMFileReadKey`.
    #[serde(default)]
    #[schema(value_type = Option<AesKey>)]
    file_key: MemberPatch<AesKey>,
    /// A master key from which its keys are diversified from now on.
    #[serde(default)]
    #[schema(value_type = Option<MasterKeyId>)]
    master_key_id: MemberPatch<MasterKeyId>,
    /// Takes the all-zero factory key, too: its codes prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

/// Change an inlay
///
/// Other keys start its counter from 0, for re-encoding a chip resets it: codes
/// made under the old keys no longer verify. Keys that it had before come back
/// with their counter, so that no code is accepted twice. UID and technology do not change.
#[utoipa::path(
    patch, path = "/inlays/{id}", tag = "inlays", params(("id" = InlayId, Path)),
    request_body(content = InlayPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = InlayView), NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    Id(id): Id<InlayId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<InlayView>, ApiError> {
    let patch: InlayPatch = patch.read()?;
    if patch.mac_from == MemberPatch::Remove {
        let why = "mac_from cannot be null. Leave it out to keep what is there; \"none\" is the empty input.";
        return Err(ApiError::Invalid(FieldError::of("mac_from", why)));
    }
    let inlay = service.storage.inlay(id).await?;
    let uid = inlay.ok_or(ApiError::NotFound("inlay"))?.uid;
    let request = KeyRequest {
        meta_key: patch.meta_key,
        file_key: patch.file_key,
        master_key_id: patch.master_key_id,
        allow_factory_keys: patch.allow_factory_keys,
    };
    let keys = request.seal(&service, uid).await?;
    let (tag_id, mirror, mac_from) = (patch.tag_id, patch.mirror, patch.mac_from);
    let edit = move |before: InlayFields| {
        expected.check(Some(&before))?;
        let fields = InlayFields {
            technology: before.technology,
            tag_id: tag_id.apply(before.tag_id),
            mirror: mirror.apply(before.mirror),
            mac_from: mac_from
                .apply(Some(before.mac_from))
                .unwrap_or(MacFrom::None),
            keys: keys.clone().apply(before.keys).map_err(FieldError::from)?,
        };
        fields.validate().map_err(FieldError::from)?;
        Ok(fields)
    };
    let edited = service.storage.edit_inlay(id, Box::new(edit)).await;
    let inlay = unless_changed(edited, super::current(&service, id)).await?;
    let inlay = inlay.ok_or(ApiError::NotFound("inlay"))?;
    Ok(Edited::shown_as(inlay, InlayView::from))
}
