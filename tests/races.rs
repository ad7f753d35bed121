//! Races for a counter, a key, or a variable.

mod counters;
mod keys;
mod model;

use serde_json::Value;
use tapdesk_tests::service::default_database;
use tapdesk_tests::{Answer, Client, TapResult};

/// Taps as one of many visitors. PostgreSQL may have no connection for some of them, and they try
/// again. SQLite queues its writes in the process, so it must refuse none.
async fn tap(client: &Client, url: &str) -> TapResult {
    match &*default_database() {
        "sqlite" => client.tap(url).await,
        _ => client.tap_in_crowd(url).await,
    }
}

/// The payload of a key, as one of many callers.
async fn payload(client: &Client, rk: &str) -> Value {
    match &*default_database() {
        "sqlite" => client.payload(rk).await,
        _ => client.payload_in_crowd(rk).await,
    }
}

/// Makes an update, as one of many callers.
async fn update(client: &Client, rk: &str, data: Value) -> Answer {
    match &*default_database() {
        "sqlite" => client.update(rk, data).await,
        _ => client.update_in_crowd(rk, &data).await,
    }
}
