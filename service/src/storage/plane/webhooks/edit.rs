//! What an owner does to an endpoint.

use super::{find, has_state, json};
use crate::audit::Note;
use crate::clock::Timestamp;
use crate::id::WebhookId;
use crate::revision::Precondition;
use crate::storage::plane::audit::shown;
use crate::storage::plane::dialect::Dialect;
use crate::storage::plane::{Transaction, insert_rows};
use crate::storage::value::{Value, values};
use crate::storage::webhooks::WebhookEdit;
use crate::storage::{Conflict, StorageError};
use crate::webhook::{ENDPOINTS_MAX, EventKind, Webhook, WebhookFields};

pub(super) async fn insert(
    tx: &mut dyn Transaction,
    fields: &WebhookFields,
    secret: &[u8],
) -> Result<Webhook, StorageError> {
    let sql =
        "INSERT INTO webhooks (fields, secret, created_at, experience_ids) SELECT ?1, ?2, ?3, ?4
         WHERE (SELECT count(*) FROM webhooks) < ?5 RETURNING id";
    // It tells what its maker may read.
    let limit = tx.reach().limit().map(|limit| json(&limit)).transpose()?;
    let values = values![json(fields)?, secret, tx.now(), limit, ENDPOINTS_MAX];
    let Some(mut inserted) = tx.row(sql, &values).await? else {
        return Err(Conflict::TooManyWebhooks.into());
    };
    let id = inserted.take()?;
    begin(tx, id, fields.enabled, 0).await?;
    add_types(tx, id, &fields.events).await?;
    tx.changes(None);
    tx.note(Note::created(
        format!("webhooks/{id}"),
        &shown::webhook(fields),
    ));
    stored(tx, id).await
}

async fn stored(tx: &mut dyn Transaction, id: WebhookId) -> Result<Webhook, StorageError> {
    let stored = find(tx, id).await?;
    stored.ok_or_else(|| crate::storage::value::unreadable("webhook"))
}

/// Begins the endpoint's state: what happens from now on is its. `resends` have been made before.
async fn begin(
    tx: &mut dyn Transaction,
    id: WebhookId,
    enabled: bool,
    resends: i64,
) -> Result<(), StorageError> {
    let places = match tx.dialect() {
        Dialect::Sqlite => {
            "(SELECT coalesce(max(id), 0) FROM interactions), 0, (SELECT coalesce(max(id), 0) FROM outbox), 0"
        }
        // Rows of transactions that are on their way at this moment are told, too. No row of an
        // earlier one has an id that is given later.
        Dialect::Postgres => {
            "told_before() - 1, (SELECT last_value FROM interaction_ids), told_before() - 1, 0"
        }
    };
    let sql = format!(
        "INSERT INTO webhook_states (webhook_id, enabled, tap_seq, tap_id, outbox_seq, outbox_id, again_seq,
             resends, waiting, kept, failures, next_at, held_back)
         SELECT ?1, ?2, {places}, -1, ?3, 0,
             (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = ?1), 0, 0, FALSE"
    );
    let values = values![id, enabled, resends];
    tx.execute(&sql, &values).await.map(drop)
}

/// Begins again after a restore or a move. What waited in the original may have been delivered by
/// it, or is delivered still: it is kept and sent no more. The number of resends is in the ids of
/// what is made again, and the original counts on: from the time in seconds on it is another one.
async fn begin_again(tx: &mut dyn Transaction, id: WebhookId) -> Result<(), StorageError> {
    let sql = "UPDATE webhook_deliveries SET waits = FALSE WHERE webhook_id = ?1 AND waits";
    tx.execute(sql, &values![id]).await?;
    let resends = tx.now().unix_seconds();
    begin(tx, id, false, resends).await
}

/// Switches an endpoint on or off, as `fields` say.
async fn switch(
    tx: &mut dyn Transaction,
    id: WebhookId,
    fields: &WebhookFields,
) -> Result<(), StorageError> {
    let sql = "UPDATE webhook_states SET enabled = ?2, disabled = NULL, failures = 0, failing_since = NULL
         WHERE webhook_id = ?1 AND enabled <> ?2";
    tx.execute(sql, &values![id, fields.enabled]).await?;
    // One that is off gets them when it is on again. One without a state begins then.
    if has_state(tx, id).await? {
        wants(tx, id, &fields.events).await?;
    }
    tx.changes(None);
    Ok(())
}

