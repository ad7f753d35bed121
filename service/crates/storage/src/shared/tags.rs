//! Tags and their properties.

mod by_attribute;
mod change;
mod erased;
mod estimate;
mod facets;
mod former;
mod in_groups;
mod kept;
mod keys;
mod list;
mod missing;
mod named;
mod properties;
mod ranking;
mod save;
mod search;
mod select;
mod set;
mod source;
mod tally;
mod values;
mod wanted;
mod whole;
mod written;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Transaction, imports};
use crate::value::unreadable;
use crate::{
    Access, ChangedTag, Conflict, Estimate, FormVariables, ImportRow, Imported, MissingVariables,
    Put, StorageError, TagChange, TagEdit, TagFilter, TagList, TagPlace, TagSelect, TagSet,
    TagsByAttribute,
};
use domain::audit::Note;
use domain::id::{ExperienceId, TagId};
use domain::revision::Precondition;
use domain::tag::{PropertyClass, PropertyKey, Slug, Tag, TagFields};

pub(super) use change::all as change_all;
pub(crate) use kept::KeptCounts;
pub(crate) use named::{IS_ONLY_SPELLING, named};
pub(crate) use ranking::{Ranking, Taps};
pub(super) use save::{Taken, check_experience, insert, insert_rows, owners, update_row};
pub(crate) use search::INDEX_TAGS;
pub(super) use search::{index, index_new};
pub(crate) use whole::{CONFIGURED, configured};
pub(super) use whole::{locked, tag, whole};
pub(super) use written::Written;

