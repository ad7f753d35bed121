//! `GET /admin/v1/events`: a live stream of events.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{self, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};
use utoipa::{IntoParams, ToSchema};

use super::extract::query::Query;
use crate::admin::{Asked, Requester};
use crate::error::{ApiError, Common, Invalid};
use crate::serve::Closing;
use domain::id::InteractionId;
use domain::scope::Rights;
use domain::world::World;
use storage::{Access, CommitPosition, Event, SharedEvent, StorageError, StorageMetrics, Subject};

/// Filters of the event stream.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// `false` for real events, `true` for simulated events, `all` for both.
    #[serde(default)]
    #[param(inline, required = false)]
    simulated: World,
}

/// The data of a `missed` event.
#[derive(Serialize, ToSchema)]
pub(crate) struct Missed {
    /// Number of events that were not sent; null if unknown.
    missed: Option<u64>,
}

/// Listen to events
///
/// An endless stream of server-sent events. Events are sent after their commit: `interaction` for
/// each recorded tap, `update` for each update of variables, `submission` for each form, and
/// `inlay.encoded` for each encoded inlay. `alert` is a message of this node for its operator. If a
/// listener falls behind, a `missed` event contains the number of events that were not sent. Read
/// them from the list of interactions.
///
/// `changed` says which kind of resource a request, or the service itself, has created, changed or
/// deleted, so that a client can load it again instead of polling. A request is one `changed`
/// event, however many resources it changed: `id` is null if there may be several. `kind` is the
/// first part of the resources' path in the admin API. Only tokens that may read this kind get the
/// event. Limited tokens get it only for a tag, experience, group, interaction, submission or
/// webhook that they can read, and never with a null `id`. Taps, counts of taps and deliveries of
/// webhooks are no changes. `changed` is not repeated for a client that reconnects: load everything
/// that is shown again.
///
/// The `id` of an `interaction` event is the id of the interaction. A client that reconnects with
/// it as `Last-Event-ID`, as browsers do, first gets the interactions since then, in the order of
/// their commits. One of them may be sent twice. If that interaction is no longer kept, a `missed`
/// event with `null` comes first. If the interactions cannot be read, the stream ends: reconnect
/// with the last id. Without the header, the stream begins with events after the request. No event
/// contains a rolling key.
#[utoipa::path(
    get, path = "/events", tag = "events", params(
        EventQuery,
        ("Last-Event-ID" = Option<InteractionId>, Header, description = "The `id` of the last interaction's event that arrived: the stream goes on behind it")
    ),
    responses(
        (status = OK, body = Event, content_type = "text/event-stream", description = "The data of each event"),
        Invalid, Common
    )
)]
pub(crate) async fn listen(
    Asked(service): Asked,
    requester: Requester,
    closing: Closing,
    headers: HeaderMap,
    Query(EventQuery { simulated: world }): Query<EventQuery>,
) -> Result<Sse<impl Stream<Item = Sent>>, ApiError> {
    // Subscribe before reading past interactions, so that no event is lost in between.
    let events = service.storage.events();
    let last = headers.get("last-event-id");
    let last = last.map(|id| id.to_str().unwrap_or_default().trim());
    let last = last.filter(|id| !id.is_empty());
    let missed = match last.and_then(|id| id.parse().ok()) {
        Some(id) => service.storage.place_of_tap(id).await?,
        None => None,
    };
    let limited = service.storage.is_limited();
    let feed = Feed {
        events,
        lost: last.is_some() && missed.is_none(),
        missed: missed.map(|from| Missing::since(from, service.storage.clone())),
        repeatable: HashSet::new(),
        closing,
        world,
        busy: false,
        metrics: service.storage.metrics().clone(),
        limited_to: limited.then(|| service.storage.clone()),
        rights: requester.rights(),
    };
    Ok(Sse::new(stream::unfold(feed, Feed::next)).keep_alive(KeepAlive::default()))
}

/// Interactions that a listener missed. They are read in pages.
struct Missing {
    storage: Access,
    from: CommitPosition,
    found: VecDeque<Event>,
}

