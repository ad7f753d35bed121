//! The installation's own data: secrets, settings, admin tokens.

use super::tags::check_experience;
use super::{Query, Transaction, groups};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, CachedPart, Secrets, SettingsEdit, StorageError};
use domain::admin_token::{NewStoredToken, StoredToken, TokenHash};
use domain::audit::Note;
use domain::clock::Timestamp;
use domain::id::TokenId;
use domain::resource_kind::ResourceKind;
use domain::scope::Rights;
use domain::settings::Overrides;
use domain::tag_url::{self, TagUrlCheck};

/// The operations on the installation's own data.
impl Access {
    /// The installation's secrets, which were generated with the database.
    pub async fn secrets(&self) -> Result<Secrets, StorageError> {
        self.read("secrets", (), |db, ()| Box::pin(secrets(db)))
            .await
    }

    /// The settings as stored in the database, without arguments and variables.
    pub async fn settings(&self) -> Result<Overrides, StorageError> {
        self.read("settings", (), |db, ()| Box::pin(settings(db)))
            .await
    }

    /// Applies `edit` to the stored settings, and returns the settings as stored afterwards.
    ///
    /// # Errors
    ///
    /// The error of `edit`.
    pub async fn edit_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError> {
        self.change("edit_settings", edit, |tx, edit| {
            Box::pin(edit_settings(tx, edit))
        })
        .await
    }

    /// The newest check result of each tag URL that was checked recently, the newest first.
    pub async fn tag_url_checks(&self) -> Result<Vec<TagUrlCheck>, StorageError> {
        self.read("tag_url_checks", (), |db, ()| Box::pin(tag_url_checks(db)))
            .await
    }

    /// Stores the result of a tag URL check, in place of the earlier result of that tag URL.
    pub async fn note_tag_url_check(&self, check: TagUrlCheck) -> Result<(), StorageError> {
        self.change("note_tag_url_check", check, |tx, check| {
            Box::pin(note_tag_url_check(tx, check))
        })
        .await?;
        self.tell_changed(ResourceKind::TagUrl, None);
        Ok(())
    }

    /// Any inlay's or master key in its stored form. If there is one, the wrapping key must not be
    /// generated again, and must be the key that opens it.
    pub async fn any_wrapped_key(&self) -> Result<Option<Vec<u8>>, StorageError> {
        self.read("any_wrapped_key", (), |db, ()| {
            Box::pin(async move {
                let found = db.row(ANY_WRAPPED_KEY, &[]).await?;
                found.map(|mut row| row.take()).transpose()
            })
        })
        .await
    }

    /// At most `limit` stored admin tokens, the oldest first, after the token `after`.
    pub async fn tokens(
        &self,
        after: Option<TokenId>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StorageError> {
        self.read("tokens", (after, limit), |db, (after, limit)| {
            Box::pin(tokens(db, *after, *limit))
        })
        .await
    }

    /// Stores an admin token by its hash.
    ///
    /// # Errors
    ///
    /// [`Conflict::MissingInList`](crate::Conflict::MissingInList) if the token is limited to an experience or a
    /// group that does not exist.
    pub async fn insert_token(&self, token: NewStoredToken) -> Result<StoredToken, StorageError> {
        self.change("insert_token", token, |tx, token| {
            Box::pin(insert_token(tx, token))
        })
        .await
    }

    /// Deletes an admin token. `None` if there is no such token.
    pub async fn delete_token(&self, id: TokenId) -> Result<Option<()>, StorageError> {
        self.change("delete_token", id, |tx, id| Box::pin(delete_token(tx, *id)))
            .await
    }

    /// The admin token with this hash, even if it has expired.
    pub async fn token(&self, hash: TokenHash) -> Result<Option<StoredToken>, StorageError> {
        self.read("token", hash, |db, hash| Box::pin(token(db, hash)))
            .await
    }

    /// Notes that an admin token was used at `now`.
    pub async fn note_token_use(&self, id: TokenId, now: Timestamp) -> Result<(), StorageError> {
        let used = "UPDATE tokens SET last_used_at = ?2 WHERE id = ?1";
        self.change_at_once("note_token_use", used, values![id, now].to_vec())
            .await
            .map(drop)
    }
}

/// Any inlay's, template's or master key, or encoding root, in its stored form. Roots stay even when
/// all encoded inlays are deleted. Inlays are last, because there may be a million without keys.
pub(crate) const ANY_WRAPPED_KEY: &str = "SELECT key FROM master_keys \
    UNION ALL SELECT key FROM url_template_keys WHERE key IS NOT NULL \
    UNION ALL SELECT file_key FROM url_templates WHERE file_key IS NOT NULL \
    UNION ALL SELECT key FROM encoding_roots \
    UNION ALL SELECT coalesce(file_key, other_keys) FROM inlays \
        WHERE file_key IS NOT NULL OR other_keys IS NOT NULL LIMIT 1";

/// The row of `settings` with the operator's stored settings.
pub(crate) const SETTINGS: &str = "operator";

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
    let before = settings(tx).await?;
    let after = edit(before.clone())?;
    if after == before {
        return Ok(after);
    }
    let json = serde_json::to_string(&after).map_err(|_| unreadable("setting"))?;
    tx.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &values![SETTINGS, json],
    )
    .await?;
    tx.note(Note::changed(&before, &after));
    tx.changes(Some(CachedPart::Settings));
    Ok(after)
}

