//! Imports whose rows are stored all or none: rows set aside, and made tags.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;

use super::save::{self, Taken};
use super::whole_tags;
use crate::id::{ImportId, TagId};
use crate::storage::imports::{Aside, LEFT_AFTER_MILLIS, ROWS_AT_ONCE, Seen};
use crate::storage::postgres::row::{self, column};
use crate::storage::postgres::session::Session;
use crate::storage::postgres::transaction::Write;
use crate::storage::postgres::{PostgresStorage, inlays};
use crate::storage::tags::SlugOwner;
use crate::storage::{Conflict, ImportRow, Imported, Imports, Put, Staged, StorageError};
use crate::tag::{Tag, deleted};

#[async_trait]
impl Imports for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn check_rows(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        let snapshot = self.snapshot().await?;
        let seen = look(&snapshot, &rows, upsert).await?;
        snapshot.end().await?;
        Ok(seen
            .into_iter()
            .map(|seen| seen.map(|seen| seen.staged()))
            .collect())
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn begin_import(&self) -> Result<ImportId, StorageError> {
        let write = self.begin().await?;
        let sql = "INSERT INTO imports (state, touched_at) VALUES ('staging', $1) RETURNING id";
        let begun = write.one(sql, &[&write.now.millis()]).await;
        let begun = begun.and_then(|begun| column(&begun, 0).map(ImportId));
        self.end(write, begun).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn stage_rows(
        &self,
        import: ImportId,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        let write = self.begin().await?;
        let staged = stage(&write, import, &rows, upsert).await;
        self.end(write, staged).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn decide_import(&self, import: ImportId) -> Result<(), StorageError> {
        let write = self.begin().await?;
        let decided = touch(&write, import, "staging", "decided").await;
        self.end(write, decided).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn apply_import(&self, import: ImportId) -> Result<Vec<(u64, Imported)>, StorageError> {
        let mut write = self.begin().await?;
        let applied = apply(&mut write, import).await;
        self.end(write, applied).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn discard_import(&self, import: ImportId) -> Result<bool, StorageError> {
        let write = self.begin().await?;
        let discarded = discard(&write, import).await;
        self.end(write, discarded).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn abandoned_imports(&self) -> Result<Vec<(ImportId, bool)>, StorageError> {
        let found = self
            .session()
            .await?
            .rows(
                "SELECT id, state = 'decided' FROM imports WHERE touched_at <= present() - $1 ORDER BY id",
                &[&LEFT_AFTER_MILLIS],
            )
            .await?;
        let found = found.iter();
        found
            .map(|found| Ok((ImportId(column(found, 0)?), column(found, 1)?)))
            .collect()
    }
}

impl Seen {
    /// What `row` comes to where `owner` has its slug, but for what else is in the way.
    fn of(row: &ImportRow, owner: Option<&Owner>, upsert: bool) -> Result<Self, Conflict> {
        let Some((slug, tag, is_deleted)) = owner else {
            let fields = row.create()?;
            let changes = None;
            return Ok(Self { fields, changes });
        };
        if !upsert || tag.simulated || *is_deleted {
            return Err(slug.refuses(&row.slug));
        }
        Ok(Self {
            fields: row.change(&tag.fields)?,
            changes: Some((tag.id, tag.fields.clone())),
        })
    }
}

async fn look(
    session: &Session,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Seen, Conflict>>, StorageError> {
    let owners = owners(session, rows).await?;
    let seen = rows.iter().map(|row| {
        let owner = row.named.then(|| owners.get(row.slug.as_str())).flatten();
        Seen::of(row, owner, upsert)
    });
    let mut seen: Vec<_> = seen.collect();
    let fields: Vec<_> = seen.iter().flatten().map(|seen| &seen.fields).collect();
    let mut taken = Taken::look(session, fields.into_iter()).await?;
    for (row, seen) in rows.iter().zip(&mut seen) {
        let Ok(good) = seen else { continue };
        let itself = good.changes.as_ref().map(|(id, _)| *id);
        if let Err(conflict) = taken.take(&good.fields, itself) {
            *seen = Err(conflict);
        } else if let Some(inlay) = &row.inlay {
            match inlays::check_new(session, inlay).await {
                Ok(()) => {}
                Err(StorageError::Conflict(conflict)) => *seen = Err(conflict),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(seen)
}

/// Whose a slug is, the tag, and whether it is deleted.
type Owner = (SlugOwner, Tag, bool);

/// The tags whose slugs the rows name.
async fn owners(
    session: &Session,
    rows: &[Arc<ImportRow>],
) -> Result<HashMap<String, Owner>, StorageError> {
    let named = rows.iter().filter(|row| row.named);
    let slugs: Vec<&str> = named.map(|row| row.slug.as_str()).collect();
    let owners = save::owners(session, &slugs).await?;
    let ids: BTreeSet<i64> = owners.values().map(|owner| owner.tag.0).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let tags = whole_tags(session, &ids).await?;
    let tags: HashMap<TagId, (Tag, bool)> = tags
        .into_iter()
        .map(|(tag, deleted)| (tag.id, (tag, deleted)))
        .collect();
    let owners = owners.into_iter().filter_map(|(slug, owner)| {
        let (tag, deleted) = tags.get(&owner.tag)?.clone();
        Some((slug, (owner, tag, deleted)))
    });
    Ok(owners.collect())
}

/// Notes that somebody is at work on an import, which is in the state `from`
/// and in the state `to` from now on.
async fn touch(write: &Write, import: ImportId, from: &str, to: &str) -> Result<(), StorageError> {
    let sql = "UPDATE imports SET touched_at = $2, state = $4 WHERE id = $1 AND state = $3";
    let now = write.now.millis();
    if write.run(sql, &[&import.0, &now, &from, &to]).await? == 0 {
        return Err(Conflict::ImportGivenUp.into());
    }
    Ok(())
}

async fn stage(
    write: &Write,
    import: ImportId,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
    fn all<T>(asides: &[Aside], value: impl Fn(&Aside) -> T) -> Vec<T> {
        asides.iter().map(value).collect()
    }
    touch(write, import, "staging", "staging").await?;
    let seen = look(write, rows, upsert).await?;
    let mut asides = Vec::with_capacity(rows.len());
    for (row, seen) in rows.iter().zip(&seen) {
        if let Ok(seen) = seen {
            let changes = seen.changes.as_ref().map(|(id, _)| *id);
            asides.push(Aside::of(row, &seen.fields, changes)?);
        }
    }
    write
        .run(
            "INSERT INTO import_rows (import_id, position, slug, uid, tag_id, experience_id, master_key_id, row, inlay)
             SELECT $1, (SELECT coalesce(max(position) + 1, 0) FROM import_rows WHERE import_id = $1) + place - 1,
                 slug, uid, tag_id, experience_id, master_key_id, row, inlay
             FROM unnest($2::TEXT[], $3::BYTEA[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[], $7::TEXT[], $8::TEXT[])
                 WITH ORDINALITY AS r (slug, uid, tag_id, experience_id, master_key_id, row, inlay, place)",
            &[
                &import.0,
                &all(&asides, |aside| aside.slug.clone()),
                &all(&asides, |aside| aside.uid.clone()),
                &all(&asides, |aside| aside.tag_id),
                &all(&asides, |aside| aside.experience_id),
                &all(&asides, |aside| aside.master_key_id),
                &all(&asides, |aside| aside.row.clone()),
                &all(&asides, |aside| aside.inlay.clone()),
            ],
        )
        .await?;
    Ok(seen
        .into_iter()
        .map(|seen| seen.map(|seen| seen.staged()))
        .collect())
}

async fn apply(write: &mut Write, import: ImportId) -> Result<Vec<(u64, Imported)>, StorageError> {
    match touch(write, import, "decided", "decided").await {
        // Another node has finished it.
        Err(StorageError::Conflict(_)) => return Ok(Vec::new()),
        touched => touched?,
    }
    // Taken out first, so that what they took can be theirs.
    let found = write
        .rows(
            "WITH next AS (
                 DELETE FROM import_rows WHERE import_id = $1 AND position IN
                     (SELECT position FROM import_rows WHERE import_id = $1 ORDER BY position LIMIT $2)
                 RETURNING position, slug, uid, tag_id, experience_id, master_key_id, row, inlay)
             SELECT * FROM next ORDER BY position",
            &[&import.0, &row::limit(ROWS_AT_ONCE)],
        )
        .await?;
    if found.is_empty() {
        write
            .run("DELETE FROM imports WHERE id = $1", &[&import.0])
            .await?;
    }
    let asides = found.iter().map(|found| {
        let aside = Aside {
            slug: column(found, 1)?,
            uid: column(found, 2)?,
            tag_id: column(found, 3)?,
            experience_id: column(found, 4)?,
            master_key_id: column(found, 5)?,
            row: column(found, 6)?,
            inlay: column(found, 7)?,
        };
        Ok((column::<i64>(found, 0)?.unsigned_abs(), aside))
    });
    make(write, &asides.collect::<Result<Vec<_>, StorageError>>()?).await
}

/// Makes rows what they are to be. Nothing can be in their way: what they need
/// was theirs since they were set aside.
async fn make(
    write: &mut Write,
    asides: &[(u64, Aside)],
) -> Result<Vec<(u64, Imported)>, StorageError> {
    let new = asides.iter().filter(|(_, aside)| aside.tag_id.is_none());
    let new = new.map(|(_, aside)| aside.new_tag());
    let new = new.collect::<Result<Vec<_>, _>>()?;
    let ids = save::insert_rows(write, &new.iter().collect::<Vec<_>>(), false).await?;
    let mut made = ids.into_iter().zip(new);
    let mut results = Vec::with_capacity(asides.len());
    for (place, aside) in asides {
        let (tag, slug, put, deleted) = match aside.tag_id {
            None => {
                let made = made.next().ok_or_else(|| row::unreadable("tag"))?;
                (made.0, made.1.slug, Put::New, Vec::new())
            }
            Some(id) => {
                // It may have been deleted since: then it is deleted, and changed.
                let found = save::locked_even_if_deleted(write, TagId(id)).await?;
                let (before, _) = found.ok_or_else(|| row::unreadable("tag"))?;
                let after = aside.change(before.fields.clone())?;
                save::update_row(write, before.id, &before.fields, &after).await?;
                let deleted = deleted(&before.fields, &after);
                (before.id, after.slug, Put::Set, deleted)
            }
        };
        let inlay = match aside.inlay(tag)? {
            Some(inlay) => Some(inlays::put_new(write, &inlay).await?),
            None => None,
        };
        let imported = Imported {
            tag,
            slug,
            put,
            inlay,
            deleted,
        };
        results.push((*place, imported));
    }
    Ok(results)
}

async fn discard(write: &Write, import: ImportId) -> Result<bool, StorageError> {
    let found = write
        .row("SELECT state FROM imports WHERE id = $1", &[&import.0])
        .await?;
    let state: Option<&str> = found.as_ref().map(|found| column(found, 0)).transpose()?;
    match state {
        // Its rows will be tags.
        Some("decided") | None => return Ok(false),
        Some(state) => touch(write, import, state, "given_up").await?,
    }
    let removed = write
        .run(
            "DELETE FROM import_rows WHERE import_id = $1 AND position IN
                 (SELECT position FROM import_rows WHERE import_id = $1 ORDER BY position LIMIT $2)",
            &[&import.0, &row::limit(ROWS_AT_ONCE)],
        )
        .await?;
    if removed == 0 {
        write
            .run("DELETE FROM imports WHERE id = $1", &[&import.0])
            .await?;
    }
    Ok(removed > 0)
}
