//! Master keys, in SQL.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::PostgresStorage;
use super::row::{self, column, unreadable};
use super::session::Session;
use crate::id::MasterKeyId;
use crate::inlay::key::KeyFingerprint;
use crate::inventory::{MasterKeyFields, SealedKey, SealedMasterKey};
use crate::revision::Precondition;
use crate::storage::{Conflict, MasterKeys, StorageError};

#[async_trait]
impl MasterKeys for PostgresStorage {
    async fn insert_master_key(&self, key: MasterKeyFields) -> Result<MasterKeyId, StorageError> {
        let write = self.begin().await?;
        let inserted = write
            .one(
                "INSERT INTO master_keys (name, key, key_print, input, diversify_meta, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
                &[
                    &key.name,
                    &key.key.wrapped,
                    &key.key.fingerprint.bytes().as_slice(),
                    &key.input.to_string(),
                    &key.diversify_meta,
                    &write.now.millis(),
                ],
            )
            .await
            .and_then(|inserted| column(&inserted, 0).map(MasterKeyId));
        self.end(write, inserted).await
    }

    async fn master_key(&self, id: MasterKeyId) -> Result<Option<SealedMasterKey>, StorageError> {
        let session = self.session().await?;
        let sql = format!("SELECT {COLUMNS} FROM master_keys WHERE id = $1");
        let found = session.row(&sql, &[&id.0]).await?;
        found.as_ref().map(from_row).transpose()
    }

    async fn master_keys(
        &self,
        after: Option<MasterKeyId>,
        limit: usize,
    ) -> Result<Vec<SealedMasterKey>, StorageError> {
        let session = self.session().await?;
        let sql = format!("SELECT {COLUMNS} FROM master_keys WHERE id > $1 ORDER BY id LIMIT $2");
        let after = after.map_or(0, |id| id.0);
        let found = session.rows(&sql, &[&after, &row::limit(limit)]).await?;
        found.iter().map(from_row).collect()
    }

    async fn count_master_keys(&self) -> Result<u64, StorageError> {
        let session = self.session().await?;
        row::count(&session.one("SELECT count(*) FROM master_keys", &[]).await?)
    }

    async fn rename_master_key_if(
        &self,
        id: MasterKeyId,
        name: String,
        expected: Precondition,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        let write = self.begin().await?;
        let renamed = rename(&write, id, &name, &expected).await;
        self.end(write, renamed).await
    }

    async fn delete_master_key_if(
        &self,
        id: MasterKeyId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let write = self.begin().await?;
        let deleted = delete(&write, id, &expected).await;
        self.end(write, deleted).await
    }
}

const COLUMNS: &str = "id, name, key, key_print, input, diversify_meta, created_at";

/// Nobody else writes configuration in between.
async fn present(
    session: &Session,
    id: MasterKeyId,
    expected: &Precondition,
) -> Result<Option<SealedMasterKey>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM master_keys WHERE id = $1");
    let found = session.row(&sql, &[&id.0]).await?;
    let found = found.as_ref().map(from_row).transpose()?;
    if let Some(present) = &found {
        expected.check(Some(present))?;
    }
    Ok(found)
}

async fn rename(
    session: &Session,
    id: MasterKeyId,
    name: &str,
    expected: &Precondition,
) -> Result<Option<SealedMasterKey>, StorageError> {
    present(session, id, expected).await?;
    let sql = format!("UPDATE master_keys SET name = $2 WHERE id = $1 RETURNING {COLUMNS}");
    let renamed = session.row(&sql, &[&id.0, &name]).await?;
    renamed.as_ref().map(from_row).transpose()
}

async fn delete(
    session: &Session,
    id: MasterKeyId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    present(session, id, expected).await?;
    let users = session
        .one(
            "SELECT count(*) FROM inlays WHERE master_key_id = $1 AND deleted_at IS NULL",
            &[&id.0],
        )
        .await?;
    let users = match row::count(&users)? {
        0 => {
            let deleted = session
                .run("DELETE FROM master_keys WHERE id = $1", &[&id.0])
                .await?;
            return Ok((deleted > 0).then_some(()));
        }
        1 => "One inlay has its".to_owned(),
        users => format!("{users} inlays have their"),
    };
    let why = "keys from this master key. Give them other keys, or delete them, first.";
    Err(Conflict::InUse(format!("{users} {why}")).into())
}

fn from_row(found: &Row) -> Result<SealedMasterKey, StorageError> {
    Ok(SealedMasterKey {
        id: MasterKeyId(column(found, 0)?),
        fields: MasterKeyFields {
            name: column(found, 1)?,
            key: SealedKey {
                wrapped: column(found, 2)?,
                fingerprint: KeyFingerprint::from_bytes(row::bytes(found, 3)?),
            },
            input: column::<&str>(found, 4)?
                .parse()
                .map_err(|_| unreadable("master key"))?,
            diversify_meta: column(found, 5)?,
        },
        created_at: row::time(found, 6)?,
    })
}