impl Missing {
    /// Number of interactions per database read.
    const AT_ONCE: usize = 256;

    fn since(from: CommitPosition, storage: Access) -> Self {
        Self {
            storage,
            from,
            found: VecDeque::new(),
        }
    }

    /// The next interaction; `None` after the last one.
    async fn next(&mut self) -> Result<Option<Event>, StorageError> {
        if self.found.is_empty() {
            // Read all committed interactions. Later commits arrive as live events, wherever they
            // are in this order.
            let taps = self.storage.taps_after(self.from, Self::AT_ONCE, false);
            for tap in taps.await? {
                self.from = tap.place;
                self.found.push_back(Event::from(&tap.interaction));
            }
        }
        Ok(self.found.pop_front())
    }
}

/// Pause after an event, during which further events gather. Each commit of a tap wakes all waiting
/// listeners. The pause limits how many taps pay for that, and people do not notice it.
const GATHERED: Duration = Duration::from_millis(50);

/// Number of sent interactions that are remembered, so that they are not sent twice. It exceeds the
/// number of events that are kept for a slow listener.
const REPEATABLE_MAX: usize = 10_000;

/// An event, ready to be sent.
type Sent = Result<sse::Event, axum::Error>;

/// The events of one listener.
struct Feed {
    events: broadcast::Receiver<SharedEvent>,
    /// Whether the listener asked for a position that is no longer known.
    lost: bool,
    /// The interactions that the listener missed. They are sent first.
    missed: Option<Missing>,
    /// Missed interactions that may also arrive as live events. At most the events that are kept
    /// for the listener can do so.
    repeatable: HashSet<InteractionId>,
    closing: Closing,
    world: World,
    /// Whether an event came since the last pause.
    busy: bool,
    /// Counts the events that the listener misses.
    metrics: StorageMetrics,
    /// Storage with the reach of a limited token. It hides the interactions of other tags.
    limited_to: Option<Access>,
    /// The rights of the listener's token. They hide changes of what it may not read.
    rights: Rights,
}

impl Feed {
    /// Whether the listener may read the event, and its object is within the listener's reach.
    async fn may_see(&self, event: &Event) -> Result<bool, StorageError> {
        if !self.rights.allow(event.scope()) {
            return Ok(false);
        }
        let Some(storage) = &self.limited_to else {
            return Ok(true);
        };
        Ok(match event.subject() {
            Some(Subject::Interaction(id)) => storage.interaction(id).await?.is_some(),
            // A rolling key still works after its tag has moved out of reach, so check the tag,
            // too.
            Some(Subject::Update(id, tag)) => {
                storage.interaction(id).await?.is_some() && storage.tag(tag).await?.is_some()
            }
            Some(Subject::Tag(id)) => storage.tag(id).await?.is_some(),
            Some(Subject::Experience(id)) => storage.experience(id).await?.is_some(),
            Some(Subject::Group(id)) => storage.group(id).await?.is_some(),
            Some(Subject::Submission(id)) => storage.submission(id).await?.is_some(),
            Some(Subject::Webhook(id)) => storage.webhook(id).await?.is_some(),
            // An alert, or a change of many resources, concerns the whole service, so limited
            // tokens do not get it.
            None => false,
        })
    }

    /// The next event for this listener; `None` at the end of the stream. If an event cannot be
    /// read, the stream ends. A later event would hide the gap from a client that reconnects with
    /// its id.
    async fn next(self) -> Option<(Sent, Self)> {
        match self.try_next().await {
            Ok(next) => next,
            Err(error) => {
                tracing::debug!("a stream of events ends: {error}");
                None
            }
        }
    }

