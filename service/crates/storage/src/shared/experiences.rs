//! Experiences: their drafts, and the operations on them.

mod versions;

pub(crate) use versions::{published, published_now};

use std::collections::HashMap;

use super::audit::shown;
use super::{Query, Transaction, callers, groups, images};
use crate::search::{containing, fold};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, CachedPart, ExperienceEdit, ExperienceFilter, InUse, Invalid, StorageError};
use domain::audit::Note;
use domain::experience::{Content, Experience, ExperienceFields, ExperienceKind, Version};
use domain::id::ExperienceId;
use domain::revision::Precondition;

/// The operations on experiences.
///
/// A version never changes and is never removed, because a repeated answer is made from the version
/// of its tap. Publishing unchanged content creates no new version. Drafts and published versions
/// show only images that exist.
impl Access {
    /// Stores a new experience; with `publish`, also publishes it as version 1.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`](crate::Conflict::Missing) for an image that the experience does not
    /// have, and for a group that does not exist.
    pub async fn insert_experience(
        &self,
        experience: ExperienceFields,
        publish: bool,
    ) -> Result<Experience, StorageError> {
        let arguments = (experience, publish);
        self.change("insert_experience", arguments, |tx, (fields, publish)| {
            Box::pin(insert(tx, fields, *publish))
        })
        .await
    }

    /// The experience with this id.
    pub async fn experience(&self, id: ExperienceId) -> Result<Option<Experience>, StorageError> {
        self.read("experience", id, |db, id| Box::pin(experience(db, *id)))
            .await
    }

    /// At most `limit` experiences that match `filter`, after the one with the id `after`, ordered
    /// by id.
    pub async fn experiences(
        &self,
        filter: ExperienceFilter,
        after: Option<ExperienceId>,
        limit: usize,
    ) -> Result<Vec<Experience>, StorageError> {
        let arguments = (filter, after, limit);
        self.read("experiences", arguments, |db, (filter, after, limit)| {
            Box::pin(list(db, filter, *after, *limit))
        })
        .await
    }

    /// How many experiences match `filter`.
    pub async fn count_experiences(&self, filter: ExperienceFilter) -> Result<u64, StorageError> {
        self.read("count_experiences", filter, |db, filter| {
            Box::pin(count(db, filter))
        })
        .await
    }

    /// Applies `edit` to an experience; with `publish`, also publishes the result.
    ///
    /// # Errors
    ///
    /// The error of `edit`; [`Conflict::Invalid`](crate::Conflict::Invalid) for another kind;
    /// [`Conflict::Missing`](crate::Conflict::Missing) for an image that the experience does not
    /// have, and for a group that it did not name before and that does not exist.
    pub async fn edit_experience(
        &self,
        id: ExperienceId,
        edit: ExperienceEdit,
        publish: bool,
    ) -> Result<Option<Experience>, StorageError> {
        let arguments = (id, edit, publish);
        self.change("edit_experience", arguments, |tx, (id, edit, publish)| {
            Box::pin(self::edit(tx, *id, edit, *publish))
        })
        .await
    }

    /// Publishes the content of an earlier version again. The draft becomes the same, unless it has
    /// unpublished changes: those are kept.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`](crate::Conflict::Missing) for the version, or for an image of it that
    /// is deleted.
    pub async fn roll_back_experience(
        &self,
        id: ExperienceId,
        version: u32,
    ) -> Result<Option<Experience>, StorageError> {
        self.roll_back_experience_if(id, version, Precondition::None)
            .await
    }

    /// Like [`Self::roll_back_experience`], but only if the experience still matches `expected`:
    /// otherwise [`Conflict::Changed`](crate::Conflict::Changed).
    pub async fn roll_back_experience_if(
        &self,
        id: ExperienceId,
        version: u32,
        expected: Precondition,
    ) -> Result<Option<Experience>, StorageError> {
        let arguments = (id, version, expected);
        self.change(
            "roll_back_experience",
            arguments,
            |tx, (id, version, expected)| {
                Box::pin(versions::roll_back(tx, *id, *version, expected))
            },
        )
        .await
    }

