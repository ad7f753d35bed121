//! Attempts of deliveries, and their log.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::event::EventKind;
use crate::clock::Timestamp;

/// Maximum number of bytes that are kept of an answer.
pub const ANSWER_KEPT: usize = 1_024;

/// An attempt of a delivery, as stored in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
pub struct Attempt {
    /// Number of the attempt.
    pub id: i64,
    /// The `webhook-id` of the event.
    pub event_id: String,
    /// Type of the event.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// When the attempt was made.
    pub at: Timestamp,
    /// The HTTP status of the answer; null without an answer.
    pub status: Option<u16>,
    /// The error for people; null if there was none.
    pub error: Option<String>,
    /// The beginning of the answer's body, at most a kilobyte.
    pub response: String,
    /// Duration of the attempt, in milliseconds.
    pub duration_ms: u64,
}

/// The result of an attempt.
#[derive(Clone, Debug)]
pub struct AttemptOutcome {
    /// When the attempt began.
    pub at: Timestamp,
    /// Duration of the attempt.
    pub took: Duration,
    /// The HTTP status of the answer; `None` without an answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body.
    pub response: String,
    /// Why the attempt failed; `None` if it did not.
    pub failure: Option<Failure>,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason, for people.
    pub why: String,
    /// Whether the endpoint answered 410, which means that it is gone permanently.
    pub gone: bool,
    /// The pause that the endpoint asked for with `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure that does not end the endpoint, and after which no pause was asked for.
    pub fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            gone: false,
            retry_after: None,
        }
    }
}
