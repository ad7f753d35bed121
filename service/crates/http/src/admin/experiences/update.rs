//! `PATCH /admin/v1/experiences/{id}`.

use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;
use utoipa::IntoParams;

use super::ExperienceMembers;
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use crate::state::AppState;
use domain::experience::{Experience, ExperienceFields};
use domain::id::ExperienceId;
use domain::scope::Scope;

/// Options of the change.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UpdateQuery {
    /// Whether to publish the changed draft in the same operation.
    #[serde(default)]
    publish: bool,
}

/// A merge patch of the members of an experience.
type ExperiencePatch = Partial<ExperienceMembers>;

/// Change an experience
///
/// A merge patch (RFC 7396) of the name and the draft: members that are not sent stay unchanged.
/// Blocks are replaced as a whole. The published version stays until the draft is published.
/// `publish=true` changes and publishes in one operation, and needs the scope `publish`. A new name
/// takes effect at once, because visitors do not see it. The kind cannot change.
#[utoipa::path(
    patch, path = "/experiences/{id}", tag = "experiences",
    params(("id" = ExperienceId, Path), UpdateQuery),
    request_body(content = ExperiencePatch, content_type = "application/merge-patch+json"),
    responses(
        (status = OK, body = Experience, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved experience, in words"))),
        NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common
    )
)]
pub(crate) async fn update(
    State(state): State<AppState>,
    Asked(service): Asked,
    requester: Requester,
    Id(id): Id<ExperienceId>,
    Query(UpdateQuery { publish }): Query<UpdateQuery>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<(HeaderMap, Edited<Experience>), ApiError> {
    if publish {
        requester.needs(Scope::Publish)?;
    }
    let edit = move |before: ExperienceFields| {
        expected.check(Some(&before))?;
        let content = before.content.clone();
        let after = patch.apply(&ExperienceMembers::saying(before)?)?;
        Ok(after.check(Some(&content))?)
    };
    let experience = service
        .storage
        .edit_experience(id, Box::new(edit), publish)
        .await;
    let experience = unless_changed(experience, super::current(&service, id)).await?;
    experience
        .map(|experience| super::saved(&state, experience))
        .ok_or(ApiError::NotFound("experience"))
}
