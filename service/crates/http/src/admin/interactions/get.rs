//! `GET /admin/v1/interactions/{id}`.

use axum::Json;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use crate::picture;
use crate::schema::Binary;
use app::service::Service;
use domain::id::InteractionId;
use domain::interaction::{
    Interaction, InteractionView, RecordedReads, RecordedRefusal, RecordedUpdate, StaffNote,
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
    /// The note and the photo that staff added with their phone.
    staff_note: Option<NoteView>,
}

/// A note of staff with the address of its photo.
#[derive(Serialize, ToSchema)]
#[schema(as = InteractionNote)]
struct NoteView {
    #[serde(flatten)]
    note: StaffNote,
    /// The path of the photo in this API; null if there is none.
    photo_url: Option<String>,
}

impl NoteView {
    fn of(id: InteractionId, note: StaffNote) -> Self {
        let has_photo = note.photo.is_some();
        Self {
            photo_url: has_photo.then(|| format!("/admin/v1/interactions/{id}/photo")),
            note,
        }
    }
}

/// Get the photo that staff added to an interaction
///
/// The bytes as Tapdesk stores them: PNG or JPEG, upright, at most 1600 pixels on a side, without
/// metadata such as the place. The `ETag` is their digest.
#[utoipa::path(
    get, path = "/interactions/{id}/photo", tag = "interactions",
    params(("id" = InteractionId, Path)),
    responses(
        (
            status = OK,
            content((inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg")),
            headers(("ETag" = String, description = "The digest of the bytes, in quotes"))
        ),
        NotFound, Common
    )
)]
pub(crate) async fn photo(
    Asked(service): Asked,
    Id(id): Id<InteractionId>,
) -> Result<Response, ApiError> {
    let found = service.storage.staff_photo(id).await?;
    let (photo, bytes) = found.ok_or(ApiError::NotFound("photo"))?;
    picture::with_digest(photo.media_type, &photo.digest, bytes)
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
    let id = traced.interaction.id;
    let note = traced.staff_note.clone();
    Ok(Json(TracedView {
        staff_note: note.map(|note| NoteView::of(id, note)),
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