/// The operations on tags.
impl Access {
    /// Stores new tags, whose slugs are not empty. A tag that breaks a rule is refused, and the
    /// others are stored; the results are in the order of `tags`.
    ///
    /// # Errors
    ///
    /// Of a tag: [`Conflict::SlugTaken`], [`Conflict::SlugReserved`], [`Conflict::SlugInImport`],
    /// and [`Conflict::Missing`] for the experience and the group.
    pub async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
        let arguments = (tags, simulated);
        self.change("insert_tags", arguments, |tx, (tags, simulated)| {
            Box::pin(async move {
                save::insert_all(tx, &mut Written::default(), tags, *simulated).await
            })
        })
        .await
    }

    /// Stores a new real tag, and returns it as stored. With `add_variables`, the tag gets the
    /// variables that the page of its experience writes; also returns how many.
    ///
    /// # Errors
    ///
    /// Those of [`Self::insert_tags`].
    pub async fn insert_tag(
        &self,
        tag: TagFields,
        add_variables: bool,
    ) -> Result<(Tag, usize), StorageError> {
        self.change("insert_tag", (tag, add_variables), |tx, (tag, add)| {
            Box::pin(async move {
                let mut tag = tag.clone();
                let (mut written, mut added) = (Written::default(), Vec::new());
                if *add {
                    added = written.fill_new(tx, &mut tag).await?;
                }
                let id = save::insert(tx, &mut written, &tag, false).await?;
                let stored = whole::tag(tx, id).await?;
                let stored = stored.ok_or_else(|| unreadable("tag"))?;
                Ok((stored, added.len()))
            })
        })
        .await
    }

    /// The tag with this id, with its properties and counts.
    pub async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError> {
        self.read_snapshot("tag", id, |db, id| Box::pin(whole::tag(db, *id)))
            .await
    }

    /// The existing tags with these ids, in this order, with their properties and counts. Skips tags
    /// that do not exist or are deleted.
    pub async fn tags_by_id(&self, ids: Vec<TagId>) -> Result<Vec<Tag>, StorageError> {
        self.read_snapshot("tags_by_id", ids, |db, ids| {
            Box::pin(async move {
                let found = whole::whole(db, ids).await?.into_iter();
                Ok(found
                    .filter_map(|(tag, deleted)| (!deleted).then_some(tag))
                    .collect())
            })
        })
        .await
    }

    /// Some of the tags that `list` selects, in its order, each with its place: the next piece
    /// begins after that place. Counts are exact. An order by taps, and a place in it, may miss
    /// taps of the last 30 seconds if there were many.
    pub async fn tags(&self, list: TagList) -> Result<Vec<(Tag, TagPlace)>, StorageError> {
        let mut ranking = None;
        self.settle_for(&list.filter).await;
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

    /// Some of the tags that `list` selects, in the order of an attribute, each with its place.
    ///
    /// # Errors
    ///
    /// [`Invalid::OtherOrder`](crate::Invalid::OtherOrder).
    pub async fn tags_by_attribute(
        &self,
        list: TagsByAttribute,
    ) -> Result<Vec<(Tag, TagPlace)>, StorageError> {
        self.settle_for(&list.filter).await;
        self.read_snapshot("tags_by_attribute", list, |db, list| {
            Box::pin(by_attribute::tags(db, list))
        })
        .await
    }

    /// Like an order by taps, a filter by taps may miss those of the last 30 seconds if there were
    /// many.
    async fn settle_for(&self, filter: &TagFilter) {
        if filter.is_by_taps() {
            self.settle_few().await;
        }
    }

    /// How many tags match `filter`.
    pub async fn count_tags(&self, filter: TagFilter) -> Result<u64, StorageError> {
        self.settle_for(&filter).await;
        self.read_snapshot("count_tags", filter, |db, filter| {
            Box::pin(list::count(db, filter))
        })
        .await
    }

    /// Roughly how many tags match `filter`. The number is exact unless counting takes longer than
    /// [`COUNTING`](crate::COUNTING).
    pub async fn estimate_tags(&self, filter: TagFilter) -> Result<Estimate, StorageError> {
        self.settle_for(&filter).await;
        self.read_snapshot("estimate_tags", filter, |db, filter| {
            Box::pin(estimate::tags(db, filter))
        })
        .await
    }

    /// The ids of all existing tags that `select` names, in ascending order.
    pub async fn tag_ids(&self, select: TagSelect) -> Result<Vec<TagId>, StorageError> {
        if let TagSelect::Filter(filter) = &select {
            self.settle_for(filter).await;
        }
        self.read_snapshot("tag_ids", select, |db, select| {
            Box::pin(list::ids(db, select))
        })
        .await
    }

    /// The property keys of all tags that match `filter`.
    pub async fn property_keys(
        &self,
        filter: TagFilter,
    ) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
        self.settle_for(&filter).await;
        self.read_snapshot("property_keys", filter, |db, filter| {
            Box::pin(list::property_keys(db, filter))
        })
        .await
    }

    /// Stores the first rows of a table of tags, no slug twice: all of them, but if others wait, only
    /// the next [`ROWS_AT_ONCE`](crate::ROWS_AT_ONCE). A row that breaks a rule is refused, and the
    /// others are stored. The results are those of the rows that were reached, in the order of
    /// `rows`. With `upsert`, a row whose slug belongs to a tag changes that tag; otherwise the row
    /// is refused.
    ///
    /// # Errors
    ///
    /// Of a row: those of [`Self::insert_tags`] and of a new inlay, and [`Conflict::Invalid`] for a
    /// cell.
    pub async fn import_tags(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
        self.change("import_tags", (rows, upsert), |tx, (rows, upsert)| {
            Box::pin(imports::import(tx, rows, *upsert))
        })
        .await
    }

    /// Applies `edit` to a tag. A replaced slug stays with the tag, as a former slug.
    ///
    /// # Errors
    ///
    /// The error of `edit`, and those of [`Self::insert_tags`].
    pub async fn edit_tag(&self, id: TagId, edit: TagEdit) -> Result<Option<Tag>, StorageError> {
        let edited = self.edit_tag_with(id, edit, false).await?;
        Ok(edited.map(|(tag, _)| tag))
    }

    /// Like [`Self::edit_tag`]. With `add_variables`, a tag that is assigned to an experience gets
    /// the variables that its page writes; also returns how many.
    ///
    /// # Errors
    ///
    /// Those of [`Self::edit_tag`].
    pub async fn edit_tag_with(
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

    /// Makes one change to all of these tags, or to none. Returns, for each changed tag, the change
    /// that undoes it. Skips tags that are already so, do not exist, or are deleted (for
    /// [`TagChange::Restore`]: not deleted).
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the experience or the group.
    pub async fn change_tags(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
    ) -> Result<Vec<(TagId, TagChange)>, StorageError> {
        let variables = FormVariables::Leave;
        let changed = self.change_tags_with(ids, change, variables, None).await?;
        Ok(changed.into_iter().map(|tag| (tag.id, tag.back)).collect())
    }

    /// Like [`Self::change_tags`]; `variables` decides how an assignment treats the variables of
    /// forms. With `from`, only tags are changed that are as that change makes them.
    ///
    /// # Errors
    ///
    /// Those of [`Self::change_tags`].
    pub async fn change_tags_with(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
        variables: FormVariables,
        from: Option<TagChange>,
    ) -> Result<Vec<ChangedTag>, StorageError> {
        let arguments = (ids, change, variables, from);
        self.change(
            "change_tags",
            arguments,
            |tx, (ids, change, variables, from)| {
                Box::pin(change::tags(tx, ids, *change, variables, *from))
            },
        )
        .await
    }

    /// Sets properties of all of these tags, or of none. Returns, for each changed tag, what undoes
    /// it. Skips tags that are already so, do not exist, are deleted, or lack a value of `from`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Invalid`] if a tag has no room for a property.
    pub async fn set_tags(
        &self,
        ids: Vec<TagId>,
        set: TagSet,
        from: TagSet,
    ) -> Result<Vec<(TagId, TagSet)>, StorageError> {
        self.change("set_tags", (ids, set, from), |tx, (ids, set, from)| {
            Box::pin(set::all(tx, ids, set, from))
        })
        .await
    }

    /// Releases a former slug: its tag URL then leads nowhere, and any tag can take the slug.
    /// `None` if the tag does not exist or has no such former slug.
    pub async fn release_slug(&self, tag: TagId, slug: Slug) -> Result<Option<()>, StorageError> {
        self.change("release_slug", (tag, slug), |tx, (tag, slug)| {
            Box::pin(former::release(tx, *tag, slug))
        })
        .await
    }

    /// Deletes a tag like [`TagChange::Delete`], but only if it still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    pub async fn delete_tag_if(
        &self,
        id: TagId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_tag", (id, expected), |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }

    /// Sets a property. `None` if the tag does not exist.
    pub async fn put_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
    ) -> Result<Option<Put>, StorageError> {
        self.put_property_if(tag, class, key, value, Precondition::None)
            .await
    }

    /// Like [`Self::put_property`], but only if the property still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`]; [`Conflict::Invalid`] if the tag has the maximum number of
    /// properties.
    pub async fn put_property_if(
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

    /// The variables of `keys` that some tag in use with this experience does not have.
    pub async fn missing_variables(
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

    /// Adds the missing variables to at most `limit` of these tags, with empty values; to all of
    /// them or to none. Returns how many tags changed.
    ///
    /// # Errors
    ///
    /// [`Conflict::Invalid`] if a tag has the maximum number of variables.
    pub async fn add_missing_variables(
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

    /// Removes a property. `None` if the tag or the key does not exist.
    pub async fn delete_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
    ) -> Result<Option<()>, StorageError> {
        self.delete_property_if(tag, class, key, Precondition::None)
            .await
    }

    /// Like [`Self::delete_property`], but only if the property still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    pub async fn delete_property_if(
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
    change::all(tx, &[id], TagChange::Delete).await?;
    let erased = erased::variables(tx, id).await?;
    let shown = erased::without(&erased, &present.fields, &present.fields);
    tx.note(Note::deleted(&shown));
    Ok(Some(()))
}
