//! The counters of inlays, and their fate when keys change. A counter belongs to the keys that made
//! its codes. New keys start from 0; earlier keys continue with their old counter, so that no used
//! code is accepted again.

use super::{Query, Transaction};
use crate::StorageError;
use crate::value::{Row, values};
use domain::clock::Timestamp;
use domain::id::InlayId;
use domain::interaction::{CounterRule, Refusal, Unchecked, Verdict};
use domain::inventory::{InlayFields, KeyPrints, SealedKeys};
use inlay::Mirror;
use inlay::counter::{Acceptance, CounterState, MirrorState};
use inlay::key::KeyFingerprint;

/// The verdict for an authentic code under the counter `state` of its keys, and the new state if
/// the code is accepted. `state` is `None` if the keys were replaced.
///
/// `migrations/postgres/functions/record_taps.sql` decides the same in SQL.
pub(crate) fn judge(state: Option<CounterState>, counter: u32) -> (Verdict, Option<CounterState>) {
    let refused = |refusal| (Verdict::NotVerified(refusal), None);
    let Some(state) = state else {
        return refused(Refusal::KeysReplaced { counter });
    };
    match state.accept(counter) {
        Acceptance::Accepted { state, previous } => {
            (Verdict::Verified { counter, previous }, Some(state))
        }
        Acceptance::Replayed { last } => refused(Refusal::Replayed { counter, last }),
        Acceptance::OutOfOrder { last } => refused(Refusal::OutOfOrder { counter, last }),
    }
}

/// Like [`judge`], for a blocked inlay: its code is used up, but verifies nothing.
///
/// `migrations/postgres/functions/record_taps.sql` decides the same in SQL.
pub(crate) fn block(state: Option<CounterState>, counter: u32) -> (Verdict, Option<CounterState>) {
    let (verdict, moved) = judge(state, counter);
    if state.is_none() {
        return (verdict, None);
    }
    let counter = Some(counter);
    (Verdict::NotVerified(Refusal::Blocked { counter }), moved)
}

/// The verdict for a code that proves nothing, and the new state if the counter moves.
///
/// `migrations/postgres/functions/record_taps.sql` decides the same in SQL.
pub(crate) fn show(
    state: Option<MirrorState>,
    counter: u32,
    day: i64,
) -> (Verdict, Option<MirrorState>) {
    let Some(state) = state else {
        return (
            Verdict::NotVerified(Refusal::KeysReplaced { counter }),
            None,
        );
    };
    let last = state.last;
    let verdict = if state.jumps(counter, day) {
        Unchecked::Jumped { counter, last }
    } else {
        Unchecked::NoMac {
            counter: Some(counter),
            last: Some(last),
        }
    };
    (Verdict::NotChecked(verdict), state.show(counter, day))
}

/// The day of a moment: whole days since the Unix epoch.
pub(crate) const fn day(at: Timestamp) -> i64 {
    at.millis().div_euclid(24 * 60 * 60 * 1000)
}

/// The verdict of [`judge`] or [`show`] for a code on `day`. No counter moves.
pub(super) async fn dry_run_counter(
    db: &mut dyn Query,
    id: InlayId,
    key_version: u32,
    counter: u32,
    rule: CounterRule,
    day: i64,
) -> Result<Verdict, StorageError> {
    let sql = "SELECT last, seen, risen_on, risen FROM counters
         WHERE inlay_id = ?1 AND key_version = ?2";
    let found = db.row(sql, &values![id, key_version]).await?;
    let present = match db.counter(id) {
        Some((version, state, mirror)) => (version == key_version).then_some((state, mirror)),
        None => found.map(states).transpose()?,
    };
    let (state, mirror) = present.unzip();
    Ok(match rule {
        CounterRule::Proof => match judge(state, counter).0 {
            Verdict::Verified { counter, previous } if counter - previous > 1 => {
                let own = own_reads(db, id, previous, counter).await?;
                let previous = previous + own;
                Verdict::Verified { counter, previous }
            }
            verdict => verdict,
        },
        CounterRule::Blocked => block(state, counter).0,
        CounterRule::Mirror => show(mirror, counter, day).0,
    })
}

/// How many counters between these two belong to reads by this application.
async fn own_reads(
    db: &mut dyn Query,
    id: InlayId,
    after: u32,
    before: u32,
) -> Result<u32, StorageError> {
    let sql =
        "SELECT count(*) FROM own_reads WHERE inlay_id = ?1 AND counter > ?2 AND counter < ?3";
    let own: i64 = db.one(sql, &values![id, after, before]).await?.take()?;
    Ok(u32::try_from(own).unwrap_or_default())
}

/// Reads a row's counters: for codes that prove a tap, and for codes that do not.
fn states(mut row: Row) -> Result<(CounterState, MirrorState), StorageError> {
    let state = state(&mut row)?;
    let mirror = MirrorState {
        last: state.last,
        day: row.take()?,
        risen: row.take()?,
    };
    Ok((state, mirror))
}

/// Creates the counters of new inlays, each with its last used value.
pub(super) async fn start(
    tx: &mut dyn Transaction,
    inlays: &[(InlayId, u32)],
) -> Result<(), StorageError> {
    let rows = inlays
        .iter()
        .map(|(id, last)| values![*id, 1_i64, *last, 0_i64, 0_i64, 0_i64].into());
    let columns = [
        "inlay_id",
        "key_version",
        "last",
        "seen",
        "risen_on",
        "risen",
    ];
    super::insert_rows(tx, "counters", &columns, rows.collect(), "").await?;
    Ok(())
}

