//! What the installation itself keeps, in SQL.

use std::fs::File;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _};

use super::{SqliteStorage, backup, row};
use crate::admin_token::{StoredToken, TokenHash};
use crate::clock::Timestamp;
use crate::id::TokenId;
use crate::settings::Overrides;
use crate::storage::{Administration, BackupNote, Secrets, SettingsEdit, StorageError};

#[async_trait]
impl Administration for SqliteStorage {
    async fn secrets(&self) -> Result<Secrets, StorageError> {
        self.read(|connection| {
            let secret = |name: &str| {
                connection.query_row("SELECT value FROM secrets WHERE name = ?1", [name], |row| {
                    row.get(0)
                })
            };
            Ok(Secrets {
                key_mask: secret("key_mask")?,
                client: secret("client")?,
            })
        })
    }

    async fn settings(&self) -> Result<Overrides, StorageError> {
        self.read(settings)
    }

    async fn edit_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError> {
        self.write(move |write| {
            let after = edit(settings(write.connection)?)?;
            let json = serde_json::to_string(&after).map_err(|_| row::unreadable("setting"))?;
            write.connection.execute(
                "INSERT INTO settings (name, value) VALUES (?1, ?2)
                 ON CONFLICT DO UPDATE SET value = excluded.value",
                (SETTINGS, json),
            )?;
            Ok(after)
        })
        .await
    }

    async fn any_wrapped_key(&self) -> Result<Option<Vec<u8>>, StorageError> {
        self.read(|connection| Ok(any_wrapped_key(connection)?))
    }

    async fn tokens(
        &self,
        after: Option<TokenId>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StorageError> {
        self.read(|connection| {
            let mut list = connection.prepare_cached(
                "SELECT id, name, created_at FROM tokens WHERE id > ?1 ORDER BY id LIMIT ?2",
            )?;
            let after = after.map_or(0, |id| id.0);
            let tokens = list.query_map((after, limit), |row| {
                Ok(StoredToken {
                    id: TokenId(row.get(0)?),
                    name: row.get(1)?,
                    created_at: Timestamp::from_millis(row.get(2)?),
                })
            })?;
            Ok(tokens.collect::<Result<_, _>>()?)
        })
    }

    async fn insert_token(
        &self,
        name: String,
        hash: TokenHash,
    ) -> Result<StoredToken, StorageError> {
        self.write(move |write| {
            write.connection.execute(
                "INSERT INTO tokens (name, hash, created_at) VALUES (?1, ?2, ?3)",
                (&name, hash.0, write.now.millis()),
            )?;
            Ok(StoredToken {
                id: TokenId(write.connection.last_insert_rowid()),
                name: name.clone(),
                created_at: write.now,
            })
        })
        .await
    }

    async fn delete_token(&self, id: TokenId) -> Result<Option<()>, StorageError> {
        self.write(move |write| {
            let removed = write
                .connection
                .execute("DELETE FROM tokens WHERE id = ?1", [id.0])?;
            Ok((removed > 0).then_some(()))
        })
        .await
    }

    async fn backup(&self, note: BackupNote) -> Result<File, StorageError> {
        let path = self.path().to_owned();
        self.read_long(move |connection| backup::copy(connection, &path, &note))
            .await
    }

    async fn has_token(&self, hash: TokenHash) -> Result<bool, StorageError> {
        self.read(|connection| {
            let mut find = connection.prepare_cached("SELECT 1 FROM tokens WHERE hash = ?1")?;
            Ok(find.exists([hash.0])?)
        })
    }
}

/// Any inlay's or master key in its stored form.
pub(super) fn any_wrapped_key(connection: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .query_row(
            "SELECT key FROM master_keys
             UNION ALL SELECT file_key FROM inlays WHERE file_key IS NOT NULL LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()
}

/// The row that holds what the operator decided.
const SETTINGS: &str = "operator";

fn settings(connection: &Connection) -> Result<Overrides, StorageError> {
    let json: Option<String> = connection
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([SETTINGS], |row| row.get(0))
        .optional()?;
    json.map_or(Ok(Overrides::default()), |json| {
        serde_json::from_str(&json).map_err(|_| row::unreadable("setting"))
    })
}
