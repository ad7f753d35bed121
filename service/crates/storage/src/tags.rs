//! Tags and their properties.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Conflict, KeptInlay};
use domain::clock::Timestamp;
use domain::id::{ExperienceId, GroupId, InlayId, TagId};
use domain::inventory::NewInlay;
use domain::tag::{PropertyClass, PropertyKey, Slug, Status, Tag, TagColumn, TagFields, TagRow};
use domain::world::World;

/// An edit of a tag, applied inside the operation that stores it. An `Err`
/// stores nothing.
pub type TagEdit = Box<dyn Fn(TagFields) -> Result<TagFields, Conflict> + Send + Sync>;

/// How long tags are counted before their number is estimated instead: an answer within 100 ms
/// feels immediate.
pub const COUNTING: Duration = Duration::from_millis(75);

/// A number of tags, counted or estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The number of tags; an estimate is rounded to two digits.
    pub tags: u64,
    /// Whether the tags were counted.
    pub exact: bool,
}

/// Variables that tags do not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingVariables {
    /// Variables that at least one tag does not have.
    pub keys: Vec<PropertyKey>,
    /// How many tags lack at least one of them.
    pub tags: u64,
}

/// Whether a stored object is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The object did not exist before.
    New,
    /// The object existed, and has its new or unchanged value.
    Set,
}

/// Selects tags; an absent member selects all. The default is every real tag that is not deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagFilter {
    /// Words, each of which must be found: in the name, the slug, a former slug, the title or a value
    /// of an attribute, ignoring case and accents, or in an inlay's UID.
    pub q: Option<String>,
    /// Tags that lead to this experience, by themselves or by their group.
    pub experience_id: Option<ExperienceId>,
    /// Tags in this group, and in all groups below it.
    pub group_id: Option<GroupId>,
    /// `true` for tags that lead to any experience, `false` for the others.
    pub assigned: Option<bool>,
    /// Tags with this status.
    pub status: Option<Status>,
    /// `true` for tags whose taps are verified, `false` for the others.
    pub verifier_enabled: Option<bool>,
    /// `true` for tags with a printed QR code, `false` for the others.
    pub has_qr_code: Option<bool>,
    /// `true` for tags of which an inlay reported an open tamper loop, `false` for the others.
    pub opened: Option<bool>,
    /// `true` for tags with an inlay, `false` for the others.
    pub has_inlay: Option<bool>,
    /// Tags that have one of the values of each of these attributes, exactly.
    pub attributes: BTreeMap<PropertyKey, Vec<String>>,
    /// Tags whose last tap was at this time or later.
    pub tapped_since: Option<Timestamp>,
    /// Tags whose last tap was before this time.
    pub tapped_until: Option<Timestamp>,
    /// Real tags, simulated ones, or both.
    pub world: World,
    /// Whether to select the deleted tags instead of the others.
    pub deleted: bool,
}

impl TagFilter {
    /// Whether the filter compares taps, which SQLite writes to its tables some time later.
    pub(super) const fn is_by_taps(&self) -> bool {
        self.tapped_since.is_some() || self.tapped_until.is_some()
    }
}

/// The values of an attribute, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueCounts {
    /// Values and how many tags have each, the most frequent first.
    pub values: Vec<(String, u64)>,
    /// Whether all tags were counted. Estimates are rounded to two digits.
    pub exact: bool,
}

/// The keys of attributes, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Keys and how many tags have a value for each, the most frequent first.
    pub keys: Vec<(PropertyKey, u64)>,
    /// Whether all tags were counted. Estimates are rounded to two digits.
    pub exact: bool,
}

/// A piece of the list of tags.
#[derive(Clone, Debug)]
pub struct TagList {
    /// Selects the tags of the list.
    pub filter: TagFilter,
    /// The order of the list.
    pub order: TagOrder,
    /// The place in this order after which the piece begins; `None` for the first piece.
    pub after: Option<TagPlace>,
    /// Most tags in the piece.
    pub limit: usize,
}

/// A piece of the list of tags in the order of an attribute.
#[derive(Clone, Debug)]
pub struct TagsByAttribute {
    /// Selects the tags of the list.
    pub filter: TagFilter,
    /// The order of the list.
    pub order: AttributeOrder,
    /// The place in this order after which the piece begins; `None` for the first piece.
    pub after: Option<TagPlace>,
    /// Most tags in the piece.
    pub limit: usize,
}

