//! Makes deliveries of events.
//!
//! All endpoints at one place are served by one read of the events behind it, so that ten thousand
//! that are up to date cost as much as one. An endpoint that is down stays behind: its position is
//! all that it costs. Taps do nothing for any of this.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use tokio::time::timeout;

use crate::clock::Stopwatch;
use crate::id::{TagId, WebhookId};
use crate::service::Service;
use crate::storage::{Advance, Cursor, EventProperties, NewDelivery, RouteState, StorageError};
use crate::webhook::{Happening, Include, WebhookFields};

/// Between two looks for events while an endpoint is on. A person sees no difference, and a look
/// costs microseconds.
const LOOK: Duration = Duration::from_millis(100);
/// Between two looks at the endpoints, which other nodes change, too.
const REFRESH: Duration = Duration::from_secs(2);
/// Between two looks if no endpoint is on.
const IDLE: Duration = Duration::from_millis(500);
/// After an error.
const PAUSE: Duration = Duration::from_secs(1);
/// Events that are read at once.
const AT_ONCE: usize = 256;
/// Deliveries that are stored in one transaction: taps wait for it.
const STORED_AT_ONCE: usize = 100;
/// Deliveries of an endpoint that may wait. Then it stays where it is until some are done.
const WINDOW: u64 = 256;
/// The same of an endpoint that failed several times in a row: enough to see that it is back.
const WINDOW_DOWN: u64 = 4;
/// Failures in a row after which it counts as down.
const DOWN: u64 = 8;
/// Positions of endpoints that got nothing are stored this often: after a crash what is between is
/// read once more.
const STORE_POSITIONS: Duration = Duration::from_secs(5);

/// Makes deliveries until it is dropped.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut failing = false;
    loop {
        let Err(error) = routing(service).await;
        if !failing {
            tracing::warn!("events for webhooks have to wait: {error}");
        }
        failing = true;
        tokio::time::sleep(PAUSE).await;
    }
}

