//! `GET /admin/v1/experiences/{id}/versions`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::experience::Version;
use crate::http::admin::page::{Cursor, Limit, Page};
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid, NotFound};
use crate::id::ExperienceId;
use crate::service::Service;

/// Which page of the versions.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionsQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor<u32>>,
}

/// List the versions of an experience
///
/// Everything that was ever published, the newest first. A version never changes.
#[utoipa::path(
    get, path = "/experiences/{id}/versions", tag = "experiences",
    params(("id" = ExperienceId, Path), VersionsQuery),
    responses((status = OK, body = Page<Version>), NotFound, Invalid, Common)
)]
pub(crate) async fn versions(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
    Query(VersionsQuery { limit, after }): Query<VersionsQuery>,
) -> Result<Json<Page<Version>>, ApiError> {
    let before = after.map(|Cursor(version)| version);
    let versions = service
        .storage
        .versions(id, before, limit.and_one_more())
        .await?
        .ok_or(ApiError::NotFound("experience"))?;
    Ok(Json(Page::new(versions, limit, |version| version.version)))
}
