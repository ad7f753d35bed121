//! Endpoints of webhooks, and the deliveries to them.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::{Conflict, StorageError};
use crate::clock::Timestamp;
use crate::id::{ExperienceId, InteractionId, TagId, WebhookId};
use crate::revision::{Precondition, Revision};
use crate::scope::Reach;
use crate::webhook::{
    Alert, Attempt, AttemptOutcome, EventKind, Happening, OutboxEvent, TapHappening, Webhook,
    WebhookFields,
};

pub use crate::webhook::Place;

/// How far an endpoint is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor {
    /// In the taps.
    pub taps: Place,
    /// In the outbox.
    pub outbox: Place,
}

/// An endpoint that is on, as what makes deliveries knows it.
#[derive(Clone, Debug)]
pub struct RouteState {
    /// The endpoint.
    pub id: WebhookId,
    /// How far it is.
    pub cursor: Cursor,
    /// Up to this tap, deliveries are made again.
    pub again_seq: i64,
    /// The same of the outbox.
    pub again_outbox_seq: i64,
    /// How often deliveries were made again.
    pub resends: u32,
    /// Deliveries that wait.
    pub waiting: u64,
    /// Those of them that are attempted within [`SOON_MILLIS`].
    pub soon: u64,
    /// Attempts that failed since one did not.
    pub failures: u64,
}

/// How an endpoint is configured that is on, as what makes deliveries knows it.
#[derive(Clone, Debug)]
pub struct RouteFields {
    /// What its owner decided.
    pub fields: WebhookFields,
    /// The experiences whose events it gets.
    pub reach: Reach,
    /// That of `fields`.
    pub revision: Revision,
}

/// A delivery to be made.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    /// To which endpoint.
    pub webhook_id: WebhookId,
    /// The event's `webhook-id`.
    pub event_id: String,
    /// The `webhook-id` if the event may have been sent before, and what was sent is not kept.
    pub again: Option<String>,
    /// Its type.
    pub kind: EventKind,
    /// When it happened.
    pub at: Timestamp,
    /// The tag that it is about.
    pub tag_id: Option<TagId>,
    /// Its body.
    pub body: String,
}

/// An endpoint goes on from one place to another.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// The endpoint. If it is not at `from` any more, or was edited since `revision`, it stays where
    /// it is: deliveries were made, and events passed over, as it was before.
    pub webhook: WebhookId,
    /// The revision of its configuration that was known.
    pub revision: Revision,
    /// Where it is.
    pub from: Cursor,
    /// Where it is then.
    pub to: Cursor,
}

/// Some endpoints go on, and get deliveries.
#[derive(Clone, Debug)]
pub struct Advance {
    /// Each endpoint once.
    pub moves: Vec<Move>,
    /// What is delivered to them.
    pub deliveries: Vec<NewDelivery>,
    /// How often something had been erased before `deliveries` were read
    /// ([`Webhooks::erasures`]). If it is more by now, nobody moves: they may have what was erased.
    pub erasures: u64,
}

/// A delivery that is this caller's to make, for [`LEASE_MILLIS`].
#[derive(Clone, Debug)]
pub struct Claimed {
    /// Its number.
    pub id: i64,
    /// Its endpoint.
    pub webhook_id: WebhookId,
    /// Where to.
    pub url: String,
    /// The secrets that sign it, wrapped.
    pub secrets: Vec<Vec<u8>>,
    /// The event's `webhook-id`.
    pub event_id: String,
    /// Its body.
    pub body: String,
    /// Attempts before this one.
    pub attempts: u32,
}

/// For how long a claimed delivery is its caller's, in milliseconds: four times an attempt.
pub const LEASE_MILLIS: i64 = 60_000;

/// A delivery that waits is attempted soon if it is due within so long, in milliseconds. Most
/// deliveries always are, and one that failed three times is not any more: its second pause is of
/// five minutes and a little.
pub const SOON_MILLIS: i64 = 10 * 60_000;

