//! Removes what webhooks keep of what is erased.

use super::Transaction;
use crate::clock::Timestamp;
use crate::id::TagId;
use crate::storage::StorageError;
use crate::storage::value::{Value, values};

/// What tells of the update at `?2` of the tag `?1`: both of its events are from its commit.
const OF_UPDATE: &str = "tag_id = ?1 AND at = ?2 AND type IN ('submission.created', 'tag.updated')";

/// Removes what tells of an update, sent or not.
pub(super) async fn forget_update(
    tx: &mut dyn Transaction,
    tag: TagId,
    at: Timestamp,
) -> Result<(), StorageError> {
    let sql = format!("DELETE FROM outbox WHERE {OF_UPDATE}");
    tx.execute(&sql, &values![tag, at]).await?;
    forget_deliveries(tx, OF_UPDATE, &values![tag, at]).await
}

/// Removes the deliveries for which `condition` is true, their attempts, and them from the counts
/// of their endpoints.
pub(super) async fn forget_deliveries(
    tx: &mut dyn Transaction,
    condition: &str,
    values: &[Value<'_>],
) -> Result<(), StorageError> {
    for sql in [
        format!(
            "UPDATE webhook_states SET
                 waiting = waiting - (SELECT count(*) FROM webhook_deliveries
                     WHERE webhook_id = webhook_states.webhook_id AND waits AND {condition}),
                 kept = kept - (SELECT count(*) FROM webhook_deliveries
                     WHERE webhook_id = webhook_states.webhook_id AND NOT waits AND {condition})
             WHERE webhook_id IN (SELECT webhook_id FROM webhook_deliveries WHERE {condition})"
        ),
        format!(
            "DELETE FROM webhook_attempts
             WHERE delivery_id IN (SELECT id FROM webhook_deliveries WHERE {condition})"
        ),
        format!("DELETE FROM webhook_deliveries WHERE {condition}"),
    ] {
        tx.execute(&sql, values).await?;
    }
    Ok(())
}

/// Of which tap an event tells, by its `webhook-id`: the number of the tap and its time, as in
/// `tap_7_1700000000000`. One that is sent again has another part behind it.
pub(super) fn tap_of(event: &str) -> Option<&str> {
    let key = ["tap_", "tampered_"]
        .iter()
        .find_map(|kind| event.strip_prefix(kind))?;
    Some(key.split_once("_r").map_or(key, |(key, _)| key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_a_tap_names_it() {
        for (event, key) in [
            ("tap_7_1700000000000", Some("7_1700000000000")),
            ("tampered_7_1700000000000", Some("7_1700000000000")),
            ("tap_7_1700000000000_r2", Some("7_1700000000000")),
            ("evt_7_1700000000000", None),
            ("test_7_1", None),
        ] {
            assert_eq!(tap_of(event), key, "{event}");
        }
    }
}