/// An order of tags by their values of an attribute, own or of the nearest group. Case and accents
/// make no difference, and of a long value the beginning counts. Tags without a value come last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeOrder {
    /// The key of the attribute.
    pub key: PropertyKey,
    /// Whether the order is descending.
    pub descends: bool,
}

/// An order of tags; `-` means descending. Tags that compare equal are ordered by id, in the same
/// direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum TagOrder {
    /// By creation, the oldest first.
    #[default]
    #[serde(rename = "created")]
    Created,
    /// By creation, the newest first.
    #[serde(rename = "-created")]
    CreatedDescending,
    /// By name, ascending. `A` to `Z` compare like `a` to `z`, other letters by their character
    /// code.
    #[serde(rename = "name")]
    Name,
    /// By name, descending; see `name`.
    #[serde(rename = "-name")]
    NameDescending,
    /// By number of visitors' taps, the least tapped first. Test taps and taps of staff do not count.
    #[serde(rename = "scans")]
    Scans,
    /// By number of visitors' taps, the most tapped first; see `scans`.
    #[serde(rename = "-scans")]
    ScansDescending,
    /// By last tap, whoever made it, ascending; tags that were never tapped come first.
    #[serde(rename = "last_scan")]
    LastScan,
    /// By last tap, the most recent first.
    #[serde(rename = "-last_scan")]
    LastScanDescending,
}

impl TagOrder {
    /// Whether the order is descending.
    pub const fn descends(self) -> bool {
        matches!(
            self,
            Self::CreatedDescending
                | Self::NameDescending
                | Self::ScansDescending
                | Self::LastScanDescending
        )
    }

    /// Whether the order compares names.
    pub const fn is_by_name(self) -> bool {
        matches!(self, Self::Name | Self::NameDescending)
    }

    /// Whether the order compares taps.
    pub const fn is_by_taps(self) -> bool {
        matches!(
            self,
            Self::Scans | Self::ScansDescending | Self::LastScan | Self::LastScanDescending
        )
    }

    /// The place of `tag` in this order.
    pub fn place(self, tag: &Tag) -> TagPlace {
        match self {
            Self::Created | Self::CreatedDescending => TagPlace::Created(tag.id),
            Self::Name | Self::NameDescending => TagPlace::Name(tag.fields.name.clone(), tag.id),
            Self::Scans | Self::ScansDescending => {
                let visitors = tag.scan_count.saturating_sub(tag.test_scan_count);
                TagPlace::Scans(visitors, tag.id)
            }
            Self::LastScan | Self::LastScanDescending => {
                TagPlace::LastScan(tag.last_scan_at, tag.id)
            }
        }
    }
}

/// A place in an order of tags: the value that is compared, and the id that decides between equal
/// values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagPlace {
    /// In the order of creation, which is the order of ids.
    Created(TagId),
    /// In an order by name.
    Name(String, TagId),
    /// In an order by number of taps.
    Scans(u64, TagId),
    /// In an order by last tap.
    LastScan(Option<Timestamp>, TagId),
    /// In an order by an attribute: the value in the form that is compared.
    Attribute(Option<String>, TagId),
}

/// A row of an imported table of tags.
#[derive(Clone, Debug)]
pub struct ImportRow {
    /// The slug of a new tag, or the current or a former slug of the tag that the row changes.
    pub slug: Slug,
    /// Whether the row names the slug; if not, it is generated and belongs to no tag.
    pub named: bool,
    /// The cells, which set the fields of the tag.
    pub row: TagRow,
    /// The name of a new tag whose row has none. An existing tag keeps its own.
    pub new_name: String,
    /// The inlay on the tag; its `tag_id` is set to the tag's. If the tag has it already, it stays
    /// unchanged.
    pub inlay: Option<NewInlay>,
    /// Whether a tag that is assigned to an experience gets the variables that its page writes.
    pub add_variables: bool,
}

/// The tag that has a slug now, or had it before.
#[derive(Clone, Copy)]
pub(super) struct SlugOwner {
    /// `None` for a tag that is being created.
    pub(super) tag: Option<TagId>,
    /// Whether the slug is a former slug of the tag.
    pub(super) former: bool,
    /// Whether the caller may learn which tag it is.
    pub(super) within_reach: bool,
}

impl SlugOwner {
    /// The conflict for another tag that wants the slug.
    pub(super) fn refuses(self, slug: &Slug) -> Conflict {
        let slug = slug.to_string();
        match self.tag {
            Some(tag) if self.former && self.within_reach => Conflict::SlugReserved { slug, tag },
            _ => Conflict::SlugTaken(slug),
        }
    }
}