/// Failures in a row after which an endpoint counts as down.
pub const DOWN: u64 = 8;

/// Of an endpoint that is down and gives no answer, deliveries are taken no more often than this, in
/// milliseconds: as often as a delivery is tried again that failed once. It is seen as quickly that
/// it is back, and connections that are refused at once are not thousands of commits, for which taps
/// would wait.
pub(crate) const PACE_SILENT_MILLIS: i64 = 5_000;

/// An attempt that was made.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The delivery.
    pub delivery: i64,
    /// Its endpoint.
    pub webhook_id: WebhookId,
    /// What the attempt came to.
    pub outcome: AttemptOutcome,
    /// A random number that the pause before the next one depends on, if it failed; `None` of a test:
    /// it is not repeated, and its failure says nothing of the endpoint.
    pub chance: Option<u8>,
    /// Whether the endpoint is slow.
    pub slow: bool,
}

/// What storing attempts led to.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Endpoints that were switched off.
    pub alerts: Vec<Alert>,
    /// Endpoints that are back, each with the time since when it was down.
    pub back: Vec<(WebhookId, Timestamp)>,
    /// Deliveries that were given up.
    pub given_up: u64,
}

/// What endpoints are still to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Deliveries that wait for their next attempt.
    pub waiting: u64,
    /// For how long an endpoint that answers well has had to wait for what it could have been sent,
    /// in milliseconds.
    pub late: i64,
}

/// The properties of a tag that events are chosen by, or contain.
#[derive(Clone, Debug, Default)]
pub struct EventProperties {
    /// The experience that it leads to now.
    pub experience_id: Option<ExperienceId>,
    /// Its attributes.
    pub attributes: BTreeMap<String, String>,
    /// Its variables.
    pub variables: BTreeMap<String, String>,
}

/// An edit of an endpoint, applied inside the operation that stores it. An `Err` stores nothing.
pub type WebhookEdit = Box<dyn Fn(WebhookFields) -> Result<WebhookFields, Conflict> + Send + Sync>;

/// What is sent again.
#[derive(Clone, Debug)]
pub enum Resend {
    /// One event, by its `webhook-id`.
    Event(String),
    /// Everything since a time.
    Since(Timestamp),
}

