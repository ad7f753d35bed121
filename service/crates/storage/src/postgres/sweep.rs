//! Housekeeping, in steps so small that taps do not notice them. Only one node does it at a time; a
//! node that finds another one at work skips its round.

use std::sync::{Mutex, PoisonError};

use super::node::Node;
use super::row::{self, column};
use super::session::Session;
use super::transaction::LOCKS;
use crate::shared::dialect::Dialect;
use crate::{Event, StorageError, Swept, erasure};
use domain::clock::Timestamp;
use domain::interaction::{RecordedReads, RecordedRefusal};
use domain::resource_kind::ResourceKind;

/// The advisory lock that is held while a step runs.
const SWEEP_LOCK: i32 = 4;
/// Rows of one kind removed in one round, and visitors examined.
const BATCH: i64 = 2_000;

/// The tag and the client after whom the next round looks for old visitors; `None` starts with the
/// first one.
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
    /// Runs one round of housekeeping.
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
            // The lock ends with the connection.
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
        // Two statements, because a dropped partition holds up taps until its transaction ends.
        let mut removed = [0; 2];
        for (removed, sql) in removed
            .iter_mut()
            .zip(["SELECT drop_partition($1, $2)", "SELECT drop_due($1, $2)"])
        {
            let row = session.one(sql, &[&keep_since.millis(), &BATCH]).await?;
            *removed = column::<i64>(&row, 0)?.unsigned_abs();
        }
        let [weeks, due] = removed;
        let kept_since = now.minus(erasure::CLIENTS_KEPT);
        let clients = erase_clients(session, kept_since).await?;
        let visits = self.forget_visitors(session, kept_since).await?;
        Ok(Swept {
            interactions: due,
            visits,
            more: weeks > 0 || due > 0 || clients,
        })
    }

    /// Examines some visitors, and removes those without a recent tap. They are walked by tag,
    /// because an index on time would cost every tap a page.
    async fn forget_visitors(
        &self,
        session: &Session,
        kept_since: Timestamp,
    ) -> Result<u64, StorageError> {
        let (tag, client) = self.sweep_position.get();
        let kept_since = kept_since.millis();
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

    /// Turns the trace notes in memory into rows.
    pub(crate) async fn store_notes(&self) -> Result<(), StorageError> {
        let moving = self.deferred.move_on().await;
        let reads = self.store_payload_reads().await?;
        let refused = self.store_refused_updates().await?;
        if reads || refused {
            // Other nodes see the notes only now. Listeners here got an event for each.
            self.events.tell_elsewhere(&Event::Changed {
                kind: ResourceKind::Interactions,
                id: None,
            });
        }
        self.store_rules().await?;
        drop(moving);
        Ok(())
    }

    /// Stores the redirect rules that taps followed. Rules of taps whose visitor was erased
    /// meanwhile are dropped, because a rule can show a visitor's origin.
    async fn store_rules(&self) -> Result<(), StorageError> {
        let mut rules = self.deferred.rules.take();
        if rules.is_empty() {
            return Ok(());
        }
        // Every node locks rows in the same order, so that they cannot deadlock.
        rules.sort_unstable_by_key(|(id, _)| *id);
        let ids: Vec<i64> = rules.iter().map(|(id, _)| *id).collect();
        let numbers: Vec<i64> = rules.iter().map(|(_, rule)| rule.number().into()).collect();
        self.session()
            .await?
            .run(
                "INSERT INTO left_out (interaction_id, macros, rule)
                 SELECT r.id, '[]', r.rule::INTEGER FROM unnest($1::BIGINT[], $2::BIGINT[]) AS r (id, rule)
                 WHERE EXISTS (SELECT FROM interactions i WHERE i.id = r.id AND i.client IS NOT NULL)
                 ON CONFLICT (interaction_id) DO UPDATE SET rule = excluded.rule",
                &[&ids, &numbers],
            )
            .await?;
        Ok(())
    }

    /// Adds payload reads from memory to the stored ones. `false` if there are none.
    async fn store_payload_reads(&self) -> Result<bool, StorageError> {
        let mut reads = self.deferred.payload_reads.take();
        if reads.is_empty() {
            return Ok(false);
        }
        // Every node locks rows in the same order, so that they cannot deadlock.
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
        Ok(true)
    }

    /// Stores refused updates from memory; each replaces an earlier one of its interaction. `false`
    /// if there are none.
    async fn store_refused_updates(&self) -> Result<bool, StorageError> {
        let mut refusals = self.deferred.refused_updates.take();
        if refusals.is_empty() {
            return Ok(false);
        }
        // Every node locks rows in the same order, so that they cannot deadlock.
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
        Ok(true)
    }
}

/// Erases the clients of some interactions older than `since`; returns whether more are left. They
/// are found in the order of their times, after those whose clients are erased already.
async fn erase_clients(session: &Session, since: Timestamp) -> Result<bool, StorageError> {
    let mark = session.rows(erasure::CLIENTS_ERASED_TO, &[]).await?;
    let mark = mark.first().map(|row| column::<i64>(row, 0)).transpose()?;
    // A clock that goes back moves the mark back, too: later interactions would be behind it.
    let mark = mark.unwrap_or(i64::MIN).min(since.millis());
    let due = session
        .rows(
            "SELECT id, at FROM interactions WHERE at >= $1 AND at < $2 AND client IS NOT NULL
             ORDER BY at, id LIMIT $3",
            &[&mark, &since.millis(), &BATCH],
        )
        .await?;
    let ids = due.iter().map(|row| column(row, 0));
    let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
    let is_full = i64::try_from(ids.len()).unwrap_or(BATCH) == BATCH;
    if !ids.is_empty() {
        let sql = "UPDATE interactions SET client = NULL WHERE id = ANY ($1)";
        session.run(sql, &[&ids]).await?;
    }
    let reached = match due.last().filter(|_| is_full) {
        Some(last) => column(last, 1)?,
        None => since.millis(),
    };
    if !ids.is_empty() || reached.saturating_sub(mark) > erasure::CLIENTS_LAG.get() {
        let sql = Dialect::Postgres.say(erasure::SET_CLIENTS_ERASED_TO);
        session.run(&sql, &[&reached]).await?;
    }
    Ok(is_full)
}
