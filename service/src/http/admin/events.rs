//! `GET /admin/v1/events`: what happens, as it happens.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{self, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};
use utoipa::{IntoParams, ToSchema};

use super::query::Query;
use crate::http::error::{Common, Invalid};
use crate::http::serve::Closing;
use crate::service::Service;
use crate::storage::{Event, StorageMetrics, Told};
use crate::world::World;

/// Which events are sent.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// `false` for real ones, `true` for simulated ones, `all` for both.
    #[serde(default)]
    #[param(inline, required = false)]
    simulated: World,
}

/// The data of a `missed` event.
#[derive(Serialize, ToSchema)]
pub(crate) struct Missed {
    /// How many events were not sent.
    missed: u64,
}

/// Listen to events
///
/// A stream of server-sent events that does not end: `interaction` for each recorded tap and
/// `update` for each update of variables, after its commit. If a listener falls behind, a `missed`
/// event says how many events it missed; they are in the list of interactions. Events from before
/// the request are not sent. No event contains a rolling key.
#[utoipa::path(
    get, path = "/events", tag = "events", params(EventQuery),
    responses(
        (status = OK, body = Event, content_type = "text/event-stream", description = "The data of each event"),
        Invalid, Common
    )
)]
pub(crate) async fn listen(
    State(service): State<Arc<Service>>,
    closing: Closing,
    Query(EventQuery { simulated: world }): Query<EventQuery>,
) -> Sse<impl Stream<Item = Result<sse::Event, axum::Error>>> {
    let feed = Feed {
        events: service.storage.events(),
        closing,
        world,
        told: false,
        storage: service.storage.metrics().clone(),
    };
    Sse::new(stream::unfold(feed, Feed::next)).keep_alive(KeepAlive::default())
}

/// Who commits taps wakes every listener that waits. After an event a listener
/// waits for nothing for so long, and takes then what has come: however many taps
/// there are, few of them pay for it, and a person sees no difference.
const GATHERED: Duration = Duration::from_millis(50);

/// The events of one listener.
struct Feed {
    events: broadcast::Receiver<Told>,
    closing: Closing,
    world: World,
    /// Whether an event came since it waited last.
    told: bool,
    /// Counts what it misses.
    storage: StorageMetrics,
}

impl Feed {
    /// The next event for this listener; `None` once there will be no more.
    async fn next(mut self) -> Option<(Result<sse::Event, axum::Error>, Self)> {
        loop {
            let told = match self.events.try_recv() {
                Err(TryRecvError::Empty) if self.told => {
                    self.told = false;
                    tokio::select! {
                        () = tokio::time::sleep(GATHERED) => continue,
                        () = self.closing.begun() => return None,
                    }
                }
                Err(TryRecvError::Empty) => tokio::select! {
                    told = self.events.recv() => told,
                    () = self.closing.begun() => return None,
                },
                Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
                Err(TryRecvError::Closed) => Err(RecvError::Closed),
                Ok(told) => Ok(told),
            };
            self.told = true;
            let event = match told {
                Ok(event) if !self.world.has(event.simulated()) => continue,
                Ok(event) => Ok(sse::Event::default().event(event.name()).data(event.json())),
                Err(RecvError::Lagged(missed)) => {
                    self.storage.lost_events(missed);
                    let event = sse::Event::default().event("missed");
                    event.json_data(Missed { missed })
                }
                Err(RecvError::Closed) => return None,
            };
            return Some((event, self));
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::clock::Timestamp;
    use crate::id::{InteractionId, TagId};
    use crate::interaction::Reason;

    fn tap(id: i64, simulated: bool) -> Event {
        Event::Interaction {
            interaction_id: InteractionId(id),
            tag_id: TagId(1),
            at: Timestamp::from_millis(0),
            tag_verified: None,
            reason: Reason::Static,
            simulated,
        }
    }

    #[tokio::test]
    async fn a_listener_that_falls_behind_is_told_how_many_events_it_missed() {
        let (sender, events) = broadcast::channel(2);
        for id in 1..=5 {
            sender.send(tap(id, false).into()).unwrap();
        }
        drop(sender);
        let feed = Feed {
            events,
            closing: Closing::never(),
            world: World::Real,
            told: false,
            storage: StorageMetrics::default(),
        };
        let body = Sse::new(stream::unfold(feed, Feed::next)).into_response();
        let body = body.into_body().collect().await.unwrap().to_bytes();
        let told = |id| {
            format!(
                "event: interaction\ndata: {}\n\n",
                serde_json::to_string(&tap(id, false)).unwrap()
            )
        };
        let expected = format!(
            "event: missed\ndata: {{\"missed\":3}}\n\n{}{}",
            told(4),
            told(5)
        );
        assert_eq!(body, expected);
    }

    /// The text is made once for all listeners.
    #[tokio::test]
    async fn an_event_is_made_json_once_for_all_and_gathered_events_come_in_their_order() {
        let (sender, _) = broadcast::channel(16);
        let listen = || Feed {
            events: sender.subscribe(),
            closing: Closing::never(),
            world: World::Real,
            told: false,
            storage: StorageMetrics::default(),
        };
        let feeds = [listen(), listen()];
        let told = Told::from(tap(1, false));
        let text = told.json().as_ptr();
        assert_eq!(told.clone().json().as_ptr(), text);
        let speaker = tokio::spawn(async move {
            for id in 1..=3 {
                sender.send(tap(id, id == 2).into()).unwrap();
                tokio::task::yield_now().await;
            }
        });
        for feed in feeds {
            let body = Sse::new(stream::unfold(feed, Feed::next)).into_response();
            let body = body.into_body().collect().await.unwrap().to_bytes();
            let expected = [1, 3].map(|id| {
                let json = serde_json::to_string(&tap(id, false)).unwrap();
                format!("event: interaction\ndata: {json}\n\n")
            });
            assert_eq!(body, expected.concat());
        }
        speaker.await.unwrap();
    }
}
