//! Experiences and their versions, in SQL.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::row::{self, column, unreadable};
use super::session::Session;
use super::transaction::Write;
use super::{PostgresStorage, images};
use crate::experience::{
    Content, Experience, ExperienceFields, ExperienceKind, Image, ImageType, Version,
};
use crate::id::{ExperienceId, ImageId};
use crate::revision::Precondition;
use crate::storage::{Conflict, ExperienceEdit, ExperienceFilter, Experiences, StorageError};

#[async_trait]
impl Experiences for PostgresStorage {
    async fn insert_experience(
        &self,
        experience: ExperienceFields,
        publish: bool,
    ) -> Result<Experience, StorageError> {
        let mut write = self.begin().await?;
        let inserted = insert(&mut write, &experience, publish).await;
        self.end(write, inserted).await
    }

    async fn experience(&self, id: ExperienceId) -> Result<Option<Experience>, StorageError> {
        experience(&self.session().await?, id).await
    }

    async fn experiences(
        &self,
        filter: ExperienceFilter,
        after: Option<ExperienceId>,
        limit: usize,
    ) -> Result<Vec<Experience>, StorageError> {
        let session = self.session().await?;
        let (name, kind) = parameters(&filter);
        let after = after.map_or(0, |id| id.0);
        let sql = format!("{SELECT} WHERE {FITS} AND e.id > $3 ORDER BY e.id LIMIT $4");
        let found = session
            .rows(&sql, &[&name, &kind, &after, &row::limit(limit)])
            .await?;
        found.iter().map(from_row).collect()
    }

    async fn count_experiences(&self, filter: ExperienceFilter) -> Result<u64, StorageError> {
        let session = self.session().await?;
        let (name, kind) = parameters(&filter);
        let sql = format!("SELECT count(*) FROM experiences e WHERE {FITS}");
        row::count(&session.one(&sql, &[&name, &kind]).await?)
    }

    async fn edit_experience(
        &self,
        id: ExperienceId,
        edit: ExperienceEdit,
        publish: bool,
    ) -> Result<Option<Experience>, StorageError> {
        let mut write = self.begin().await?;
        let edited = edit_experience(&mut write, id, &edit, publish);
        let edited = self.contained(edited).await;
        self.end(write, edited).await
    }

    async fn roll_back_experience(
        &self,
        id: ExperienceId,
        version: u32,
    ) -> Result<Option<Experience>, StorageError> {
        let mut write = self.begin().await?;
        let rolled_back = roll_back(&mut write, id, version).await;
        self.end(write, rolled_back).await
    }

    async fn delete_experience_if(
        &self,
        id: ExperienceId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let mut write = self.begin().await?;
        let deleted = delete(&mut write, id, &expected).await;
        self.end(write, deleted).await
    }

