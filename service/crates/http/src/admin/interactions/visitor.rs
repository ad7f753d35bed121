//! `/admin/v1/interactions/{id}/visitor`: the stored data of the visitor who made a tap.

mod erase;
mod export;

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

pub(in crate::admin) use erase::*;
pub(in crate::admin) use export::*;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Code, Common, NotFound};
use app::visitor_data::{Kept, Proof, kept};
use domain::clock::Timestamp;
use domain::id::{InteractionId, TagId};
use domain::interaction::Interaction;
use domain::trace::TracedInteraction;
use storage::Access;

/// The stored data of a tag's visitor who made a tap.
#[derive(Serialize, ToSchema)]
#[schema(as = VisitorData)]
pub(crate) struct VisitorView {
    // No doc comment here: it would turn the schema of `proof` into an object.
    #[schema(inline)]
    proof: Proof,
    /// Number of taps that are known to be the visitor's: this one, and those that the cookie of a
    /// rolling key connects with it.
    interactions: u64,
    /// Time of the oldest of these taps; null if there is none, because the tap was erased.
    oldest_at: Option<Timestamp>,
    /// Number of forms that were sent with these taps.
    submissions: u64,
    /// The stored data, with its purpose and retention, in words for the visitor.
    kept: Vec<Kept>,
}

/// Get the stored data of a tap's visitor
///
/// Shows the amount of data, and the data that stays after an erasure. To export or erase the data,
/// the visitor must prove that they hold the tag: they tap it, and a verified tap proves it while
/// its rolling key is valid. A visitor's taps are this one, and those that the cookie of a rolling
/// key connects with it. Other taps from the same network with the same browser may be another
/// person's. Data that the person entered at other times can be found by its text, as for
/// submissions.
#[utoipa::path(
    get, path = "/interactions/{id}/visitor", tag = "interactions",
    params(("id" = InteractionId, Path)),
    responses((status = OK, body = VisitorView), NotFound, Common)
)]
pub(crate) async fn visitor(
    Asked(service): Asked,
    Id(id): Id<InteractionId>,
) -> Result<Json<VisitorView>, ApiError> {
    let storage = &service.storage;
    let tap = find(storage, id).await?.interaction;
    let mut view = VisitorView {
        proof: Proof::of(storage, &tap).await?,
        interactions: 0,
        oldest_at: None,
        submissions: 0,
        kept: kept(&service.settings()),
    };
    if tap.tag_id.is_none() {
        return Ok(Json(view));
    }
    let taps = storage.taps_of_visitor(id).await?;
    view.interactions = taps.len() as u64;
    if let Some(oldest) = taps.last() {
        let oldest = storage.interaction(*oldest).await?;
        view.oldest_at = oldest.map(|traced| traced.interaction.at);
    }
    view.submissions = storage.submissions_of_taps(taps).await?.len() as u64;
    Ok(Json(view))
}

async fn find(storage: &Access, id: InteractionId) -> Result<TracedInteraction, ApiError> {
    let traced = storage.interaction(id).await?;
    traced.ok_or(ApiError::NotFound("interaction"))
}

/// The tag of a tap, if the tap proves that a person holds it. Otherwise an error.
async fn proved(storage: &Access, tap: &Interaction) -> Result<TagId, ApiError> {
    let proof = Proof::of(storage, tap).await?;
    match (proof.refusal(), tap.tag_id) {
        (None, Some(tag)) => Ok(tag),
        (why, _) => Err(ApiError::conflict(
            Code::NotProved,
            why.unwrap_or("The tap is of an inlay that is on no tag."),
        )),
    }
}
