//! Tags and their properties.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Conflict, StorageError};
use crate::clock::Timestamp;
use crate::id::{ExperienceId, InlayId, TagId};
use crate::inventory::NewInlay;
use crate::revision::Precondition;
use crate::tag::{PropertyClass, PropertyKey, Slug, Status, Tag, TagColumn, TagFields, TagRow};
use crate::world::World;

/// An edit of a tag, applied inside the operation that stores it. An `Err`
/// stores nothing.
pub type TagEdit = Box<dyn Fn(TagFields) -> Result<TagFields, Conflict> + Send + Sync>;

/// The operations on tags.
#[async_trait]
pub trait Tags: Send + Sync {
    /// Stores new tags, whose slugs are not empty. A tag that breaks a rule is
    /// refused alone; the results stand in the order of `tags`.
    ///
    /// # Errors
    ///
    /// Of a tag: [`Conflict::SlugTaken`], [`Conflict::SlugReserved`], [`Conflict::SlugInImport`], and
    /// [`Conflict::Missing`] for the experience.
    async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, Conflict>>, StorageError>;

    /// A tag with everything known about it.
    async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError>;

    /// Some of the tags that `list` selects, in its order, and where each stands in it: the
    /// place after which a next piece begins. Counts are exact; an order by taps, and a place
    /// in it, may lack those of the last 30 seconds if there were many.
    async fn tags(&self, list: TagList) -> Result<Vec<(Tag, TagPlace)>, StorageError>;

    /// How many tags `filter` selects.
    async fn count_tags(&self, filter: TagFilter) -> Result<u64, StorageError>;

    /// About how many tags `filter` selects: exactly so many, unless counting takes longer than
    /// [`COUNTING`].
    async fn estimate_tags(&self, filter: TagFilter) -> Result<Estimate, StorageError>;

    /// The ids of all tags that `select` names and that exist, rising.
    async fn tag_ids(&self, select: TagSelect) -> Result<Vec<TagId>, StorageError>;

    /// The keys of the properties of all tags that `filter` selects.
    async fn property_keys(
        &self,
        filter: TagFilter,
    ) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError>;

    /// Stores rows of a table of tags, no slug twice. A row that breaks a rule
    /// is refused alone; the results stand in the order of `rows`. With
    /// `upsert`, a row whose slug a tag has changes that tag; else it is refused.
    ///
    /// # Errors
    ///
    /// Of a row: those of [`Self::insert_tags`] and of a new inlay, and [`Conflict::Invalid`] for a
    /// cell.
    async fn import_tags(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Imported, Conflict>>, StorageError>;

    /// Applies `edit` to a tag. A slug that is replaced stays the tag's own, as a former slug.
    ///
    /// # Errors
    ///
    /// What `edit` refuses, and those of [`Self::insert_tags`].
    async fn edit_tag(&self, id: TagId, edit: TagEdit) -> Result<Option<Tag>, StorageError>;

    /// Makes one change to many tags, to all or to none. Answers, for each tag
    /// that it changed, the change that takes it back; what was so already,
    /// does not exist, or is deleted (for [`TagChange::Restore`]: is not) is
    /// left out.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the experience.
    async fn change_tags(
        &self,
        ids: Vec<TagId>,
        change: TagChange,
    ) -> Result<Vec<(TagId, TagChange)>, StorageError>;

    /// Gives up a former slug: it leads nowhere then, and any tag can have it.
    /// `None` if the tag does not exist or has no such former slug.
    async fn release_slug(&self, tag: TagId, slug: Slug) -> Result<Option<()>, StorageError>;

    /// Deletes a tag as [`TagChange::Delete`] does, if it is as `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    async fn delete_tag_if(
        &self,
        id: TagId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;

    /// Sets a property. `None` if the tag does not exist.
    async fn put_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
    ) -> Result<Option<Put>, StorageError> {
        self.put_property_if(tag, class, key, value, Precondition::None)
            .await
    }

