//! `PATCH /admin/v1/experiences/{id}`.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::ExperienceMembers;
use crate::experience::{Experience, ExperienceFields};
use crate::http::admin::Requester;
use crate::http::admin::body::{Partial, Patch};
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{
    ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written,
};
use crate::id::ExperienceId;
use crate::scope::Scope;
use crate::service::Service;

/// How to make the change.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UpdateQuery {
    /// Publish the changed draft at once, in the same operation.
    #[serde(default)]
    publish: bool,
}

/// The members that change.
type ExperiencePatch = Partial<ExperienceMembers>;

/// Change an experience
///
/// A merge patch (RFC 7396) of its name and its draft: members that are not sent stay as they are.
/// Blocks are replaced as a whole. The published version stays until the draft is published;
/// `publish=true` changes and publishes in one operation, and needs the scope `publish`. The name takes effect at once: visitors
/// do not see it. The kind cannot change.
#[utoipa::path(
    patch, path = "/experiences/{id}", tag = "experiences",
    params(("id" = ExperienceId, Path), UpdateQuery),
    request_body(content = ExperiencePatch, content_type = "application/merge-patch+json"),
    responses(
        (status = OK, body = Experience),
        NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common
    )
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Id(id): Id<ExperienceId>,
    Query(UpdateQuery { publish }): Query<UpdateQuery>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Experience>, ApiError> {
    if publish {
        requester.needs(Scope::Publish)?;
    }
    let edit = move |before: ExperienceFields| {
        expected.check(Some(&before))?;
        let after = patch.apply(&ExperienceMembers::saying(before)?)?;
        Ok(after.check()?)
    };
    let experience = service
        .storage
        .edit_experience(id, Box::new(edit), publish)
        .await;
    let experience = unless_changed(experience, super::current(&service, id)).await?;
    experience
        .map(Edited::from)
        .ok_or(ApiError::NotFound("experience"))
}
