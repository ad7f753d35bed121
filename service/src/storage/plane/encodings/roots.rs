//! The roots that keys of chips are derived from.

use serde_json::json;

use crate::clock::Timestamp;
use crate::inventory::SealedKey;
use crate::storage::plane::webhooks::outbox;
use crate::storage::plane::{Query, Transaction};
use crate::storage::value::values;
use crate::storage::{SealedRoot, StorageError};
use crate::webhook::{About, EventKind, object};

pub(super) async fn all(db: &mut dyn Query) -> Result<Vec<SealedRoot>, StorageError> {
    let sql = "SELECT id, key, key_print, created_at, retired_at, backed_up_at
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
        })
    });
    roots.collect()
}

pub(super) async fn insert(
    tx: &mut dyn Transaction,
    root: &SealedKey,
    retire: bool,
) -> Result<(), StorageError> {
    let now = tx.now();
    if retire {
        let sql = "UPDATE encoding_roots SET retired_at = ?1 WHERE retired_at IS NULL";
        tx.execute(sql, &values![now]).await?;
    } else if tx
        .exists("SELECT 1 FROM encoding_roots WHERE retired_at IS NULL", &[])
        .await?
    {
        return Ok(());
    }
    tx.execute(
        "INSERT INTO encoding_roots (key, key_print, created_at) VALUES (?1, ?2, ?3)",
        &values![&root.wrapped, root.fingerprint, now],
    )
    .await?;
    let data = object(&json!({ "created_at": now }));
    outbox::tell(tx, EventKind::AlertRootNotBackedUp, About::default(), data).await
}

pub(super) async fn backed_up(tx: &mut dyn Transaction, at: Timestamp) -> Result<(), StorageError> {
    // A root that came later is not in it.
    let sql = "UPDATE encoding_roots SET backed_up_at = ?1 WHERE backed_up_at IS NULL AND created_at <= ?1";
    tx.execute(sql, &values![at]).await.map(drop)
}
