//! Webhook endpoints, and the deliveries to them.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::{Conflict, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::id::{ExperienceId, InteractionId, TagId, WebhookId};
use domain::revision::{Precondition, Revision};
use domain::scope::Reach;
use domain::webhook::{
    Alert, Attempt, AttemptOutcome, EventKind, Happening, OutboxEvent, TapHappening, Webhook,
    WebhookFields,
};

pub use domain::webhook::CommitPosition;

/// An endpoint's progress through the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor {
    /// The last tap that was handled.
    pub taps: CommitPosition,
    /// The last outbox event that was handled.
    pub outbox: CommitPosition,
}

/// The changing state of an endpoint that is on, as the delivery maker needs it.
#[derive(Clone, Debug)]
pub struct RouteState {
    /// The endpoint that has this state.
    pub id: WebhookId,
    /// The endpoint's progress through the events.
    pub cursor: Cursor,
    /// The tap up to which events are sent again.
    pub again_seq: i64,
    /// The outbox event up to which events are sent again.
    pub again_outbox_seq: i64,
    /// How often the owner had events sent again.
    pub resends: u32,
    /// Number of waiting deliveries.
    pub waiting: u64,
    /// Number of waiting deliveries that are due within [`SOON`].
    pub soon: u64,
    /// Failed attempts since the last successful one.
    pub failures: u64,
}

/// The configuration of an endpoint that is on, as the delivery maker needs it.
#[derive(Clone, Debug)]
pub struct RouteFields {
    /// The configuration as its owner wrote it.
    pub fields: WebhookFields,
    /// The experiences whose events the endpoint gets.
    pub reach: Reach,
    /// The revision of `fields`.
    pub revision: Revision,
}

/// A delivery to store.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    /// The endpoint that gets the delivery.
    pub webhook_id: WebhookId,
    /// The event's `webhook-id`, by which receivers recognise a repeated event.
    pub event_id: String,
    /// The `webhook-id` for an event that may have been sent before, and whose sent body is not
    /// kept.
    pub again: Option<String>,
    /// The event's type, which the endpoint must want.
    pub kind: EventKind,
    /// When the event happened.
    pub at: Timestamp,
    /// The tag that the event is about, if any.
    pub tag_id: Option<TagId>,
    /// The body of the request, JSON.
    pub body: String,
}

/// A step of one endpoint's progress from one place to another.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// The endpoint. It stays where it is if it is no longer at `from`, or was edited since
    /// `revision`: deliveries were made, and events skipped, according to the earlier state.
    pub webhook: WebhookId,
    /// The revision of the configuration that was used.
    pub revision: Revision,
    /// The endpoint's place before the step.
    pub from: Cursor,
    /// The endpoint's place after the step.
    pub to: Cursor,
}

/// Steps of some endpoints, with the deliveries that they get.
#[derive(Clone, Debug)]
pub struct Advance {
    /// The steps; each endpoint at most once.
    pub moves: Vec<Move>,
    /// The deliveries for these endpoints.
    pub deliveries: Vec<NewDelivery>,
    /// The number of erasures before `deliveries` were read ([`Webhooks::erasures`]). If it has
    /// risen since, no endpoint moves, because the deliveries may contain erased data.
    pub erasures: u64,
}

/// A delivery that this caller may attempt, for [`LEASE`].
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The delivery's number, for [`Finished::delivery`].
    pub id: i64,
    /// The endpoint that gets the delivery.
    pub webhook_id: WebhookId,
    /// The URL of the request.
    pub url: String,
    /// The secrets that sign the request, wrapped.
    pub secrets: Vec<Vec<u8>>,
    /// The event's `webhook-id`, which the request's headers contain.
    pub event_id: String,
    /// The body of the request, JSON.
    pub body: String,
    /// Number of earlier attempts.
    pub attempts: u32,
}

/// How long a claimed delivery is reserved for its caller: four times the longest attempt.
pub const LEASE: Millis = Millis::minutes(1);

