//! A tag: the owner's settings of a physical object, and the facts recorded about it.
//!
//! A tag has three classes of properties. Attributes and data cannot be changed from outside; a
//! visitor with a rolling key may change variables (specification, section 1).

mod add_variables;
pub mod cell;
mod column;
mod location;
mod property;
mod row;
mod slug;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use add_variables::{ADD_VARIABLES, AddVariables};
pub use column::TagColumn;
pub use location::{AssetType, Location, PlaceType, Venue, VenueAsset};
pub use property::value_schema;
pub use property::{
    InvalidProperty, PROPERTIES_MAX, Properties, PropertyClass, PropertyKey, PropertyValue,
    VALUE_MAX, check_value,
};
pub use row::{TagRow, deleted, former_cells};
pub use slug::{InvalidSlug, RESERVED, Slug};

use crate::clock::Timestamp;
use crate::field_error::OfField;
use crate::id::{ExperienceId, GroupId, InteractionId, TagId};
use crate::revision::{Revised, Revision};
use crate::text::{InvalidName, InvalidText, Name};

/// Whether visitors can use a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Taps get the experience.
    #[default]
    Active,
    /// Taps are recorded, and get a page that says that the tag is no longer in use.
    Archived,
}

impl Status {
    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }

    /// The status with this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Active, Self::Archived]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

/// The writable members of a tag.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent switches of the contract"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TagFields {
    /// The last part of the tag's URL; random by default.
    #[serde(default)]
    #[schema(required = false)]
    pub slug: Slug,
    /// The owner's name for the tag; need not be unique.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The name for visitors.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub title: String,
    /// A sentence for visitors.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// Locale of the tag's texts, as in `en_US`. If it is empty, the tag has its group's, or else
    /// `en_US`.
    #[serde(default)]
    #[schema(pattern = "^([A-Za-z0-9_-]{2,35})?$")]
    pub language_code: String,
    /// Whether visitors can use the tag.
    #[serde(default)]
    pub status: Status,
    /// The experience that a tap gets.
    #[serde(default)]
    pub experience_id: Option<ExperienceId>,
    /// The group that the tag is in. It gives the tag the values that the tag does not have itself.
    #[serde(default)]
    pub group_id: Option<GroupId>,
    /// Whether taps are verified.
    #[serde(default = "yes")]
    pub verifier_enabled: bool,
    /// Whether a rolling key from a tap that did not verify may update variables.
    #[serde(default)]
    pub updates_require_verified: bool,
    /// Properties for macros. No rolling key can change them.
    #[serde(default)]
    pub attributes: Properties,
    /// Further properties for macros, a separate class in the specification.
    #[serde(default)]
    pub data: Properties,
    /// Properties whose values a visitor with a rolling key may change.
    #[serde(default)]
    pub variables: Properties,
    /// Where the tag is.
    #[serde(default, deserialize_with = "crate::strict_json::option")]
    pub location: Option<Location>,
    /// Settings of widgets by their name; copied to the payload.
    #[serde(default)]
    #[schema(value_type = std::collections::BTreeMap<String, std::collections::BTreeMap<String, serde_json::Value>>)]
    pub widget_settings: WidgetSettings,
    /// Switch that is copied to the payload.
    #[serde(default)]
    pub track_location: bool,
    /// Whether the tag has a printed QR code in addition to its inlay. A visit without a code then
    /// does not count as a failed check.
    #[serde(default)]
    pub has_qr_code: bool,
}

/// Settings of widgets by their name (specification 2.3).
pub type WidgetSettings =
    std::collections::BTreeMap<String, serde_json::Map<String, serde_json::Value>>;

/// The locale of a tag if neither the tag nor a group above it has one.
pub const DEFAULT_LANGUAGE: &str = "en_US";

const fn yes() -> bool {
    true
}

/// A stored tag. The admin API adds its URL.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = StoredTag)]
pub struct Tag {
    /// Identifier, used in the API.
    pub id: TagId,
    /// The members that its owner sets.
    #[serde(flatten)]
    pub fields: TagFields,
    /// Its former slugs, the latest first. They still find the tag until they are released.
    pub former_slugs: Vec<Slug>,
    /// Whether it belongs to the simulated world.
    pub simulated: bool,
    /// How many taps were recorded, including test taps and taps of staff. Visitors made those that
    /// `test_scan_count` leaves.
    pub scan_count: u64,
    /// How many of these taps were tests of this application, or of staff. Orders by taps leave them
    /// out.
    pub test_scan_count: u64,
    /// When it was last tapped, whoever did it.
    pub last_scan_at: Option<Timestamp>,
    /// When an inlay of the tag first reported an open or broken tamper loop; null if none did.
    pub opened_at: Option<Timestamp>,
    /// The interaction that reported it; null if there was none, or it was deleted.
    pub opened_by: Option<InteractionId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its configuration was last changed.
    pub updated_at: Timestamp,
}

