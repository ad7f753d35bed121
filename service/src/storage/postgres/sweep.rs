//! Housekeeping, in steps small enough not to be felt by a tap. One node at a
//! time does it; whichever comes while another is at it leaves it alone.

use std::sync::{Mutex, PoisonError};

use super::node::Node;
use super::row::{self, column};
use super::session::Session;
use super::transaction::LOCKS;
use crate::clock::Timestamp;
use crate::interaction::{RecordedReads, RecordedRefusal};
use crate::storage::{StorageError, Swept};

/// Held while a step runs.
const SWEEP_LOCK: i32 = 4;
/// Rows removed of one kind in one round, and visitors looked at.
const BATCH: i64 = 2_000;
/// How long a visitor's identity is kept, in milliseconds (decisions, "Payload retrieval").
const VISITORS_KEPT: i64 = 30 * 24 * 60 * 60 * 1000;

/// The tag and the client after whom the next round looks for old visitors; `None`: from the first on.
#[derive(Default)]
pub(super) struct Position(Mutex<Option<(i64, Vec<u8>)>>);

impl Position {
    fn get(&self) -> (i64, Vec<u8>) {
        let position = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        position.clone().unwrap_or((i64::MIN, Vec::new()))
    }

    fn set(&self, position: Option<(i64, Vec<u8>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = position;
    }
}

impl Node {
    /// One round.
    pub(super) async fn sweep_once(&self, keep_since: Timestamp) -> Result<Swept, StorageError> {
        self.store_notes().await?;
        let session = self.session().await?;
        let alone = "SELECT pg_try_advisory_lock($1, $2), present()";
        let alone = session.one(alone, &[&LOCKS, &SWEEP_LOCK]).await?;
        if !column::<bool>(&alone, 0)? {
            return Ok(Swept::default());
        }
        let now = row::time(&alone, 1)?;
        let swept = self.round(&session, now, keep_since).await;
        let unlocked = "SELECT pg_advisory_unlock($1, $2)";
        if session.run(unlocked, &[&LOCKS, &SWEEP_LOCK]).await.is_err() {
            // The lock goes with the connection.
            session.give_up();
        }
        swept
    }

    async fn round(
        &self,
        session: &Session,
        now: Timestamp,
        keep_since: Timestamp,
    ) -> Result<Swept, StorageError> {
        session.one("SELECT expire_aged_keys()", &[]).await?;
        // Two statements: a dropped partition holds up taps until its transaction ends.
        let mut removed = [0; 2];
        for (removed, sql) in removed
            .iter_mut()
            .zip(["SELECT drop_partition($1, $2)", "SELECT drop_due($1, $2)"])
        {
            let row = session.one(sql, &[&keep_since.millis(), &BATCH]).await?;
            *removed = column::<i64>(&row, 0)?.unsigned_abs();
        }
        let [weeks, due] = removed;
        let visits = self.forget_visitors(session, now).await?;
        Ok(Swept {
            interactions: due,
            visits,
            more: weeks > 0 || due > 0,
        })
    }

    /// Looks at some visitors, and removes those who did not come for long. They are found by their
    /// tag: an index on time would cost every tap a page.
    async fn forget_visitors(
        &self,
        session: &Session,
        now: Timestamp,
    ) -> Result<u64, StorageError> {
        let (tag, client) = self.sweep_position.get();
        let kept_since = now.plus_millis(-VISITORS_KEPT).millis();
        let looked = session
            .one(
                "WITH next AS MATERIALIZED (
                     SELECT tag_id, client, last_at FROM visits WHERE (tag_id, client) > ($1, $2)
                     ORDER BY tag_id, client LIMIT $3
                 ), old AS (
                     SELECT v.tag_id, v.client FROM visits v JOIN next USING (tag_id, client)
                     WHERE v.client <> '' AND next.last_at < $4 AND v.last_at < $4 FOR UPDATE OF v SKIP LOCKED
                 ), forgotten AS (
                     DELETE FROM visits v USING old
                     WHERE v.tag_id = old.tag_id AND v.client = old.client RETURNING 1
                 )
                 SELECT (SELECT count(*) FROM forgotten), (SELECT count(*) FROM next), last.tag_id, last.client
                 FROM (SELECT) AS here
                     LEFT JOIN (SELECT tag_id, client FROM next ORDER BY tag_id DESC, client DESC LIMIT 1) AS last
                     ON TRUE",
                &[&tag, &client, &BATCH, &kept_since],
            )
            .await?;
        let last: Option<i64> = column(&looked, 2)?;
        let last = last.zip(column::<Option<Vec<u8>>>(&looked, 3)?);
        let all = column::<i64>(&looked, 1)? == BATCH;
        self.sweep_position.set(last.filter(|_| all));
        Ok(column::<i64>(&looked, 0)?.unsigned_abs())
    }

    /// Makes rows of what is noted for traces.
    pub(super) async fn store_notes(&self) -> Result<(), StorageError> {
        let _moving = self.notes.move_on().await;
        self.store_payload_reads().await?;
        self.store_refused_updates().await
    }

    /// Adds noted payload reads to those that are stored.
    async fn store_payload_reads(&self) -> Result<(), StorageError> {
        let mut reads = self.notes.payload_reads.take();
        if reads.is_empty() {
            return Ok(());
        }
        // In the same order on every node.
        reads.sort_unstable_by_key(|(id, _)| *id);
        let column = |value: fn(&(i64, RecordedReads)) -> i64| -> Vec<i64> {
            reads.iter().map(value).collect()
        };
        self.session()
            .await?
            .run(
                "INSERT INTO payload_reads AS p (interaction_id, first_at, reads)
                 SELECT id, first_at, reads::INTEGER
                 FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[]) AS r (id, first_at, reads)
                 ON CONFLICT (interaction_id) DO UPDATE SET reads = p.reads + excluded.reads",
                &[
                    &column(|(id, _)| *id),
                    &column(|(_, read)| read.first_at.millis()),
                    &column(|(_, read)| i64::from(read.reads)),
                ],
            )
            .await?;
        Ok(())
    }

    /// Stores noted refusals, each in the place of an earlier one of its interaction.
    async fn store_refused_updates(&self) -> Result<(), StorageError> {
        let mut refusals = self.notes.refused_updates.take();
        if refusals.is_empty() {
            return Ok(());
        }
        // In the same order on every node.
        refusals.sort_unstable_by_key(|(id, _)| *id);
        let (ids, refusals): (Vec<i64>, Vec<RecordedRefusal>) = refusals.into_iter().unzip();
        let times: Vec<i64> = refusals.iter().map(|one| one.at.millis()).collect();
        let faults: Vec<&str> = refusals.iter().map(|one| one.fault.as_str()).collect();
        let variables: Vec<Option<&str>> =
            refusals.iter().map(|one| one.variable.as_deref()).collect();
        self.session()
            .await?
            .run(
                "INSERT INTO refused_updates (interaction_id, at, fault, variable)
                 SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::TEXT[], $4::TEXT[])
                 ON CONFLICT (interaction_id) DO UPDATE
                     SET at = excluded.at, fault = excluded.fault, variable = excluded.variable",
                &[&ids, &times, &faults, &variables],
            )
            .await?;
        Ok(())
    }
}
