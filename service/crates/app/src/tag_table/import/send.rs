//! Sends results while further rows are stored.

use tokio::sync::mpsc;

use super::answer::{ImportResult, RowResult};
use super::run::Import;
use storage::StorageError;

/// Number of results per message.
const SENT_AT_ONCE: usize = 500;
/// Number of batches that wait to be sent, so that storing rows does not wait for their text. Each can
/// have the rows of a whole commit, and a client that disconnects has so many more stored.
const AHEAD: usize = 1;

/// The results of the next rows, empty after the last one; or the reason why there are no more, for
/// people.
type Next = Result<Vec<RowResult>, String>;

/// Runs the import to its end and sends each result. If the client disconnects, the work stops:
/// stored pieces remain. Accepted rows of an all-or-none import are stored nevertheless.
pub(super) async fn send(
    import: Import,
    mut answer: ImportResult,
    first: Vec<RowResult>,
    sender: mpsc::Sender<String>,
) {
    let (before, _) = answer.around_results();
    if sender.send(before).await.is_err() {
        return;
    }
    let groups = import.groups();
    let (pieces, mut stored) = mpsc::channel(AHEAD);
    let wrote = first.iter().any(RowResult::is_written) && !answer.dry_run;
    tokio::spawn(store(import, wrote, pieces));
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
            if sender.send(text).await.is_err() {
                return;
            }
        }
        let next = stored.recv().await;
        results = next
            .unwrap_or_else(|| Err(StorageError::Panicked.for_people()))
            .unwrap_or_else(|why| {
                answer.stopped = Some(why);
                Vec::new()
            });
    }
    if let Some(groups) = groups {
        answer.groups_created = groups.number().await;
        answer.created_groups = groups.created().await;
    }
    let (_, after) = answer.around_results();
    // The client has all results, so ignore the error if this does not arrive.
    let _ = sender.send(after).await;
}

async fn store(mut import: Import, mut wrote: bool, pieces: mpsc::Sender<Next>) {
    loop {
        let next = import.next().await;
        wrote |= next
            .as_ref()
            .is_ok_and(|rows| rows.iter().any(RowResult::is_written));
        let next = next.map_err(|error| stopped(&import, wrote, &error));
        let ended = next.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(next).await.is_err() || ended {
            return;
        }
    }
}

/// Why the import stopped. `wrote` says whether earlier rows are stored.
fn stopped(import: &Import, wrote: bool, error: &StorageError) -> String {
    error.log();
    let why = match error {
        // "Nothing was written" would be true only for the last piece.
        StorageError::Full if wrote => {
            "The disk is full. The rows so far are stored; make room, then import the rest."
                .to_owned()
        }
        error => error.for_people(),
    };
    if import.is_decided() {
        format!("{why} All rows are accepted: the others follow by themselves.")
    } else {
        why
    }
}
