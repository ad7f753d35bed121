//! What a tag's visitors come to: a redirect to the owner's domain, or a studio
//! page that the service itself serves.
//!
//! A [`Content`] is what one version of an experience publishes. It is checked
//! when it is made, from the members that the admin API and the storage use
//! ([`ContentFields`]); one that exists can be published.
//!
//! Absent here: whether a tag has the variables that a page names, and whether
//! an image exists. Those are facts of other rows, and change without the experience.

mod block;
mod colour;
mod condition;
mod difference;
mod file;
mod link;
pub mod picture;
mod revision;
pub mod rich_text;
mod rule;
mod stored;
#[cfg(test)]
mod tests;
mod theme;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use block::{Block, BlockError, ButtonLook, FieldKind, Form, FormField, TableRow, Tone};
pub(crate) use block::{forms as forms_of, has_button};
pub use colour::{Colour, InvalidColour};
pub use condition::{Context, When};
pub use difference::{DifferenceLine, LineChange, difference};
pub use file::{ExperienceFile, FileError, with_images};
pub use link::{Link, LinkError};
pub use rule::{RULES_MAX, Rule, RuleError};
pub use stored::{
    Experience, ExperienceFields, Image, ImageType, InvalidName, PublishedExperience, Version,
};
pub use theme::{Corners, Font, Scheme, Theme};

use crate::field_error::OfField;
use crate::id::ImageId;
use crate::macros::{Target, TargetError};
use crate::object;
use crate::tag::PropertyKey;

/// Most blocks of a page, including those in conditions.
pub const BLOCKS_MAX: usize = 200;
/// How deep blocks nest: a page without conditions is 1 deep.
pub const DEPTH_MAX: usize = 4;

/// The forms on the page of an experience, in their order, those in conditions included.
pub fn forms(content: &Content) -> Vec<Form<'_>> {
    match content {
        Content::Redirect { .. } => Vec::new(),
        Content::Studio { blocks, .. } => forms_of(blocks),
    }
}

/// The two kinds of experiences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExperienceKind {
    /// On to a URL of the owner's.
    Redirect,
    /// A page of the service.
    Studio,
}

impl ExperienceKind {
    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Studio => "studio",
        }
    }
}

/// A name that no kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The kind of an experience is redirect or studio.")]
pub struct UnknownKind;

impl FromStr for ExperienceKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        [Self::Redirect, Self::Studio]
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or(UnknownKind)
    }
}

/// What a version of an experience publishes. In JSON the members of [`ContentFields`].
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Content {
    /// A redirect.
    Redirect {
        /// The target, unless a rule decides.
        #[serde(rename = "target_url")]
        #[schema(value_type = String)]
        target: Target,
        /// Other targets under conditions: the first rule whose conditions are met decides.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        rules: Vec<Rule>,
    },
    /// A page.
    Studio {
        /// Its blocks, from top to bottom.
        blocks: Vec<Block>,
        /// How it looks.
        #[serde(skip_serializing_if = "theme::is_default")]
        #[schema(required = false)]
        theme: Theme,
    },
}

/// A content as the API takes it and storage keeps it: not checked yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ContentFields {
    /// Which kind of experience it is.
    pub kind: ExperienceKind,
    /// Of a redirect: an `http` or `https` URL; macros can follow its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        nullable = false,
        max_length = 4096,
        example = "https://example.com/?sn={{tag:attribute:sku}}"
    )]
    pub target_url: Option<String>,
    /// Of a redirect: other targets under conditions. The first rule whose conditions are all met
    /// decides; if there is none, `target_url` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Vec<Rule>, required = false, max_items = 50)]
    pub rules: Option<Vec<Value>>,
    /// Of a studio experience: the blocks of its page, from top to bottom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Vec<Block>, required = false, max_items = 200)]
    pub blocks: Option<Vec<Value>>,
    /// Of a studio experience: how its page looks.
    #[serde(
        default,
        deserialize_with = "object::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(nullable = false)]
    pub theme: Option<Theme>,
}

/// Why a content cannot be saved. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// A redirect leads nowhere.
    #[error("A redirect experience needs a target_url.")]
    NoTarget,
    /// A page has no blocks, not even none.
    #[error("A studio experience needs blocks; an empty list is allowed.")]
    NoBlocks,
    /// It has the member of the other kind.
    #[error(
        "A redirect experience has no blocks and no theme, a studio experience no target_url and no rules."
    )]
    OtherKind,
    /// Its target cannot be one.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// One of its blocks is not well formed.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// One of its rules is not well formed.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// More than [`BLOCKS_MAX`].
    #[error("A page can have at most {BLOCKS_MAX} blocks, including those in conditions.")]
    TooMany,
    /// Nested deeper than [`DEPTH_MAX`].
    #[error("Blocks can be nested at most {DEPTH_MAX} deep.")]
    TooDeep,
    /// It is no JSON object of these members.
    #[error("The content of the experience cannot be read: {0}.")]
    Json(#[from] serde_json::Error),
}

