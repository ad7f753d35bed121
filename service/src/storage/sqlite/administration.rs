//! What the installation itself keeps, in SQL.

use async_trait::async_trait;

use super::SqliteStorage;
use crate::admin_token::TokenHash;
use crate::storage::{Administration, Secrets, StorageError};

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

    async fn has_token(&self, hash: TokenHash) -> Result<bool, StorageError> {
        self.read(|connection| {
            let mut find = connection.prepare_cached("SELECT 1 FROM tokens WHERE hash = ?1")?;
            Ok(find.exists([hash.0])?)
        })
    }
}