    async fn try_next(mut self) -> Result<Option<(Sent, Self)>, StorageError> {
        if std::mem::take(&mut self.lost) {
            return Ok(Some((missed_events(None), self)));
        }
        while let Some(missed) = &mut self.missed {
            let Some(event) = missed.next().await? else {
                self.missed = None;
                break;
            };
            if let Some(id) = event.tap() {
                // Older events are no longer kept for a slow listener, so they cannot arrive again.
                if self.repeatable.len() >= REPEATABLE_MAX {
                    self.repeatable.clear();
                }
                self.repeatable.insert(id);
            }
            if event.is_in(self.world) && self.may_see(&event).await? {
                return Ok(Some((Ok(shown(&SharedEvent::from(event))), self)));
            }
        }
        loop {
            let received = match self.events.try_recv() {
                Err(TryRecvError::Empty) if self.busy => {
                    self.busy = false;
                    tokio::select! {
                        () = tokio::time::sleep(GATHERED) => continue,
                        () = self.closing.begun() => return Ok(None),
                    }
                }
                Err(TryRecvError::Empty) => tokio::select! {
                    received = self.events.recv() => received,
                    () = self.closing.begun() => return Ok(None),
                },
                Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
                Err(TryRecvError::Closed) => Err(RecvError::Closed),
                Ok(event) => Ok(event),
            };
            self.busy = true;
            let event = match received {
                Ok(event) if !event.is_in(self.world) => continue,
                Ok(event) if !self.may_see(&event).await? => continue,
                Ok(event) if event.tap().is_some_and(|id| self.repeatable.remove(&id)) => continue,
                Ok(event) => Ok(shown(&event)),
                Err(RecvError::Lagged(missed)) => {
                    self.metrics.lost_events(missed);
                    missed_events(Some(missed))
                }
                Err(RecvError::Closed) => return Ok(None),
            };
            return Ok(Some((event, self)));
        }
    }
}

/// A `missed` event, with the number of events that were not sent, if known.
fn missed_events(missed: Option<u64>) -> Sent {
    let event = sse::Event::default().event("missed");
    event.json_data(Missed { missed })
}

/// Formats an event. An update has no id, so a client that reconnects continues after the last tap.
fn shown(event: &SharedEvent) -> sse::Event {
    let shown = sse::Event::default().event(event.name()).data(event.json());
    match event.tap() {
        Some(id) => shown.id(id.to_string()),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use http_body_util::BodyExt as _;

    use super::*;
    use domain::clock::Timestamp;
    use domain::id::{InteractionId, TagId};
    use domain::interaction::{Reason, TapOrigin};

    fn tap(id: i64, simulated: bool) -> Event {
        Event::Interaction {
            interaction_id: InteractionId::new(id),
            tag_id: Some(TagId::new(1)),
            at: Timestamp::from_millis(0),
            tag_verified: None,
            reason: Reason::Static,
            simulated,
            origin: TapOrigin::Visitor,
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
            lost: false,
            missed: None,
            repeatable: HashSet::new(),
            world: World::Real,
            busy: false,
            metrics: StorageMetrics::default(),
            limited_to: None,
            rights: Rights::all(),
        };
        let body = Sse::new(stream::unfold(feed, Feed::next)).into_response();
        let body = body.into_body().collect().await.unwrap().to_bytes();
        let sent = |id| {
            format!(
                "event: interaction\ndata: {}\nid: {id}\n\n",
                serde_json::to_string(&tap(id, false)).unwrap()
            )
        };
        let expected = format!(
            "event: missed\ndata: {{\"missed\":3}}\n\n{}{}",
            sent(4),
            sent(5)
        );
        assert_eq!(body, expected);
    }

    /// The JSON text is made once for all listeners.
    #[tokio::test]
    async fn an_event_is_made_json_once_for_all_and_gathered_events_come_in_their_order() {
        let (sender, _) = broadcast::channel(16);
        let listen = || Feed {
            events: sender.subscribe(),
            closing: Closing::never(),
            lost: false,
            missed: None,
            repeatable: HashSet::new(),
            world: World::Real,
            busy: false,
            metrics: StorageMetrics::default(),
            limited_to: None,
            rights: Rights::all(),
        };
        let feeds = [listen(), listen()];
        let event = SharedEvent::from(tap(1, false));
        let text = event.json().as_ptr();
        assert_eq!(event.clone().json().as_ptr(), text);
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
                format!("event: interaction\ndata: {json}\nid: {id}\n\n")
            });
            assert_eq!(body, expected.concat());
        }
        speaker.await.unwrap();
    }
}