impl ImportRow {
    /// The new tag that the row creates.
    pub(super) fn create(&self) -> Result<TagFields, Conflict> {
        Ok(self.row.create(self.slug.clone(), &self.new_name)?)
    }

    /// The fields of the existing tag after the row. The tag is found by its current or a former
    /// slug, and keeps its current slug.
    pub(super) fn change(&self, before: &TagFields) -> Result<TagFields, Conflict> {
        Ok(self.row.change(before.clone())?)
    }
}

/// The result of an imported row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The tag that the row created or changed.
    pub tag: TagId,
    /// The tag's current slug.
    pub slug: Slug,
    /// Whether the tag is new.
    pub put: Put,
    /// The tag's new inlay, if the row has one.
    pub inlay: Option<InlayId>,
    /// Set if the tag had the row's inlay already.
    pub kept: Option<KeptInlay>,
    /// The columns that became empty in the tag.
    pub deleted: Vec<TagColumn>,
    /// If the row changed an existing tag: the previous cells of the changed columns.
    pub before: BTreeMap<String, String>,
    /// How many variables of forms the tag got.
    pub variables_added: usize,
}

/// Selects tags by their ids or by a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagSelect {
    /// Tags with ids in certain ranges.
    Ranges {
        /// Ranges of ids, first and last included.
        ranges: Vec<(TagId, TagId)>,
        /// Whether to select the deleted tags instead of the others.
        deleted: bool,
    },
    /// Tags that match a filter.
    Filter(TagFilter),
}

/// A change that can be made to many tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagChange {
    /// Assigns the tags to an experience, or to none.
    Assign(Option<ExperienceId>),
    /// Moves the tags into a group, or out of all groups.
    Group(Option<GroupId>),
    /// Sets the status of the tags.
    Status(Status),
    /// Deletes the tags. Their slugs stay reserved for them.
    Delete,
    /// Restores deleted tags as they were, except for an experience or a group that has been
    /// deleted meanwhile.
    Restore,
}

/// Properties that are set in many tags; `None` removes one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TagSet {
    /// New values of attributes; `None` removes the attribute.
    pub attributes: BTreeMap<PropertyKey, Option<String>>,
    /// New values of data; `None` removes the key.
    pub data: BTreeMap<PropertyKey, Option<String>>,
    /// Whether the tags have a printed QR code; `None` leaves it.
    pub has_qr_code: Option<bool>,
}

impl TagSet {
    /// Whether it sets nothing.
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.data.is_empty() && self.has_qr_code.is_none()
    }

    /// How many properties it sets or removes.
    pub fn properties(&self) -> usize {
        self.attributes.len() + self.data.len()
    }

    /// The part of it that sets what `other` sets.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let part = |own: &BTreeMap<PropertyKey, Option<String>>, of: &BTreeMap<_, _>| {
            let part = own.iter().filter(|(key, _)| of.contains_key(*key));
            part.map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        Self {
            attributes: part(&self.attributes, &other.attributes),
            data: part(&self.data, &other.data),
            has_qr_code: self.has_qr_code.filter(|_| other.has_qr_code.is_some()),
        }
    }

    /// How many bytes its values have.
    pub fn bytes(&self) -> usize {
        let values = self.attributes.values().chain(self.data.values());
        values.flatten().map(String::len).sum()
    }

    /// The properties of a class. Variables are set by visitors, and never by this.
    pub(super) fn of(&self, class: PropertyClass) -> &BTreeMap<PropertyKey, Option<String>> {
        static NONE: BTreeMap<PropertyKey, Option<String>> = BTreeMap::new();
        match class {
            PropertyClass::Attribute => &self.attributes,
            PropertyClass::Data => &self.data,
            PropertyClass::Variable => &NONE,
        }
    }
}

/// How an assignment treats the variables that the page of an experience writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum FormVariables {
    /// Adds the missing variables to each tag, with empty values.
    Add,
    /// Adds no variables, and removes none.
    #[default]
    Leave,
    /// Adds no variables, and removes these where they are still empty.
    Remove(Vec<PropertyKey>),
}

/// A tag that a bulk change has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedTag {
    /// The tag that changed.
    pub id: TagId,
    /// The change that undoes it.
    pub back: TagChange,
    /// The variables of forms that the tag got.
    pub added: Vec<PropertyKey>,
}
