//! Creates deliveries from events.
//!
//! One read of events serves all endpoints whose positions are in it. So ten thousand endpoints
//! that are up to date cost as much as one, even if their positions differ. An endpoint that is
//! down falls behind: it costs only its position and a few deliveries, which show when it is back.
//! Taps do no work for webhooks.

mod endpoint;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use tokio::time::timeout;

use crate::outage::Outage;
use crate::service::Service;
use domain::clock::Stopwatch;
use domain::id::{TagId, WebhookId};
use domain::webhook::Include;
use endpoint::{Endpoint, Page};
use storage::{
    Advance, CommitPosition, Cursor, DOWN, EventProperties, Move, NewDelivery, StorageError,
};

/// Interval between two searches for events while an endpoint is on. People do not notice the
/// delay, and a search takes microseconds.
const LOOK: Duration = Duration::from_millis(100);
/// Interval between two reads of the endpoints, because other nodes can change them.
const REFRESH: Duration = Duration::from_secs(2);
/// Interval between two searches while no endpoint is on.
const IDLE: Duration = Duration::from_millis(500);
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(1);
/// Reading the endpoints may take at most one part in this many of the time, however many endpoints
/// there are and however often they change.
const REFRESH_SHARE: u32 = 10;
/// Number of events per database read.
const AT_ONCE: usize = 256;
/// Maximum number of deliveries per transaction, because taps wait for it.
const STORED_AT_ONCE: usize = 100;
/// Maximum number of positions per transaction. A position takes a hundredth of the time of a
/// delivery.
const MOVED_AT_ONCE: usize = 1_000;
/// Maximum number of deliveries of an endpoint that are due soon. At this limit the endpoint keeps
/// its position until some were attempted. Deliveries that failed several times are due much later,
/// so they do not count.
const WINDOW: u64 = 256;
/// Maximum number of waiting deliveries of an endpoint. An endpoint that rejects one type of events
/// still gets the others until this many rejected ones wait. An endpoint that is down is switched
/// off earlier.
const WAITING: u64 = 10_000;
/// Maximum number of deliveries that are due soon for an endpoint that is down. Each is due soon
/// for about six minutes. So a recovery is noticed within that time, and an endpoint that rejects
/// all events of a type gets eighty attempts of new events per hour.
const WINDOW_DOWN: u64 = 8;
/// Interval between two writes of the positions of endpoints that got no events. After a crash, the
/// events in between are read again.
const STORE_POSITIONS: Duration = Duration::from_secs(5);

