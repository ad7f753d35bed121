//! What the installation itself keeps: secrets, settings, tokens.

use async_trait::async_trait;

use super::{Database, Query, Transaction};
use crate::admin_token::{StoredToken, TokenHash};
use crate::id::TokenId;
use crate::settings::Overrides;
use crate::storage::value::{Value, unreadable, values};
use crate::storage::{Administration, Secrets, SettingsEdit, StorageError};

#[async_trait]
impl<D: Database> Administration for D {
    async fn secrets(&self) -> Result<Secrets, StorageError> {
        self.read("secrets", (), |db, ()| Box::pin(secrets(db)))
            .await
    }

    async fn settings(&self) -> Result<Overrides, StorageError> {
        self.read("settings", (), |db, ()| Box::pin(settings(db)))
            .await
    }

    async fn edit_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError> {
        self.change("edit_settings", edit, |tx, edit| {
            Box::pin(edit_settings(tx, edit))
        })
        .await
    }

    async fn any_wrapped_key(&self) -> Result<Option<Vec<u8>>, StorageError> {
        self.read("any_wrapped_key", (), |db, ()| {
            Box::pin(async move {
                let found = db.row(ANY_WRAPPED_KEY, &[]).await?;
                found.map(|mut row| row.take()).transpose()
            })
        })
        .await
    }

    async fn tokens(
        &self,
        after: Option<TokenId>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StorageError> {
        self.read("tokens", (after, limit), |db, (after, limit)| {
            Box::pin(tokens(db, *after, *limit))
        })
        .await
    }

    async fn insert_token(
        &self,
        name: String,
        hash: TokenHash,
    ) -> Result<StoredToken, StorageError> {
        self.change("insert_token", (name, hash), |tx, (name, hash)| {
            Box::pin(insert_token(tx, name, hash))
        })
        .await
    }

    async fn delete_token(&self, id: TokenId) -> Result<Option<()>, StorageError> {
        self.change("delete_token", id, |tx, id| Box::pin(delete_token(tx, *id)))
            .await
    }

    async fn has_token(&self, hash: TokenHash) -> Result<bool, StorageError> {
        self.read("has_token", hash, |db, hash| {
            Box::pin(async move {
                let sql = "SELECT 1 FROM tokens WHERE hash = ?1";
                db.exists(sql, &values![hash.0.as_slice()]).await
            })
        })
        .await
    }
}

/// Any inlay's, template's or master key in its stored form.
pub(in crate::storage) const ANY_WRAPPED_KEY: &str = "SELECT key FROM master_keys \
    UNION ALL SELECT key FROM url_template_keys WHERE key IS NOT NULL \
    UNION ALL SELECT file_key FROM inlays WHERE file_key IS NOT NULL LIMIT 1";

/// The row that holds what the operator decided.
const SETTINGS: &str = "operator";

async fn secrets(db: &mut dyn Query) -> Result<Secrets, StorageError> {
    let mut found = db
        .one(
            "SELECT (SELECT value FROM secrets WHERE name = 'key_mask'),
                    (SELECT value FROM secrets WHERE name = 'client')",
            &[],
        )
        .await?;
    Ok(Secrets {
        key_mask: found.take()?,
        client: found.take()?,
    })
}

async fn settings(db: &mut dyn Query) -> Result<Overrides, StorageError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    match db.row(sql, &values![SETTINGS]).await? {
        Some(mut found) => found.json("setting"),
        None => Ok(Overrides::default()),
    }
}

async fn edit_settings(
    tx: &mut dyn Transaction,
    edit: &SettingsEdit,
) -> Result<Overrides, StorageError> {
    let after = edit(settings(tx).await?)?;
    let json = serde_json::to_string(&after).map_err(|_| unreadable("setting"))?;
    tx.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &values![SETTINGS, json],
    )
    .await?;
    // Other nodes hear of it.
    tx.changes_configuration();
    Ok(after)
}

async fn tokens(
    db: &mut dyn Query,
    after: Option<TokenId>,
    limit: usize,
) -> Result<Vec<StoredToken>, StorageError> {
    let sql = "SELECT id, name, created_at FROM tokens WHERE id > ?1 ORDER BY id LIMIT ?2";
    let values = values![after.map_or(0, |id| id.0), Value::limit(limit)];
    let found = db.query(sql, &values).await?;
    let tokens = found.into_iter().map(|mut row| {
        Ok(StoredToken {
            id: row.take()?,
            name: row.take()?,
            created_at: row.take()?,
        })
    });
    tokens.collect()
}

async fn insert_token(
    tx: &mut dyn Transaction,
    name: &str,
    hash: &TokenHash,
) -> Result<StoredToken, StorageError> {
    let created_at = tx.now();
    let sql = "INSERT INTO tokens (name, hash, created_at) VALUES (?1, ?2, ?3) RETURNING id";
    let values = values![name, hash.0.as_slice(), created_at];
    Ok(StoredToken {
        id: tx.one(sql, &values).await?.take()?,
        name: name.to_owned(),
        created_at,
    })
}

async fn delete_token(tx: &mut dyn Transaction, id: TokenId) -> Result<Option<()>, StorageError> {
    let sql = "DELETE FROM tokens WHERE id = ?1";
    let removed = tx.execute(sql, &values![id]).await?;
    // What the token opened is looked at again, on every node.
    tx.changes_configuration();
    Ok((removed > 0).then_some(()))
}
