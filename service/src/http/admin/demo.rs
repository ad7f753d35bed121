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
    /// Whether any part was missing and was created.
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
    /// What it shows, in words.
    about: &'static str,
}

/// What was removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct DemoRemoved {
    /// How many tags.
    tags: usize,
}

/// Create the demo data
///
/// Creates simulated tags that lead to an experience, with virtual inlays. Parts that already exist
/// stay as they are. Refused if one of the owner's tags has one of the slugs.
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
/// Removes its tags and their virtual inlays, and the experience unless other tags lead to it.
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
