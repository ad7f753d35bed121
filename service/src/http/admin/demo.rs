//! `/admin/v1/demo`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::demo::{self, DemoTag, Made, TAGS};
use crate::http::error::{ApiError, Common, Conflicting, Written};
use crate::id::TagId;
use crate::service::Service;

/// The demo data.
#[derive(Serialize, ToSchema)]
pub(crate) struct Demo {
    /// Whether anything of it was missing, and is made now.
    made: bool,
    /// Its tags. Two of them have a virtual inlay in the simulator.
    tags: Vec<DemoTagView>,
}

/// A tag of the demo data.
#[derive(Serialize, ToSchema)]
#[schema(as = DemoTag)]
pub(crate) struct DemoTagView {
    /// Its identifier.
    id: TagId,
    /// The last part of its URL.
    slug: &'static str,
    /// What there is to see in it, in words.
    about: &'static str,
}

/// What was removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct DemoRemoved {
    /// How many tags.
    tags: usize,
}

/// Make the demo data
///
/// Simulated tags that lead to an experience, and virtual inlays on them. What
/// of it is there already stays as it is. It refuses where a tag of the owner's
/// has one of the slugs.
#[utoipa::path(
    post, path = "/demo", tag = "demo",
    responses((status = OK, body = Demo), Conflicting, Written, Common)
)]
pub(crate) async fn make(State(service): State<Arc<Service>>) -> Result<Json<Demo>, ApiError> {
    let Made { tags, anything } = demo::make(&service).await?;
    let view = |(id, &DemoTag { slug, about, .. })| DemoTagView { id, slug, about };
    Ok(Json(Demo {
        made: anything,
        tags: tags.into_iter().zip(&TAGS).map(view).collect(),
    }))
}

/// Remove the demo data
///
/// Its tags, their virtual inlays, and the experience, unless other tags lead
/// to it by now.
#[utoipa::path(
    delete, path = "/demo", tag = "demo",
    responses((status = OK, body = DemoRemoved), Written, Common)
)]
pub(crate) async fn remove(
    State(service): State<Arc<Service>>,
) -> Result<Json<DemoRemoved>, ApiError> {
    let tags = demo::remove(&service).await?;
    Ok(Json(DemoRemoved { tags }))
}