async fn routing(service: &Service) -> Result<Infallible, StorageError> {
    let mut router = Router::new(service).await?;
    let mut stored = Stopwatch::start();
    loop {
        if router.refreshed.elapsed() >= REFRESH || router.is_stale() {
            if stored.elapsed() >= STORE_POSITIONS {
                router.store_positions().await?;
                stored = Stopwatch::start();
            }
            router.refresh().await?;
        }
        let more = router.round().await?;
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

/// An endpoint that is on.
struct Endpoint {
    fields: WebhookFields,
    state: RouteState,
    /// How far it is. Its stored position may be behind, if nothing in between was for it.
    at: Cursor,
}

struct Router<'a> {
    service: &'a Service,
    endpoints: HashMap<WebhookId, Endpoint>,
    epoch: Option<u64>,
    refreshed: Stopwatch,
}

impl<'a> Router<'a> {
    async fn new(service: &'a Service) -> Result<Self, StorageError> {
        let mut router = Self {
            service,
            endpoints: HashMap::new(),
            epoch: None,
            refreshed: Stopwatch::start(),
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
        let storage = &self.service.storage;
        let epoch = storage.configuration_epoch();
        let states = storage.route_states().await?;
        let mut fields = if self.is_stale() || states.len() != self.endpoints.len() {
            storage.route_fields().await?
        } else {
            HashMap::new()
        };
        let mut before = std::mem::take(&mut self.endpoints);
        let waiting = states.iter().map(|state| (state.id, state.waiting));
        self.service.webhooks.know(waiting.collect());
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
            let fields = fields.remove(&state.id).or(known.map(|known| known.fields));
            let Some(fields) = fields else { continue };
            self.endpoints
                .insert(state.id, Endpoint { fields, state, at });
        }
        self.epoch = epoch;
        self.refreshed = Stopwatch::start();
        Ok(())
    }

    /// Whether the endpoint takes more.
    fn has_room(&self, endpoint: &Endpoint) -> bool {
        let window = if endpoint.state.failures >= DOWN {
            WINDOW_DOWN
        } else {
            WINDOW
        };
        self.service.webhooks.of(endpoint.state.id) < window
    }

    /// Takes every endpoint with room some events further. Whether there may be more.
    async fn round(&mut self) -> Result<bool, StorageError> {
        let mut cohorts: BTreeMap<Cursor, Vec<WebhookId>> = BTreeMap::new();
        for endpoint in self.endpoints.values() {
            if self.has_room(endpoint) {
                cohorts
                    .entry(endpoint.at)
                    .or_default()
                    .push(endpoint.state.id);
            }
        }
        let mut more = false;
        for (at, ids) in cohorts {
            more |= self.cohort(at, &ids).await?;
        }
        Ok(more)
    }

    /// Takes endpoints that are all at one place further.
    async fn cohort(&mut self, at: Cursor, ids: &[WebhookId]) -> Result<bool, StorageError> {
        let storage = &self.service.storage;
        let taps = storage.taps_after(at.taps, AT_ONCE).await?;
        let outbox = storage.outbox_after(at.outbox, AT_ONCE).await?;
        let more = taps.len() == AT_ONCE || outbox.len() == AT_ONCE;
        let mut to = at;
        let mut happenings = Vec::with_capacity(taps.len() + outbox.len());
        for tap in taps {
            to.taps = tap.place;
            let seq = tap.place.seq;
            happenings.extend(tap.happenings().into_iter().map(|one| (Some(seq), one)));
        }
        for event in outbox {
            to.outbox = event.place;
            happenings.push((None, Happening::from(event)));
        }
        if to == at {
            return Ok(false);
        }
        let properties = self.properties(ids, &happenings).await?;
        let mut by_stored: BTreeMap<Cursor, (Vec<WebhookId>, Vec<NewDelivery>)> = BTreeMap::new();
        for id in ids {
            let Some(endpoint) = self.endpoints.get_mut(id) else {
                continue;
            };
            let new = endpoint.deliveries(&happenings, &properties);
            if new.is_empty() {
                endpoint.at = to;
                continue;
            }
            let (cohort, deliveries) = by_stored.entry(endpoint.state.cursor).or_default();
            cohort.push(*id);
            deliveries.extend(new);
            // Few at once, for taps wait for each commit. One endpoint's stay together.
            if deliveries.len() >= STORED_AT_ONCE {
                let from = endpoint.state.cursor;
                let (cohort, deliveries) = by_stored.remove(&from).unwrap_or_default();
                self.advance(from, to, cohort, deliveries).await?;
            }
        }
        for (from, (cohort, deliveries)) in by_stored {
            self.advance(from, to, cohort, deliveries).await?;
        }
        Ok(more)
    }

    async fn advance(
        &mut self,
        from: Cursor,
        to: Cursor,
        webhooks: Vec<WebhookId>,
        deliveries: Vec<NewDelivery>,
    ) -> Result<(), StorageError> {
        let mut made: HashMap<WebhookId, u64> = HashMap::new();
        for delivery in &deliveries {
            *made.entry(delivery.webhook_id).or_default() += 1;
        }
        let asked = webhooks.clone();
        let advance = Advance {
            webhooks,
            from,
            to,
            deliveries,
        };
        let moved = self.service.storage.advance_webhooks(advance).await?;
        for id in &moved {
            if let Some(endpoint) = self.endpoints.get_mut(id) {
                endpoint.state.cursor = to;
                endpoint.at = to;
            }
            self.service
                .webhooks
                .made(*id, made.get(id).copied().unwrap_or_default());
        }
        // Another node was faster, or its owner did something: it is looked up again.
        for id in asked.iter().filter(|id| !moved.contains(id)) {
            self.endpoints.remove(id);
            self.epoch = None;
        }
        self.service.webhooks.due.notify_one();
        Ok(())
    }

    /// Stores how far endpoints are that got nothing for a while.
    async fn store_positions(&mut self) -> Result<(), StorageError> {
        let mut moves: BTreeMap<(Cursor, Cursor), Vec<WebhookId>> = BTreeMap::new();
        for endpoint in self.endpoints.values() {
            if endpoint.at != endpoint.state.cursor {
                moves
                    .entry((endpoint.state.cursor, endpoint.at))
                    .or_default()
                    .push(endpoint.state.id);
            }
        }
        for ((from, to), ids) in moves {
            for ids in ids.chunks(STORED_AT_ONCE) {
                self.advance(from, to, ids.to_vec(), Vec::new()).await?;
            }
        }
        Ok(())
    }

    /// What tags have that endpoints filter by, or want to have.
    async fn properties(
        &self,
        ids: &[WebhookId],
        happenings: &[(Option<i64>, Happening)],
    ) -> Result<HashMap<TagId, EventProperties>, StorageError> {
        let ask = |id: &WebhookId| {
            let fields = self.endpoints.get(id).map(|endpoint| &endpoint.fields);
            fields.is_some_and(|fields| {
                !fields.filter.attribute.is_empty() || fields.includes(Include::Variables)
            })
        };
        if !ids.iter().any(ask) {
            return Ok(HashMap::new());
        }
        let tags: HashSet<TagId> = happenings
            .iter()
            .filter_map(|(_, one)| one.tag_id)
            .collect();
        let tags = tags.into_iter().collect();
        self.service.storage.event_properties(tags).await
    }
}

impl Endpoint {
    fn deliveries(
        &self,
        happenings: &[(Option<i64>, Happening)],
        properties: &HashMap<TagId, EventProperties>,
    ) -> Vec<NewDelivery> {
        let wanted = happenings
            .iter()
            .filter(|(_, one)| self.wants(one, properties));
        let made = wanted.map(|(seq, one)| {
            let of_tag = one.tag_id.and_then(|tag| properties.get(&tag));
            let variables = of_tag.map(|properties| &properties.variables);
            let again = seq.is_some_and(|seq| seq <= self.state.again_seq);
            NewDelivery {
                webhook_id: self.state.id,
                event_id: one.key.clone(),
                again: again.then(|| format!("{}_r{}", one.key, self.state.resends)),
                kind: one.kind,
                at: one.at,
                tag_id: one.tag_id,
                body: one.body(&self.fields, variables),
            }
        });
        made.collect()
    }

    fn wants(&self, one: &Happening, properties: &HashMap<TagId, EventProperties>) -> bool {
        let filter = &self.fields.filter;
        self.fields.wants(one.kind, one.simulated)
            && (one.kind.is_alert()
                || (filter
                    .experience_id
                    .is_none_or(|id| one.experience_id == Some(id))
                    && filter.has_attributes(
                        one.tag_id
                            .and_then(|tag| properties.get(&tag))
                            .map(|properties| &properties.attributes),
                    )))
    }
}