/// The highest counter that a deleted inlay with the keys `present` accepted under the keys `of`.
pub(super) async fn last_under(
    tx: &mut dyn Transaction,
    id: InlayId,
    present: Option<KeyPrints>,
    of: KeyPrints,
) -> Result<u32, StorageError> {
    tx.lock_counter(id).await?;
    let sql = "SELECT coalesce(max(last), 0) FROM former_counters
         WHERE inlay_id = ?1 AND file_key_print = ?2";
    let former: u32 = tx.one(sql, &values![id, of.file]).await?.take()?;
    if present.is_none_or(|present| present.file != of.file) {
        return Ok(former);
    }
    let sql = "SELECT last FROM counters WHERE inlay_id = ?1";
    let last: u32 = tx.one(sql, &values![id]).await?.take()?;
    Ok(last.max(former))
}

/// Marks all counters up to `last` as used.
pub(super) async fn spend(
    tx: &mut dyn Transaction,
    id: InlayId,
    last: u32,
) -> Result<(), StorageError> {
    tx.lock_counter(id).await?;
    let sql = "UPDATE counters SET last = ?2, seen = 0 WHERE inlay_id = ?1 AND last < ?2";
    tx.execute(sql, &values![id, last]).await.map(drop)
}

/// Switches an inlay's counter after a change from `before` to `after`.
pub(super) async fn follow(
    tx: &mut dyn Transaction,
    id: InlayId,
    before: &InlayFields,
    after: &InlayFields,
) -> Result<(), StorageError> {
    let same_keys = before.same_keys(after);
    let same_form =
        (before.mirror, before.url_template_id) == (after.mirror, after.url_template_id);
    let same_block = before.blocked_at.is_some() == after.blocked_at.is_some();
    if same_keys && same_form && same_block {
        return Ok(());
    }
    tx.lock_counter(id).await?;
    if !same_block {
        // A tap whose code was verified against the earlier inlay is refused when it is recorded,
        // because the key version differs. So no node accepts a code from its cache after the inlay
        // was blocked.
        let sql = "UPDATE counters SET key_version = key_version + 1 WHERE inlay_id = ?1";
        tx.execute(sql, &values![id]).await?;
    }
    // A chip without keys has one counter, whatever its form.
    if same_keys && (same_form || after.keys.is_none()) {
        return Ok(());
    }
    if let Some(keys) = &before.keys {
        keep(tx, id, keys).await?;
    }
    // The application's own reads belong to the former counter.
    tx.execute("DELETE FROM own_reads WHERE inlay_id = ?1", &values![id])
        .await?;
    let state = match &after.keys {
        Some(keys) => kept(tx, id, keys, after.mirror).await?,
        None => CounterState::default(),
    };
    tx.execute(
        "UPDATE counters SET key_version = key_version + ?2, last = ?3, seen = ?4 WHERE inlay_id = ?1",
        &values![
            id,
            i64::from(!same_keys),
            state.last,
            state.seen.cast_signed()
        ],
    )
    .await?;
    Ok(())
}

async fn keep(
    tx: &mut dyn Transaction,
    id: InlayId,
    keys: &SealedKeys,
) -> Result<(), StorageError> {
    let (file, meta) = prints(keys);
    tx.execute(
        "INSERT INTO former_counters (inlay_id, file_key_print, meta_key_print, last, seen)
         SELECT inlay_id, ?2, ?3, last, seen FROM counters WHERE inlay_id = ?1
         ON CONFLICT (inlay_id, file_key_print, meta_key_print)
             DO UPDATE SET last = excluded.last, seen = excluded.seen",
        &values![id, file, meta],
    )
    .await?;
    Ok(())
}

/// The counter that was kept under these keys. A plain code is made with the file key only, so its
/// counter is the same under any meta key.
async fn kept(
    tx: &mut dyn Transaction,
    id: InlayId,
    keys: &SealedKeys,
    mirror: Option<Mirror>,
) -> Result<CounterState, StorageError> {
    let (file, meta) = prints(keys);
    let any_meta = mirror != Some(Mirror::Encrypted);
    let found = tx
        .row(
            "SELECT last, seen FROM former_counters
             WHERE inlay_id = ?1 AND file_key_print = ?2 AND (?4 OR meta_key_print = ?3)
             ORDER BY last DESC LIMIT 1",
            &values![id, file, meta, any_meta],
        )
        .await?;
    found.map_or(Ok(CounterState::default()), |mut row| state(&mut row))
}

fn state(row: &mut Row) -> Result<CounterState, StorageError> {
    Ok(CounterState {
        last: row.take()?,
        seen: row.take::<i64>()?.cast_unsigned(),
    })
}

/// Fingerprints of the file key and the meta key; the second is empty if there is no meta key.
fn prints(keys: &SealedKeys) -> (KeyFingerprint, Vec<u8>) {
    let meta = keys.meta().map(KeyFingerprint::bytes);
    (keys.file(), meta.map_or_else(Vec::new, Vec::from))
}
