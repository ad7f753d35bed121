//! Tags and their properties.

mod change;
mod erased;
mod estimate;
mod former;
mod list;
mod missing;
mod properties;
mod ranking;
mod save;
mod search;
mod select;
mod whole;
mod written;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Database, Transaction, imports};
use crate::value::unreadable;
use crate::{
    ChangedTag, Conflict, Estimate, FormVariables, ImportRow, Imported, MissingVariables, Put,
    StorageError, TagChange, TagEdit, TagFilter, TagList, TagPlace, TagSelect, Tags,
};
use domain::audit::Note;
use domain::id::{ExperienceId, TagId};
use domain::revision::Precondition;
use domain::tag::{PropertyClass, PropertyKey, Slug, Tag, TagFields};

pub(crate) use ranking::{Ranking, Taps};
pub(super) use save::{Taken, check_experience, insert, insert_rows, owners, update_row};
pub(crate) use search::INDEXED_TAGS;
pub(super) use search::index;
pub(crate) use whole::{CONFIGURED, configured};
pub(super) use whole::{locked, whole};
pub(super) use written::Written;

#[async_trait]
impl<D: Database> Tags for D {
    async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
        let arguments = (tags, simulated);
        self.change("insert_tags", arguments, |tx, (tags, simulated)| {
            Box::pin(save::insert_all(tx, tags, *simulated))
        })
        .await
    }

    async fn insert_tag(
        &self,
        tag: TagFields,
        add_variables: bool,
    ) -> Result<(Tag, usize), StorageError> {
        self.change("insert_tag", (tag, add_variables), |tx, (tag, add)| {
            Box::pin(async move {
                let mut tag = tag.clone();
                let mut added = Vec::new();
                if *add {
                    added = Written::default().fill(tx, &mut tag).await?;
                }
                let id = save::insert(tx, &tag, false).await?;
                let stored = whole::tag(tx, id).await?;
                let stored = stored.ok_or_else(|| unreadable("tag"))?;
                Ok((stored, added.len()))
            })
        })
        .await
    }

    async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError> {
        self.read_snapshot("tag", id, |db, id| Box::pin(whole::tag(db, *id)))
            .await
    }

    async fn tags(&self, list: TagList) -> Result<Vec<(Tag, TagPlace)>, StorageError> {
        let mut ranking = None;
        if list.order.is_by_taps() {
            ranking = self.ranking().await?;
            // Only the first page needs the newest counts: later pages continue in the order of the
            // first.
            if list.after.is_none() {
                self.settle_few().await;
            }
        }
        self.read_snapshot("tags", (list, ranking), |db, (list, ranking)| {
            Box::pin(list::tags(db, list, ranking.as_deref()))
        })
        .await
    }

    async fn count_tags(&self, filter: TagFilter) -> Result<u64, StorageError> {
        self.read_snapshot("count_tags", filter, |db, filter| {
            Box::pin(list::count(db, filter))
        })
        .await
    }

    async fn estimate_tags(&self, filter: TagFilter) -> Result<Estimate, StorageError> {
        self.read_snapshot("estimate_tags", filter, |db, filter| {
            Box::pin(estimate::tags(db, filter))
        })
        .await
    }

    async fn tag_ids(&self, select: TagSelect) -> Result<Vec<TagId>, StorageError> {
        self.read_snapshot("tag_ids", select, |db, select| {
            Box::pin(list::ids(db, select))
        })
        .await
    }

    async fn property_keys(
        &self,
        filter: TagFilter,
    ) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
        self.read_snapshot("property_keys", filter, |db, filter| {
            Box::pin(list::property_keys(db, filter))
        })
        .await
    }

    async fn import_tags(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
        self.change("import_tags", (rows, upsert), |tx, (rows, upsert)| {
            Box::pin(imports::import(tx, rows, *upsert))
        })
        .await
    }

    async fn edit_tag_with(
        &self,
        id: TagId,
        edit: TagEdit,
        add_variables: bool,
    ) -> Result<Option<(Tag, usize)>, StorageError> {
        let arguments = (id, edit, add_variables);
        self.change("edit_tag", arguments, |tx, (id, edit, add_variables)| {
            Box::pin(save::edit(tx, *id, edit, *add_variables))
        })
        .await
    }

    async fn change_tags_with(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
        variables: FormVariables,
    ) -> Result<Vec<ChangedTag>, StorageError> {
        let arguments = (ids, change, variables);
        self.change("change_tags", arguments, |tx, (ids, change, variables)| {
            Box::pin(change::tags(tx, ids, *change, variables))
        })
        .await
    }

    async fn release_slug(&self, tag: TagId, slug: Slug) -> Result<Option<()>, StorageError> {
        self.change("release_slug", (tag, slug), |tx, (tag, slug)| {
            Box::pin(former::release(tx, *tag, slug))
        })
        .await
    }

    async fn delete_tag_if(
        &self,
        id: TagId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_tag", (id, expected), |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }

    async fn put_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
        expected: Precondition,
    ) -> Result<Option<Put>, StorageError> {
        let arguments = (tag, class, key, value, expected);
        self.change("put_property", arguments, |tx, arguments| {
            let (tag, class, key, value, expected) = arguments;
            Box::pin(properties::put(tx, (*tag, *class, key), value, expected))
        })
        .await
    }

    async fn missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
    ) -> Result<MissingVariables, StorageError> {
        let arguments = (experience, keys);
        self.read_snapshot("missing_variables", arguments, |db, (experience, keys)| {
            Box::pin(missing::variables(db, *experience, keys))
        })
        .await
    }

    async fn add_missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
        limit: usize,
    ) -> Result<u64, StorageError> {
        let arguments = (experience, keys, limit);
        self.change("add_missing_variables", arguments, |tx, arguments| {
            let (experience, keys, limit) = arguments;
            Box::pin(missing::add(tx, *experience, keys, *limit))
        })
        .await
    }

    async fn delete_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let arguments = (tag, class, key, expected);
        self.change("delete_property", arguments, |tx, arguments| {
            let (tag, class, key, expected) = arguments;
            Box::pin(properties::delete(tx, (*tag, *class, key), expected))
        })
        .await
    }
}

async fn delete(
    tx: &mut dyn Transaction,
    id: TagId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = whole::tag(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    change::tags(tx, &[id], TagChange::Delete, &FormVariables::Leave).await?;
    let erased = erased::variables(tx, id).await?;
    let told = erased::without(&erased, &present.fields, &present.fields);
    tx.note(Note::deleted(&told));
    Ok(Some(()))
}