/// The operations on webhooks.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// At most `limit` endpoints, the oldest first, beginning behind `after`.
    async fn webhooks(
        &self,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<Vec<Webhook>, StorageError>;

    /// An endpoint.
    async fn webhook(&self, id: WebhookId) -> Result<Option<Webhook>, StorageError>;

    /// Stores a new endpoint. What happens from now on is delivered to it, if it is on.
    ///
    /// # Errors
    ///
    /// [`Conflict::TooManyWebhooks`].
    async fn insert_webhook(
        &self,
        fields: WebhookFields,
        secret: Vec<u8>,
    ) -> Result<Webhook, StorageError>;

    /// Applies `edit` to an endpoint that is as `expected`. If it is switched on, it goes on where
    /// it was.
    async fn edit_webhook(
        &self,
        id: WebhookId,
        edit: WebhookEdit,
        expected: Precondition,
    ) -> Result<Option<Webhook>, StorageError>;

    /// Removes an endpoint, with what waits and its log.
    async fn delete_webhook(&self, id: WebhookId) -> Result<Option<()>, StorageError>;

    /// Gives an endpoint another secret. The one before signs, too, until `previous_until`.
    async fn rotate_webhook_secret(
        &self,
        id: WebhookId,
        secret: Vec<u8>,
        previous_until: Timestamp,
    ) -> Result<Option<Webhook>, StorageError>;

    /// At most `limit` attempts of an endpoint, the newest first, beginning behind `after`.
    async fn webhook_attempts(
        &self,
        id: WebhookId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Option<Vec<Attempt>>, StorageError>;

    /// Sends events to an endpoint again. `None` where there is no such endpoint; `false` where
    /// there is no such event any more.
    ///
    /// # Errors
    ///
    /// [`Conflict::WebhookOff`].
    async fn resend_webhook(
        &self,
        id: WebhookId,
        what: Resend,
    ) -> Result<Option<bool>, StorageError>;

    /// A delivery of `event` to an endpoint, on or off, which is the caller's to make.
    async fn claim_test(
        &self,
        id: WebhookId,
        event: Happening,
    ) -> Result<Option<Claimed>, StorageError>;

    /// All endpoints that are on, and how far they are.
    async fn route_states(&self) -> Result<Vec<RouteState>, StorageError>;

    /// How often visitors' data was erased.
    async fn erasures(&self) -> Result<u64, StorageError>;

    /// How all endpoints are configured that are on.
    async fn route_fields(&self) -> Result<HashMap<WebhookId, RouteFields>, StorageError>;

    /// At most `limit` taps behind a place, in the order of commits. Of those that PostgreSQL commits
    /// beside each other, `settled` are the ones before which nothing more comes.
    async fn taps_after(
        &self,
        after: Place,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError>;

    /// The place of a tap in the order of commits, or one a little before it; `None` where there is
    /// no such tap any more.
    async fn place_of_tap(&self, id: InteractionId) -> Result<Option<Place>, StorageError>;

    /// The same of the outbox.
    async fn outbox_after(
        &self,
        after: Place,
        limit: usize,
    ) -> Result<Vec<OutboxEvent>, StorageError>;

    /// The properties of some tags.
    async fn event_properties(
        &self,
        tags: Vec<TagId>,
    ) -> Result<HashMap<TagId, EventProperties>, StorageError>;

    /// Moves endpoints on, and stores what is delivered to them; answers which of them moved.
    async fn advance_webhooks(&self, advance: Advance) -> Result<Vec<WebhookId>, StorageError>;

    /// At most `limit` endpoints with a delivery that is due, but for `busy` ones: those that are
    /// held back, or the others.
    async fn due_webhooks(
        &self,
        held_back: bool,
        busy: Vec<WebhookId>,
        limit: usize,
    ) -> Result<Vec<WebhookId>, StorageError>;

    /// Takes deliveries that are due, at most `each` for each endpoint. Nobody else gets them
    /// within [`LEASE_MILLIS`].
    async fn claim_deliveries(
        &self,
        webhooks: Vec<WebhookId>,
        each: usize,
    ) -> Result<Vec<Claimed>, StorageError>;

    /// Stores what attempts came to. An endpoint that is gone, or failed for too long, is switched
    /// off, with an event that says so.
    async fn finish_attempts(&self, finished: Vec<Finished>) -> Result<Settled, StorageError>;

    /// Has an endpoint's deliveries be attempted at once that were never attempted before `since`:
    /// it was down then, so these attempts do not count. What is on its way stays there.
    async fn wake_deliveries(&self, id: WebhookId, since: Timestamp) -> Result<(), StorageError>;

    /// What endpoints that are on are still to be sent.
    async fn webhook_backlog(&self) -> Result<Backlog, StorageError>;

    /// Stores an alert, if any endpoint gets such events.
    async fn raise_alert(&self, alert: Alert) -> Result<(), StorageError>;

    /// Removes some of what is kept of events of these types of before `keep_since`, delivered or not.
    /// `true` if more may be left.
    async fn prune_deliveries(
        &self,
        kinds: Vec<EventKind>,
        keep_since: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Removes rows of the outbox of before `keep_since`.
    async fn sweep_outbox(&self, keep_since: Timestamp) -> Result<(), StorageError>;
}

/// Taps in the order of their commits, in the words of each database.
#[async_trait]
pub(crate) trait TapStream: Send + Sync {
    /// What [`Webhooks::taps_after`] says.
    async fn stream_taps(
        &self,
        after: Place,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError>;
}
