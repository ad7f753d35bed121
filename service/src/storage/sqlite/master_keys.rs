//! Master keys, in SQL.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::SqliteStorage;
use super::row::{self, unreadable};
use crate::clock::Timestamp;
use crate::id::MasterKeyId;
use crate::inlay::key::KeyFingerprint;
use crate::inventory::{MasterKeyFields, SealedKey, SealedMasterKey};
use crate::revision::Precondition;
use crate::storage::{Conflict, MasterKeys, StorageError};

#[async_trait]
impl MasterKeys for SqliteStorage {
    async fn insert_master_key(&self, key: MasterKeyFields) -> Result<MasterKeyId, StorageError> {
        self.write(move |write| {
            write
                .connection
                .prepare_cached(
                    "INSERT INTO master_keys (name, key, key_print, input, diversify_meta, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(rusqlite::params![
                    key.name,
                    key.key.wrapped,
                    key.key.fingerprint.bytes(),
                    key.input.to_string(),
                    key.diversify_meta,
                    write.now.millis(),
                ])?;
            Ok(MasterKeyId(write.connection.last_insert_rowid()))
        })
        .await
    }

    async fn master_key(&self, id: MasterKeyId) -> Result<Option<SealedMasterKey>, StorageError> {
        self.read(|connection| master_key(connection, id))
    }

    async fn master_keys(
        &self,
        after: Option<MasterKeyId>,
        limit: usize,
    ) -> Result<Vec<SealedMasterKey>, StorageError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM master_keys WHERE id > ?1 ORDER BY id LIMIT ?2"
            ))?;
            let found = select
                .query_map((after.map_or(0, |id| id.0), row::limit(limit)), |row| {
                    Ok(from_row(row))
                })?;
            found.map(|row| row?).collect()
        })
    }

    async fn count_master_keys(&self) -> Result<u64, StorageError> {
        self.read(|connection| {
            let count: i64 = connection
                .prepare_cached("SELECT count(*) FROM master_keys")?
                .query_row([], |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
    }

    async fn rename_master_key_if(
        &self,
        id: MasterKeyId,
        name: String,
        expected: Precondition,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        self.write(move |write| {
            let Some(present) = master_key(write.connection, id)? else {
                return Ok(None);
            };
            expected.check(Some(&present))?;
            write
                .connection
                .prepare_cached("UPDATE master_keys SET name = ?2 WHERE id = ?1")?
                .execute((id.0, &name))?;
            master_key(write.connection, id)
        })
        .await
    }

    async fn delete_master_key_if(
        &self,
        id: MasterKeyId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| {
            let Some(present) = master_key(write.connection, id)? else {
                return Ok(None);
            };
            expected.check(Some(&present))?;
            let users: i64 = write
                .connection
                .prepare_cached(
                    "SELECT count(*) FROM inlays WHERE master_key_id = ?1 AND deleted_at IS NULL",
                )?
                .query_row([id.0], |row| row.get(0))?;
            if users > 0 {
                let users = match users {
                    1 => "One inlay has its".to_owned(),
                    _ => format!("{users} inlays have their"),
                };
                return Err(Conflict::InUse(format!(
                    "{users} keys from this master key. Give them other keys, or delete them, first."
                ))
                .into());
            }
            let deleted = write
                .connection
                .prepare_cached("DELETE FROM master_keys WHERE id = ?1")?
                .execute([id.0])?;
            Ok((deleted > 0).then_some(()))
        })
        .await
    }
}

const COLUMNS: &str = "id, name, key, key_print, input, diversify_meta, created_at";

fn master_key(
    connection: &Connection,
    id: MasterKeyId,
) -> Result<Option<SealedMasterKey>, StorageError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM master_keys WHERE id = ?1"))?
        .query_row([id.0], |row| Ok(from_row(row)))
        .optional()?
        .transpose()
}

fn from_row(row: &Row<'_>) -> Result<SealedMasterKey, StorageError> {
    let input: String = row.get(4)?;
    Ok(SealedMasterKey {
        id: MasterKeyId(row.get(0)?),
        fields: MasterKeyFields {
            name: row.get(1)?,
            key: SealedKey {
                wrapped: row.get(2)?,
                fingerprint: KeyFingerprint::from_bytes(row.get(3)?),
            },
            input: input.parse().map_err(|_| unreadable("master key"))?,
            diversify_meta: row.get(5)?,
        },
        created_at: Timestamp::from_millis(row.get(6)?),
    })
}
