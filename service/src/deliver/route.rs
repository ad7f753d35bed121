//! Makes deliveries of events.
//!
//! One read of events serves all endpoints whose place is in it, so that ten thousand that are up to
//! date cost as much as one, also while each stands at a place of its own. An endpoint that is down
//! stays behind: its position and a few deliveries that tell when it is back are all that it costs.
//! Taps do nothing for any of this.

mod endpoint;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use tokio::time::timeout;

use crate::clock::Stopwatch;
use crate::id::{TagId, WebhookId};
use crate::service::Service;
use crate::storage::{
    Advance, Cursor, DOWN, EventProperties, Move, NewDelivery, Place, StorageError,
};
use crate::webhook::Include;
use endpoint::{Endpoint, Page};

/// Between two looks for events while an endpoint is on. A person sees no difference, and a look
/// costs microseconds.
const LOOK: Duration = Duration::from_millis(100);
/// Between two looks at the endpoints, which other nodes change, too.
const REFRESH: Duration = Duration::from_secs(2);
/// Between two looks if no endpoint is on.
const IDLE: Duration = Duration::from_millis(500);
/// After an error.
const PAUSE: Duration = Duration::from_secs(1);
/// Reading the endpoints takes a part of the time like this, however many there are and however often
/// somebody changes something.
const REFRESH_SHARE: u32 = 10;
/// Events that are read at once.
const AT_ONCE: usize = 256;
/// Deliveries that are stored in one transaction: taps wait for it.
const STORED_AT_ONCE: usize = 100;
/// Positions that are stored in one transaction, which take a hundredth of what deliveries take.
const MOVED_AT_ONCE: usize = 1_000;
/// Deliveries of an endpoint that may be due soon. Then it stays where it is until some were
/// attempted. Those that failed several times are due much later, and hold up nothing.
const WINDOW: u64 = 256;
/// Deliveries of an endpoint that may wait in all. One that rejects a kind of event gets the others
/// until so many rejected ones are kept; one that is down is switched off before.
const WAITING: u64 = 10_000;
/// Of an endpoint that is down, so many deliveries may be due soon. As each is due soon for some six
/// minutes, it is seen that quickly that the endpoint is back, and eighty events an hour are tried of
/// one that rejects all of a kind.
const WINDOW_DOWN: u64 = 8;
/// Positions of endpoints that got nothing are stored this often: after a crash what is between is
/// read once more.
const STORE_POSITIONS: Duration = Duration::from_secs(5);

/// Makes deliveries until it is dropped.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut failing = false;
    loop {
        let Err(error) = routing(service, &mut failing).await;
        service.metrics.webhook_failure();
        if !failing {
            tracing::warn!("events for webhooks have to wait: {error}");
        }
        failing = true;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Makes deliveries until that fails. The first good round ends a time of failures.
async fn routing(service: &Service, failing: &mut bool) -> Result<Infallible, StorageError> {
    let mut router = Router::new(service).await?;
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
        *failing = false;
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

struct Router<'a> {
    service: &'a Service,
    endpoints: HashMap<WebhookId, Endpoint>,
    epoch: Option<u64>,
    refreshed: Stopwatch,
    /// How long the endpoints took to be read.
    refresh_took: Duration,
    /// How often visitors' data had been erased before anything that is at work was read.
    erasures: u64,
}

impl<'a> Router<'a> {
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

    /// Reads endpoints again: how far they are, and if anything was changed, what they are.
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

    /// How many deliveries more the endpoint takes; none if it stays where it is.
    fn room(&self, endpoint: &Endpoint) -> usize {
        let state = &endpoint.state;
        let soon = self.service.webhooks.of(state.id);
        if state.waiting >= WAITING {
            0
        } else if state.failures >= DOWN {
            usize::try_from(WINDOW_DOWN.saturating_sub(soon)).unwrap_or_default()
        } else if soon < WINDOW {
            // A whole page: few large commits cost taps less than many small ones.
            usize::MAX
        } else {
            0
        }
    }

    /// Takes every endpoint with room some events further. Whether there may be more.
    async fn round(&mut self) -> Result<bool, StorageError> {
        let ready = self.endpoints.values().filter(|one| self.room(one) > 0);
        let mut ready: Vec<(Cursor, WebhookId)> = ready.map(|one| (one.at, one.state.id)).collect();
        ready.sort_unstable();
        let mut more = false;
        // From the place that is furthest behind on: a page has the events of all places in it.
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

    /// The taps behind a place.
    async fn taps(&self, after: Place) -> Result<Page, StorageError> {
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

    /// What happened beside taps behind a place.
    async fn outbox(&self, after: Place) -> Result<Page, StorageError> {
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

    /// Makes the deliveries of endpoints whose places are in these pages.
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
            // Few at once, for taps wait for each commit. One endpoint's stay together.
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
                // Another node was faster, its owner did something, or something was erased: it is
                // looked up again.
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

    /// Stores how far endpoints are that got nothing for a while.
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

    /// What tags have that endpoints filter by, or want to have.
    async fn properties(
        &self,
        ids: &[WebhookId],
        taps: &Page,
        outbox: &Page,
    ) -> Result<HashMap<TagId, EventProperties>, StorageError> {
        let ask = |id: &WebhookId| {
            let fields = self
                .endpoints
                .get(id)
                .map(|endpoint| &endpoint.known.fields);
            fields.is_some_and(|fields| {
                !fields.filter.attribute.is_empty() || fields.includes(Include::Variables)
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