    async fn versions(
        &self,
        id: ExperienceId,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<Version>>, StorageError> {
        let session = self.session().await?;
        if !exists(&session, id).await? {
            return Ok(None);
        }
        let before = before.and_then(|before| i32::try_from(before).ok());
        let found = session
            .rows(
                "SELECT version, name, content, published_at FROM experience_versions
                 WHERE experience_id = $1 AND ($2::INTEGER IS NULL OR version < $2)
                 ORDER BY version DESC LIMIT $3",
                &[&id.0, &before, &row::limit(limit)],
            )
            .await?;
        let versions = found.iter().map(|found| {
            Ok(Version {
                version: row::number(found, 0)?,
                name: column(found, 1)?,
                content: row::content(column(found, 2)?)?,
                published_at: row::time(found, 3)?,
            })
        });
        versions.collect::<Result<_, StorageError>>().map(Some)
    }

    async fn insert_image(
        &self,
        id: ExperienceId,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<Option<Image>, StorageError> {
        let write = self.begin().await?;
        let inserted = images::insert(&write, id, media_type, &bytes).await;
        self.end(write, inserted).await
    }

    async fn images(
        &self,
        id: ExperienceId,
        after: Option<ImageId>,
        limit: usize,
    ) -> Result<Option<Vec<Image>>, StorageError> {
        images::list(&self.session().await?, id, after, limit).await
    }

    async fn image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
        images::image(&self.session().await?, id, image).await
    }

    async fn delete_image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<()>, StorageError> {
        let write = self.begin().await?;
        let deleted = images::delete(&write, id, image).await;
        self.end(write, deleted).await
    }
}

/// What a filter lets through, of an alias `e`; with [`parameters`] as $1 and $2.
const FITS: &str = "e.deleted_at IS NULL AND ($1::TEXT IS NULL OR e.folded LIKE $1) \
    AND ($2::TEXT IS NULL OR e.kind = $2)";

fn parameters(filter: &ExperienceFilter) -> (Option<String>, Option<&'static str>) {
    let name = filter.name_contains.as_deref().map(row::containing);
    (name, filter.kind.map(ExperienceKind::as_str))
}

const SELECT: &str =
    "SELECT e.id, e.name, e.draft, e.published, v.content IS DISTINCT FROM e.draft,
        (SELECT count(*) FROM tags t WHERE t.experience_id = e.id AND t.deleted_at IS NULL),
        e.created_at, e.updated_at
    FROM experiences e LEFT JOIN experience_versions v
        ON v.experience_id = e.id AND v.version = e.published";

/// An experience from a row of [`SELECT`].
fn from_row(found: &Row) -> Result<Experience, StorageError> {
    Ok(Experience {
        id: ExperienceId(column(found, 0)?),
        name: column(found, 1)?,
        content: row::content(column(found, 2)?)?,
        published_version: row::optional_number(found, 3)?,
        draft: column(found, 4)?,
        tags: column::<i64>(found, 5)?.unsigned_abs(),
        created_at: row::time(found, 6)?,
        updated_at: row::time(found, 7)?,
    })
}

/// An experience; `None` for a deleted one.
async fn experience(
    session: &Session,
    id: ExperienceId,
) -> Result<Option<Experience>, StorageError> {
    let sql = format!("{SELECT} WHERE e.id = $1 AND e.deleted_at IS NULL");
    let found = session.row(&sql, &[&id.0]).await?;
    found.as_ref().map(from_row).transpose()
}

async fn insert(
    write: &mut Write,
    fields: &ExperienceFields,
    publish: bool,
) -> Result<Experience, StorageError> {
    let inserted = write
        .one(
            "INSERT INTO experiences (name, folded, kind, draft, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $5) RETURNING id",
            &[
                &fields.name,
                &row::fold(&fields.name),
                &fields.content.kind().as_str(),
                &fields.content.to_json(),
                &write.now.millis(),
            ],
        )
        .await?;
    let id = ExperienceId(column(&inserted, 0)?);
    images::check(write, id, &fields.content).await?;
    if publish {
        self::publish(write, id, &fields.name, &fields.content).await?;
    }
    stored(write, id).await
}

async fn edit_experience(
    write: &mut Write,
    id: ExperienceId,
    edit: &ExperienceEdit,
    publish: bool,
) -> Result<Option<Experience>, StorageError> {
    let Some(before) = experience(write, id).await? else {
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
    images::check(write, id, &after.content).await?;
    if after != before {
        save(write, id, &after).await?;
    }
    if publish {
        self::publish(write, id, &after.name, &after.content).await?;
    }
    stored(write, id).await.map(Some)
}

async fn roll_back(
    write: &mut Write,
    id: ExperienceId,
    version: u32,
) -> Result<Option<Experience>, StorageError> {
    let Some(Experience { name, draft, .. }) = experience(write, id).await? else {
        return Ok(None);
    };
    let found = write
        .row(
            "SELECT content FROM experience_versions WHERE experience_id = $1 AND version = $2",
            &[&id.0, &version.cast_signed()],
        )
        .await?;
    let Some(found) = found else {
        return Err(Conflict::Missing {
            noun: "version",
            id: version.into(),
        }
        .into());
    };
    let content = row::content(column(&found, 0)?)?;
    images::check(write, id, &content).await?;
    publish(write, id, &name, &content).await?;
    if !draft {
        save(write, id, &ExperienceFields { name, content }).await?;
    }
    stored(write, id).await.map(Some)
}

/// Makes `content` the version that taps lead to, unless it is already.
async fn publish(
    write: &mut Write,
    id: ExperienceId,
    name: &str,
    content: &Content,
) -> Result<(), StorageError> {
    let published = write
        .run(
            "WITH version AS (
                 INSERT INTO experience_versions (experience_id, version, name, content, published_at)
                 SELECT e.id, 1 + coalesce(
                         (SELECT max(version) FROM experience_versions WHERE experience_id = e.id), 0
                     ), $2, $3, $4
                 FROM experiences e
                 LEFT JOIN experience_versions v ON v.experience_id = e.id AND v.version = e.published
                 WHERE e.id = $1 AND v.content IS DISTINCT FROM $3
                 RETURNING version
             )
             UPDATE experiences SET published = version, updated_at = $4 FROM version WHERE id = $1",
            &[&id.0, &name, &content.to_json(), &write.now.millis()],
        )
        .await?;
    if published > 0 {
        write.changes_configuration();
    }
    Ok(())
}

async fn save(
    write: &Write,
    id: ExperienceId,
    fields: &ExperienceFields,
) -> Result<(), StorageError> {
    write
        .run(
            "UPDATE experiences SET name = $2, folded = $3, draft = $4, updated_at = $5 WHERE id = $1",
            &[
                &id.0,
                &fields.name,
                &row::fold(&fields.name),
                &fields.content.to_json(),
                &write.now.millis(),
            ],
        )
        .await?;
    Ok(())
}

/// An experience that this transaction has just written.
async fn stored(write: &Write, id: ExperienceId) -> Result<Experience, StorageError> {
    let stored = experience(write, id).await?;
    stored.ok_or_else(|| unreadable("experience"))
}

async fn delete(
    write: &mut Write,
    id: ExperienceId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = experience(write, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    Conflict::unless_unused(present.tags)?;
    let reserved = write
        .one(
            "SELECT count(*) FROM import_rows WHERE experience_id = $1",
            &[&id.0],
        )
        .await?;
    Conflict::unless_reserved("experience", row::count(&reserved)?)?;
    write
        .run(
            "UPDATE experiences SET deleted_at = $2 WHERE id = $1",
            &[&id.0, &write.now.millis()],
        )
        .await?;
    write.changes_configuration();
    Ok(Some(()))
}

/// Whether there is such an experience, and it is not deleted.
pub(super) async fn exists(session: &Session, id: ExperienceId) -> Result<bool, StorageError> {
    let found = session
        .row(
            "SELECT FROM experiences WHERE id = $1 AND deleted_at IS NULL",
            &[&id.0],
        )
        .await?;
    Ok(found.is_some())
}
