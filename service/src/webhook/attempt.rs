//! Attempts to deliver, and their log.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::event::EventKind;
use crate::clock::Timestamp;

/// How much of an answer is kept, in bytes.
pub const ANSWER_KEPT: usize = 1_024;

/// An attempt, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
pub struct Attempt {
    /// Its number.
    pub id: i64,
    /// The event's `webhook-id`.
    pub event_id: String,
    /// The event's type.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// When it was made.
    pub at: Timestamp,
    /// The status of the answer; null if there was none.
    pub status: Option<u16>,
    /// Why it failed, in words; null if it did not.
    pub error: Option<String>,
    /// The beginning of the answer's body, at most a kilobyte.
    pub response: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// What an attempt came to.
#[derive(Clone, Debug)]
pub struct AttemptOutcome {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body.
    pub response: String,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In words.
    pub why: String,
    /// Whether the endpoint says that it is gone for good.
    pub gone: bool,
    /// For how long it asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            gone: false,
            retry_after: None,
        }
    }
}