/// The revision does not cover properties: each property has its own revision.
impl Revised for TagFields {
    fn revision(&self) -> Revision {
        let none = Properties::default;
        Revision::of(&Self {
            attributes: none(),
            data: none(),
            variables: none(),
            ..self.clone()
        })
    }
}

impl Revised for Tag {
    fn revision(&self) -> Revision {
        self.fields.revision()
    }
}

impl Tag {
    /// A tag that is not stored. It has an id that no stored tag has: what a preview looks up by it
    /// is not found.
    pub fn unborn(fields: TagFields) -> Self {
        Self {
            id: TagId::new(i64::MAX),
            fields,
            former_slugs: Vec::new(),
            simulated: false,
            scan_count: 0,
            test_scan_count: 0,
            last_scan_at: None,
            opened_at: None,
            opened_by: None,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        }
    }

    /// Its name for visitors: the title, or the name if it has no title.
    pub fn shown_title(&self) -> &str {
        if self.fields.title.is_empty() {
            &self.fields.name
        } else {
            &self.fields.title
        }
    }

    /// Whether `slug` is its slug or a former one.
    pub fn answers_to(&self, slug: &str) -> bool {
        self.fields.slug.as_str() == slug
            || self
                .former_slugs
                .iter()
                .any(|former| former.as_str() == slug)
    }
}

/// Why a tag cannot be saved. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTag {
    /// The slug is empty.
    #[error(
        "A tag needs a slug of 1 to 64 characters of A-Z, a-z, 0-9, ., _, ~ and -. Leave it out to keep the current slug."
    )]
    Slug,
    /// The name is empty or too long.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A text for visitors, or its locale, is not valid.
    #[error(transparent)]
    Text(#[from] InvalidText),
    /// The widget settings are too large.
    #[error("widget_settings can have at most {WIDGETS_MAX} bytes as JSON.")]
    Widgets,
    /// A property of this class is not valid.
    #[error("{1}")]
    Property(PropertyClass, InvalidProperty),
    /// The location is not valid.
    #[error("{0}")]
    Location(&'static str),
}

impl OfField for InvalidTag {
    fn field(&self) -> Option<Cow<'static, str>> {
        let field = match self {
            Self::Slug => "slug",
            Self::Name(error) => return error.field(),
            Self::Text(error) => return error.field(),
            Self::Widgets => "widget_settings",
            Self::Property(PropertyClass::Attribute, _) => "attributes",
            Self::Property(PropertyClass::Data, _) => "data",
            Self::Property(PropertyClass::Variable, _) => "variables",
            Self::Location(_) => "location",
        };
        Some(field.into())
    }
}

/// Largest widget settings, in bytes of JSON.
pub const WIDGETS_MAX: usize = 16 * 1024;

impl TagFields {
    /// A tag with this name, and defaults for everything else.
    pub fn named(name: String) -> Self {
        Self {
            slug: Slug::default(),
            name,
            title: String::new(),
            description: String::new(),
            language_code: String::new(),
            status: Status::default(),
            experience_id: None,
            group_id: None,
            verifier_enabled: yes(),
            updates_require_verified: false,
            attributes: Properties::default(),
            data: Properties::default(),
            variables: Properties::default(),
            location: None,
            widget_settings: WidgetSettings::default(),
            track_location: false,
            has_qr_code: false,
        }
    }

    /// The properties of one class.
    pub const fn properties(&self, class: PropertyClass) -> &Properties {
        match class {
            PropertyClass::Attribute => &self.attributes,
            PropertyClass::Data => &self.data,
            PropertyClass::Variable => &self.variables,
        }
    }

    /// The properties of one class, as a mutable reference.
    pub const fn properties_mut(&mut self, class: PropertyClass) -> &mut Properties {
        match class {
            PropertyClass::Attribute => &mut self.attributes,
            PropertyClass::Data => &mut self.data,
            PropertyClass::Variable => &mut self.variables,
        }
    }

    /// Checks lengths, characters and numbers.
    pub fn validate(&self) -> Result<(), InvalidTag> {
        if self.slug.as_str().is_empty() {
            return Err(InvalidTag::Slug);
        }
        Name::check("A tag", &self.name)?;
        let language = Some(self.language_code.as_str()).filter(|code| !code.is_empty());
        InvalidText::check(&self.title, &self.description, language)?;
        let widgets = serde_json::to_string(&self.widget_settings).unwrap_or_default();
        if widgets.len() > WIDGETS_MAX || widgets.contains("\\u0000") {
            return Err(InvalidTag::Widgets);
        }
        for class in PropertyClass::ALL {
            let properties = self.properties(class);
            properties
                .validate()
                .map_err(|why| InvalidTag::Property(class, why))?;
        }
        if let Some(location) = &self.location {
            location.validate().map_err(InvalidTag::Location)?;
        }
        Ok(())
    }
}