    /// Deletes an experience that no tag leads to. Its versions are kept.
    pub async fn delete_experience(&self, id: ExperienceId) -> Result<Option<()>, StorageError> {
        self.delete_experience_if(id, Precondition::None).await
    }

    /// Like [`Self::delete_experience`], but only if the experience still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`](crate::Conflict::Changed); [`InUse::ByTags`](crate::InUse::ByTags),
    /// [`InUse::ByGroups`](crate::InUse::ByGroups) and [`InUse::ByImport`](crate::InUse::ByImport).
    pub async fn delete_experience_if(
        &self,
        id: ExperienceId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let arguments = (id, expected);
        self.change("delete_experience", arguments, |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }

    /// At most `limit` versions of an experience, the newest first. With `before`, only versions
    /// before that one.
    pub async fn versions(
        &self,
        id: ExperienceId,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<Version>>, StorageError> {
        let arguments = (id, before, limit);
        self.read("versions", arguments, |db, (id, before, limit)| {
            Box::pin(versions::list(db, *id, *before, *limit))
        })
        .await
    }
}

/// The conditions of a filter, for an alias `e`, with [`parameters`] as ?1 and ?2.
const FITS: &str = "e.deleted_at IS NULL \
    AND (CAST(?1 AS TEXT) IS NULL OR e.folded LIKE ?1 ESCAPE '\\') \
    AND (CAST(?2 AS TEXT) IS NULL OR e.kind = ?2)";

fn parameters(filter: &ExperienceFilter) -> [Value<'_>; 2] {
    let name = filter.name_contains.as_deref();
    let name = name.map(|name| containing(&fold(name)));
    values![name, filter.kind.map(ExperienceKind::as_str)]
}

/// Selects experiences as an alias `e`, with the number of tags that lead to each by themselves.
/// [`with_inherited`] adds the others.
const SELECT: &str =
    "SELECT e.id, e.name, e.draft, e.published, v.content IS DISTINCT FROM e.draft,
         (SELECT count(*) FROM tags t WHERE t.experience_id = e.id AND t.deleted_at IS NULL),
         e.created_at, e.updated_at
     FROM experiences e LEFT JOIN experience_versions v
         ON v.experience_id = e.id AND v.version = e.published";

/// How many tags lead to each experience of the list ?1 by a group. All groups are walked together,
/// and each is below one experience only: that of the nearest group that has one. Its tags are
/// counted in an index.
const INHERITED: &str = "WITH RECURSIVE led (experience_id, id) AS (
         SELECT experience_id, id FROM tag_groups WHERE experience_id IN ids(?1)
         UNION ALL SELECT l.experience_id, g.id FROM led l JOIN tag_groups g ON g.parent_id = l.id
         WHERE g.experience_id IS NULL),
     counted (experience_id, tags) AS (
         SELECT l.experience_id, (SELECT count(*) FROM tags t
             WHERE t.group_id = l.id AND t.experience_id IS NULL AND t.deleted_at IS NULL)
         FROM led l)
     SELECT experience_id, CAST(sum(tags) AS BIGINT) FROM counted GROUP BY experience_id";

/// The experiences, each also with the tags that lead to it by a group.
async fn with_inherited(
    db: &mut dyn Query,
    mut experiences: Vec<Experience>,
) -> Result<Vec<Experience>, StorageError> {
    if experiences.is_empty() {
        return Ok(experiences);
    }
    let ids = Value::list(experiences.iter().map(|experience| experience.id));
    let mut inherited = HashMap::<ExperienceId, u64>::new();
    for mut row in db.query(INHERITED, &[ids]).await? {
        inherited.insert(row.take()?, row.take()?);
    }
    for experience in &mut experiences {
        experience.tags += inherited.get(&experience.id).copied().unwrap_or_default();
    }
    Ok(experiences)
}

/// Reads an experience from a row of [`SELECT`].
fn read(mut row: Row) -> Result<Experience, StorageError> {
    Ok(Experience {
        id: row.take()?,
        name: row.take()?,
        content: content(&mut row)?,
        published_version: row.take()?,
        draft: row.take()?,
        tags: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

/// Reads a stored content from the next column of a row.
pub(crate) fn content(row: &mut Row) -> Result<Content, StorageError> {
    row.text("experience", |json| Content::from_json(json).ok())
}

/// The experience with this id; `None` if it is deleted.
async fn experience(
    db: &mut dyn Query,
    id: ExperienceId,
) -> Result<Option<Experience>, StorageError> {
    let reached = callers::condition(db.reach(), "e.id");
    let sql = format!("{SELECT} WHERE e.id = ?1 AND e.deleted_at IS NULL{reached}");
    let found = db.row(&sql, &values![id]).await?.map(read).transpose()?;
    let found = with_inherited(db, found.into_iter().collect()).await?;
    Ok(found.into_iter().next())
}

async fn list(
    db: &mut dyn Query,
    filter: &ExperienceFilter,
    after: Option<ExperienceId>,
    limit: usize,
) -> Result<Vec<Experience>, StorageError> {
    let [name, kind] = parameters(filter);
    let after = after.map_or(0, ExperienceId::get);
    let reached = callers::condition(db.reach(), "e.id");
    let sql = page(&reached);
    let rows = db
        .query(&sql, &[name, kind, after.into(), Value::limit(limit)])
        .await?;
    let found = rows.into_iter().map(read).collect::<Result<_, _>>()?;
    with_inherited(db, found).await
}

/// The statement of a page of [`list`].
fn page(reached: &str) -> String {
    format!("{SELECT} WHERE {FITS} AND e.id > ?3{reached} ORDER BY e.id LIMIT ?4")
}

async fn count(db: &mut dyn Query, filter: &ExperienceFilter) -> Result<u64, StorageError> {
    let reached = callers::condition(db.reach(), "e.id");
    let sql = format!("SELECT count(*) FROM experiences e WHERE {FITS}{reached}");
    db.count(&sql, &parameters(filter)).await
}

async fn insert(
    tx: &mut dyn Transaction,
    fields: &ExperienceFields,
    publish: bool,
) -> Result<Experience, StorageError> {
    let now = tx.now();
    let mut inserted = tx
        .write_one(
            "INSERT INTO experiences (name, folded, kind, draft, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5) RETURNING id",
            &values![
                &fields.name,
                fold(&fields.name),
                fields.content.kind().as_str(),
                fields.content.to_json(),
                now,
            ],
        )
        .await?;
    let id = inserted.take()?;
    images::check(tx, id, &fields.content).await?;
    check_groups(tx, None, &fields.content).await?;
    if publish {
        versions::publish(tx, id, &fields.name, &fields.content).await?;
    }
    tx.note(Note::created(
        format!("experiences/{id}"),
        &shown::experience(fields),
    ));
    stored(tx, id).await
}

async fn edit(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    edit: &ExperienceEdit,
    publish: bool,
) -> Result<Option<Experience>, StorageError> {
    let Some(before) = experience(tx, id).await? else {
        return Ok(None);
    };
    let before = ExperienceFields {
        name: before.name,
        content: before.content,
    };
    let after = edit(before.clone())?;
    if after.content.kind() != before.content.kind() {
        return Err(Invalid::OtherKind.into());
    }
    images::check(tx, id, &after.content).await?;
    check_groups(tx, Some(&before.content), &after.content).await?;
    if after != before {
        save(tx, id, &after).await?;
        let (before, after) = (shown::experience(&before), shown::experience(&after));
        tx.note(Note::changed(&before, &after));
    }
    if publish {
        versions::publish(tx, id, &after.name, &after.content).await?;
    }
    stored(tx, id).await.map(Some)
}

/// Refuses a content whose conditions name a group that does not exist within reach. A group that
/// `before` named may be deleted since, and then has no tags.
async fn check_groups(
    db: &mut dyn Query,
    before: Option<&Content>,
    after: &Content,
) -> Result<(), StorageError> {
    let mut named = after.tag_groups();
    for known in before.map(Content::tag_groups).unwrap_or_default() {
        named.remove(&known);
    }
    groups::all_exist(db, named).await
}

async fn save(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    fields: &ExperienceFields,
) -> Result<(), StorageError> {
    let now = tx.now();
    tx.execute(
        "UPDATE experiences SET name = ?2, folded = ?3, draft = ?4, updated_at = ?5 WHERE id = ?1",
        &values![
            id,
            &fields.name,
            fold(&fields.name),
            fields.content.to_json(),
            now
        ],
    )
    .await?;
    Ok(())
}

/// Reads an experience that this transaction has just written.
async fn stored(tx: &mut dyn Transaction, id: ExperienceId) -> Result<Experience, StorageError> {
    let stored = experience(tx, id).await?;
    stored.ok_or_else(|| unreadable("experience"))
}

async fn delete(
    tx: &mut dyn Transaction,
    id: ExperienceId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = experience(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let groups =
        "SELECT count(*) FROM tag_groups WHERE experience_id = ?1 OR recall_experience_id = ?1";
    match tx.count(groups, &values![id]).await? {
        0 => {}
        groups => return Err(InUse::ByGroups(groups).into()),
    }
    if present.tags > 0 {
        return Err(InUse::ByTags(present.tags).into());
    }
    let reserved = "SELECT 1 FROM import_rows WHERE experience_id = ?1 LIMIT 1";
    if tx.exists(reserved, &values![id]).await? {
        return Err(InUse::ByImport("experience").into());
    }
    let templates = "SELECT count(*) FROM url_templates WHERE experience_id = ?1";
    match tx.count(templates, &values![id]).await? {
        0 => {}
        templates => return Err(InUse::ByTemplatesOfTags(templates).into()),
    }
    let now = tx.now();
    tx.execute(
        "UPDATE experiences SET deleted_at = ?2 WHERE id = ?1",
        &values![id, now],
    )
    .await?;
    tx.changes(Some(CachedPart::Experience(id)));
    let fields = ExperienceFields {
        name: present.name,
        content: present.content,
    };
    tx.note(Note::deleted(&shown::experience(&fields)));
    Ok(Some(()))
}

/// Whether the experience exists within reach and is not deleted.
pub(super) async fn exists(db: &mut dyn Query, id: ExperienceId) -> Result<bool, StorageError> {
    let reached = callers::condition(db.reach(), "id");
    let sql = format!("SELECT 1 FROM experiences WHERE id = ?1 AND deleted_at IS NULL{reached}");
    db.exists(&sql, &values![id]).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::dialect::Dialect;

    fn plan(sql: &str) -> String {
        let connection = crate::sqlite::in_memory();
        let sql = format!("EXPLAIN QUERY PLAN {}", Dialect::Sqlite.say(sql));
        let mut explain = connection.prepare(&sql).unwrap();
        let mut steps = Vec::new();
        let mut rows = explain.raw_query();
        while let Some(row) = rows.next().unwrap() {
            steps.push(row.get::<_, String>(3).unwrap());
        }
        steps.join("; ")
    }

    #[test]
    fn the_groups_of_a_page_of_experiences_are_walked_once() {
        let walks = |sql: &str| plan(sql).matches("RECURSIVE STEP").count();
        assert_eq!(walks(&page("")), 0);
        assert_eq!(walks(INHERITED), 1);
        let steps = plan(INHERITED);
        for index in [
            "tag_groups_experience (experience_id=?)",
            "tag_groups_parent (parent_id=?)",
            "tags_group (group_id=? AND experience_id=? AND deleted_at=?)",
        ] {
            assert!(steps.contains(index), "{index}: {steps}");
        }
    }
}
