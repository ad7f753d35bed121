//! `/admin/v1/interactions/{id}/visitor`: what is kept of the visitor who made a tap.

mod erase;
mod export;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

pub(in crate::http::admin) use erase::*;
pub(in crate::http::admin) use export::*;

use crate::clock::Timestamp;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Code, Common, NotFound};
use crate::id::{InteractionId, TagId};
use crate::interaction::Interaction;
use crate::service::Service;
use crate::storage::Storage;
use crate::trace::TracedInteraction;
use crate::visitor_data::{Kept, Proof, Taps, kept};

/// What is kept of the visitor of a tag who made a tap.
#[derive(Serialize, ToSchema)]
#[schema(as = VisitorData)]
pub(crate) struct VisitorView {
    // A comment of its own would make an object of it in the API's description.
    #[schema(inline)]
    proof: Proof,
    /// How many taps of the tag the visitor made, as far as it can be told: those from the same
    /// network address with the same browser.
    interactions: u64,
    /// When the oldest one was; null if there is none, because the tap was erased.
    oldest_at: Option<Timestamp>,
    /// How many forms were sent with them.
    submissions: u64,
    /// What is kept, why, and for how long, in words for the person.
    kept: Vec<Kept>,
}

/// Get what is kept of a tap's visitor
///
/// How much there is, and what erasing would leave. A person who holds a tag taps it: while that
/// tap's rolling key lives, a verified tap proves it, and what is kept of its visitor can be exported
/// and erased. A visitor is a network address and a browser at one tag: taps from another phone or
/// network are somebody else's.
#[utoipa::path(
    get, path = "/interactions/{id}/visitor", tag = "interactions",
    params(("id" = InteractionId, Path)),
    responses((status = OK, body = VisitorView), NotFound, Common)
)]
pub(crate) async fn visitor(
    State(service): State<Arc<Service>>,
    Id(id): Id<InteractionId>,
) -> Result<Json<VisitorView>, ApiError> {
    let storage = &*service.storage;
    let tap = find(storage, id).await?.interaction;
    let mut view = VisitorView {
        proof: Proof::of(storage, &tap).await?,
        interactions: 0,
        oldest_at: None,
        submissions: 0,
        kept: kept(&service.settings()),
    };
    let Some(tag) = tap.tag_id else {
        return Ok(Json(view));
    };
    let mut taps = Taps::of(tag);
    while let Some(found) = taps.step_of_visitor(storage, id).await? {
        view.interactions += found.len() as u64;
        if let Some(oldest) = found.last() {
            view.oldest_at = Some(oldest.at);
        }
        let ids = found.iter().map(|tap| tap.id).collect();
        view.submissions += storage.submissions_of_taps(ids).await?.len() as u64;
    }
    Ok(Json(view))
}

async fn find(storage: &dyn Storage, id: InteractionId) -> Result<TracedInteraction, ApiError> {
    let traced = storage.interaction(id).await?;
    traced.ok_or(ApiError::NotFound("interaction"))
}

/// The tag of a tap that proves that a person holds it.
async fn proved(storage: &dyn Storage, tap: &Interaction) -> Result<TagId, ApiError> {
    let proof = Proof::of(storage, tap).await?;
    match (proof.refusal(), tap.tag_id) {
        (None, Some(tag)) => Ok(tag),
        (why, _) => Err(ApiError::conflict(
            Code::NotProved,
            why.unwrap_or("The tap is of an inlay that is on no tag."),
        )),
    }
}
