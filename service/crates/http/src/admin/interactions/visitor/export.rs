//! `GET /admin/v1/interactions/{id}/visitor/export`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::Serialize;
use utoipa::ToSchema;

use super::{find, proved};
use crate::admin::Asked;
use crate::admin::export;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, Conflicting, NotFound};
use app::service::Service;
use app::visitor_data::{Kept, kept};
use domain::clock::Timestamp;
use domain::id::InteractionId;
use domain::interaction::{
    InteractionView, RecordedReads, RecordedRefusal, RecordedUpdate, TagName,
};
use domain::submission::Submission;
use storage::{Access, StorageError};

/// All stored data of a tag's visitor.
#[derive(Serialize, ToSchema)]
pub(crate) struct VisitorExport {
    /// The tap that proved that the person holds the tag.
    tap: InteractionId,
    /// The tag that the visitor tapped.
    tag: Option<TagName>,
    /// Time of the export.
    exported_at: Timestamp,
    /// The stored data, with its purpose and retention.
    kept: Vec<Kept>,
    /// The visitor's taps of the tag, the newest first. This member is last, because taps are sent
    /// while they are read.
    interactions: Vec<VisitorTap>,
}

/// A tap, with the visitor's actions after it.
#[derive(Serialize, ToSchema)]
struct VisitorTap {
    #[serde(flatten)]
    interaction: InteractionView,
    /// The update that was made with its key.
    update: Option<RecordedUpdate>,
    /// The last update that was refused although its key was valid.
    refused_update: Option<RecordedRefusal>,
    /// Number and times of the reads of its payload.
    payload_reads: Option<RecordedReads>,
    /// The form that was sent from its page.
    submission: Option<Submission>,
}

/// Export the stored data of a tap's visitor
///
/// A JSON document with the visitor's taps of the tag, the values and forms that were sent with
/// them, and an explanation of the stored data, its purpose and its retention. It does not contain
/// keys, their hashes, the digest of the client, or earlier values of variables. Only a verified
/// tap with a valid rolling key proves that a person holds the tag; otherwise the answer is 409
/// with `code: "not_proved"`.
#[utoipa::path(
    get, path = "/interactions/{id}/visitor/export", tag = "interactions",
    params(("id" = InteractionId, Path)),
    responses((status = OK, body = VisitorExport), NotFound, Conflicting, Common)
)]
pub(crate) async fn export_visitor(
    Asked(service): Asked,
    Id(id): Id<InteractionId>,
) -> Result<Response, ApiError> {
    let traced = find(&service.storage, id).await?;
    proved(&service.storage, &traced.interaction).await?;
    let taps = service.storage.taps_of_visitor(id).await?;
    let export = VisitorExport {
        tap: id,
        tag: traced.tag,
        exported_at: service.storage.now().await?,
        kept: kept(&service.settings()),
        interactions: Vec::new(),
    };
    let mut head = serde_json::to_vec(&export).map_err(|_| ApiError::Internal)?;
    // Remove the end of the document: taps follow here, then the end.
    head.truncate(head.len() - CLOSE.len());
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"visitor-of-tap-{id}.json\""),
        ),
    ];
    let body = export::body(move |sender| send(service, taps, head, sender));
    Ok((headers, body).into_response())
}

/// Number of taps per database read.
const AT_ONCE: usize = 500;
/// The end of the document.
const CLOSE: &[u8] = b"]}";

/// Sends the document. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(
    service: Arc<Service>,
    taps: Vec<InteractionId>,
    head: Vec<u8>,
    mut sender: Sender<Bytes, StorageError>,
) {
    let (mut text, mut is_first) = (head, true);
    for some in taps.chunks(AT_ONCE) {
        let step = match step(&service.storage, some).await {
            Ok(step) => step,
            Err(error) => return sender.abort(error),
        };
        for one in &step {
            if !std::mem::take(&mut is_first) {
                text.push(b',');
            }
            // Serialization of a view cannot fail.
            text.extend(serde_json::to_vec(one).unwrap_or_default());
        }
        let chunk = std::mem::take(&mut text);
        if !chunk.is_empty() && sender.send_data(chunk.into()).await.is_err() {
            return;
        }
    }
    text.extend(CLOSE);
    // If the client has disconnected, ignore the error.
    let _ = sender.send_data(text.into()).await;
}

async fn step(storage: &Access, taps: &[InteractionId]) -> Result<Vec<VisitorTap>, StorageError> {
    let mut sent = storage.submissions_of_taps(taps.to_vec()).await?;
    let mut step = Vec::with_capacity(taps.len());
    for id in taps {
        let submission = sent.iter().position(|one| one.interaction_id == *id);
        let submission = submission.map(|place| sent.swap_remove(place));
        // The tap may have expired since.
        let Some(traced) = storage.interaction(*id).await? else {
            continue;
        };
        let update = traced.update.map(|mut update| {
            // The old value may be another person's.
            for change in &mut update.changes {
                change.old = None;
            }
            update
        });
        step.push(VisitorTap {
            interaction: InteractionView::new(traced.interaction, traced.tag),
            update,
            refused_update: traced.refused_update,
            payload_reads: traced.payload_reads,
            submission,
        });
    }
    Ok(step)
}
