//! Webhook endpoints, and the deliveries to them.

use std::collections::BTreeMap;

use super::Conflict;
use domain::clock::{Millis, Timestamp};
use domain::id::{ExperienceId, GroupId, TagId, WebhookId};
use domain::revision::Revision;
use domain::scope::Reach;
use domain::webhook::{Alert, AttemptOutcome, EventKind, WebhookFields};

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
    /// The number of erasures before `deliveries` were read ([`Access::erasures`](crate::Access::erasures)). If it has
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
    /// The tag's current experience, its own or its group's.
    pub experience_id: Option<ExperienceId>,
    /// The tag's group and the groups above it.
    pub groups: Vec<GroupId>,
    /// The tag's attributes, by key: its own, and those of its groups.
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
