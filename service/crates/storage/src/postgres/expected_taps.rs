//! Test taps that are announced at one node and may be made at any.

use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::StorageError;
use domain::interaction::TapOrigin;

/// The channel on which nodes send each other announcements.
pub(super) const CHANNEL: &str = "tapdesk_test_taps";
/// Most bytes of a notification (PostgreSQL, NOTIFY). Only a path that belongs to no tag is longer.
const NOTIFICATION_MAX: usize = 7_999;

#[derive(Serialize, Deserialize)]
struct Announced {
    /// The node of the announcement, which expects the tap already.
    node: i64,
    path: String,
    origin: TapOrigin,
}

impl Node {
    /// Expects a test tap here, and announces it to the other nodes, so that a tap needs no query
    /// on any of them.
    pub(crate) async fn expect_test_tap(
        &self,
        path: String,
        origin: TapOrigin,
    ) -> Result<(), StorageError> {
        self.expected_taps.expect(path.clone(), origin);
        let announced = Announced {
            node: self.number,
            path,
            origin,
        };
        let message = serde_json::to_string(&announced)
            .map_err(|error| StorageError::Failed(error.to_string()))?;
        if message.len() > NOTIFICATION_MAX {
            return Ok(());
        }
        let notify = "SELECT pg_notify($1, $2)";
        self.session()
            .await?
            .run(notify, &[&CHANNEL, &message])
            .await?;
        Ok(())
    }

    /// Expects a test tap that another node announced.
    pub(super) fn hear_of_test_tap(&self, message: &str) {
        if let Ok(Announced { node, path, origin }) = serde_json::from_str(message)
            && node != self.number
        {
            self.expected_taps.expect(path, origin);
        }
    }
}
