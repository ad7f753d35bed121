//! The roots from which chip keys are derived.

use serde_json::json;

use super::{ABANDONED, OPEN};
use crate::shared::webhooks::outbox;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use crate::{ExposedInlay, SealedRoot, StorageError};
use domain::audit::Note;
use domain::clock::Timestamp;
use domain::id::InlayId;
use domain::inventory::SealedKey;
use domain::webhook::{About, EventKind, object};

pub(super) async fn all(db: &mut dyn Query) -> Result<Vec<SealedRoot>, StorageError> {
    let sql = "SELECT id, key, key_print, created_at, retired_at, backed_up_at, compromised_at
         FROM encoding_roots ORDER BY id DESC";
    let roots = db.query(sql, &[]).await?.into_iter().map(|mut row| {
        Ok(SealedRoot {
            id: row.take()?,
            key: SealedKey {
                wrapped: row.take()?,
                fingerprint: row.take()?,
            },
            created_at: row.take()?,
            retired_at: row.take()?,
            backed_up_at: row.take()?,
            compromised_at: row.take()?,
        })
    });
    roots.collect()
}

pub(super) async fn insert(tx: &mut dyn Transaction, root: &SealedKey) -> Result<(), StorageError> {
    let active = "SELECT 1 FROM encoding_roots WHERE retired_at IS NULL";
    if tx.exists(active, &[]).await? {
        return Ok(());
    }
    // The audit row of this request describes the encoding or order that needed the root.
    tx.is_no_change();
    add(tx, root).await
}

pub(super) async fn replace(
    tx: &mut dyn Transaction,
    root: &SealedKey,
    compromised: bool,
) -> Result<(), StorageError> {
    let now = tx.now();
    let sql = "UPDATE encoding_roots SET retired_at = ?1 WHERE retired_at IS NULL";
    tx.execute(sql, &values![now]).await?;
    if compromised {
        // Whoever has learned one root had the database and the key that wraps all of them.
        let sql = "UPDATE encoding_roots SET compromised_at = ?1 WHERE compromised_at IS NULL";
        tx.execute(sql, &values![now]).await?;
    }
    let sql = format!("UPDATE encodings SET {ABANDONED}, updated_at = ?1 WHERE {OPEN}");
    tx.execute(&sql, &values![now]).await?;
    tx.note(Note::done(&json!({ "compromised": compromised })));
    add(tx, root).await
}

/// The statements that retire all roots and cancel open encodings, for a restored database: chips
/// that were encoded after the backup are missing in it. So roots only open chips from now on, and
/// no generation of keys is used twice.
pub(crate) fn retire_all() -> String {
    format!(
        "UPDATE encoding_roots SET retired_at = coalesce(backed_up_at, created_at) WHERE retired_at IS NULL;
         UPDATE encodings SET {ABANDONED} WHERE {OPEN}"
    )
}

/// Inlays whose chip was last opened by key 0 of a compromised root.
const EXPOSED: &str = "FROM inlays i
     JOIN chips c ON c.uid = i.uid
     JOIN chip_keys k ON k.uid = c.uid AND k.generation = c.confirmed AND k.slot = 0
     JOIN encoding_roots r ON r.id = k.root_id AND r.compromised_at IS NOT NULL
     WHERE i.deleted_at IS NULL";

pub(super) async fn exposed(
    db: &mut dyn Query,
    after: Option<InlayId>,
    limit: usize,
) -> Result<Vec<ExposedInlay>, StorageError> {
    let sql = format!(
        "SELECT i.id, i.uid, i.tag_id, (SELECT slug FROM tags g WHERE g.id = i.tag_id), k.root_id, k.generation
         {EXPOSED} AND i.id > ?1 ORDER BY i.id LIMIT ?2"
    );
    let values = values![after.map_or(0, InlayId::get), Value::limit(limit)];
    let found = db.query(&sql, &values).await?;
    let inlays = found.into_iter().map(|mut row| {
        Ok(ExposedInlay {
            inlay_id: row.take()?,
            uid: row.take()?,
            tag_id: row.take()?,
            slug: row.take()?,
            root_id: row.take()?,
            generation: row.take()?,
        })
    });
    inlays.collect()
}

pub(super) async fn count_exposed(db: &mut dyn Query) -> Result<u64, StorageError> {
    db.count(&format!("SELECT count(*) {EXPOSED}"), &[]).await
}

async fn add(tx: &mut dyn Transaction, root: &SealedKey) -> Result<(), StorageError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO encoding_roots (key, key_print, created_at) VALUES (?1, ?2, ?3)",
        &values![&root.wrapped, root.fingerprint, now],
    )
    .await?;
    let data = object(&json!({
        "created_at": now,
        "message": "A new encoding root is in no backup. Back it up: without a backup, only this service can open the chips.",
    }));
    outbox::tell(tx, EventKind::AlertRootNotBackedUp, About::default(), data).await
}

pub(super) async fn backed_up(tx: &mut dyn Transaction, at: Timestamp) -> Result<(), StorageError> {
    // A root that was generated after the backup is not in it.
    let sql = "UPDATE encoding_roots SET backed_up_at = ?1 WHERE backed_up_at IS NULL AND created_at <= ?1";
    tx.execute(sql, &values![at]).await.map(drop)
}
