//! `GET /admin/v1/interactions/{id}/visitor/export`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::Serialize;
use utoipa::ToSchema;

use super::{find, proved};
use crate::clock::Timestamp;
use crate::http::admin::export;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, Conflicting, NotFound};
use crate::id::{InteractionId, TagId};
use crate::interaction::{
    InteractionView, RecordedReads, RecordedRefusal, RecordedUpdate, TagName,
};
use crate::service::Service;
use crate::storage::{Storage, StorageError};
use crate::submission::Submission;
use crate::visitor_data::{Kept, Taps, kept};

/// All that is kept of the visitor of a tag.
#[derive(Serialize, ToSchema)]
pub(crate) struct VisitorExport {
    /// The tap that proved that the person holds the tag.
    tap: InteractionId,
    /// The tag.
    tag: Option<TagName>,
    /// When it was exported.
    exported_at: Timestamp,
    /// What is kept, why, and for how long.
    kept: Vec<Kept>,
    /// The visitor's taps of the tag, the newest first. Last, because they are sent as they are read.
    interactions: Vec<VisitorTap>,
}

/// A tap with what the visitor did after it.
#[derive(Serialize, ToSchema)]
struct VisitorTap {
    #[serde(flatten)]
    interaction: InteractionView,
    /// The update made with its key.
    update: Option<RecordedUpdate>,
    /// The last update that was refused although its key was valid.
    refused_update: Option<RecordedRefusal>,
    /// The reads of its payload.
    payload_reads: Option<RecordedReads>,
    /// The form that was sent from its page.
    submission: Option<Submission>,
}

/// Export what is kept of a tap's visitor
///
/// A JSON document: the visitor's taps of the tag, what was written and sent with them, and in
/// words what is kept, why and for how long. Keys, their hashes and the digest of the client are not
/// in it. Only a verified tap whose rolling key lives proves that a person holds the tag: 409 with
/// `code: "not_proved"` otherwise.
#[utoipa::path(
    get, path = "/interactions/{id}/visitor/export", tag = "interactions",
    params(("id" = InteractionId, Path)),
    responses((status = OK, body = VisitorExport), NotFound, Conflicting, Common)
)]
pub(crate) async fn export_visitor(
    State(service): State<Arc<Service>>,
    Id(id): Id<InteractionId>,
) -> Result<Response, ApiError> {
    let traced = find(&*service.storage, id).await?;
    let tag = proved(&*service.storage, &traced.interaction).await?;
    let export = VisitorExport {
        tap: id,
        tag: traced.tag,
        exported_at: service.storage.now().await?,
        kept: kept(&service.settings()),
        interactions: Vec::new(),
    };
    let mut head = serde_json::to_vec(&export).map_err(|_| ApiError::Internal)?;
    // The taps follow, and then what closes the list and the document.
    head.truncate(head.len() - CLOSE.len());
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"visitor-of-tap-{id}.json\""),
        ),
    ];
    let body = export::body(move |sender| send(service, id, tag, head, sender));
    Ok((headers, body).into_response())
}

/// What the document ends with.
const CLOSE: &[u8] = b"]}";

/// Sends the document. A failure ends the answer in its middle, which the caller sees; a caller
/// who goes away ends the work.
async fn send(
    service: Arc<Service>,
    tap: InteractionId,
    tag: TagId,
    head: Vec<u8>,
    mut sender: Sender<Bytes, StorageError>,
) {
    let (mut taps, mut text, mut is_first) = (Taps::of(tag), head, true);
    loop {
        let step = match step(&*service.storage, &mut taps, tap).await {
            Ok(step) => step,
            Err(error) => return sender.abort(error),
        };
        for one in step.iter().flatten() {
            if !std::mem::take(&mut is_first) {
                text.push(b',');
            }
            // A view always has a form in JSON.
            text.extend(serde_json::to_vec(one).unwrap_or_default());
        }
        let is_last = step.is_none();
        if is_last {
            text.extend(CLOSE);
        }
        let chunk = std::mem::take(&mut text);
        let gone = !chunk.is_empty() && sender.send_data(chunk.into()).await.is_err();
        if is_last || gone {
            return;
        }
    }
}

async fn step(
    storage: &dyn Storage,
    taps: &mut Taps,
    tap: InteractionId,
) -> Result<Option<Vec<VisitorTap>>, StorageError> {
    let Some(found) = taps.step_of_visitor(storage, tap).await? else {
        return Ok(None);
    };
    let ids = found.iter().map(|found| found.id).collect();
    let mut sent = storage.submissions_of_taps(ids).await?;
    let mut step = Vec::with_capacity(found.len());
    for interaction in found {
        let submission = sent
            .iter()
            .position(|one| one.interaction_id == interaction.id);
        let submission = submission.map(|place| sent.swap_remove(place));
        // It may have grown too old meanwhile.
        let Some(traced) = storage.interaction(interaction.id).await? else {
            continue;
        };
        step.push(VisitorTap {
            interaction: InteractionView::new(traced.interaction, traced.tag),
            update: traced.update,
            refused_update: traced.refused_update,
            payload_reads: traced.payload_reads,
            submission,
        });
    }
    Ok(Some(step))
}