    /// The same, if the property is as `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`]; [`Conflict::Invalid`] if the tag has as many as it can have.
    async fn put_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
        expected: Precondition,
    ) -> Result<Option<Put>, StorageError>;

    /// Which of these variables tags in use that lead to the experience lack.
    async fn missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
    ) -> Result<MissingVariables, StorageError>;

    /// Gives at most `limit` of these tags the variables that they lack, with
    /// empty values; all of them or none. Answers how many tags those are.
    ///
    /// # Errors
    ///
    /// [`Conflict::Invalid`] if a tag has as many variables as it can have.
    async fn add_missing_variables(
        &self,
        experience: ExperienceId,
        keys: Vec<PropertyKey>,
        limit: usize,
    ) -> Result<u64, StorageError>;

    /// Removes a property. `None` if tag or key does not exist.
    async fn delete_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
    ) -> Result<Option<()>, StorageError> {
        self.delete_property_if(tag, class, key, Precondition::None)
            .await
    }

    /// The same, if the property is as `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    async fn delete_property_if(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;
}

/// How long tags are counted before their number is estimated: an answer within 100 ms feels
/// immediate.
pub const COUNTING: Duration = Duration::from_millis(75);

/// A number of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// How many; if they are not counted, two digits of it.
    pub tags: u64,
    /// Whether they are counted.
    pub exact: bool,
}

/// Variables that tags lack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingVariables {
    /// Those that at least one tag lacks.
    pub keys: Vec<PropertyKey>,
    /// How many tags lack one or more of them.
    pub tags: u64,
}

/// Whether what was put is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It was not there before.
    New,
    /// It has another value now, or the same.
    Set,
}

/// Which tags; what is absent selects all. The default is every real tag that is not deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagFilter {
    /// Part of the name, the slug, a former slug or the title, in either case.
    pub q: Option<String>,
    /// The experience they are assigned to.
    pub experience_id: Option<ExperienceId>,
    /// Whether they are assigned to any experience.
    pub assigned: Option<bool>,
    /// Whether they are in use.
    pub status: Option<Status>,
    /// Whether their taps are verified.
    pub verifier_enabled: Option<bool>,
    /// Whether an inlay of theirs reported an open tamper loop.
    pub opened: Option<bool>,
    /// Real ones, simulated ones, or both.
    pub world: World,
    /// The deleted ones instead of the others.
    pub deleted: bool,
}

/// A piece of the list of tags.
#[derive(Clone, Debug)]
pub struct TagList {
    /// Which tags.
    pub filter: TagFilter,
    /// Their order.
    pub order: TagOrder,
    /// The place after which the piece begins, in this order.
    pub after: Option<TagPlace>,
    /// How many tags at the most.
    pub limit: usize,
}

/// An order of tags, `-` for descending. Those that stand equal follow by id, in the same direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum TagOrder {
    /// As they were created.
    #[default]
    #[serde(rename = "created")]
    Created,
    /// The newest first.
    #[serde(rename = "-created")]
    CreatedDescending,
    /// By name; `A` to `Z` count as `a` to `z`, other letters stand by their code.
    #[serde(rename = "name")]
    Name,
    /// By name, backwards.
    #[serde(rename = "-name")]
    NameDescending,
    /// The least tapped first.
    #[serde(rename = "scans")]
    Scans,
    /// The most tapped first.
    #[serde(rename = "-scans")]
    ScansDescending,
    /// Never tapped ones first, then as they were last tapped.
    #[serde(rename = "last_scan")]
    LastScan,
    /// The last tapped first.
    #[serde(rename = "-last_scan")]
    LastScanDescending,
}

impl TagOrder {
    /// Whether the greatest comes first.
    pub const fn descends(self) -> bool {
        matches!(
            self,
            Self::CreatedDescending
                | Self::NameDescending
                | Self::ScansDescending
                | Self::LastScanDescending
        )
    }

