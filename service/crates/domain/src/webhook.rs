//! Webhooks: events for the owner's own servers.
//!
//! The event of a tap is the interaction itself, in the order of commits. Other events are rows of
//! the outbox, written in the same transaction as their cause. This module defines endpoints,
//! events and requests; `webhook_delivery` in the crate `app` sends them. Deliveries follow
//! Standard Webhooks 1.0: <https://www.standardwebhooks.com>.

mod address;
mod attempt;
mod endpoint;
mod event;
mod retry;
mod sample;
mod secret;

pub use address::is_public;
pub use attempt::{ANSWER_KEPT, Attempt, AttemptOutcome, Failure};
pub use endpoint::origin;
pub use endpoint::{
    Disabled, ENDPOINTS_MAX, EventFilter, EventWorld, Include, Webhook, WebhookFields, check_url,
    is_loopback, literal_address,
};
pub use event::object;
pub use event::{
    About, Alert, CommitPosition, EventKind, Happening, OutboxEvent, TagNow, TagUpdated,
    TapHappening,
};
pub use retry::{ATTEMPTS, FAILING_MAX, next_attempt};
pub use sample::sample;
pub use secret::Secret;
pub use secret::Signed;
