//! Counts alerts in the outbox, and makes messages of alerts and of periods that are over.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::convert::Infallible;
use std::time::Duration;

use super::{digest, report};
use crate::outage::Outage;
use crate::service::Service;
use domain::clock::{Millis, Timestamp};
use domain::id::{NotificationId, TagId};
use domain::notification::{AlertCount, Channel, NotificationKind, add_alert};
use domain::revision::Revision;
use domain::webhook::{CommitPosition, OutboxEvent};
use storage::{Collected, MessageCause, NewMessage, NotificationState, StorageError};

/// Pause between two rounds. A person does not notice it.
const LOOK: Duration = Duration::from_secs(1);
/// Number of events per database read.
const AT_ONCE: usize = 256;
/// How long alerts wait while a message of before still waits for all of its recipients. A mail
/// server that is down gets a few digests afterwards, instead of one for each hour.
const HELD: Millis = Millis::days(1);
/// How long after the end of its period a report is made. Taps that come in the last moments are
/// recorded by then, also by a node that was slow.
const SETTLED: Millis = Millis::minutes(5);
/// How long a report waits for taps that are still being counted. Afterwards it says so.
const COUNTED: Millis = Millis::hours(6);
/// Pause after a report that could not be made; it doubles up to [`PAUSE_MAX`]. Reading a report that
/// fails each second would take more time than taps do.
const PAUSE: Millis = Millis::minutes(1);
/// Longest pause after a report that could not be made.
const PAUSE_MAX: Millis = Millis::hours(1);

/// Why no message could be made.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The template of messages failed.
    #[error("a message could not be written: {0}")]
    Page(#[from] askama::Error),
}