impl OfField for ContentError {
    fn field(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoTarget | Self::Target(_) => "target_url".into(),
            Self::NoBlocks | Self::TooMany | Self::TooDeep => "blocks".into(),
            Self::OtherKind => "kind".into(),
            Self::Block(error) => format!("blocks[{}]", error.number - 1).into(),
            Self::Rule(RuleError::TooMany) => "rules".into(),
            Self::Rule(RuleError::Malformed { number, .. }) => {
                format!("rules[{}]", number - 1).into()
            }
            Self::Json(_) => return None,
        })
    }
}

impl TryFrom<ContentFields> for Content {
    type Error = ContentError;

    fn try_from(fields: ContentFields) -> Result<Self, ContentError> {
        match fields {
            ContentFields {
                kind: ExperienceKind::Redirect,
                target_url,
                rules,
                blocks: None,
                theme: None,
            } => {
                let target = Target::parse(&target_url.ok_or(ContentError::NoTarget)?)?;
                let rules = rule::read(rules.unwrap_or_default())?;
                Ok(Self::Redirect { target, rules })
            }
            ContentFields {
                kind: ExperienceKind::Studio,
                target_url: None,
                rules: None,
                blocks,
                theme,
            } => {
                let theme = theme.unwrap_or_default();
                let blocks = block::read(blocks.ok_or(ContentError::NoBlocks)?)?;
                if block::count(&blocks) > BLOCKS_MAX {
                    Err(ContentError::TooMany)
                } else if block::depth(&blocks) > DEPTH_MAX {
                    Err(ContentError::TooDeep)
                } else {
                    Ok(Self::Studio { blocks, theme })
                }
            }
            _ => Err(ContentError::OtherKind),
        }
    }
}

impl Content {
    /// Reads and checks a content: `{"kind": "redirect", "target_url": "..."}` or
    /// `{"kind": "studio", "blocks": [...]}`.
    pub fn from_json(json: &str) -> Result<Self, ContentError> {
        serde_json::from_str::<ContentFields>(json)?.try_into()
    }

    /// The content as [`Content::from_json`] reads it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and lists can be written as JSON")
    }

    /// The images that it shows.
    pub fn images(&self) -> Vec<ImageId> {
        match self {
            Self::Redirect { .. } => Vec::new(),
            Self::Studio { blocks, theme } => {
                let mut images = block::images(blocks);
                images.extend(theme.logo);
                images
            }
        }
    }

    /// The variables that visitors write on its page. A tag that leads there needs
    /// each of them: an update changes variables and makes none.
    pub fn written_variables(&self) -> BTreeSet<PropertyKey> {
        match self {
            Self::Redirect { .. } => BTreeSet::new(),
            Self::Studio { blocks, .. } => block::written_variables(blocks),
        }
    }

    /// The languages that its conditions name.
    pub fn languages(&self) -> Vec<&str> {
        match self {
            Self::Redirect { rules, .. } => rules
                .iter()
                .flat_map(|rule| &rule.when)
                .flat_map(When::languages)
                .map(String::as_str)
                .collect(),
            Self::Studio { blocks, .. } => block::languages(blocks),
        }
    }

    /// The groups of visitors that its conditions are for: each from its first group up to and
    /// without its last number. Empty if it has no groups of visitors.
    pub fn split(&self) -> BTreeSet<(u8, u8)> {
        let mut found = BTreeSet::new();
        match self {
            Self::Redirect { rules, .. } => {
                found.extend(
                    rules
                        .iter()
                        .flat_map(|rule| &rule.when)
                        .filter_map(When::split),
                );
            }
            Self::Studio { blocks, .. } => block::split(blocks, &mut found),
        }
        found
    }

    /// Whether it treats groups of visitors differently.
    pub fn splits(&self) -> bool {
        !self.split().is_empty()
    }

    /// Its kind.
    pub const fn kind(&self) -> ExperienceKind {
        match self {
            Self::Redirect { .. } => ExperienceKind::Redirect,
            Self::Studio { .. } => ExperienceKind::Studio,
        }
    }
}
