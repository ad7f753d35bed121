//! Live events as JSON, from the embedded or a remote service.

use std::io::BufRead;
use std::sync::Arc;
use std::thread;

use serde_json::Value;
use tapdesk_service::storage::SharedEvent;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::mpsc;

use super::remote::RemoteService;

/// How many events are kept for a page that is busy.
const BACKLOG: usize = 256;

/// The events of the service in this process.
pub(super) fn of_storage(mut events: broadcast::Receiver<SharedEvent>) -> mpsc::Receiver<Value> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    tokio::spawn(async move {
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = sender.closed() => return,
            };
            match event {
                Ok(event) => {
                    let Ok(event) = serde_json::to_value(&*event) else {
                        continue;
                    };
                    if sender.send(event).await.is_err() {
                        return;
                    }
                }
                // A page that missed so many events reads its list again.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    });
    receiver
}

/// The events of a remote service. Live and simulated events come in one stream each; this ends
/// when either stream ends.
pub(super) fn of_remote(remote: &Arc<RemoteService>) -> mpsc::Receiver<Value> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    for simulated in [false, true] {
        let remote = Arc::clone(remote);
        let sender = sender.clone();
        // Reads block, so each stream has a thread. It ends with the stream, or
        // at the first line (the service sends one at least every 15 seconds)
        // after the page stopped listening.
        let reader = thread::Builder::new().name("events".to_owned());
        let started = reader.spawn(move || match remote.events(simulated) {
            Ok(stream) => forward(stream, &sender),
            Err(error) => tracing::warn!("a remote service sends no events: {error}"),
        });
        if let Err(error) = started {
            tracing::warn!("events cannot be received: {error}");
        }
    }
    receiver
}

/// Forwards the data of server-sent events until one side ends. The data of an event is one line,
/// because the service writes it that way.
fn forward(stream: impl BufRead, sender: &mpsc::Sender<Value>) {
    for line in stream.lines() {
        let Ok(line) = line else { return };
        if sender.is_closed() {
            return;
        }
        let Some(data) = line.strip_prefix("data:") else {
            continue;
        };
        // A "missed" message is not an event of the domain: it has no `event` member.
        if let Ok(event) = serde_json::from_str::<Value>(data.trim())
            && event["event"].is_string()
            && sender.blocking_send(event).is_err()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn server_sent_events_become_json_and_comments_nothing() {
        let stream = ": keep-alive\n\n\
            event: interaction\ndata: {\"event\":\"interaction\",\"tag_id\":1}\n\n\
            event: missed\ndata: {\"missed\":3}\n\n\
            data: not json\n\n\
            event: update\ndata:{\"event\":\"update\",\"tag_id\":2}\n\n";
        let (sender, mut receiver) = mpsc::channel(8);
        forward(stream.as_bytes(), &sender);
        drop(sender);
        let mut heard = Vec::new();
        while let Some(event) = receiver.blocking_recv() {
            heard.push(event);
        }
        assert_eq!(
            heard,
            [
                json!({"event": "interaction", "tag_id": 1}),
                json!({"event": "update", "tag_id": 2})
            ]
        );
    }
}
