//! Live events as JSON, from the embedded or a remote service.

use std::io::BufRead;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};
use tapdesk_service::storage::SharedEvent;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::mpsc;

use super::remote::RemoteService;

/// How many events are kept for a page that is busy.
const BACKLOG: usize = 256;

/// Tells the page that events were missed, so that it loads again what it shows.
fn missed() -> Value {
    json!({"event": "missed"})
}

/// The events of the service in this process. If the page heard its events before, it gets a
/// `missed` event first.
pub(super) fn of_storage(
    mut events: broadcast::Receiver<SharedEvent>,
    again: bool,
) -> mpsc::Receiver<Value> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    if again {
        // The channel is empty and its receiver exists, so it takes the event.
        let _ = sender.try_send(missed());
    }
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
                Err(RecvError::Lagged(_)) => {
                    if sender.send(missed()).await.is_err() {
                        return;
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    });
    receiver
}

/// The events of a remote service. If the page heard its events before, it gets a `missed` event
/// once the stream is open.
pub(super) fn of_remote(remote: &Arc<RemoteService>, again: bool) -> mpsc::Receiver<Value> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    let remote = Arc::clone(remote);
    // Reads block, so the stream has a thread. It ends with the stream, or at the first line (the
    // service sends one at least every 15 seconds) after the page stopped listening.
    let reader = thread::Builder::new().name("events".to_owned());
    let started = reader.spawn(move || match remote.events() {
        Ok(stream) => {
            if !again || sender.blocking_send(missed()).is_ok() {
                forward(stream, &sender);
            }
        }
        Err(error) => tracing::warn!("a remote service sends no events: {error}"),
    });
    if let Err(error) = started {
        tracing::warn!("events cannot be received: {error}");
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
        let Ok(event) = serde_json::from_str::<Value>(data.trim()) else {
            continue;
        };
        // The data of a `missed` event has no `event` member.
        let event = if event["event"].is_string() {
            event
        } else {
            missed()
        };
        if sender.blocking_send(event).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tapdesk_service::clock::Timestamp;
    use tapdesk_service::storage::Event;
    use tapdesk_service::webhook::EventKind;

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
                json!({"event": "missed"}),
                json!({"event": "update", "tag_id": 2})
            ]
        );
    }

    #[tokio::test]
    async fn a_page_that_heard_the_service_before_or_falls_behind_is_told_that_it_missed_events() {
        let (service, events) = broadcast::channel(1);
        let mut heard = of_storage(events, true);
        assert_eq!(heard.recv().await, Some(missed()));
        drop(service);
        assert_eq!(heard.recv().await, None);

        let (service, events) = broadcast::channel(1);
        for _ in 0..2 {
            let alert = Event::Alert {
                alert: EventKind::AlertDiskLow,
                message: "The disk is almost full.".to_owned(),
                at: Timestamp::from_millis(0),
            };
            service.send(alert.into()).unwrap();
        }
        drop(service);
        let mut heard = of_storage(events, false);
        assert_eq!(heard.recv().await, Some(missed()));
        assert_eq!(heard.recv().await.unwrap()["event"], "alert");
        assert_eq!(heard.recv().await, None);
    }
}