/// Creates deliveries until the future is dropped.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut outage = Outage::default();
    loop {
        let Err(error) = routing(service, &mut outage).await;
        service.metrics.webhook_failure();
        if outage.begins() {
            tracing::warn!("events for webhooks have to wait: {error}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Creates deliveries until an error. The first successful round ends the outage.
async fn routing(service: &Service, outage: &mut Outage) -> Result<Infallible, StorageError> {
    let mut router = EventRouter::new(service).await?;
    let mut stored = Stopwatch::start();
    loop {
        let age = router.refreshed.elapsed();
        if age >= REFRESH || (router.is_stale() && age >= router.refresh_took * REFRESH_SHARE) {
            if stored.elapsed() >= STORE_POSITIONS {
                router.store_positions().await?;
                stored = Stopwatch::start();
            }
            router.refresh().await?;
        }
        let more = router.round().await?;
        outage.ends();
        let pause = if more {
            continue;
        } else if router.endpoints.is_empty() {
            IDLE
        } else {
            LOOK
        };
        let _ = timeout(pause, service.webhooks.room.notified()).await;
    }
}

struct EventRouter<'a> {
    service: &'a Service,
    endpoints: HashMap<WebhookId, Endpoint>,
    epoch: Option<u64>,
    refreshed: Stopwatch,
    /// Duration of the last read of the endpoints.
    refresh_took: Duration,
    /// Number of erasures of visitors' data before the current data was read.
    erasures: u64,
}

impl<'a> EventRouter<'a> {
    async fn new(service: &'a Service) -> Result<Self, StorageError> {
        let mut router = Self {
            service,
            endpoints: HashMap::new(),
            epoch: None,
            refreshed: Stopwatch::start(),
            refresh_took: Duration::ZERO,
            erasures: 0,
        };
        router.refresh().await?;
        Ok(router)
    }

    fn is_stale(&self) -> bool {
        let epoch = self.service.storage.configuration_epoch();
        epoch.is_none() || epoch != self.epoch
    }

    /// Reads the positions of the endpoints again, and their configuration if anything changed.
    async fn refresh(&mut self) -> Result<(), StorageError> {
        let started = Stopwatch::start();
        let storage = &self.service.storage;
        let epoch = storage.configuration_epoch();
        self.erasures = storage.erasures().await?;
        let states = storage.route_states().await?;
        let mut fields = if self.is_stale() || states.len() != self.endpoints.len() {
            storage.route_fields().await?
        } else {
            HashMap::new()
        };
        let mut before = std::mem::take(&mut self.endpoints);
        let soon = states.iter().map(|state| (state.id, state.soon));
        self.service.webhooks.know(soon.collect());
        for state in states {
            let known = before.remove(&state.id);
            let at = match &known {
                Some(known)
                    if known.state.cursor == state.cursor
                        && known.state.again_seq == state.again_seq =>
                {
                    known.at
                }
                _ => state.cursor,
            };
            let known = fields.remove(&state.id).or(known.map(|known| known.known));
            let Some(known) = known else { continue };
            let endpoint = Endpoint { known, state, at };
            self.endpoints.insert(endpoint.state.id, endpoint);
        }
        self.epoch = epoch;
        self.refresh_took = started.elapsed();
        self.refreshed = Stopwatch::start();
        Ok(())
    }

    /// Number of further deliveries that the endpoint accepts; 0 if it must keep its position.
    fn room(&self, endpoint: &Endpoint) -> usize {
        let state = &endpoint.state;
        let soon = self.service.webhooks.of(state.id);
        if state.waiting >= WAITING {
            0
        } else if state.failures >= DOWN {
            usize::try_from(WINDOW_DOWN.saturating_sub(soon)).unwrap_or_default()
        } else if soon < WINDOW {
            // Take a whole page: a few large commits cost taps less than many small ones.
            usize::MAX
        } else {
            0
        }
    }

    /// Moves every endpoint with room forward. Returns whether more events may exist.
    async fn round(&mut self) -> Result<bool, StorageError> {
        let ready = self.endpoints.values().filter(|one| self.room(one) > 0);
        let mut ready: Vec<(Cursor, WebhookId)> = ready.map(|one| (one.at, one.state.id)).collect();
        ready.sort_unstable();
        let mut more = false;
        // Begin at the oldest position: its page serves all endpoints whose positions are in it.
        while let Some((first, _)) = ready.first() {
            let taps = self.taps(first.taps).await?;
            let within = ready.partition_point(|(at, _)| taps.has(at.taps));
            let mut here: Vec<_> = ready.drain(..within).collect();
            here.sort_unstable_by_key(|(at, id)| (at.outbox, *id));
            while let Some((first, _)) = here.first() {
                let outbox = self.outbox(first.outbox).await?;
                let within = here.partition_point(|(at, _)| outbox.has(at.outbox));
                let ids: Vec<WebhookId> = here.drain(..within).map(|(_, id)| id).collect();
                self.deliver(&ids, &taps, &outbox).await?;
                more |= outbox.full;
            }
            more |= taps.full;
        }
        Ok(more)
    }

    /// The taps after a position.
    async fn taps(&self, after: CommitPosition) -> Result<Page, StorageError> {
        let storage = &self.service.storage;
        let taps = storage.taps_after(after, AT_ONCE, true).await?;
        let mut page = Page::new(after, taps.len() == AT_ONCE);
        for tap in taps {
            page.to = tap.place;
            let place = tap.place;
            page.events
                .extend(tap.happenings().into_iter().map(|one| (place, one)));
        }
        Ok(page)
    }

    /// The outbox events after a position.
    async fn outbox(&self, after: CommitPosition) -> Result<Page, StorageError> {
        let events = self.service.storage.outbox_after(after, AT_ONCE).await?;
        let mut page = Page::new(after, events.len() == AT_ONCE);
        for event in events {
            page.to = event.place;
            let place = event.place;
            page.events
                .extend(event.happening().map(|one| (place, one)));
        }
        Ok(page)
    }

    /// Creates the deliveries of endpoints whose positions are in these pages.
    async fn deliver(
        &mut self,
        ids: &[WebhookId],
        taps: &Page,
        outbox: &Page,
    ) -> Result<(), StorageError> {
        if taps.is_empty() && outbox.is_empty() {
            return Ok(());
        }
        let properties = self.properties(ids, taps, outbox).await?;
        let (mut moves, mut deliveries) = (Vec::new(), Vec::new());
        for id in ids {
            let Some(endpoint) = self.endpoints.get(id) else {
                continue;
            };
            let room = self.room(endpoint);
            let Some(endpoint) = self.endpoints.get_mut(id) else {
                continue;
            };
            let (new, to) = endpoint.deliveries(taps, outbox, &properties, room);
            if new.is_empty() {
                endpoint.at = to;
                continue;
            }
            moves.push(Move {
                webhook: *id,
                revision: endpoint.known.revision,
                from: endpoint.state.cursor,
                to,
            });
            deliveries.extend(new);
            // Store only a few at once, because taps wait for each commit. Deliveries of one
            // endpoint stay together.
            if deliveries.len() >= STORED_AT_ONCE {
                let stored = (std::mem::take(&mut moves), std::mem::take(&mut deliveries));
                self.advance(stored.0, stored.1).await?;
            }
        }
        if !moves.is_empty() {
            self.advance(moves, deliveries).await?;
        }
        Ok(())
    }

    async fn advance(
        &mut self,
        moves: Vec<Move>,
        deliveries: Vec<NewDelivery>,
    ) -> Result<(), StorageError> {
        let mut made: HashMap<WebhookId, u64> = HashMap::new();
        for delivery in &deliveries {
            *made.entry(delivery.webhook_id).or_default() += 1;
        }
        let asked = moves.clone();
        let advance = Advance {
            moves,
            deliveries,
            erasures: self.erasures,
        };
        let advanced = self.service.storage.advance_webhooks(advance).await?;
        let advanced: HashSet<WebhookId> = advanced.into_iter().collect();
        for Move { webhook, to, .. } in asked {
            if !advanced.contains(&webhook) {
                // Another node was faster, the endpoint changed, or data was erased, so read the
                // endpoint again.
                self.endpoints.remove(&webhook);
                self.epoch = None;
                continue;
            }
            let many = made.get(&webhook).copied().unwrap_or_default();
            if let Some(endpoint) = self.endpoints.get_mut(&webhook) {
                endpoint.state.cursor = to;
                endpoint.state.waiting += many;
                endpoint.at = to;
            }
            self.service.webhooks.made(webhook, many);
        }
        self.service.webhooks.due.notify_one();
        Ok(())
    }

    /// Stores the positions of endpoints that got no events for a while.
    async fn store_positions(&mut self) -> Result<(), StorageError> {
        let ahead = self.endpoints.values();
        let ahead = ahead.filter(|one| one.at != one.state.cursor);
        let moves: Vec<Move> = ahead
            .map(|one| Move {
                webhook: one.state.id,
                revision: one.known.revision,
                from: one.state.cursor,
                to: one.at,
            })
            .collect();
        for moves in moves.chunks(MOVED_AT_ONCE) {
            self.advance(moves.to_vec(), Vec::new()).await?;
        }
        Ok(())
    }

    /// The properties of tags that endpoints filter by or include.
    async fn properties(
        &self,
        ids: &[WebhookId],
        taps: &Page,
        outbox: &Page,
    ) -> Result<HashMap<TagId, EventProperties>, StorageError> {
        let ask = |id: &WebhookId| {
            let known = self.endpoints.get(id).map(|endpoint| &endpoint.known);
            known.is_some_and(|known| {
                let fields = &known.fields;
                // For a limited endpoint, they decide whether the tag's name is sent.
                known.reach.limit().is_some()
                    || !fields.filter.attribute.is_empty()
                    || fields.filter.group_id.is_some()
                    || fields.includes(Include::Variables)
                    || fields.includes(Include::Attributes)
            })
        };
        if !ids.iter().any(ask) {
            return Ok(HashMap::new());
        }
        let events = taps.events.iter().chain(&outbox.events);
        let ids: HashSet<TagId> = events.filter_map(|(_, one)| one.tag_id).collect();
        let ids = ids.into_iter().collect();
        self.service.storage.event_properties(ids).await
    }
}
