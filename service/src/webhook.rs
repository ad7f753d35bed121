//! Webhooks: what happens at tags, told to the owner's own servers.
//!
//! A tap's event is the interaction itself, in the order of commits; other events are rows of the
//! outbox, written in the commit of what they tell. Here is what endpoints, events and requests
//! are; `deliver.rs` sends them. What is delivered follows Standard Webhooks 1.0:
//! <https://www.standardwebhooks.com>.

mod address;
mod attempt;
mod client;
mod endpoint;
mod event;
mod resolver;
mod retry;
mod secret;
mod state;

pub use attempt::{ANSWER_KEPT, Attempt, AttemptOutcome, Failure};
pub use client::{ClientError, WebhookClient};
pub(crate) use endpoint::origin;
pub use endpoint::{
    Disabled, ENDPOINTS_MAX, EventFilter, EventWorld, Include, Webhook, WebhookFields,
};
pub(crate) use event::object;
pub use event::{About, Alert, EventKind, Happening, OutboxEvent, Place, TagUpdated, TapHappening};
pub use retry::{ATTEMPTS, FAILING_MAX, next_attempt};
pub use secret::Secret;
pub(crate) use secret::Signed;
pub(crate) use state::Deliveries;
