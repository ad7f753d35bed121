//! `GET /admin/v1/interactions/{id}`.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use app::service::Service;
use domain::id::InteractionId;
use domain::interaction::{
    Interaction, InteractionView, RecordedReads, RecordedRefusal, RecordedUpdate,
};
use domain::rolling_key::KeyState;
use domain::trace::{self, Step};
use storage::StorageError;

/// An interaction with its trace.
#[derive(Serialize, ToSchema)]
#[schema(as = TracedInteraction)]
pub(crate) struct TracedView {
    #[serde(flatten)]
    interaction: InteractionView,
    /// The steps of the tap, each with a verdict and an explanation for people.
    steps: Vec<Step>,
    /// The state of its rolling key. The key itself is not stored.
    key: KeyState,
    /// The update that was made with its key.
    update: Option<RecordedUpdate>,
    /// The last update that was refused although its key was valid.
    refused_update: Option<RecordedRefusal>,
    /// Number and times of the reads of its payload.
    payload_reads: Option<RecordedReads>,
}

/// Get an interaction with its trace
#[utoipa::path(
    get, path = "/interactions/{id}", tag = "interactions", params(("id" = InteractionId, Path)),
    responses((status = OK, body = TracedView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<InteractionId>,
) -> Result<Json<TracedView>, ApiError> {
    let traced = service.storage.interaction(id).await?;
    let traced = traced.ok_or(ApiError::NotFound("interaction"))?;
    let key = match &traced.update {
        Some(update) => KeyState::Consumed {
            consumed_at: update.at,
        },
        None => key_state(&service, &traced.interaction).await?,
    };
    Ok(Json(TracedView {
        steps: trace::of(&traced, key),
        key,
        interaction: InteractionView::new(traced.interaction, traced.tag),
        update: traced.update,
        refused_update: traced.refused_update,
        payload_reads: traced.payload_reads,
    }))
}

/// The state of a key that made no update. Its row is deleted after it expires.
async fn key_state(service: &Service, interaction: &Interaction) -> Result<KeyState, StorageError> {
    if !interaction.key_issued {
        return Ok(KeyState::None);
    }
    let issued = service.storage.issued_key(interaction.id).await?;
    Ok(issued.map_or(KeyState::Expired, |(key, interaction)| {
        key.state(interaction.read_at)
    }))
}
