//! An owner's changes to an endpoint.

use super::{find, has_state, json};
use crate::shared::audit::shown;
use crate::shared::dialect::Dialect;
use crate::shared::{Transaction, insert_rows};
use crate::value::{Value, values};
use crate::webhooks::WebhookEdit;
use crate::{Conflict, Invalid, StorageError};
use domain::audit::Note;
use domain::clock::{Millis, Timestamp};
use domain::id::WebhookId;
use domain::revision::Precondition;
use domain::webhook::{ENDPOINTS_MAX, EventKind, Webhook, WebhookFields};

pub(super) async fn insert(
    tx: &mut dyn Transaction,
    fields: &WebhookFields,
    secret: &[u8],
) -> Result<Webhook, StorageError> {
    let sql =
        "INSERT INTO webhooks (fields, secret, created_at, experience_ids) SELECT ?1, ?2, ?3, ?4
         WHERE (SELECT count(*) FROM webhooks) < ?5 RETURNING id";
    if tx.reach().groups().is_some() {
        return Err(Invalid::WebhookOfGroup.into());
    }
    // The endpoint gets only events that its creator may read.
    let limit = tx.reach().limit().map(|limit| json(&limit)).transpose()?;
    let values = values![json(fields)?, secret, tx.now(), limit, ENDPOINTS_MAX];
    let Some(mut inserted) = tx.write(sql, &values).await?.pop() else {
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
    stored.ok_or_else(|| crate::value::unreadable("webhook"))
}

/// Creates the endpoint's state: it gets all events from now on. `resends` is the number of earlier
/// resends, which is part of the ids of events that are sent again.
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
        // Taps answered before this transaction began have a lower number, taps after its commit a
        // higher one. `settled_before` would not work: any writer in any database of the server
        // holds it back, and earlier taps would be sent.
        Dialect::Postgres => {
            "pg_current_xact_id()::TEXT::BIGINT, 0, pg_current_xact_id()::TEXT::BIGINT, 0"
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

/// Starts again after a restore or a move. The original database may have sent its waiting
/// deliveries, or may still do so, so they are kept but not sent. Ids of events that are sent again
/// contain the number of resends. The original continues its own numbers, so this copy starts at
/// the time in seconds.
async fn begin_again(tx: &mut dyn Transaction, id: WebhookId) -> Result<(), StorageError> {
    let sql = "UPDATE webhook_deliveries SET waits = FALSE WHERE webhook_id = ?1 AND waits";
    tx.execute(sql, &values![id]).await?;
    let resends = tx.now().unix_seconds();
    begin(tx, id, false, resends).await
}

/// Switches an endpoint on or off, according to `fields`.
async fn switch(
    tx: &mut dyn Transaction,
    id: WebhookId,
    fields: &WebhookFields,
) -> Result<(), StorageError> {
    let sql = "UPDATE webhook_states SET enabled = ?2, disabled = NULL, failures = 0, failing_since = NULL
         WHERE webhook_id = ?1 AND enabled <> ?2";
    tx.execute(sql, &values![id, fields.enabled]).await?;
    // An endpoint that is off gets these events when it is switched on. One without a state starts
    // then.
    if has_state(tx, id).await? {
        wants(tx, id, &fields.events).await?;
    }
    tx.changes(None);
    Ok(())
}

/// Stores which events the endpoint gets.
async fn wants(
    tx: &mut dyn Transaction,
    id: WebhookId,
    events: &[EventKind],
) -> Result<(), StorageError> {
    let sql = "DELETE FROM webhook_types WHERE webhook_id = ?1";
    tx.execute(sql, &values![id]).await?;
    add_types(tx, id, events).await?;
    // Waiting deliveries of other types are cancelled. Otherwise, somebody who may only edit
    // webhooks of alerts could redirect waiting taps to another URL.
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

/// The result of an edit.
pub(super) struct Edited {
    pub(super) webhook: Webhook,
    /// Whether the edit switched the endpoint on.
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
    if after == before.fields && (!after.enabled || has_state(tx, id).await?) {
        return Ok(Some(Edited {
            webhook: before,
            switched_on: false,
        }));
    }
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
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(before) = find(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&before))?;
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
    keep: Millis,
    expected: &Precondition,
) -> Result<Option<Timestamp>, StorageError> {
    let Some(present) = find(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let until = tx.now().plus(keep);
    let sql = "UPDATE webhooks SET previous_secret = secret, previous_until = ?3, secret = ?2 WHERE id = ?1";
    tx.execute(sql, &values![id, secret, until]).await?;
    tx.note(Note::done(
        &serde_json::json!({"previous_secret_until": until}),
    ));
    Ok(Some(until))
}