/// A waiting delivery counts as soon if it is due within this time. Most
/// deliveries always are. One that failed three times is not: the second pause is a little over
/// five minutes, the third one is longer than this.
pub const SOON: Millis = Millis::minutes(10);

/// Consecutive failures after which an endpoint counts as down.
pub const DOWN: u64 = 8;

/// Shortest pause between claims for an endpoint that is down and does not answer: the
/// pause after a delivery's first failure. The service still notices quickly that the endpoint
/// is back, and connections that are refused at once do not cause thousands of commits, for which
/// taps would wait.
pub(crate) const PACE_SILENT: Millis = Millis::seconds(5);

/// An attempt that ended, to be stored.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The delivery's number, from [`Claimed::id`].
    pub delivery: i64,
    /// The endpoint that got the attempt.
    pub webhook_id: WebhookId,
    /// The result of the attempt.
    pub outcome: AttemptOutcome,
    /// A random number from which the pause after a failure is computed. `None` for a test, which
    /// is never repeated, and whose failure does not count against the endpoint.
    pub chance: Option<u8>,
    /// Whether the endpoint answered slowly.
    pub slow: bool,
}

/// The effects of storing attempts.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Alerts about endpoints that were switched off.
    pub alerts: Vec<Alert>,
    /// Endpoints that answer again, each with the time since when it was down.
    pub back: Vec<(WebhookId, Timestamp)>,
    /// Number of deliveries that were given up.
    pub given_up: u64,
}

/// The events that endpoints still have to get.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Deliveries that wait for their next attempt.
    pub waiting: u64,
    /// The longest time that an event has waited although its endpoint answers well.
    pub late: Millis,
}

/// The properties of a tag that filters of webhooks use, or events contain.
#[derive(Clone, Debug, Default)]
pub struct EventProperties {
    /// The tag's current experience.
    pub experience_id: Option<ExperienceId>,
    /// The tag's attributes, by key.
    pub attributes: BTreeMap<String, String>,
    /// The tag's variables, by key.
    pub variables: BTreeMap<String, String>,
}

/// An edit of an endpoint, applied inside the operation that stores it. An `Err` stores nothing.
pub type WebhookEdit = Box<dyn Fn(WebhookFields) -> Result<WebhookFields, Conflict> + Send + Sync>;

/// Selects the events to send again.
#[derive(Clone, Debug)]
pub enum Resend {
    /// One event, by its `webhook-id`.
    Event(String),
    /// All events since this time.
    Since(Timestamp),
}

