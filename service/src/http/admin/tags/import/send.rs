//! Sending results while the rest is stored.

use axum::body::Bytes;
use http_body_util::channel::Sender;
use tokio::sync::mpsc;

use super::answer::{ImportResult, RowResult};
use super::run::Import;
use crate::caller;
use crate::http::error::ApiError;
use crate::storage::StorageError;

/// Results sent at once.
const SENT_AT_ONCE: usize = 500;
/// Pieces of results that wait to be sent: storing does not wait for their text.
const AHEAD: usize = 4;

/// Results of the next rows, nothing after the last; or why there are no more, in words.
type Next = Result<Vec<RowResult>, String>;

/// Goes on to the end, sending each result. A caller who goes away ends the work: what is stored
/// by then stays, whole pieces of it. Rows that are decided go on all the same.
pub(super) async fn send(
    import: Import,
    mut answer: ImportResult,
    first: Vec<RowResult>,
    mut sender: Sender<Bytes>,
) {
    let (before, _) = answer.around_results();
    if sender.send_data(before.into()).await.is_err() {
        return;
    }
    let (pieces, mut stored) = mpsc::channel(AHEAD);
    caller::spawn(store(import, pieces));
    let mut separator = "\n";
    let mut results = first;
    while !results.is_empty() {
        answer.count(&results);
        for piece in results.chunks(SENT_AT_ONCE) {
            let mut text = String::new();
            for result in piece {
                text.push_str(separator);
                text.push_str(&serde_json::to_string(result).unwrap_or_default());
                separator = ",\n";
            }
            if sender.send_data(text.into()).await.is_err() {
                return;
            }
        }
        let next = stored.recv().await;
        results = next
            .unwrap_or_else(|| Err(ApiError::Internal.detail()))
            .unwrap_or_else(|why| {
                answer.stopped = Some(why);
                Vec::new()
            });
    }
    let (_, after) = answer.around_results();
    // The caller has all results; there is nobody to tell if this does not arrive.
    let _ = sender.send_data(after.into()).await;
}

async fn store(mut import: Import, pieces: mpsc::Sender<Next>) {
    loop {
        let next = import.next().await;
        let next = next.map_err(|error| stopped(&import, error));
        let ended = next.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(next).await.is_err() || ended {
            return;
        }
    }
}

fn stopped(import: &Import, error: StorageError) -> String {
    let why = ApiError::from(error).detail();
    if import.is_decided() {
        format!("{why} All rows are accepted: the others follow by themselves.")
    } else {
        why
    }
}
