//! Groups of tags: products, batches and folders, in a tree. A tag that has no value of its own has
//! the value of the nearest group above it that has one. Nothing is copied to the tags.
//!
//! | Module | Subject |
//! |---|---|
//! | `code`, `gtin` | the numbers of a product or a batch |
//! | `place` | the rules of the tree |
//! | `lineage` | a group with the groups above it, and the values that they give |
//! | `path` | a group in a table, by the names of its path |
//! | `effective` | the values of a tag, and where each comes from |
//! | `product_image` | the image of a product, without its bytes |

mod code;
mod effective;
mod gtin;
mod lineage;
mod path;
mod place;
mod product_image;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use code::{Code, InvalidCode};
pub use effective::{Effective, EffectiveValue};
pub use gtin::{Gtin, InvalidGtin};
pub use lineage::{Inherited, Lineage, Recall, led_to, property_of};
pub use path::{GroupPath, InvalidPath};
pub use place::{Below, InvalidPlace, LEVELS_MAX};
pub use product_image::GroupImage;

use crate::clock::Timestamp;
use crate::field_error::OfField;
use crate::id::{ExperienceId, GroupId};
use crate::revision::{Revised, Revision};
use crate::tag::{InvalidProperty, Properties};
use crate::text::{InvalidName, InvalidText, Name};

/// The kind of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupKind {
    /// Holds other groups, or tags, for order only.
    Folder,
    /// A kind of goods, with a number that shops know.
    Product,
    /// The goods that were made together. It holds no product.
    Batch,
}

impl GroupKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Folder, Self::Product, Self::Batch];

    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Product => "product",
            Self::Batch => "batch",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Whether the tags below a group are recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupStatus {
    /// Taps get their experience.
    #[default]
    Active,
    /// Taps of all tags below get the page of the recall.
    Recalled,
}

impl GroupStatus {
    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Recalled => "recalled",
        }
    }

    /// The status with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Active, Self::Recalled]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

/// The writable members of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupFields {
    /// The group that holds it; null for a group at the top.
    #[serde(default)]
    pub parent_id: Option<GroupId>,
    /// The kind of the group.
    pub kind: GroupKind,
    /// The owner's name for the group; need not be unique.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The SKU of a product, or the lot of a batch. No two groups of one parent have the same.
    #[serde(default)]
    pub code: Option<Code>,
    /// The GTIN of a product.
    #[serde(default)]
    pub gtin: Option<Gtin>,
    /// Whether the tags below are recalled.
    #[serde(default)]
    pub status: GroupStatus,
    /// The experience of the tags below that have none of their own.
    #[serde(default)]
    pub experience_id: Option<ExperienceId>,
    /// The experience that taps get while the group is recalled; null for a plain page.
    #[serde(default)]
    pub recall_experience_id: Option<ExperienceId>,
    /// The name for visitors, of tags without a title.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub title: String,
    /// A sentence for visitors, of tags without a description.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// Locale of the texts, as in `en_US`, of tags without one.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9_-]{2,35}$")]
    pub language_code: Option<String>,
    /// Attributes of the tags below, each of those that do not have the key themselves.
    #[serde(default)]
    pub attributes: Properties,
    /// Data of the tags below, in the same way.
    #[serde(default)]
    pub data: Properties,
    /// Variables that tags get when they are created below. Tags never inherit variables.
    #[serde(default)]
    pub variables: Properties,
}

/// A group, with its image and the number of its tags.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Group {
    /// Identifier, used in the API.
    pub id: GroupId,
    /// The members that its owner sets.
    #[serde(flatten)]
    pub fields: GroupFields,
    /// The image of a product: its own, or that of the nearest group above. Null if none has one.
    pub image: Option<GroupImage>,
    /// How many tags are in the group and in all groups below it. Simulated and deleted tags are
    /// not counted.
    pub tag_count: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Group {
    /// The image that the group has itself.
    pub fn own_image(&self) -> Option<&GroupImage> {
        let image = self.image.as_ref();
        image.filter(|image| image.group_id == self.id)
    }
}

impl Revised for GroupFields {
    fn revision(&self) -> Revision {
        Revision::of(self)
    }
}

impl Revised for Group {
    fn revision(&self) -> Revision {
        self.fields.revision()
    }
}

/// Why a group cannot be saved. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidGroup {
    /// The name is empty or too long.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A text for visitors, or its locale, is not valid.
    #[error(transparent)]
    Text(#[from] InvalidText),
    /// Another kind of group has a GTIN.
    #[error("Only a product has a GTIN.")]
    GtinOfOther,
    /// A property of this member is not valid.
    #[error("{1}")]
    Property(&'static str, InvalidProperty),
}

impl OfField for InvalidGroup {
    fn field(&self) -> Option<Cow<'static, str>> {
        let field = match self {
            Self::Name(error) => return error.field(),
            Self::Text(error) => return error.field(),
            Self::Property(field, _) => field,
            Self::GtinOfOther => "gtin",
        };
        Some(field.into())
    }
}

impl GroupFields {
    /// A group at the top with this kind and name, and no values.
    pub fn named(kind: GroupKind, name: String) -> Self {
        Self {
            parent_id: None,
            kind,
            name,
            code: None,
            gtin: None,
            status: GroupStatus::default(),
            experience_id: None,
            recall_experience_id: None,
            title: String::new(),
            description: String::new(),
            language_code: None,
            attributes: Properties::default(),
            data: Properties::default(),
            variables: Properties::default(),
        }
    }

    /// Checks everything that does not depend on other groups.
    pub fn validate(&self) -> Result<(), InvalidGroup> {
        Name::check("A group", &self.name)?;
        InvalidText::check(
            &self.title,
            &self.description,
            self.language_code.as_deref(),
        )?;
        if self.gtin.is_some() && self.kind != GroupKind::Product {
            return Err(InvalidGroup::GtinOfOther);
        }
        for (field, properties) in [
            ("attributes", &self.attributes),
            ("data", &self.data),
            ("variables", &self.variables),
        ] {
            let valid = properties.validate();
            valid.map_err(|why| InvalidGroup::Property(field, why))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_product_has_a_gtin() {
        let gtin = Some(Gtin::parse("9520123456788").unwrap());
        for kind in GroupKind::ALL {
            let group = GroupFields {
                gtin: gtin.clone(),
                ..GroupFields::named(kind, "x".to_owned())
            };
            let expected = match kind {
                GroupKind::Product => Ok(()),
                _ => Err(InvalidGroup::GtinOfOther),
            };
            assert_eq!(group.validate(), expected, "{kind:?}");
        }
    }

    #[test]
    fn kinds_and_states_are_known_by_their_names() {
        for kind in GroupKind::ALL {
            assert_eq!(GroupKind::parse(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for status in [GroupStatus::Active, GroupStatus::Recalled] {
            assert_eq!(GroupStatus::parse(status.as_str()), Some(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