/// Notes which events the endpoint gets.
async fn wants(
    tx: &mut dyn Transaction,
    id: WebhookId,
    events: &[EventKind],
) -> Result<(), StorageError> {
    let sql = "DELETE FROM webhook_types WHERE webhook_id = ?1";
    tx.execute(sql, &values![id]).await?;
    add_types(tx, id, events).await?;
    // What waits of other types is not wanted any more. Who may edit a webhook of alerts may not
    // have taps that still wait sent to another URL.
    let names = Value::list(events.iter().map(|kind| kind.as_str()));
    let sql = "UPDATE webhook_deliveries SET waits = FALSE
         WHERE webhook_id = ?1 AND waits AND NOT type IN texts(?2)";
    let unwanted = tx.execute(sql, &values![id, names]).await?;
    let sql =
        "UPDATE webhook_states SET waiting = waiting - ?2, kept = kept + ?2 WHERE webhook_id = ?1";
    tx.execute(sql, &values![id, unwanted]).await.map(drop)
}

async fn add_types(
    tx: &mut dyn Transaction,
    id: WebhookId,
    events: &[EventKind],
) -> Result<(), StorageError> {
    let rows = events
        .iter()
        .map(|kind| values![kind.as_str(), id].to_vec());
    let columns = ["type", "webhook_id"];
    let added = insert_rows(tx, "webhook_types", &columns, rows.collect(), "").await;
    added.map(drop)
}

/// An endpoint after an edit.
pub(super) struct Edited {
    pub(super) webhook: Webhook,
    /// Whether it was off before, and is not.
    pub(super) switched_on: bool,
}

pub(super) async fn edit(
    tx: &mut dyn Transaction,
    id: WebhookId,
    edit: &WebhookEdit,
    expected: &Precondition,
) -> Result<Option<Edited>, StorageError> {
    let Some(before) = find(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&before))?;
    let after = edit(before.fields.clone())?;
    tx.note(Note::changed(
        &shown::webhook(&before.fields),
        &shown::webhook(&after),
    ));
    let sql = "UPDATE webhooks SET fields = ?2 WHERE id = ?1";
    tx.execute(sql, &values![id, json(&after)?]).await?;
    if after.enabled && !has_state(tx, id).await? {
        begin_again(tx, id).await?;
    }
    switch(tx, id, &after).await?;
    Ok(Some(Edited {
        webhook: stored(tx, id).await?,
        switched_on: after.enabled && !before.fields.enabled,
    }))
}

pub(super) async fn delete(
    tx: &mut dyn Transaction,
    id: WebhookId,
) -> Result<Option<()>, StorageError> {
    let Some(before) = find(tx, id).await? else {
        return Ok(None);
    };
    tx.note(Note::deleted(&shown::webhook(&before.fields)));
    let sql = "DELETE FROM webhooks WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    for table in [
        "webhook_states",
        "webhook_types",
        "webhook_deliveries",
        "webhook_attempts",
    ] {
        let sql = format!("DELETE FROM {table} WHERE webhook_id = ?1");
        tx.execute(&sql, &values![id]).await?;
    }
    tx.changes(None);
    Ok(Some(()))
}

pub(super) async fn rotate(
    tx: &mut dyn Transaction,
    id: WebhookId,
    secret: &[u8],
    previous_until: Timestamp,
) -> Result<Option<Webhook>, StorageError> {
    if find(tx, id).await?.is_none() {
        return Ok(None);
    }
    let sql = "UPDATE webhooks SET previous_secret = secret, previous_until = ?3, secret = ?2 WHERE id = ?1";
    tx.execute(sql, &values![id, secret, previous_until])
        .await?;
    let rotated = find(tx, id).await?;
    if rotated.is_some() {
        let until = serde_json::json!({"previous_secret_until": previous_until});
        tx.note(Note::done(&until));
    }
    Ok(rotated)
}
