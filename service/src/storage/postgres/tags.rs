//! Tags and their properties, in SQL.

mod change;
mod former;
mod import;
mod list;
mod missing;
mod save;
mod select;
mod staged;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::try_join3;

use super::PostgresStorage;
use super::row::{self, column};
use super::session::Session;
use super::transaction::Write;
use crate::id::{ExperienceId, TagId};
use crate::revision::Precondition;
use crate::storage::{
    Conflict, ImportRow, Imported, MissingVariables, Put, StorageError, TagChange, TagEdit,
    TagFilter, TagList, TagSelect, Tags,
};
use crate::tag::{
    InvalidProperty, PROPERTIES_MAX, PropertyClass, PropertyKey, PropertyValue, Slug, Tag,
    TagFields,
};

pub(super) use former::tag as former_tag;
pub(super) use save::insert;

#[async_trait]
impl Tags for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
        let write = self.begin().await?;
        let outcome = save::insert_all(&write, &tags, simulated).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError> {
        tag(&self.session().await?, id).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn tags(&self, list: TagList) -> Result<Vec<Tag>, StorageError> {
        let snapshot = self.snapshot().await?;
        let tags = list::tags(&snapshot, &list).await?;
        snapshot.end().await?;
        Ok(tags)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn count_tags(&self, filter: TagFilter) -> Result<u64, StorageError> {
        let snapshot = self.snapshot().await?;
        let count = list::count(&snapshot, &filter).await?;
        snapshot.end().await?;
        Ok(count)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn tag_ids(&self, select: TagSelect) -> Result<Vec<TagId>, StorageError> {
        let snapshot = self.snapshot().await?;
        let ids = list::ids(&snapshot, &select).await?;
        snapshot.end().await?;
        Ok(ids)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn property_keys(
        &self,
        filter: TagFilter,
    ) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
        let snapshot = self.snapshot().await?;
        let keys = list::property_keys(&snapshot, &filter).await?;
        snapshot.end().await?;
        Ok(keys)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn import_tags(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
        let mut write = self.begin().await?;
        let outcome = import::rows(&mut write, &rows, upsert).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn edit_tag(&self, id: TagId, edit: TagEdit) -> Result<Option<Tag>, StorageError> {
        let mut write = self.begin().await?;
        let edited = Box::pin(save::edit(&mut write, id, &edit));
        let outcome = self.contained(edited).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn change_tags(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
    ) -> Result<Vec<(TagId, TagChange)>, StorageError> {
        let mut write = self.begin().await?;
        let outcome = change::tags(&mut write, &ids, change).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn release_slug(&self, tag: TagId, slug: Slug) -> Result<Option<()>, StorageError> {
        let mut write = self.begin().await?;
        let outcome = former::release(&mut write, tag, &slug).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn delete_tag_if(
        &self,
        id: TagId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let mut write = self.begin().await?;
        let outcome = delete_tag(&mut write, id, &expected).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn put_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
        expected: Precondition,
    ) -> Result<Option<Put>, StorageError> {
        let write = self.begin().await?;
        let outcome = put_property(&write, tag, class, (&key, &value), &expected).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
    ) -> Result<MissingVariables, StorageError> {
        let snapshot = self.snapshot().await?;
        let missing = missing::variables(&snapshot, experience, &keys).await?;
        snapshot.end().await?;
        Ok(missing)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn add_missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
        limit: usize,
    ) -> Result<u64, StorageError> {
        let mut write = self.begin().await?;
        let outcome = missing::add(&mut write, experience, &keys, limit).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn delete_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let write = self.begin().await?;
        let outcome = delete_property(&write, tag, class, &key, &expected).await;
        self.end(write, outcome).await
    }
}

/// Notes a change of a tag that is not deleted; `false` where there is none.
async fn touch(write: &Write, tag: TagId) -> Result<bool, StorageError> {
    let touched = write
        .run(
            "UPDATE tags SET updated_at = $2 WHERE id = $1 AND deleted_at IS NULL",
            &[&tag.0, &write.now.millis()],
        )
        .await?;
    Ok(touched > 0)
}

async fn delete_tag(
    write: &mut Write,
    id: TagId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = tag(write, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    change::tags(write, &[id], TagChange::Delete).await?;
    Ok(Some(()))
}

/// Visitors write variables meanwhile, unless the row is locked.
async fn check_property(
    write: &Write,
    tag: TagId,
    class: PropertyClass,
    key: &PropertyKey,
    expected: &Precondition,
) -> Result<(), StorageError> {
    if *expected == Precondition::None {
        return Ok(());
    }
    let found = write
        .row(
            "SELECT value FROM properties WHERE tag_id = $1 AND class = $2 AND key = $3 FOR UPDATE",
            &[&tag.0, &class.as_str(), &key.as_str()],
        )
        .await?;
    let value = match &found {
        Some(found) => Some(PropertyValue(column(found, 0)?)),
        None => None,
    };
    Ok(expected.check(value.as_ref())?)
}

async fn put_property(
    write: &Write,
    tag: TagId,
    class: PropertyClass,
    (key, value): (&PropertyKey, &str),
    expected: &Precondition,
) -> Result<Option<Put>, StorageError> {
    if !touch(write, tag).await? {
        return Ok(None);
    }
    check_property(write, tag, class, key, expected).await?;
    let (class, key) = (class.as_str(), key.as_str());
    let set = write
        .run(
            "UPDATE properties SET value = $4 WHERE tag_id = $1 AND class = $2 AND key = $3",
            &[&tag.0, &class, &key, &value],
        )
        .await?;
    if set > 0 {
        return Ok(Some(Put::Set));
    }
    let present = write
        .one(
            "SELECT count(*) FROM properties WHERE tag_id = $1 AND class = $2",
            &[&tag.0, &class],
        )
        .await?;
    if row::count(&present)? >= PROPERTIES_MAX as u64 {
        return Err(Conflict::Invalid(InvalidProperty::TooMany.to_string()).into());
    }
    write
        .run(
            "INSERT INTO properties (tag_id, class, key, value) VALUES ($1, $2, $3, $4)",
            &[&tag.0, &class, &key, &value],
        )
        .await?;
    Ok(Some(Put::New))
}

async fn delete_property(
    write: &Write,
    tag: TagId,
    class: PropertyClass,
    key: &PropertyKey,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let exists = write
        .row(
            "SELECT FROM tags WHERE id = $1 AND deleted_at IS NULL",
            &[&tag.0],
        )
        .await?;
    if exists.is_none() {
        return Ok(None);
    }
    check_property(write, tag, class, key, expected).await?;
    let removed = write
        .run(
            "DELETE FROM properties WHERE tag_id = $1 AND class = $2 AND key = $3",
            &[&tag.0, &class.as_str(), &key.as_str()],
        )
        .await?;
    Ok((removed > 0 && touch(write, tag).await?).then_some(()))
}

/// A whole tag; `None` for a deleted one.
async fn tag(session: &Session, id: TagId) -> Result<Option<Tag>, StorageError> {
    let found = whole_tags(session, &[id.0]).await?.pop();
    Ok(found.and_then(|(tag, deleted)| (!deleted).then_some(tag)))
}

/// Whole tags, and whether each is deleted; in the order of `ids`.
async fn whole_tags(session: &Session, ids: &[i64]) -> Result<Vec<(Tag, bool)>, StorageError> {
    let (columns, from) = (row::TAG_COLUMNS, row::TAG_FROM);
    let tags = format!(
        "SELECT {columns}, t.deleted_at IS NOT NULL FROM {from}
         JOIN unnest($1::BIGINT[]) WITH ORDINALITY AS wanted (id, place) ON wanted.id = t.id ORDER BY wanted.place"
    );
    let properties = "SELECT tag_id, class, key, value FROM properties WHERE tag_id = ANY ($1)";
    let former = "SELECT tag_id, slug FROM former_slugs WHERE tag_id = ANY ($1)
         ORDER BY replaced_at DESC, slug DESC";
    let (tags, properties, former) = try_join3(
        session.rows(&tags, &[&ids]),
        session.rows(properties, &[&ids]),
        session.rows(former, &[&ids]),
    )
    .await?;
    let mut former_slugs = HashMap::<i64, Vec<Slug>>::new();
    for found in &former {
        let slug = Slug::parse(column(found, 1)?).map_err(|_| row::unreadable("slug"))?;
        former_slugs
            .entry(column(found, 0)?)
            .or_default()
            .push(slug);
    }
    let mut by_tag = HashMap::<i64, Vec<_>>::new();
    for found in &properties {
        by_tag.entry(column(found, 0)?).or_default().push(found);
    }
    let whole = tags.iter().map(|found| {
        let mut tag = row::tag(found)?;
        tag.former_slugs = former_slugs.remove(&tag.id.0).unwrap_or_default();
        for property in by_tag.get(&tag.id.0).into_iter().flatten() {
            let unreadable = || row::unreadable("property");
            let class = PropertyClass::parse(column(property, 1)?).ok_or_else(unreadable)?;
            let key = PropertyKey::parse(column(property, 2)?).map_err(|_| unreadable())?;
            let properties = tag.fields.properties_mut(class);
            properties.0.insert(key, column(property, 3)?);
        }
        Ok((tag, column(found, row::AFTER_TAG)?))
    });
    whole.collect()
}
