//! Removes erased data from stored webhook events and deliveries.

use serde_json::Value as Json;

use super::Transaction;
use crate::value::{Value, values};
use crate::visitors::Entered;
use crate::{StorageError, erasure};
use domain::clock::Timestamp;
use domain::id::{InteractionId, SubmissionId, TagId};

/// An update, with the data by which its events are found.
pub(super) struct ErasedUpdate {
    /// The tag whose variables it set.
    pub(super) tag: TagId,
    /// When it was made: its events are not older.
    pub(super) at: Timestamp,
    /// The interaction whose rolling key it used.
    pub(super) interaction: InteractionId,
    /// The submission that was sent with it, if any.
    pub(super) submission: Option<SubmissionId>,
}

/// Events that may concern an update at `?2` of the tag `?1`. A refused form that was kept has its
/// event when the owner saves it, possibly after events of other forms.
const SINCE: &str = "tag_id = ?1 AND at >= ?2 AND type IN ('submission.created', 'tag.updated')";

impl ErasedUpdate {
    /// Whether an event with this data is about the update.
    fn is_in(&self, data: &Json) -> bool {
        let has = |member: &str, id: i64| data[member].as_i64() == Some(id);
        has("interaction_id", self.interaction.get())
            || self
                .submission
                .is_some_and(|id| has("submission_id", id.get()))
    }
}

/// Counts an erasure, so that deliveries under construction with erased data are not stored.
pub(super) async fn erases(tx: &mut dyn Transaction) -> Result<(), StorageError> {
    tx.execute(erasure::ERASED, &[]).await.map(drop)
}

/// Removes the events of an update, sent or not.
pub(super) async fn forget_update(
    tx: &mut dyn Transaction,
    update: &ErasedUpdate,
) -> Result<(), StorageError> {
    let moment = values![update.tag, update.at];
    let sql = format!("SELECT id, data FROM outbox WHERE {SINCE}");
    let events = fitting(tx, &sql, &moment, |data| update.is_in(&data)).await?;
    let sql = "DELETE FROM outbox WHERE id IN ids(?1)";
    tx.execute(sql, &values![Value::list(events)]).await?;
    let sql = format!("SELECT id, body FROM webhook_deliveries WHERE {SINCE}");
    let is_of_it = |body: Json| update.is_in(&body["data"]);
    let deliveries = values![Value::list(fitting(tx, &sql, &moment, is_of_it).await?)];
    forget_deliveries(tx, "id IN ids(?1)", &deliveries).await
}

/// Removes entered values from events about others: later changes of visitors, which contain it as
/// the previous value; the owner's changes of these variables; and the variables that any event of
/// the tag may contain. The events stay, without these values.
pub(super) async fn forget_values(
    tx: &mut dyn Transaction,
    entered: &Entered,
) -> Result<(), StorageError> {
    let sql = "SELECT id, data FROM outbox WHERE tag_id = ?1 AND at >= ?2 AND type = 'tag.updated'";
    for mut row in tx.query(sql, &values![entered.tag, entered.since]).await? {
        let (id, mut data): (i64, Json) = (row.take()?, row.json("event")?);
        if strip_changes(&mut data, entered) {
            let sql = "UPDATE outbox SET data = ?2 WHERE id = ?1";
            tx.execute(sql, &values![id, data.to_string()]).await?;
        }
    }
    // An event may be older than the value: it contains the variables of when its delivery was
    // made.
    let sql = "SELECT id, body FROM webhook_deliveries WHERE tag_id = ?1
         AND (body LIKE '%\"variables\"%' OR body LIKE '%\"changes\"%')";
    for mut row in tx.query(sql, &values![entered.tag]).await? {
        let (id, mut body): (i64, Json) = (row.take()?, row.json("event")?);
        let data = &mut body["data"];
        let changes = strip_changes(data, entered);
        if strip_variables(data, entered) || changes {
            replace_delivery(tx, id, &body.to_string()).await?;
        }
    }
    Ok(())
}