    /// Whether names are looked at first.
    pub const fn is_by_name(self) -> bool {
        matches!(self, Self::Name | Self::NameDescending)
    }

    /// Whether taps are looked at first.
    pub const fn is_by_taps(self) -> bool {
        matches!(
            self,
            Self::Scans | Self::ScansDescending | Self::LastScan | Self::LastScanDescending
        )
    }

    /// Where `tag` stands in this order.
    pub fn place(self, tag: &Tag) -> TagPlace {
        match self {
            Self::Created | Self::CreatedDescending => TagPlace::Created(tag.id),
            Self::Name | Self::NameDescending => TagPlace::Name(tag.fields.name.clone(), tag.id),
            Self::Scans | Self::ScansDescending => TagPlace::Scans(tag.scan_count, tag.id),
            Self::LastScan | Self::LastScanDescending => {
                TagPlace::LastScan(tag.last_scan_at, tag.id)
            }
        }
    }
}

/// A place in an order of tags: what the order looks at, and the id that
/// decides among equals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagPlace {
    /// In the order of creation, which is that of ids.
    Created(TagId),
    /// By name.
    Name(String, TagId),
    /// By the number of taps.
    Scans(u64, TagId),
    /// By the time of the last tap.
    LastScan(Option<Timestamp>, TagId),
}

/// A row of a table of tags.
#[derive(Clone, Debug)]
pub struct ImportRow {
    /// The slug: of the tag that it changes, now or before, or of a new one.
    pub slug: Slug,
    /// Whether the row names it; else it is made up, and no tag's.
    pub named: bool,
    /// What it makes of a tag.
    pub row: TagRow,
    /// A new inlay on the tag; its `tag_id` is set to the tag's.
    pub inlay: Option<NewInlay>,
}

/// Whose URL ends in a slug.
#[derive(Clone, Copy)]
pub(super) struct SlugOwner {
    pub(super) tag: TagId,
    /// Whether it is a slug the tag had before.
    pub(super) former: bool,
    /// Whether who asks may know of the tag.
    pub(super) within_reach: bool,
}

impl SlugOwner {
    /// Says to another tag that it cannot have the slug.
    pub(super) fn refuses(self, slug: &Slug) -> Conflict {
        let (slug, tag) = (slug.to_string(), self.tag);
        if self.former && self.within_reach {
            Conflict::SlugReserved { slug, tag }
        } else {
            Conflict::SlugTaken(slug)
        }
    }
}

impl ImportRow {
    /// The new tag that it makes.
    pub(super) fn create(&self) -> Result<TagFields, Conflict> {
        Ok(self.row.create(self.slug.clone())?)
    }

    /// What it makes of the tag that has its slug, or had it before: that one keeps its
    /// present slug.
    pub(super) fn change(&self, before: &TagFields) -> Result<TagFields, Conflict> {
        Ok(self.row.change(before.clone())?)
    }
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its tag.
    pub tag: TagId,
    /// The tag's slug.
    pub slug: Slug,
    /// Whether the tag is new.
    pub put: Put,
    /// Its new inlay, if it has one.
    pub inlay: Option<InlayId>,
    /// The columns in which the tag has nothing any more.
    pub deleted: Vec<TagColumn>,
}

/// Tags named one by one, or by a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagSelect {
    /// By their ids.
    Ranges {
        /// From the first id to the last, both included.
        ranges: Vec<(TagId, TagId)>,
        /// The deleted ones instead of the others.
        deleted: bool,
    },
    /// Those that match.
    Filter(TagFilter),
}

/// A change that can be made to many tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagChange {
    /// Assigns them to an experience, or to none.
    Assign(Option<ExperienceId>),
    /// Sets their status.
    Status(Status),
    /// Deletes them. Their slugs stay theirs.
    Delete,
    /// Brings deleted ones back as they were, but for an experience that is deleted by now.
    Restore,
}
