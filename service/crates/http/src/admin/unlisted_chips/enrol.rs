//! `POST /admin/v1/unlisted-chips/{uid}/enrol`.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::UidPath;
use crate::admin::inlays::InlayView;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use app::inlays::{ChipTag, enrol};
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId, TagId};
use domain::inventory::ChipPlace;
use inlay::Uid;

/// The tag for an unlisted chip. Without members, a tag is created with the experience and in the
/// group that the URL template states.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_field_names,
    reason = "they are the members of the request"
)]
pub(crate) struct Enrolment {
    /// An existing tag.
    #[serde(default)]
    tag_id: Option<TagId>,
    /// The experience of a new tag, which is named after the UID. Not together with `tag_id`.
    #[serde(default)]
    experience_id: Option<ExperienceId>,
    /// The group of a new tag. Not together with `tag_id`.
    #[serde(default)]
    group_id: Option<GroupId>,
}

/// Enrol an unlisted chip
///
/// Creates an inlay with the keys that made the chip's codes, and a tag for it, unless `tag_id`
/// names one. The counter continues: no code that came before is accepted. The answer is the inlay
/// as its GET operation returns it.
#[utoipa::path(
    post, path = "/unlisted-chips/{uid}/enrol", tag = "inlays", params(("uid" = Uid, Path)),
    request_body = Enrolment,
    responses((status = CREATED, body = InlayView), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn enrol_chip(
    Asked(service): Asked,
    UidPath(uid): UidPath,
    Body(body): Body<Enrolment>,
) -> Result<(StatusCode, Edited<InlayView>), ApiError> {
    let place = ChipPlace {
        experience_id: body.experience_id,
        group_id: body.group_id,
    };
    let on = match (body.tag_id, place == ChipPlace::default()) {
        (Some(_), false) => {
            let why = "The chip gets an existing tag or a new one: send tag_id, or experience_id and group_id.";
            return Err(ApiError::invalid(FieldError::whole(why)));
        }
        (Some(tag), true) => ChipTag::Existing(tag),
        (None, false) => ChipTag::New(place),
        (None, true) => ChipTag::OfTemplate,
    };
    let inlay = enrol(&service, uid, on).await?;
    let inlay = inlay.ok_or(ApiError::NotFound("unlisted chip"))?;
    Ok((
        StatusCode::CREATED,
        Edited::shown_as(inlay, InlayView::from),
    ))
}
