//! Removes what webhooks keep of what is erased.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::Transaction;
use crate::clock::Timestamp;
use crate::id::{InteractionId, SubmissionId, TagId};
use crate::storage::value::{Value, values};
use crate::storage::{StorageError, traces};

/// An update, as events tell of it.
pub(super) struct ToldUpdate {
    /// Of which tag.
    pub(super) tag: TagId,
    /// When: its events have its time.
    pub(super) at: Timestamp,
    /// With whose rolling key.
    pub(super) interaction: InteractionId,
    /// The form that was sent with it.
    pub(super) submission: Option<SubmissionId>,
}

/// What may tell of an update at `?2` of the tag `?1`. Another visitor's of the same millisecond
/// may, too.
const OF_MOMENT: &str = "tag_id = ?1 AND at = ?2 AND type IN ('submission.created', 'tag.updated')";

impl ToldUpdate {
    /// Whether an event with this data tells of it.
    fn is_told_by(&self, data: &Json) -> bool {
        let has = |member: &str, id: i64| data[member].as_i64() == Some(id);
        has("interaction_id", self.interaction.0)
            || self.submission.is_some_and(|id| has("submission_id", id.0))
    }
}

/// Notes that something is erased: deliveries that are being made of it are not stored.
pub(super) async fn erases(tx: &mut dyn Transaction) -> Result<(), StorageError> {
    tx.execute(traces::ERASED, &[]).await.map(drop)
}

/// Removes what tells of an update, sent or not.
pub(super) async fn forget_update(
    tx: &mut dyn Transaction,
    update: &ToldUpdate,
) -> Result<(), StorageError> {
    let moment = values![update.tag, update.at];
    let sql = format!("SELECT id, data FROM outbox WHERE {OF_MOMENT}");
    let events = fitting(tx, &sql, &moment, |data| update.is_told_by(&data)).await?;
    let sql = "DELETE FROM outbox WHERE id IN ids(?1)";
    tx.execute(sql, &values![Value::list(events)]).await?;
    let sql = format!("SELECT id, body FROM webhook_deliveries WHERE {OF_MOMENT}");
    let told = |body: Json| update.is_told_by(&body["data"]);
    let deliveries = values![Value::list(fitting(tx, &sql, &moment, told).await?)];
    forget_deliveries(tx, "id IN ids(?1)", &deliveries).await
}

/// Removes the values of variables that the owner's changes of a tag have in events: the value
/// before such a change may be a visitor's, who entered it at `since` or later.
pub(super) async fn forget_owners_values(
    tx: &mut dyn Transaction,
    tag: TagId,
    since: Timestamp,
    variables: &BTreeSet<&str>,
) -> Result<(), StorageError> {
    let of_owner = "tag_id = ?1 AND at >= ?2 AND type = 'tag.updated'";
    let sql = format!("SELECT id, data FROM outbox WHERE {of_owner}");
    for mut row in tx.query(&sql, &values![tag, since]).await? {
        let (id, mut data): (i64, Json) = (row.take()?, row.json("event")?);
        if strip_owners_values(&mut data, variables) {
            let sql = "UPDATE outbox SET data = ?2 WHERE id = ?1";
            tx.execute(sql, &values![id, data.to_string()]).await?;
        }
    }
    // The same id is sent with the same body alone: a delivery with values goes.
    let sql = format!("SELECT id, body FROM webhook_deliveries WHERE {of_owner}");
    let shows = |mut body: Json| strip_owners_values(&mut body["data"], variables);
    let going = fitting(tx, &sql, &values![tag, since], shows).await?;
    forget_deliveries(tx, "id IN ids(?1)", &values![Value::list(going)]).await
}

/// Of the rows that `sql` selects, an id and JSON, the ids of those whose JSON `fits`.
async fn fitting(
    tx: &mut dyn Transaction,
    sql: &str,
    values: &[Value<'_>],
    mut fits: impl FnMut(Json) -> bool + Send,
) -> Result<Vec<i64>, StorageError> {
    let mut ids = Vec::new();
    for mut row in tx.query(sql, values).await? {
        let (id, event) = (row.take()?, row.json("event")?);
        if fits(event) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Leaves of changes by the owner which of `variables` they are of. Whether there was more.
fn strip_owners_values(data: &mut Json, variables: &BTreeSet<&str>) -> bool {
    if !data["interaction_id"].is_null() {
        return false;
    }
    let changes = data.get_mut("changes").and_then(Json::as_array_mut);
    let mut stripped = false;
    for change in changes
        .into_iter()
        .flatten()
        .filter_map(Json::as_object_mut)
    {
        let is_of = |key: &Json| key.as_str().is_some_and(|key| variables.contains(key));
        if change.get("key").is_some_and(is_of) && change.len() > 1 {
            change.retain(|name, _| name == "key");
            stripped = true;
        }
    }
    stripped
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
    use serde_json::json;

    use super::*;

    #[test]
    fn of_the_owners_changes_the_values_go_and_what_was_changed_stays() {
        let changes = |of: Json| {
            json!({"interaction_id": of, "changes": [
                {"key": "name", "old": "Ada", "new": "B"}, {"key": "colour", "old": "red", "new": "blue"},
            ]})
        };
        let name = BTreeSet::from(["name"]);
        let mut by_owner = changes(Json::Null);
        assert!(strip_owners_values(&mut by_owner, &name));
        let stripped = json!([{"key": "name"}, {"key": "colour", "old": "red", "new": "blue"}]);
        assert_eq!(by_owner["changes"], stripped);
        assert!(!strip_owners_values(&mut by_owner, &name));
        // A visitor's goes with its update, or stays whole.
        assert!(!strip_owners_values(&mut changes(json!(7)), &name));
    }

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
