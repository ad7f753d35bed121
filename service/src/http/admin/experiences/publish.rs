//! `POST /admin/v1/experiences/{id}/publish`.

use std::sync::Arc;

use axum::extract::State;

use crate::experience::{Experience, ExperienceFields};
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, ChangedMeanwhile, Common, Invalid, NotFound, Written};
use crate::id::ExperienceId;
use crate::service::Service;

/// Publish the draft
///
/// It becomes a new version, to which taps lead from now on. If the draft does not differ from the
/// published version, nothing changes.
#[utoipa::path(
    post, path = "/experiences/{id}/publish", tag = "experiences", params(("id" = ExperienceId, Path)),
    responses((status = OK, body = Experience), NotFound, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn publish(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
    IfMatch(expected): IfMatch,
) -> Result<Edited<Experience>, ApiError> {
    let as_it_is = move |before: ExperienceFields| {
        expected.check(Some(&before))?;
        Ok(before)
    };
    let published = service
        .storage
        .edit_experience(id, Box::new(as_it_is), true)
        .await;
    let experience = unless_changed(published, super::current(&service, id)).await?;
    experience
        .map(Edited::from)
        .ok_or(ApiError::NotFound("experience"))
}