/// Makes messages until the future is dropped.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut outage = Outage::default();
    let mut composer = Composer::new(service);
    loop {
        match composer.round().await {
            Ok(more) => {
                outage.ends();
                if more {
                    continue;
                }
            }
            Err(error) => {
                if outage.begins() {
                    tracing::warn!("notifications have to wait: {error}");
                }
                service.metrics.notification_failure();
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Makes all messages that are due. The first error is returned at the end: a report that fails is
/// not tried in the next round, which makes the messages that it delayed.
pub(super) async fn due(service: &Service) -> Result<(), ComposeError> {
    let mut composer = Composer::new(service);
    let mut failed = None;
    loop {
        match composer.round().await {
            Ok(true) => {}
            Ok(false) => return failed.map_or(Ok(()), Err),
            Err(error) if failed.is_none() => failed = Some(error),
            Err(error) => return Err(error),
        }
    }
}

/// A place in the outbox that this node has read up to, without an alert for the notification since
/// the stored place.
#[derive(Clone, Copy)]
struct Place {
    revision: Revision,
    stored: CommitPosition,
    read: CommitPosition,
}

/// The pause of a report that could not be made.
#[derive(Clone, Copy)]
struct Pause {
    revision: Revision,
    length: Millis,
    until: Timestamp,
}

/// The outcome for a report.
enum Reported {
    /// It was stored, or there was none to make.
    Done,
    /// Taps of its period are still being counted.
    Counting,
}

struct Composer<'a> {
    service: &'a Service,
    places: HashMap<NotificationId, Place>,
    pauses: HashMap<NotificationId, Pause>,
}

impl<'a> Composer<'a> {
    fn new(service: &'a Service) -> Self {
        Self {
            service,
            places: HashMap::new(),
            pauses: HashMap::new(),
        }
    }

    /// One round for all notifications. Returns whether there is more to do at once. The first error
    /// is returned at the end: one notification that fails delays no other.
    async fn round(&mut self) -> Result<bool, ComposeError> {
        let storage = &self.service.storage;
        let states = storage.notification_states().await?;
        let is_on = |id: &NotificationId| states.iter().any(|state| state.id == *id);
        self.places.retain(|id, _| is_on(id));
        self.pauses.retain(|id, _| is_on(id));
        if states.is_empty() {
            return Ok(false);
        }
        let now = storage.now().await?;
        // Alerts come first, because a report may take seconds.
        let (alerts, reports): (Vec<_>, Vec<_>) = states
            .iter()
            .partition(|state| state.fields.kind == NotificationKind::Alert);
        let mut pages = HashMap::new();
        let mut more = false;
        let mut failed = None;
        for state in alerts {
            match self.alerts(state, &mut pages, now).await {
                Ok(again) => more |= again,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        for state in reports {
            if let Err(error) = self.report(state, now).await {
                failed = failed.or(Some(error));
            }
        }
        failed.map_or(Ok(more), Err)
    }

    /// Counts the next alerts of a notification, and makes a message of those that wait.
    async fn alerts(
        &mut self,
        state: &NotificationState,
        pages: &mut HashMap<CommitPosition, Vec<OutboxEvent>>,
        now: Timestamp,
    ) -> Result<bool, ComposeError> {
        let more = self.count(state, pages).await?;
        self.digest(state, now).await?;
        Ok(more)
    }

    /// Counts the next alerts of a notification. Returns whether there may be more, or a digest to
    /// make. Notifications at the same place share a read.
    async fn count(
        &mut self,
        state: &NotificationState,
        pages: &mut HashMap<CommitPosition, Vec<OutboxEvent>>,
    ) -> Result<bool, StorageError> {
        let known = self
            .places
            .get(&state.id)
            .filter(|place| (place.revision, place.stored) == (state.revision, state.outbox));
        let from = known.map_or(state.outbox, |place| place.read);
        let page = match pages.entry(from) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => {
                let read = self.service.storage.outbox_after(from, AT_ONCE).await?;
                unread.insert(read)
            }
        };
        let Some(last) = page.last() else {
            return Ok(false);
        };
        let (to, is_full) = (last.place, page.len() == AT_ONCE);
        let alerts = self.wanted(state, page).await?;
        if alerts.is_empty() && !is_full {
            let place = Place {
                revision: state.revision,
                stored: state.outbox,
                read: to,
            };
            self.places.insert(state.id, place);
            return Ok(false);
        }
        self.places.remove(&state.id);
        let collected = Collected {
            id: state.id,
            revision: state.revision,
            from: state.outbox,
            to,
            alerts,
        };
        self.service.storage.collect_alerts(collected).await
    }

    /// The alerts of a page that the notification takes, by type.
    async fn wanted(
        &self,
        state: &NotificationState,
        page: &[OutboxEvent],
    ) -> Result<Vec<AlertCount>, StorageError> {
        let types = &state.fields.events;
        let of_types = page.iter().filter(|event| types.contains(&event.kind));
        let mut events: Vec<&OutboxEvent> = of_types.collect();
        if let Some(group) = state.fields.group_id {
            let tags = events.iter().filter_map(|event| event.about.tag_id);
            let tags: Vec<TagId> = tags.collect();
            let of_tags = self.service.storage.event_properties(tags).await?;
            events.retain(|event| {
                let tag = event.about.tag_id.and_then(|tag| of_tags.get(&tag));
                tag.is_some_and(|tag| tag.groups.contains(&group))
            });
        }
        let mut alerts = Vec::new();
        for event in events {
            let message = event.data.as_ref().and_then(|data| data.get("message"));
            let message = message.and_then(|message| message.as_str());
            let alert = AlertCount {
                kind: event.kind,
                alerts: 1,
                first_at: event.at,
                last_at: event.at,
                message: message.unwrap_or_default().to_owned(),
                tag_id: event.about.tag_id,
            };
            add_alert(&mut alerts, alert);
        }
        Ok(alerts)
    }

    /// Makes a message of the alerts that wait, if it is time for one.
    async fn digest(&self, state: &NotificationState, now: Timestamp) -> Result<(), ComposeError> {
        // A time that is too far ahead is from a clock that went back since.
        let pause = state.fields.digest_after();
        let is_early = now < state.next_at && state.next_at <= now.plus(pause);
        let held_for = state.held_since.map(|at| now.since(at));
        let is_held = held_for.is_some_and(|held| (Millis::ZERO..HELD).contains(&held));
        if state.alerts.is_empty() || is_early || is_held {
            return Ok(());
        }
        let page = digest::page(&state.fields, &state.alerts, &self.host());
        let new = NewMessage {
            id: state.id,
            revision: state.revision,
            cause: MessageCause::Alerts {
                alerts: state.alerts.clone(),
                next_at: now.plus(pause),
            },
            message: page.message(is_mail(state))?,
        };
        self.service.storage.store_message(new).await?;
        Ok(())
    }

    /// Makes the report that is due, unless it failed or has to wait, and its pause is not over. An
    /// edit ends the pause.
    async fn report(
        &mut self,
        state: &NotificationState,
        now: Timestamp,
    ) -> Result<(), ComposeError> {
        let paused = self.pauses.get(&state.id).copied();
        let paused = paused.filter(|pause| pause.revision == state.revision);
        if paused.is_some_and(|pause| now < pause.until) {
            return Ok(());
        }
        let reported = self.last_period(state, now).await;
        let length = match &reported {
            Ok(Reported::Done) => None,
            Ok(Reported::Counting) => Some(PAUSE),
            Err(_) => Some(paused.map_or(PAUSE, |pause| pause.length.times(2).min(PAUSE_MAX))),
        };
        match length {
            Some(length) => {
                let pause = Pause {
                    revision: state.revision,
                    length,
                    until: now.plus(length),
                };
                self.pauses.insert(state.id, pause);
            }
            None => {
                self.pauses.remove(&state.id);
            }
        }
        reported.map(|_| ())
    }

    /// Makes the report of the last period that is over, if it was not reported. After a pause of
    /// the service, earlier ones are left out.
    async fn last_period(
        &self,
        state: &NotificationState,
        now: Timestamp,
    ) -> Result<Reported, ComposeError> {
        let zone = state.fields.zone();
        let settled = now.minus(SETTLED);
        let period = state
            .fields
            .every
            .and_then(|every| every.last(&zone, settled));
        let Some(period) = period.filter(|period| period.until > state.reported_until) else {
            return Ok(Reported::Done);
        };
        let until = period.until;
        let (host, waits) = (self.host(), now.since(until) < COUNTED);
        let made = report::page(self.service, &state.fields, period, &host, now).await?;
        if waits && !made.is_complete {
            return Ok(Reported::Counting);
        }
        let new = NewMessage {
            id: state.id,
            revision: state.revision,
            cause: MessageCause::Period {
                reported_until: state.reported_until,
                until,
            },
            message: made.page.message(is_mail(state))?,
        };
        self.service.storage.store_message(new).await?;
        Ok(Reported::Done)
    }

    /// The host of the tags, by which people know their service.
    fn host(&self) -> String {
        host(self.service)
    }
}

/// The host of the tags' URLs.
pub(super) fn host(service: &Service) -> String {
    let url = url::Url::parse(&service.settings().tag_url).ok();
    let host = url.and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_default()
}

const fn is_mail(state: &NotificationState) -> bool {
    matches!(state.fields.channel, Channel::Mail(_))
}
