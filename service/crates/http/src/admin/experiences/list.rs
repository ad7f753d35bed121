//! `GET /admin/v1/experiences`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::experience::{Experience, ExperienceKind};
use domain::id::ExperienceId;
use storage::ExperienceFilter;

/// Filters of experiences. All of them must match.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only experiences with this text in their name.
    q: Option<String>,
    /// Only experiences of this kind.
    #[param(inline)]
    kind: Option<ExperienceKind>,
    /// Whether to count the experiences of all pages.
    #[serde(default)]
    count: bool,
}

/// List experiences
///
/// The oldest first, each with the number of tags that lead to it.
#[utoipa::path(
    get, path = "/experiences", tag = "experiences", params(ListQuery, PageParams),
    responses((status = OK, body = Page<Experience>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<ExperienceId, ListQuery>,
) -> Result<Json<Page<Experience>>, ApiError> {
    let filter = ExperienceFilter {
        name_contains: list.filter.q.clone(),
        kind: list.filter.kind,
    };
    let storage = &service.storage;
    let found = storage.experiences(filter.clone(), list.after, list.and_one_more());
    let found = found.await?;
    let count = counted(list.filter.count, storage.count_experiences(filter)).await?;
    let page = list.page(found, |experience| experience.id);
    Ok(Json(page.with_count(count)))
}
