//! `POST /admin/v1/experiences/{id}/publish`.

use axum::extract::State;
use axum::http::HeaderMap;

use crate::admin::Asked;
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Invalid, NotFound, Written};
use crate::state::AppState;
use domain::experience::{Experience, ExperienceFields};
use domain::id::ExperienceId;

/// Publish the draft
///
/// The draft becomes a new version, and taps lead to it from now on. If the draft equals the
/// published version, nothing changes.
#[utoipa::path(
    post, path = "/experiences/{id}/publish", tag = "experiences", params(("id" = ExperienceId, Path)),
    responses((status = OK, body = Experience, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved experience, in words"))), NotFound, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn publish(
    State(state): State<AppState>,
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    IfMatch(expected): IfMatch,
) -> Result<(HeaderMap, Edited<Experience>), ApiError> {
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
        .map(|experience| super::saved(&state, experience))
        .ok_or(ApiError::NotFound("experience"))
}
