//! What the installation itself keeps, in SQL.

use std::fs::File;

use async_trait::async_trait;

use super::PostgresStorage;
use super::row::{self, column, unreadable};
use super::session::Session;
use crate::admin_token::{StoredToken, TokenHash};
use crate::id::TokenId;
use crate::settings::Overrides;
use crate::storage::{Administration, BackupNote, Secrets, SettingsEdit, StorageError};

#[async_trait]
impl Administration for PostgresStorage {
    async fn secrets(&self) -> Result<Secrets, StorageError> {
        let session = self.session().await?;
        let found = session
            .one(
                "SELECT (SELECT value FROM secrets WHERE name = 'key_mask'),
                        (SELECT value FROM secrets WHERE name = 'client')",
                &[],
            )
            .await?;
        Ok(Secrets {
            key_mask: row::bytes(&found, 0)?,
            client: row::bytes(&found, 1)?,
        })
    }

    async fn settings(&self) -> Result<Overrides, StorageError> {
        settings(&self.session().await?).await
    }

    async fn edit_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError> {
        let mut write = self.begin().await?;
        // Other nodes hear of it.
        write.changes_configuration();
        let after = self.contained(edit_settings(&write, &edit)).await;
        self.end(write, after).await
    }

    async fn any_wrapped_key(&self) -> Result<Option<Vec<u8>>, StorageError> {
        let session = self.session().await?;
        let found = session
            .row(
                "SELECT key FROM master_keys
                 UNION ALL SELECT file_key FROM inlays WHERE file_key IS NOT NULL LIMIT 1",
                &[],
            )
            .await?;
        found.map(|found| column(&found, 0)).transpose()
    }

    async fn tokens(
        &self,
        after: Option<TokenId>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StorageError> {
        let session = self.session().await?;
        let found = session
            .rows(
                "SELECT id, name, created_at FROM tokens WHERE id > $1 ORDER BY id LIMIT $2",
                &[&after.map_or(0, |id| id.0), &row::limit(limit)],
            )
            .await?;
        let tokens = found.iter().map(|found| {
            Ok(StoredToken {
                id: TokenId(column(found, 0)?),
                name: column(found, 1)?,
                created_at: row::time(found, 2)?,
            })
        });
        tokens.collect()
    }

    async fn insert_token(
        &self,
        name: String,
        hash: TokenHash,
    ) -> Result<StoredToken, StorageError> {
        let write = self.begin().await?;
        let created_at = write.now;
        let inserted = write
            .one(
                "INSERT INTO tokens (name, hash, created_at) VALUES ($1, $2, $3) RETURNING id",
                &[&name, &hash.0.as_slice(), &created_at.millis()],
            )
            .await
            .and_then(|inserted| column(&inserted, 0));
        let id = self.end(write, inserted).await?;
        Ok(StoredToken {
            id: TokenId(id),
            name,
            created_at,
        })
    }

    async fn delete_token(&self, id: TokenId) -> Result<Option<()>, StorageError> {
        let mut write = self.begin().await?;
        // What the token opened is looked at again, on every node.
        write.changes_configuration();
        let removed = write
            .run("DELETE FROM tokens WHERE id = $1", &[&id.0])
            .await;
        let removed = self.end(write, removed).await?;
        Ok((removed > 0).then_some(()))
    }

    async fn backup(&self, _: BackupNote) -> Result<File, StorageError> {
        Err(StorageError::Elsewhere(
            "This service keeps its data in PostgreSQL, which has tools of its own for backups: \
             pg_dump copies the database, pg_basebackup and the archived log the whole server. \
             Keep the file inlay.key beside the copy.",
        ))
    }

    async fn has_token(&self, hash: TokenHash) -> Result<bool, StorageError> {
        let session = self.session().await?;
        let found = session
            .row("SELECT FROM tokens WHERE hash = $1", &[&hash.0.as_slice()])
            .await?;
        Ok(found.is_some())
    }
}

/// The row that holds what the operator decided.
const SETTINGS: &str = "operator";

async fn settings(session: &Session) -> Result<Overrides, StorageError> {
    let found = session
        .row("SELECT value FROM settings WHERE name = $1", &[&SETTINGS])
        .await?;
    let Some(found) = found else {
        return Ok(Overrides::default());
    };
    serde_json::from_str(column(&found, 0)?).map_err(|_| unreadable("setting"))
}

async fn edit_settings(session: &Session, edit: &SettingsEdit) -> Result<Overrides, StorageError> {
    let after = edit(settings(session).await?)?;
    let json = serde_json::to_string(&after).map_err(|_| unreadable("setting"))?;
    session
        .run(
            "INSERT INTO settings (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[&SETTINGS, &json],
        )
        .await?;
    Ok(after)
}