/// The operations on webhooks.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// At most `limit` endpoints, the oldest first, after the endpoint `after`.
    async fn webhooks(
        &self,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<Vec<Webhook>, StorageError>;

    /// The endpoint with this id.
    async fn webhook(&self, id: WebhookId) -> Result<Option<Webhook>, StorageError>;

    /// Stores a new endpoint. If it is on, it gets all events from now on.
    ///
    /// # Errors
    ///
    /// [`Conflict::TooManyWebhooks`].
    async fn insert_webhook(
        &self,
        fields: WebhookFields,
        secret: Vec<u8>,
    ) -> Result<Webhook, StorageError>;

    /// Applies `edit` to an endpoint that still matches `expected`. If the endpoint is switched on,
    /// it continues where it stopped.
    async fn edit_webhook(
        &self,
        id: WebhookId,
        edit: WebhookEdit,
        expected: Precondition,
    ) -> Result<Option<Webhook>, StorageError>;

    /// Removes an endpoint that still matches `expected`, with its waiting deliveries and its log.
    ///
    /// # Errors
    /// [`Conflict::Changed`](super::Conflict::Changed) if it does not match.
    async fn delete_webhook(
        &self,
        id: WebhookId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;

    /// Sets a new secret for an endpoint. The previous one also signs until `previous_until`.
    async fn rotate_webhook_secret(
        &self,
        id: WebhookId,
        secret: Vec<u8>,
        previous_until: Timestamp,
    ) -> Result<Option<Webhook>, StorageError>;

    /// At most `limit` attempts of an endpoint, the newest first, after the attempt `after`.
    async fn webhook_attempts(
        &self,
        id: WebhookId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Option<Vec<Attempt>>, StorageError>;

    /// Sends events to an endpoint again. `None` if there is no such endpoint; `false` if the event
    /// no longer exists.
    ///
    /// # Errors
    ///
    /// [`Conflict::WebhookOff`].
    async fn resend_webhook(
        &self,
        id: WebhookId,
        what: Resend,
    ) -> Result<Option<bool>, StorageError>;

    /// Stores a delivery of `event` to an endpoint, on or off, and claims it for the caller.
    async fn claim_test(
        &self,
        id: WebhookId,
        event: Happening,
    ) -> Result<Option<Claimed>, StorageError>;

    /// The state of all endpoints that are on.
    async fn route_states(&self) -> Result<Vec<RouteState>, StorageError>;

    /// How often visitor data has been erased.
    async fn erasures(&self) -> Result<u64, StorageError>;

    /// The configuration of all endpoints that are on.
    async fn route_fields(&self) -> Result<HashMap<WebhookId, RouteFields>, StorageError>;

    /// At most `limit` taps after a place, in the order of commits. PostgreSQL commits taps in
    /// parallel: only before the `settled` ones no further tap can appear.
    async fn taps_after(
        &self,
        after: CommitPosition,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError>;

    /// The place of a tap in the order of commits, or a place shortly before it; `None` if the tap
    /// no longer exists.
    async fn place_of_tap(&self, id: InteractionId)
    -> Result<Option<CommitPosition>, StorageError>;

    /// The same for outbox events.
    async fn outbox_after(
        &self,
        after: CommitPosition,
        limit: usize,
    ) -> Result<Vec<OutboxEvent>, StorageError>;

    /// The properties of these tags that events need.
    async fn event_properties(
        &self,
        tags: Vec<TagId>,
    ) -> Result<HashMap<TagId, EventProperties>, StorageError>;

    /// Moves endpoints forward and stores their deliveries. Returns the endpoints that moved.
    async fn advance_webhooks(&self, advance: Advance) -> Result<Vec<WebhookId>, StorageError>;

    /// At most `limit` endpoints that have a due delivery and are not `busy`. `held_back` selects
    /// either those that are held back or the others.
    async fn due_webhooks(
        &self,
        held_back: bool,
        busy: Vec<WebhookId>,
        limit: usize,
    ) -> Result<Vec<WebhookId>, StorageError>;

    /// Claims due deliveries, at most `each` per endpoint. No other caller gets them within
    /// [`LEASE`].
    async fn claim_deliveries(
        &self,
        webhooks: Vec<WebhookId>,
        each: usize,
    ) -> Result<Vec<Claimed>, StorageError>;

    /// Stores the results of attempts. Switches off an endpoint that is gone or has failed for too
    /// long, and creates an event about it.
    async fn finish_attempts(&self, finished: Vec<Finished>) -> Result<Settled, StorageError>;

    /// Makes deliveries due at once that were not attempted before `since`, when the endpoint went
    /// down. Their failed attempts since then do not count. Deliveries that may be in flight stay
    /// as they are.
    async fn wake_deliveries(&self, id: WebhookId, since: Timestamp) -> Result<(), StorageError>;

    /// The backlog of all endpoints that are on.
    async fn webhook_backlog(&self) -> Result<Backlog, StorageError>;

    /// Stores an alert, if any endpoint gets alerts of its type.
    async fn raise_alert(&self, alert: Alert) -> Result<(), StorageError>;

    /// Removes some stored events of these types older than `keep_since`, delivered or not. `true`
    /// if more may be left.
    async fn prune_deliveries(
        &self,
        kinds: Vec<EventKind>,
        keep_since: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Removes outbox events older than `keep_since`.
    async fn sweep_outbox(&self, keep_since: Timestamp) -> Result<(), StorageError>;
}

/// Taps in the order of their commits; each database has its own implementation.
#[async_trait]
pub(crate) trait TapStream: Send + Sync {
    /// See [`Webhooks::taps_after`].
    async fn stream_taps(
        &self,
        after: CommitPosition,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError>;
}
