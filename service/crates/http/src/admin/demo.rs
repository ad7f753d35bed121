//! `/admin/v1/demo`: simulated tags for a first look.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::error::{ApiError, Common, Conflicting, Written};
use app::demo::{self, DemoTag, Made, TAGS};
use domain::id::TagId;

/// The demo data that exists after the request.
#[derive(Serialize, ToSchema)]
pub(crate) struct Demo {
    /// Whether a part was missing and has been created.
    made: bool,
    /// The tags of the demo data. Two of them have a virtual inlay in the simulator.
    tags: Vec<DemoTagView>,
}

/// A tag of the demo data.
#[derive(Serialize, ToSchema)]
#[schema(as = DemoTag)]
pub(crate) struct DemoTagView {
    /// Identifier of the tag.
    id: TagId,
    /// The last part of the tag's URL.
    slug: &'static str,
    /// Description of the tag for people.
    about: &'static str,
}

/// The result of the removal.
#[derive(Serialize, ToSchema)]
pub(crate) struct DemoRemoved {
    /// Number of tags that were removed.
    tags: usize,
}

/// Create the demo data
///
/// Creates simulated tags that lead to an experience, with virtual inlays. Existing parts stay
/// unchanged. Fails if one of the owner's tags uses one of the slugs.
#[utoipa::path(
    post, path = "/demo", tag = "demo",
    responses((status = OK, body = Demo), Conflicting, Written, Common)
)]
pub(crate) async fn make(Asked(service): Asked) -> Result<Json<Demo>, ApiError> {
    let Made { tags, anything } = demo::make(&service).await?;
    let view = |(id, &DemoTag { slug, about, .. })| DemoTagView { id, slug, about };
    Ok(Json(Demo {
        made: anything,
        tags: tags.into_iter().zip(&TAGS).map(view).collect(),
    }))
}

/// Remove the demo data
///
/// Removes the tags of the demo data and their virtual inlays. Also removes the experience, unless
/// other tags lead to it.
#[utoipa::path(
    delete, path = "/demo", tag = "demo",
    responses((status = OK, body = DemoRemoved), Written, Common)
)]
pub(crate) async fn remove(Asked(service): Asked) -> Result<Json<DemoRemoved>, ApiError> {
    let tags = demo::remove(&service).await?;
    Ok(Json(DemoRemoved { tags }))
}
