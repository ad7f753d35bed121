//! Experiences and their versions, in SQL.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::writer::Write;
use super::{SqliteStorage, images, row, search};
use crate::clock::Timestamp;
use crate::experience::{
    Content, Experience, ExperienceFields, ExperienceKind, Image, ImageType, Version,
};
use crate::id::{ExperienceId, ImageId};
use crate::revision::Precondition;
use crate::storage::{Conflict, ExperienceEdit, ExperienceFilter, Experiences, StorageError};

#[async_trait]
impl Experiences for SqliteStorage {
    async fn insert_experience(
        &self,
        experience: ExperienceFields,
        publish: bool,
    ) -> Result<Experience, StorageError> {
        self.write(move |write| insert(write, &experience, publish))
            .await
    }

    async fn experience(&self, id: ExperienceId) -> Result<Option<Experience>, StorageError> {
        self.read_long(move |connection| experience(connection, id))
            .await
    }

    async fn experiences(
        &self,
        filter: ExperienceFilter,
        after: Option<ExperienceId>,
        limit: usize,
    ) -> Result<Vec<Experience>, StorageError> {
        self.read_long(move |connection| list(connection, &filter, after, limit))
            .await
    }

    async fn count_experiences(&self, filter: ExperienceFilter) -> Result<u64, StorageError> {
        self.read_long(move |connection| {
            let (folded, kind) = parameters(&filter);
            let count: i64 = connection
                .prepare_cached(&format!("SELECT count(*) FROM experiences e WHERE {FITS}"))?
                .query_row((folded, kind), |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
        .await
    }

    async fn edit_experience(
        &self,
        id: ExperienceId,
        edit: ExperienceEdit,
        publish: bool,
    ) -> Result<Option<Experience>, StorageError> {
        self.write(move |write| edit_experience(write, id, &edit, publish))
            .await
    }

    async fn roll_back_experience(
        &self,
        id: ExperienceId,
        version: u32,
    ) -> Result<Option<Experience>, StorageError> {
        self.write(move |write| roll_back(write, id, version)).await
    }

    async fn delete_experience_if(
        &self,
        id: ExperienceId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| delete(write, id, &expected)).await
    }

    async fn versions(
        &self,
        id: ExperienceId,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<Version>>, StorageError> {
        self.read_long(move |connection| versions(connection, id, before, limit))
            .await
    }

    async fn insert_image(
        &self,
        id: ExperienceId,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<Option<Image>, StorageError> {
        self.write(move |write| images::insert(write, id, media_type, &bytes))
            .await
    }

    async fn images(
        &self,
        id: ExperienceId,
        after: Option<ImageId>,
        limit: usize,
    ) -> Result<Option<Vec<Image>>, StorageError> {
        self.read(|connection| images::list(connection, id, after, limit))
    }

    async fn image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
        self.read_long(move |connection| images::image(connection, id, image))
            .await
    }

    async fn delete_image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| images::delete(write.connection, id, image))
            .await
    }
}

/// What a filter lets through, of an alias `e`; with [`parameters`] as ?1 and ?2.
const FITS: &str = "e.deleted_at IS NULL AND (?1 IS NULL OR holds(?1, e.name)) \
    AND (?2 IS NULL OR e.kind = ?2)";

fn parameters(filter: &ExperienceFilter) -> (Option<String>, Option<&'static str>) {
    let folded = filter.name_contains.as_deref().map(search::fold);
    (folded, filter.kind.map(ExperienceKind::as_str))
}

const SELECT: &str = "SELECT e.id, e.name, e.draft, e.published, v.content IS NOT e.draft,
        (SELECT count(*) FROM tags t WHERE t.experience_id = e.id AND t.deleted_at IS NULL),
        e.created_at, e.updated_at
    FROM experiences e LEFT JOIN experience_versions v
        ON v.experience_id = e.id AND v.version = e.published";

/// An experience from a row of [`SELECT`].
fn read(row: &Row<'_>) -> Result<Experience, StorageError> {
    let draft = row
        .get_ref(2)?
        .as_str()
        .map_err(|_| row::unreadable("experience"))?;
    Ok(Experience {
        id: ExperienceId(row.get(0)?),
        name: row.get(1)?,
        content: row::content(draft)?,
        published_version: row.get(3)?,
        draft: row.get(4)?,
        tags: row.get::<_, i64>(5)?.unsigned_abs(),
        created_at: Timestamp::from_millis(row.get(6)?),
        updated_at: Timestamp::from_millis(row.get(7)?),
    })
}

/// An experience; `None` for a deleted one.
fn experience(
    connection: &Connection,
    id: ExperienceId,
) -> Result<Option<Experience>, StorageError> {
    connection
        .prepare_cached(&format!(
            "{SELECT} WHERE e.id = ?1 AND e.deleted_at IS NULL"
        ))?
        .query_row([id.0], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

fn list(
    connection: &Connection,
    filter: &ExperienceFilter,
    after: Option<ExperienceId>,
    limit: usize,
) -> Result<Vec<Experience>, StorageError> {
    let (folded, kind) = parameters(filter);
    let after = after.map_or(0, |id| id.0);
    let mut statement = connection.prepare_cached(&format!(
        "{SELECT} WHERE {FITS} AND e.id > ?3 ORDER BY e.id LIMIT ?4"
    ))?;
    let mut rows = statement.query((folded, kind, after, row::limit(limit)))?;
    let mut experiences = Vec::new();
    while let Some(row) = rows.next()? {
        experiences.push(read(row)?);
    }
    Ok(experiences)
}

fn insert(
    write: &mut Write<'_>,
    fields: &ExperienceFields,
    publish: bool,
) -> Result<Experience, StorageError> {
    write
        .connection
        .prepare_cached(
            "INSERT INTO experiences (name, kind, draft, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?4)",
        )?
        .execute((
            &fields.name,
            fields.content.kind().as_str(),
            fields.content.to_json(),
            write.now.millis(),
        ))?;
    let id = ExperienceId(write.connection.last_insert_rowid());
    images::check(write.connection, id, &fields.content)?;
    if publish {
        self::publish(write, id, &fields.name, &fields.content)?;
    }
    stored(write, id)
}

fn edit_experience(
    write: &mut Write<'_>,
    id: ExperienceId,
    edit: &ExperienceEdit,
    publish: bool,
) -> Result<Option<Experience>, StorageError> {
    let Some(before) = experience(write.connection, id)? else {
        return Ok(None);
    };
    let before = ExperienceFields {
        name: before.name,
        content: before.content,
    };
    let after = edit(before.clone())?;
    if after.content.kind() != before.content.kind() {
        let why = "The kind of an experience does not change. Create another one for that.";
        return Err(Conflict::Invalid(why.to_owned()).into());
    }
    images::check(write.connection, id, &after.content)?;
    if after != before {
        save(write, id, &after)?;
    }
    if publish {
        self::publish(write, id, &after.name, &after.content)?;
    }
    stored(write, id).map(Some)
}

fn roll_back(
    write: &mut Write<'_>,
    id: ExperienceId,
    version: u32,
) -> Result<Option<Experience>, StorageError> {
    let Some(Experience { name, draft, .. }) = experience(write.connection, id)? else {
        return Ok(None);
    };
    let content: Option<String> = write
        .connection
        .prepare_cached(
            "SELECT content FROM experience_versions WHERE experience_id = ?1 AND version = ?2",
        )?
        .query_row((id.0, version), |row| row.get(0))
        .optional()?;
    let Some(content) = content else {
        return Err(Conflict::Missing {
            noun: "version",
            id: version.into(),
        }
        .into());
    };
    let content = row::content(&content)?;
    images::check(write.connection, id, &content)?;
    publish(write, id, &name, &content)?;
    if !draft {
        save(write, id, &ExperienceFields { name, content })?;
    }
    stored(write, id).map(Some)
}

/// Makes `content` the version that taps lead to, unless it is already.
fn publish(
    write: &mut Write<'_>,
    id: ExperienceId,
    name: &str,
    content: &Content,
) -> Result<(), StorageError> {
    let connection = write.connection;
    let content = content.to_json();
    let (last, published): (u32, Option<String>) = connection
        .prepare_cached(
            "SELECT (SELECT coalesce(max(version), 0) FROM experience_versions WHERE experience_id = e.id),
                    (SELECT content FROM experience_versions WHERE experience_id = e.id AND version = e.published)
             FROM experiences e WHERE e.id = ?1",
        )?
        .query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if published.as_ref() == Some(&content) {
        return Ok(());
    }
    let now = write.now.millis();
    connection
        .prepare_cached(
            "INSERT INTO experience_versions (experience_id, version, name, content, published_at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((id.0, last + 1, name, content, now))?;
    connection
        .prepare_cached("UPDATE experiences SET published = ?2, updated_at = ?3 WHERE id = ?1")?
        .execute((id.0, last + 1, now))?;
    write.changes_configuration();
    Ok(())
}

fn save(
    write: &Write<'_>,
    id: ExperienceId,
    fields: &ExperienceFields,
) -> Result<(), StorageError> {
    write
        .connection
        .prepare_cached(
            "UPDATE experiences SET name = ?2, draft = ?3, updated_at = ?4 WHERE id = ?1",
        )?
        .execute((
            id.0,
            &fields.name,
            fields.content.to_json(),
            write.now.millis(),
        ))?;
    Ok(())
}

/// An experience that this transaction has just written.
fn stored(write: &Write<'_>, id: ExperienceId) -> Result<Experience, StorageError> {
    experience(write.connection, id)?.ok_or_else(|| row::unreadable("experience"))
}

fn delete(
    write: &mut Write<'_>,
    id: ExperienceId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = experience(write.connection, id)? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    Conflict::unless_unused(present.tags)?;
    write
        .connection
        .prepare_cached("UPDATE experiences SET deleted_at = ?2 WHERE id = ?1")?
        .execute((id.0, write.now.millis()))?;
    write.changes_configuration();
    Ok(Some(()))
}

fn versions(
    connection: &Connection,
    id: ExperienceId,
    before: Option<u32>,
    limit: usize,
) -> Result<Option<Vec<Version>>, StorageError> {
    if !exists(connection, id)? {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(
        "SELECT version, name, content, published_at FROM experience_versions
         WHERE experience_id = ?1 AND (?2 IS NULL OR version < ?2) ORDER BY version DESC LIMIT ?3",
    )?;
    let mut rows = statement.query((id.0, before, row::limit(limit)))?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        versions.push(Version {
            version: row.get(0)?,
            name: row.get(1)?,
            content: row::content(&row.get::<_, String>(2)?)?,
            published_at: Timestamp::from_millis(row.get(3)?),
        });
    }
    Ok(Some(versions))
}

/// Whether there is such an experience, and it is not deleted.
pub(super) fn exists(connection: &Connection, id: ExperienceId) -> Result<bool, StorageError> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM experiences WHERE id = ?1 AND deleted_at IS NULL")?
        .exists([id.0])?)
}
