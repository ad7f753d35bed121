//! What becomes of an inlay's counter when its keys change. A counter belongs
//! to the keys under which its codes were made: other keys start from 0, keys
//! that come back find it as they left it, so that no spent code is accepted again.

use crate::id::InlayId;
use crate::inlay::Mirror;
use crate::inlay::counter::CounterState;
use crate::inlay::key::KeyFingerprint;
use crate::inventory::{InlayFields, SealedKeys};
use crate::storage::StorageError;
use crate::storage::postgres::row::{self, column};
use crate::storage::postgres::session::Session;

/// A new inlay's counter.
pub(super) async fn start(session: &Session, id: InlayId) -> Result<(), StorageError> {
    session
        .run(
            "INSERT INTO counters (inlay_id, key_version, last, seen) VALUES ($1, 1, 0, 0)",
            &[&id.0],
        )
        .await?;
    Ok(())
}

/// Moves from the counter of an inlay as it was to that of the inlay as it is.
/// Taps that come meanwhile wait, and are decided by what it is then.
pub(super) async fn follow(
    session: &Session,
    id: InlayId,
    before: &InlayFields,
    after: &InlayFields,
) -> Result<(), StorageError> {
    let same_keys = before.same_keys(after);
    if same_keys && before.mirror == after.mirror {
        return Ok(());
    }
    session
        .run(
            "SELECT FROM counters WHERE inlay_id = $1 FOR UPDATE",
            &[&id.0],
        )
        .await?;
    if let Some(keys) = &before.keys {
        keep(session, id, keys).await?;
    }
    let state = match &after.keys {
        Some(keys) => kept(session, id, keys, after.mirror).await?,
        None => CounterState::default(),
    };
    session
        .run(
            "UPDATE counters SET key_version = key_version + $2, last = $3, seen = $4 WHERE inlay_id = $1",
            &[
                &id.0,
                &i32::from(!same_keys),
                &state.last.cast_signed(),
                &state.seen.cast_signed(),
            ],
        )
        .await?;
    Ok(())
}

async fn keep(session: &Session, id: InlayId, keys: &SealedKeys) -> Result<(), StorageError> {
    let (file, meta) = prints(keys);
    session
        .run(
            "INSERT INTO former_counters (inlay_id, file_key_print, meta_key_print, last, seen)
             SELECT inlay_id, $2, $3, last, seen FROM counters WHERE inlay_id = $1
             ON CONFLICT (inlay_id, file_key_print, meta_key_print)
                 DO UPDATE SET last = excluded.last, seen = excluded.seen",
            &[&id.0, &file, &meta],
        )
        .await?;
    Ok(())
}

/// The counter under these keys. A plain code is made with the file key alone:
/// there it counts whatever meta key stood beside it.
async fn kept(
    session: &Session,
    id: InlayId,
    keys: &SealedKeys,
    mirror: Option<Mirror>,
) -> Result<CounterState, StorageError> {
    let (file, meta) = prints(keys);
    let any_meta = mirror != Some(Mirror::Encrypted);
    let found = session
        .row(
            "SELECT last, seen FROM former_counters
             WHERE inlay_id = $1 AND file_key_print = $2 AND ($4 OR meta_key_print = $3)
             ORDER BY last DESC LIMIT 1",
            &[&id.0, &file, &meta, &any_meta],
        )
        .await?;
    found.map_or(Ok(CounterState::default()), |found| {
        Ok(CounterState {
            last: row::number(&found, 0)?,
            seen: column::<i64>(&found, 1)?.cast_unsigned(),
        })
    })
}

/// Fingerprints of file and meta key, the second empty where there is none.
fn prints(keys: &SealedKeys) -> (Vec<u8>, Vec<u8>) {
    let meta = keys.meta().map(KeyFingerprint::bytes);
    (
        keys.file().bytes().to_vec(),
        meta.map_or_else(Vec::new, Vec::from),
    )
}
