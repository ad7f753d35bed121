//! The backlog of webhooks.

use crate::StorageError;
use crate::shared::Query;
use crate::shared::dialect::Dialect;
use crate::value::values;
use crate::webhooks::Backlog;
use domain::clock::{Millis, Timestamp};

/// The backlog of endpoints that are on. Endpoints that fail, and endpoints that get old events
/// again, do not count as late.
pub(in crate::shared::webhooks) async fn backlog(
    db: &mut dyn Query,
    now: Timestamp,
) -> Result<Backlog, StorageError> {
    let sql = "SELECT CAST(coalesce(sum(waiting), 0) AS BIGINT),
             min(CASE WHEN failures = 0 AND waiting > 0 AND next_at > 0 THEN next_at END),
             min(CASE WHEN failures = 0 AND tap_seq >= again_seq THEN tap_seq END),
             min(CASE WHEN failures = 0 AND outbox_seq >= again_outbox_seq THEN outbox_seq END)
         FROM webhook_states WHERE enabled";
    let mut states = db.one(sql, &[]).await?;
    let waiting = states.take()?;
    let due: Option<Timestamp> = states.take()?;
    let (tap, event): (Option<i64>, Option<i64>) = (states.take()?, states.take()?);
    let (next_tap, next_event) = match db.dialect() {
        Dialect::Sqlite => (
            "SELECT at FROM interactions WHERE id > ?1 ORDER BY id LIMIT 1",
            "SELECT at FROM outbox WHERE id > ?1 ORDER BY id LIMIT 1",
        ),
        Dialect::Postgres => (
            "SELECT at FROM interactions WHERE seq > ?1 ORDER BY seq LIMIT 1",
            "SELECT at FROM outbox WHERE seq > ?1 ORDER BY seq LIMIT 1",
        ),
    };
    let mut oldest = due;
    for (sql, place) in [(next_tap, tap), (next_event, event)] {
        let Some(place) = place else { continue };
        if let Some(mut next) = db.row(sql, &values![place]).await? {
            let at: Timestamp = next.take()?;
            oldest = Some(oldest.map_or(at, |oldest| oldest.min(at)));
        }
    }
    let late = oldest.map_or(Millis::ZERO, |oldest| now.since(oldest).max(Millis::ZERO));
    Ok(Backlog { waiting, late })
}
