//! `GET /admin/v1/experiences`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::experience::{Experience, ExperienceKind};
use crate::http::admin::page::{Cursor, Limit, Page};
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::ExperienceId;
use crate::service::Service;
use crate::storage::ExperienceFilter;

/// Which experiences, and which page of them.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Those with this text in their name.
    q: Option<String>,
    /// Those of this kind.
    #[param(inline)]
    kind: Option<ExperienceKind>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor<ExperienceId>>,
    /// Count the experiences on all pages, too.
    #[serde(default)]
    count: bool,
}

/// List experiences
///
/// The oldest first, each with the number of tags that are assigned to it.
#[utoipa::path(
    get, path = "/experiences", tag = "experiences", params(ListQuery),
    responses((status = OK, body = Page<Experience>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Experience>>, ApiError> {
    let filter = ExperienceFilter {
        name_contains: query.q,
        kind: query.kind,
    };
    let after = query.after.map(|Cursor(id)| id);
    let limit = query.limit;
    let experiences = service
        .storage
        .experiences(filter.clone(), after, limit.and_one_more())
        .await?;
    let count = if query.count {
        Some(service.storage.count_experiences(filter).await?)
    } else {
        None
    };
    let page = Page::new(experiences, limit, |experience| experience.id);
    Ok(Json(page.with_count(count)))
}
