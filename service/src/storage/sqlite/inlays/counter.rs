//! What becomes of an inlay's counter when its keys change. A counter belongs
//! to the keys under which its codes were made: other keys start from 0, keys
//! that come back find it as they left it, so that no spent code is accepted again.

use rusqlite::{Connection, OptionalExtension as _};

use crate::id::InlayId;
use crate::inlay::Mirror;
use crate::inlay::counter::CounterState;
use crate::inlay::key::KeyFingerprint;
use crate::inventory::{InlayFields, SealedKeys};
use crate::storage::StorageError;

/// A new inlay's counter.
pub(super) fn start(connection: &Connection, id: InlayId) -> Result<(), StorageError> {
    connection
        .prepare_cached(
            "INSERT INTO counters (inlay_id, key_version, last, seen) VALUES (?1, 1, 0, 0)",
        )?
        .execute([id.0])?;
    Ok(())
}

/// Moves from the counter of an inlay as it was to that of the inlay as it is.
pub(super) fn follow(
    connection: &Connection,
    id: InlayId,
    before: &InlayFields,
    after: &InlayFields,
) -> Result<(), StorageError> {
    let same_keys = before.same_keys(after);
    if same_keys && before.mirror == after.mirror {
        return Ok(());
    }
    if let Some(keys) = &before.keys {
        keep(connection, id, keys)?;
    }
    let state = match &after.keys {
        Some(keys) => kept(connection, id, keys, after.mirror)?,
        None => CounterState::default(),
    };
    connection
        .prepare_cached(
            "UPDATE counters SET key_version = key_version + ?2, last = ?3, seen = ?4 WHERE inlay_id = ?1",
        )?
        .execute((id.0, !same_keys, state.last, state.seen.cast_signed()))?;
    Ok(())
}

fn keep(connection: &Connection, id: InlayId, keys: &SealedKeys) -> Result<(), StorageError> {
    let (file, meta) = prints(keys);
    connection
        .prepare_cached(
            "INSERT INTO former_counters (inlay_id, file_key_print, meta_key_print, last, seen)
             SELECT inlay_id, ?2, ?3, last, seen FROM counters WHERE inlay_id = ?1
             ON CONFLICT DO UPDATE SET last = excluded.last, seen = excluded.seen",
        )?
        .execute((id.0, file, meta))?;
    Ok(())
}

/// The counter under these keys. A plain code is made with the file key alone:
/// there it counts whatever meta key stood beside it.
fn kept(
    connection: &Connection,
    id: InlayId,
    keys: &SealedKeys,
    mirror: Option<Mirror>,
) -> Result<CounterState, StorageError> {
    let (file, meta) = prints(keys);
    let any_meta = mirror != Some(Mirror::Encrypted);
    let state = connection
        .prepare_cached(
            "SELECT last, seen FROM former_counters
             WHERE inlay_id = ?1 AND file_key_print = ?2 AND (?4 OR meta_key_print = ?3)
             ORDER BY last DESC LIMIT 1",
        )?
        .query_row((id.0, file, meta, any_meta), |row| {
            Ok(CounterState {
                last: row.get(0)?,
                seen: row.get::<_, i64>(1)?.cast_unsigned(),
            })
        })
        .optional()?;
    Ok(state.unwrap_or_default())
}

/// Fingerprints of file and meta key, the second empty where there is none.
fn prints(keys: &SealedKeys) -> ([u8; 16], Vec<u8>) {
    let meta = keys.meta().map(KeyFingerprint::bytes);
    (keys.file().bytes(), meta.map_or_else(Vec::new, Vec::from))
}
