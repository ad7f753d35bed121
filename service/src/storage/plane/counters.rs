//! The counters of inlays, and what becomes of one when the keys change. A counter belongs
//! to the keys under which its codes were made: other keys start from 0, keys that come
//! back find it as they left it, so that no spent code is accepted again.

use super::{Query, Transaction};
use crate::id::InlayId;
use crate::inlay::Mirror;
use crate::inlay::counter::{Acceptance, CounterState};
use crate::inlay::key::KeyFingerprint;
use crate::interaction::{Refusal, Verdict};
use crate::inventory::{InlayFields, SealedKeys};
use crate::storage::StorageError;
use crate::storage::value::{Row, values};

/// What becomes of an authentic code under the counter `state` of its keys, and of the
/// counter if the code is accepted. There is no state if the keys are replaced.
///
/// `record_taps` in `migrations/postgres/V1/taps.sql` decides the same in SQL.
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

/// What [`judge`] says of a code now. Nothing moves.
pub(super) async fn foresee(
    db: &mut dyn Query,
    id: InlayId,
    key_version: u32,
    counter: u32,
) -> Result<Verdict, StorageError> {
    let sql = "SELECT last, seen FROM counters WHERE inlay_id = ?1 AND key_version = ?2";
    let found = db.row(sql, &values![id, key_version]).await?;
    let present = match db.counter(id) {
        Some((version, state)) => (version == key_version).then_some(state),
        None => found.map(state).transpose()?,
    };
    Ok(judge(present, counter).0)
}

/// A new inlay's counter.
pub(super) async fn start(tx: &mut dyn Transaction, id: InlayId) -> Result<(), StorageError> {
    let sql = "INSERT INTO counters (inlay_id, key_version, last, seen) VALUES (?1, 1, 0, 0)";
    tx.execute(sql, &values![id]).await.map(drop)
}

/// Moves from the counter of an inlay as it was to that of the inlay as it is.
pub(super) async fn follow(
    tx: &mut dyn Transaction,
    id: InlayId,
    before: &InlayFields,
    after: &InlayFields,
) -> Result<(), StorageError> {
    let same_keys = before.same_keys(after);
    if same_keys && before.mirror == after.mirror {
        return Ok(());
    }
    tx.lock_counter(id).await?;
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
    found.map_or(Ok(CounterState::default()), state)
}

fn state(mut row: Row) -> Result<CounterState, StorageError> {
    Ok(CounterState {
        last: row.take()?,
        seen: row.take::<i64>()?.cast_unsigned(),
    })
}

/// Fingerprints of file and meta key, the second empty where there is none.
fn prints(keys: &SealedKeys) -> (KeyFingerprint, Vec<u8>) {
    let meta = keys.meta().map(KeyFingerprint::bytes);
    (keys.file(), meta.map_or_else(Vec::new, Vec::from))
}
