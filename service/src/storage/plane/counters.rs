//! The counters of inlays, and what becomes of one when the keys change. A counter belongs
//! to the keys under which its codes were made: other keys start from 0, keys that come
//! back find it as they left it, so that no spent code is accepted again.

use super::{Query, Transaction};
use crate::clock::Timestamp;
use crate::id::InlayId;
use crate::inlay::Mirror;
use crate::inlay::counter::{Acceptance, CounterState, MirrorState};
use crate::inlay::key::KeyFingerprint;
use crate::interaction::{CounterRule, Refusal, Unchecked, Verdict};
use crate::inventory::{InlayFields, SealedKeys};
use crate::storage::StorageError;
use crate::storage::value::{Row, values};

/// What becomes of an authentic code under the counter `state` of its keys, and of the
/// counter if the code is accepted. There is no state if the keys are replaced.
///
/// `record_taps` in `migrations/postgres/V11__reports.sql` decides the same in SQL.
pub(in crate::storage) fn judge(
    state: Option<CounterState>,
    counter: u32,
) -> (Verdict, Option<CounterState>) {
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

/// The same of an authentic code whose inlay is blocked: it is spent, and verifies nothing.
///
/// `record_taps` in `migrations/postgres/V11__reports.sql` decides the same in SQL.
pub(in crate::storage) fn block(
    state: Option<CounterState>,
    counter: u32,
) -> (Verdict, Option<CounterState>) {
    let (verdict, moved) = judge(state, counter);
    if state.is_none() {
        return (verdict, None);
    }
    let counter = Some(counter);
    (Verdict::NotVerified(Refusal::Blocked { counter }), moved)
}

/// What becomes of a code that proves nothing, and of the counter if it moves.
///
/// `record_taps` in `migrations/postgres/V11__reports.sql` decides the same in SQL.
pub(in crate::storage) fn show(
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

/// The day of a moment, since the Unix epoch.
pub(in crate::storage) const fn day(at: Timestamp) -> i64 {
    at.millis().div_euclid(24 * 60 * 60 * 1000)
}

/// What [`judge`] or [`show`] says of a code on `day`. Nothing moves.
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
        CounterRule::Proof => judge(state, counter).0,
        CounterRule::Blocked => block(state, counter).0,
        CounterRule::Mirror => show(mirror, counter, day).0,
    })
}

/// A row's counter, for codes that prove a tap and for those that do not.
fn states(mut row: Row) -> Result<(CounterState, MirrorState), StorageError> {
    let state = state(&mut row)?;
    let mirror = MirrorState {
        last: state.last,
        day: row.take()?,
        risen: row.take()?,
    };
    Ok((state, mirror))
}

/// The counters of new inlays, after those that are spent already.
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

/// Counts what is up to `last` as spent.
pub(super) async fn spend(
    tx: &mut dyn Transaction,
    id: InlayId,
    last: u32,
) -> Result<(), StorageError> {
    tx.lock_counter(id).await?;
    let sql = "UPDATE counters SET last = ?2, seen = 0 WHERE inlay_id = ?1 AND last < ?2";
    tx.execute(sql, &values![id, last]).await.map(drop)
}

/// Moves from the counter of an inlay as it was to that of the inlay as it is.
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
        // Who verified a code of the inlay as it was before is told so when it records the tap: no
        // cache, on no node, accepts a code after its inlay is blocked.
        let sql = "UPDATE counters SET key_version = key_version + 1 WHERE inlay_id = ?1";
        tx.execute(sql, &values![id]).await?;
    }
    // Without keys, there is one counter of the chip, whatever its form.
    if same_keys && (same_form || after.keys.is_none()) {
        return Ok(());
    }
    if let Some(keys) = &before.keys {
        keep(tx, id, keys).await?;
    }
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

/// The counter under these keys. A plain code is made with the file key alone:
/// there it counts whatever meta key stood beside it.
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

/// Fingerprints of file and meta key, the second empty if there is none.
fn prints(keys: &SealedKeys) -> (KeyFingerprint, Vec<u8>) {
    let meta = keys.meta().map(KeyFingerprint::bytes);
    (keys.file(), meta.map_or_else(Vec::new, Vec::from))
}
