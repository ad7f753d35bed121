//! The published versions of an experience.

use std::sync::Arc;

use super::{content, exists, experience, save, stored};
use crate::shared::{Query, Transaction, images};
use crate::value::{Row, Value, values};
use crate::{CachedPart, Conflict, StorageError};
use domain::audit::Note;
use domain::experience::{Content, Experience, ExperienceFields, PublishedExperience, Version};
use domain::id::ExperienceId;
use domain::interaction::VersionRef;
use domain::revision::Precondition;

pub(super) async fn roll_back(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    version: u32,
    expected: &Precondition,
) -> Result<Option<Experience>, StorageError> {
    let Some(present) = experience(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let Experience { name, draft, .. } = present;
    let found = tx
        .row(
            "SELECT content FROM experience_versions
             WHERE experience_id = ?1 AND version = CAST(?2 AS BIGINT)",
            &values![id, version],
        )
        .await?;
    let mut found = found.ok_or(Conflict::Missing {
        noun: "version",
        id: version.into(),
    })?;
    let content = content(&mut found)?;
    images::check(tx, id, &content).await?;
    publish(tx, id, &name, &content).await?;
    tx.note(Note::done(&serde_json::json!({"version": version})));
    if !draft {
        save(tx, id, &ExperienceFields { name, content }).await?;
    }
    stored(tx, id).await.map(Some)
}

/// Publishes `content` as a new version, unless it is already published.
pub(super) async fn publish(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    name: &str,
    content: &Content,
) -> Result<(), StorageError> {
    let now = tx.now();
    let version = tx
        .write(
            "INSERT INTO experience_versions (experience_id, version, name, content, published_at)
             SELECT e.id, 1 + coalesce(
                     (SELECT max(version) FROM experience_versions WHERE experience_id = e.id), 0
                 ), ?2, ?3, ?4
             FROM experiences e
             LEFT JOIN experience_versions v ON v.experience_id = e.id AND v.version = e.published
             WHERE e.id = ?1 AND v.content IS DISTINCT FROM ?3
             RETURNING version",
            &values![id, name, content.to_json(), now],
        )
        .await?
        .pop();
    let Some(mut version) = version else {
        return Ok(());
    };
    tx.execute(
        "UPDATE experiences SET published = ?2, updated_at = ?3 WHERE id = ?1",
        &values![id, version.take::<u32>()?, now],
    )
    .await?;
    tx.changes(Some(CachedPart::Experience(id)));
    Ok(())
}

/// At most `limit` versions of an experience, the newest first.
pub(super) async fn list(
    db: &mut dyn Query,
    id: ExperienceId,
    before: Option<u32>,
    limit: usize,
) -> Result<Option<Vec<Version>>, StorageError> {
    if !exists(db, id).await? {
        return Ok(None);
    }
    let found = db
        .query(
            "SELECT version, name, content, published_at FROM experience_versions
             WHERE experience_id = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR version < ?2)
             ORDER BY version DESC LIMIT ?3",
            &values![id, before, Value::limit(limit)],
        )
        .await?;
    let versions = found.into_iter().map(|mut row| {
        Ok(Version {
            version: row.take()?,
            name: row.take()?,
            content: content(&mut row)?,
            published_at: row.take()?,
        })
    });
    versions.collect::<Result<_, StorageError>>().map(Some)
}

/// The currently published version of an experience.
pub(crate) async fn published_now(
    db: &mut dyn Query,
    id: ExperienceId,
) -> Result<Option<PublishedExperience>, StorageError> {
    let sql = "SELECT v.version, v.name, v.content FROM experiences e
             JOIN experience_versions v ON v.experience_id = e.id AND v.version = e.published
         WHERE e.id = ?1 AND e.deleted_at IS NULL";
    let found = db.row(sql, &values![id]).await?;
    found.map(|row| published_version(row, id)).transpose()
}

/// A particular published version of an experience.
pub(crate) async fn published(
    db: &mut dyn Query,
    version: VersionRef,
) -> Result<Option<PublishedExperience>, StorageError> {
    let VersionRef {
        experience_id,
        version,
    } = version;
    let sql = "SELECT version, name, content FROM experience_versions
         WHERE experience_id = ?1 AND version = CAST(?2 AS BIGINT)";
    let found = db.row(sql, &values![experience_id, version]).await?;
    found
        .map(|row| published_version(row, experience_id))
        .transpose()
}

fn published_version(
    mut row: Row,
    experience_id: ExperienceId,
) -> Result<PublishedExperience, StorageError> {
    Ok(PublishedExperience {
        version: VersionRef {
            experience_id,
            version: row.take()?,
        },
        name: row.take()?,
        content: Arc::new(content(&mut row)?),
    })
}