async fn tag_url_checks(db: &mut dyn Query) -> Result<Vec<TagUrlCheck>, StorageError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    match db.row(sql, &values![tag_url::ROW]).await? {
        Some(mut found) => found.json("check of an address"),
        None => Ok(Vec::new()),
    }
}

async fn note_tag_url_check(
    tx: &mut dyn Transaction,
    check: &TagUrlCheck,
) -> Result<(), StorageError> {
    let mut checks = tag_url_checks(tx).await?;
    tag_url::add(&mut checks, check.clone());
    let json = serde_json::to_string(&checks).map_err(|_| unreadable("check of an address"))?;
    tx.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &values![tag_url::ROW, json],
    )
    .await?;
    tx.note(Note::done(check));
    tx.changes(Some(CachedPart::Settings));
    Ok(())
}

/// Columns of a token, for [`read_token`].
const TOKEN: &str =
    "id, name, scopes, experience_ids, group_ids, expires_at, last_used_at, created_at";

fn read_token(mut row: Row) -> Result<StoredToken, StorageError> {
    Ok(StoredToken {
        id: row.take()?,
        name: row.take()?,
        scopes: row.json("scope")?,
        experience_ids: row.optional_text("experience", |json| serde_json::from_str(json).ok())?,
        group_ids: row.optional_text("group", |json| serde_json::from_str(json).ok())?,
        expires_at: row.take()?,
        last_used_at: row.take()?,
        created_at: row.take()?,
    })
}

async fn tokens(
    db: &mut dyn Query,
    after: Option<TokenId>,
    limit: usize,
) -> Result<Vec<StoredToken>, StorageError> {
    let sql = format!("SELECT {TOKEN} FROM tokens WHERE id > ?1 ORDER BY id LIMIT ?2");
    let values = values![after.map_or(0, TokenId::get), Value::limit(limit)];
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(read_token).collect()
}

async fn token(db: &mut dyn Query, hash: &TokenHash) -> Result<Option<StoredToken>, StorageError> {
    let sql = format!("SELECT {TOKEN} FROM tokens WHERE hash = ?1");
    let found = db.row(&sql, &values![hash.0.as_slice()]).await?;
    found.map(read_token).transpose()
}

/// Checks that the experiences and groups to which `rights` are limited exist.
pub(super) async fn check_limits(
    tx: &mut dyn Transaction,
    rights: &Rights,
) -> Result<(), StorageError> {
    for experience in rights.experience_ids.iter().flatten() {
        let found = check_experience(tx, *experience).await;
        found.map_err(|error| error.in_list("experience_ids"))?;
    }
    for group in rights.group_ids.iter().flatten() {
        let found = groups::existing(tx, *group).await;
        found.map_err(|error| error.in_list("group_ids"))?;
    }
    Ok(())
}

async fn insert_token(
    tx: &mut dyn Transaction,
    token: &NewStoredToken,
) -> Result<StoredToken, StorageError> {
    check_limits(tx, &token.rights).await?;
    let created_at = tx.now();
    let limit = token.rights.experience_ids.as_ref();
    let sql =
        "INSERT INTO tokens (name, hash, scopes, experience_ids, group_ids, expires_at, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";
    let values = values![
        &token.name,
        token.hash.0.as_slice(),
        Value::list(&token.rights.scopes),
        limit.map(Value::list),
        token.rights.group_ids.as_ref().map(Value::list),
        token.expires_at,
        created_at
    ];
    let stored = StoredToken {
        id: tx.write_one(sql, &values).await?.take()?,
        name: token.name.to_string(),
        scopes: token.rights.scopes.clone(),
        experience_ids: token.rights.experience_ids.clone(),
        group_ids: token.rights.group_ids.clone(),
        expires_at: token.expires_at,
        last_used_at: None,
        created_at,
    };
    tx.note(Note::created(format!("tokens/{}", stored.id), &stored));
    Ok(stored)
}

async fn delete_token(tx: &mut dyn Transaction, id: TokenId) -> Result<Option<()>, StorageError> {
    let sql = format!("SELECT {TOKEN} FROM tokens WHERE id = ?1");
    let Some(found) = tx.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    tx.note(Note::deleted(&read_token(found)?));
    let sql = "DELETE FROM tokens WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    // All nodes check again the connections that the token opened.
    tx.changes(None);
    Ok(Some(()))
}
