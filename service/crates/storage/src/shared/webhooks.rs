//! Endpoints of webhooks, and the deliveries to them.

mod deliver;
mod edit;
pub(crate) mod outbox;
mod route;

use std::collections::HashMap;

use super::{Query, Transaction};
use crate::value::{Row, Value, unreadable, values};
use crate::webhooks::{
    Advance, Backlog, Claimed, CommitPosition, EventProperties, Finished, Resend, RouteFields,
    RouteState, Settled, WebhookEdit,
};
use crate::{Access, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::id::{InteractionId, TagId, WebhookId};
use domain::revision::Precondition;
use domain::webhook::{
    Alert, Attempt, Disabled, EventKind, Happening, OutboxEvent, Webhook, WebhookFields,
};

/// The operations on webhooks.
impl Access {
    /// At most `limit` endpoints, the oldest first, after the endpoint `after`.
    pub async fn webhooks(
        &self,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<Vec<Webhook>, StorageError> {
        self.read("webhooks", (after, limit), |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// The endpoint with this id.
    pub async fn webhook(&self, id: WebhookId) -> Result<Option<Webhook>, StorageError> {
        self.read("webhook", id, |db, id| Box::pin(find(db, *id)))
            .await
    }

    /// Stores a new endpoint. If it is on, it gets all events from now on.
    ///
    /// # Errors
    ///
    /// [`Conflict::TooManyWebhooks`](crate::Conflict::TooManyWebhooks).
    pub async fn insert_webhook(
        &self,
        fields: WebhookFields,
        secret: Vec<u8>,
    ) -> Result<Webhook, StorageError> {
        self.change(
            "insert_webhook",
            (fields, secret),
            |tx, (fields, secret)| Box::pin(edit::insert(tx, fields, secret)),
        )
        .await
    }

    /// Applies `edit` to an endpoint that still matches `expected`. If the endpoint is switched on,
    /// it continues where it stopped.
    pub async fn edit_webhook(
        &self,
        id: WebhookId,
        edit: WebhookEdit,
        expected: Precondition,
    ) -> Result<Option<Webhook>, StorageError> {
        let edited = self
            .change(
                "edit_webhook",
                (id, edit, expected),
                |tx, (id, edit, expected)| Box::pin(edit::edit(tx, *id, edit, expected)),
            )
            .await?;
        let Some(edited) = edited else {
            return Ok(None);
        };
        // The edit has succeeded in any case: deliveries that are not woken are attempted when they
        // are due.
        if edited.switched_on
            && let Err(error) = self.wake_deliveries(id, ALWAYS).await
        {
            tracing::warn!("what waits for a webhook is sent later: {error}");
        }
        Ok(Some(edited.webhook))
    }

    /// Removes an endpoint that still matches `expected`, with its waiting deliveries and its log.
    ///
    /// # Errors
    /// [`Conflict::Changed`](crate::Conflict::Changed) if it does not match.
    pub async fn delete_webhook(
        &self,
        id: WebhookId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_webhook", (id, expected), |tx, (id, expected)| {
            Box::pin(edit::delete(tx, *id, expected))
        })
        .await
    }

    /// Sets a new secret for an endpoint that still matches `expected`. The previous secret also
    /// signs for the time `keep`; returns when it stops.
    ///
    /// # Errors
    /// [`Conflict::Changed`](crate::Conflict::Changed) if it does not match.
    pub async fn rotate_webhook_secret(
        &self,
        id: WebhookId,
        secret: Vec<u8>,
        keep: Millis,
        expected: Precondition,
    ) -> Result<Option<Timestamp>, StorageError> {
        self.change(
            "rotate_webhook_secret",
            (id, secret, keep, expected),
            |tx, (id, secret, keep, expected)| {
                Box::pin(edit::rotate(tx, *id, secret, *keep, expected))
            },
        )
        .await
    }

    /// At most `limit` attempts of an endpoint, the newest first, after the attempt `after`.
    pub async fn webhook_attempts(
        &self,
        id: WebhookId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Option<Vec<Attempt>>, StorageError> {
        self.read(
            "webhook_attempts",
            (id, after, limit),
            |db, (id, after, limit)| Box::pin(attempts(db, *id, *after, *limit)),
        )
        .await
    }

    /// Sends events to an endpoint again. `None` if there is no such endpoint; `false` if the event
    /// no longer exists.
    ///
    /// # Errors
    ///
    /// [`Conflict::WebhookOff`](crate::Conflict::WebhookOff).
    pub async fn resend_webhook(
        &self,
        id: WebhookId,
        what: Resend,
    ) -> Result<Option<bool>, StorageError> {
        self.change("resend_webhook", (id, what), |tx, (id, what)| {
            Box::pin(deliver::resend(tx, *id, what))
        })
        .await
    }

    /// Stores a delivery of `event` to an endpoint that still matches `expected`, on or off, and
    /// claims it for the caller.
    ///
    /// # Errors
    /// [`Conflict::Changed`](crate::Conflict::Changed) if it does not match.
    pub async fn claim_test(
        &self,
        id: WebhookId,
        event: Happening,
        expected: Precondition,
    ) -> Result<Option<Claimed>, StorageError> {
        self.change(
            "claim_test",
            (id, event, expected),
            |tx, (id, event, expected)| Box::pin(deliver::claim_test(tx, *id, event, expected)),
        )
        .await
    }

    /// The state of all endpoints that are on.
    pub async fn route_states(&self) -> Result<Vec<RouteState>, StorageError> {
        let now = self.now().await?;
        self.read("route_states", now, |db, now| {
            Box::pin(route::states(db, *now))
        })
        .await
    }

    /// How often visitor data has been erased.
    pub async fn erasures(&self) -> Result<u64, StorageError> {
        self.read("erasures", (), |db, ()| Box::pin(route::erasures(db)))
            .await
    }

    /// The configuration of all endpoints that are on.
    pub async fn route_fields(&self) -> Result<HashMap<WebhookId, RouteFields>, StorageError> {
        self.read("route_fields", (), |db, ()| Box::pin(route::fields(db)))
            .await
    }

    /// The place of a tap in the order of commits, or a place shortly before it; `None` if the tap
    /// no longer exists.
    pub async fn place_of_tap(
        &self,
        id: InteractionId,
    ) -> Result<Option<CommitPosition>, StorageError> {
        self.read("place_of_tap", id, |db, id| {
            Box::pin(route::place_of_tap(db, *id))
        })
        .await
    }

    /// At most `limit` outbox events after a place, in the order of commits.
    pub async fn outbox_after(
        &self,
        after: CommitPosition,
        limit: usize,
    ) -> Result<Vec<OutboxEvent>, StorageError> {
        self.read("outbox_after", (after, limit), |db, (after, limit)| {
            Box::pin(outbox::after(db, *after, *limit))
        })
        .await
    }

    /// The properties of these tags that events need.
    pub async fn event_properties(
        &self,
        tags: Vec<TagId>,
    ) -> Result<HashMap<TagId, EventProperties>, StorageError> {
        self.read("event_properties", tags, |db, tags| {
            Box::pin(route::properties(db, tags))
        })
        .await
    }

    /// Moves endpoints forward and stores their deliveries. Returns the endpoints that moved.
    pub async fn advance_webhooks(&self, advance: Advance) -> Result<Vec<WebhookId>, StorageError> {
        self.change("advance_webhooks", advance, |tx, advance| {
            Box::pin(route::advance(tx, advance))
        })
        .await
    }

    /// At most `limit` endpoints that have a due delivery and are not `busy`. `held_back` selects
    /// either those that are held back or the others.
    pub async fn due_webhooks(
        &self,
        held_back: bool,
        busy: Vec<WebhookId>,
        limit: usize,
    ) -> Result<Vec<WebhookId>, StorageError> {
        let now = self.now().await?;
        self.read(
            "due_webhooks",
            (held_back, busy, limit, now),
            |db, (held_back, busy, limit, now)| {
                Box::pin(deliver::due(db, *held_back, busy, *limit, *now))
            },
        )
        .await
    }

    /// Claims due deliveries, at most `each` per endpoint. No other caller gets them within
    /// [`LEASE`](crate::LEASE).
    pub async fn claim_deliveries(
        &self,
        webhooks: Vec<WebhookId>,
        each: usize,
    ) -> Result<Vec<Claimed>, StorageError> {
        self.change(
            "claim_deliveries",
            (webhooks, each),
            |tx, (webhooks, each)| Box::pin(deliver::claim(tx, webhooks, *each)),
        )
        .await
    }

    /// Stores the results of attempts. Switches off an endpoint that is gone or has failed for too
    /// long, and creates an event about it.
    pub async fn finish_attempts(&self, finished: Vec<Finished>) -> Result<Settled, StorageError> {
        self.change("finish_attempts", finished, |tx, finished| {
            Box::pin(deliver::finish(tx, finished))
        })
        .await
    }

    /// Makes deliveries due at once that were not attempted before `since`, when the endpoint went
    /// down. Their failed attempts since then do not count. Deliveries that may be in flight stay
    /// as they are.
    pub async fn wake_deliveries(
        &self,
        id: WebhookId,
        since: Timestamp,
    ) -> Result<(), StorageError> {
        // Each commit wakes few, because taps wait for it. They are found in a separate read. The
        // request already has its row in the audit log.
        loop {
            let asleep = self
                .run_read("deliveries_asleep", (id, since), |db, (id, since)| {
                    Box::pin(deliver::asleep(db, *id, *since))
                })
                .await?;
            if asleep.is_empty() {
                return Ok(());
            }
            self.run_change("wake_deliveries", (id, asleep), |tx, (id, asleep)| {
                Box::pin(deliver::wake(tx, *id, asleep))
            })
            .await?;
        }
    }

    /// The backlog of all endpoints that are on.
    pub async fn webhook_backlog(&self) -> Result<Backlog, StorageError> {
        let now = self.now().await?;
        self.run_read("webhook_backlog", now, |db, now| {
            Box::pin(deliver::backlog(db, *now))
        })
        .await
    }

    /// Stores an alert, if anybody gets alerts of its type.
    pub async fn raise_alert(&self, alert: Alert) -> Result<(), StorageError> {
        self.change("raise_alert", alert, |tx, alert| {
            Box::pin(async move {
                let data = domain::webhook::object(&alert.data);
                outbox::tell(tx, alert.kind, alert.about, data).await
            })
        })
        .await
    }

    /// Removes some stored events of these types older than `keep_since`, delivered or not. `true`
    /// if more may be left.
    pub async fn prune_deliveries(
        &self,
        kinds: Vec<EventKind>,
        keep_since: Timestamp,
    ) -> Result<bool, StorageError> {
        // Find old deliveries in a read that does not hold taps up, because most rounds find none.
        let asked = (kinds, keep_since);
        let due = self.run_read("deliveries_due", asked, |db, (kinds, keep_since)| {
            Box::pin(deliver::aged(db, kinds, *keep_since))
        });
        let due = due.await?;
        if due.is_empty() {
            return Ok(false);
        }
        self.run_change("prune_deliveries", due, |tx, due| {
            Box::pin(deliver::forget(tx, due))
        })
        .await
        .map(|()| true)
    }

    /// Removes outbox events older than `keep_since`.
    pub async fn sweep_outbox(&self, keep_since: Timestamp) -> Result<(), StorageError> {
        let sql = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE at < ?1 ORDER BY id LIMIT 2000)";
        self.change_at_once("sweep_outbox", sql, values![keep_since].into())
            .await
            .map(drop)
    }
}

/// A time before all events.
const ALWAYS: Timestamp = Timestamp::from_millis(i64::MIN);

const SELECT: &str = "SELECT w.id, w.fields, w.previous_until, w.created_at, w.experience_ids,
        s.enabled, s.disabled, s.waiting, s.failing_since
    FROM webhooks w LEFT JOIN webhook_states s ON s.webhook_id = w.id";

fn read(mut row: Row) -> Result<Webhook, StorageError> {
    let id = row.take()?;
    let mut fields: WebhookFields = row.json("webhook")?;
    let previous_secret_until = row.take()?;
    let created_at = row.take()?;
    let experience_ids = row.optional_text("experience", |json| serde_json::from_str(json).ok())?;
    let enabled: Option<bool> = row.take()?;
    let disabled = row.optional_text("reason", Disabled::parse)?;
    let waiting: Option<u64> = row.take()?;
    // An endpoint without a state was restored or moved.
    let disabled = match enabled {
        None if fields.enabled => Some(Disabled::Restored),
        _ => disabled,
    };
    fields.enabled = enabled == Some(true);
    Ok(Webhook {
        id,
        fields,
        experience_ids,
        disabled,
        waiting: waiting.unwrap_or_default(),
        failing_since: row.take()?,
        previous_secret_until,
        created_at,
    })
}

/// An endpoint, if it is within the caller's reach.
async fn find(db: &mut dyn Query, id: WebhookId) -> Result<Option<Webhook>, StorageError> {
    let sql = format!("{SELECT} WHERE w.id = ?1");
    let found = db.row(&sql, &values![id]).await?.map(read).transpose()?;
    Ok(found.filter(|webhook| db.reach().covers(&webhook.reach())))
}

async fn list(
    db: &mut dyn Query,
    after: Option<WebhookId>,
    limit: usize,
) -> Result<Vec<Webhook>, StorageError> {
    let sql = format!("{SELECT} WHERE w.id > ?1 ORDER BY w.id LIMIT ?2");
    let (mut listed, mut after) = (Vec::new(), after.map_or(0, WebhookId::get));
    loop {
        let values = values![after, Value::limit(limit)];
        let found = db.query(&sql, &values).await?;
        let is_last = found.len() < limit;
        for row in found {
            let webhook = read(row)?;
            after = webhook.id.get();
            if db.reach().covers(&webhook.reach()) {
                listed.push(webhook);
            }
        }
        if is_last || listed.len() >= limit {
            listed.truncate(limit);
            return Ok(listed);
        }
    }
}

async fn attempts(
    db: &mut dyn Query,
    id: WebhookId,
    after: Option<i64>,
    limit: usize,
) -> Result<Option<Vec<Attempt>>, StorageError> {
    if find(db, id).await?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT a.id, d.event_id, d.type, a.at, a.status, a.error, a.response, a.duration
         FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
         WHERE a.webhook_id = ?1 AND a.id < ?2 ORDER BY a.id DESC LIMIT ?3";
    let values = values![id, after.unwrap_or(i64::MAX), Value::limit(limit)];
    let found = db.query(sql, &values).await?.into_iter().map(|mut row| {
        Ok(Attempt {
            id: row.take()?,
            event_id: row.take()?,
            kind: row.text("event type", EventKind::parse)?,
            at: row.take()?,
            status: row
                .take::<Option<u32>>()?
                .and_then(|status| status.try_into().ok()),
            error: row.take()?,
            response: row.take()?,
            duration_ms: row.take()?,
        })
    });
    found.collect::<Result<Vec<_>, StorageError>>().map(Some)
}

fn json(value: &impl serde::Serialize) -> Result<String, StorageError> {
    serde_json::to_string(value).map_err(|_| unreadable("event"))
}

/// Whether the endpoint has a state; a restored or moved one has none.
async fn has_state(tx: &mut dyn Transaction, id: WebhookId) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM webhook_states WHERE webhook_id = ?1";
    tx.exists(sql, &values![id]).await
}