/// Replaces a delivery by one with another body and another number. So an attempt in flight with
/// the former body changes nothing, and its answer, which may repeat that body, is not logged.
async fn replace_delivery(
    tx: &mut dyn Transaction,
    id: i64,
    body: &str,
) -> Result<(), StorageError> {
    let sql = "SELECT webhook_id, event_id, type, at, tag_id, waits, attempts, next_at
         FROM webhook_deliveries WHERE id = ?1";
    let mut row = tx.one(sql, &values![id]).await?;
    let (webhook, event, kind): (i64, String, String) = (row.take()?, row.take()?, row.take()?);
    let (at, tag): (Timestamp, Option<i64>) = (row.take()?, row.take()?);
    let (waits, attempts, next_at): (bool, u32, Timestamp) =
        (row.take()?, row.take()?, row.take()?);
    let sql = "DELETE FROM webhook_deliveries WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    let sql = "INSERT INTO webhook_deliveries
             (webhook_id, event_id, type, at, tag_id, body, waits, attempts, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id";
    let values = values![
        webhook, event, kind, at, tag, body, waits, attempts, next_at
    ];
    let new: i64 = tx.write_one(sql, &values).await?.take()?;
    let sql = "UPDATE webhook_attempts SET delivery_id = ?2, response = '' WHERE delivery_id = ?1";
    tx.execute(sql, &values![id, new]).await.map(drop)
}

/// `sql` selects ids and JSON; returns the ids whose JSON `fits`.
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

/// In the owner's changes of these variables, keeps only the names; in visitors' changes, removes
/// entered values that are shown as previous ones. Returns whether it changed any.
fn strip_changes(data: &mut Json, entered: &Entered) -> bool {
    let by_owner = data["interaction_id"].is_null();
    let changes = data.get_mut("changes").and_then(Json::as_array_mut);
    let changes = changes.into_iter().flatten();
    let mut stripped = false;
    for change in changes.filter_map(Json::as_object_mut) {
        let key = change.get("key").and_then(Json::as_str);
        let Some(key) = key.filter(|key| entered.values.contains_key(*key)) else {
            continue;
        };
        if by_owner && change.len() > 1 {
            change.retain(|name, _| name == "key");
            stripped = true;
        } else if let Some(old) = change.get("old").and_then(Json::as_str)
            && entered.has(key, old)
        {
            change.insert("old".to_owned(), Json::Null);
            stripped = true;
        }
    }
    stripped
}

/// Removes the event's variables that have such a value. Returns whether it removed any.
fn strip_variables(data: &mut Json, entered: &Entered) -> bool {
    let Some(variables) = data.get_mut("variables").and_then(Json::as_object_mut) else {
        return false;
    };
    let before = variables.len();
    variables.retain(|key, value| value.as_str().is_none_or(|value| !entered.has(key, value)));
    variables.len() < before
}

/// Removes the deliveries that match `condition`, with their attempts, and subtracts them from
/// their endpoints' counts.
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

/// The tap of an event, from its `webhook-id`: the tap's number and time, as in
/// `tap_7_1700000000000`. An event that is sent again has a suffix.
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

    fn entered() -> Entered {
        let mut entered = Entered::at(TagId::new(1), Timestamp::default());
        entered.add("name", "Ada");
        entered
    }

    #[test]
    fn of_the_owners_changes_the_values_go_and_what_was_changed_stays() {
        let mut data = json!({"interaction_id": null, "changes": [
            {"key": "name", "old": "Grace", "new": "B"}, {"key": "colour", "old": "red", "new": "blue"},
        ]});
        assert!(strip_changes(&mut data, &entered()));
        let stripped = json!([{"key": "name"}, {"key": "colour", "old": "red", "new": "blue"}]);
        assert_eq!(data["changes"], stripped);
        assert!(!strip_changes(&mut data, &entered()));
    }

    #[test]
    fn of_the_next_visitors_change_the_value_before_goes_and_theirs_stays() {
        let changes = |old: Json| {
            json!({"interaction_id": 7, "changes": [
                {"key": "name", "old": old, "new": "Grace"}, {"key": "colour", "old": "Ada", "new": "blue"},
            ]})
        };
        let mut data = changes("Ada".into());
        assert!(strip_changes(&mut data, &entered()));
        assert_eq!(data, changes(Json::Null));
        assert!(!strip_changes(&mut data, &entered()));
        assert!(!strip_changes(&mut changes("Joan".into()), &entered()));
    }

    #[test]
    fn of_the_variables_in_an_event_those_with_the_value_go() {
        let mut data = json!({"variables": {"name": "Ada", "colour": "Ada", "other": ""}});
        assert!(strip_variables(&mut data, &entered()));
        assert_eq!(data, json!({"variables": {"colour": "Ada", "other": ""}}));
        assert!(!strip_variables(&mut data, &entered()));
        assert!(!strip_variables(&mut json!({}), &entered()));
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
