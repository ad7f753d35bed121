//! The experience of a tag's visitors: a redirect to the owner's domain, or a studio page that the
//! service itself serves.
//!
//! A [`Content`] is the published part of one version of an experience. It is checked when it is
//! made from the members that the admin API and the storage use ([`ContentFields`]), so every
//! `Content` can be published.
//!
//! Not checked here: whether a tag has the variables that a page names, and whether an image
//! exists. Those facts are in other rows, and change without the experience.

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

pub use crate::image_type::ImageType;
pub use block::{
    Block, BlockError, ButtonLook, EntryFault, FieldKind, Form, FormField, TableRow, Tone,
};
pub use block::{button_values, forms as forms_of};
pub use colour::{Colour, InvalidColour};
pub use condition::is_language;
pub use condition::{Context, When};
pub use difference::{DifferenceLine, LineChange, conditions, difference};
pub use file::{ExperienceFile, FileContents, FileError, with_groups, with_images};
pub use link::{Link, LinkError};
pub use rule::{LedBy, RULES_MAX, Rule, RuleError};
pub use stored::{Experience, ExperienceFields, Image, PublishedExperience, Version};
pub use theme::{Corners, Font, Scheme, Theme};

use crate::field_error::OfField;
use crate::id::{GroupId, ImageId};
use crate::macros::{self, Target, TargetError};
use crate::strict_json;
use crate::tag::PropertyKey;

/// Most blocks of a page, including those in conditions.
pub const BLOCKS_MAX: usize = 200;
/// How deep blocks nest: a page without conditions is 1 deep.
pub const DEPTH_MAX: usize = 4;

/// The forms on the page of an experience, in order, including those in conditions.
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
    /// A redirect to a URL of the owner.
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

/// A name that no kind of experience has.
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

/// The published part of a version of an experience.
///
/// In JSON it has the members of [`ContentFields`].
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Content {
    /// Taps are redirected to the owner's domain.
    Redirect {
        /// The target if no rule applies.
        #[serde(rename = "target_url")]
        #[schema(value_type = String)]
        target: Target,
        /// Other targets under conditions: the first rule that applies decides.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        rules: Vec<Rule>,
        /// Whether the visitor's other parameters are appended to the target.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        pass_query: bool,
    },
    /// Taps show a page of this service.
    Studio {
        /// Its blocks, from top to bottom.
        blocks: Vec<Block>,
        /// Appearance of the page.
        #[serde(skip_serializing_if = "theme::is_default")]
        #[schema(required = false)]
        theme: Theme,
    },
}

/// A content as the API and storage represent it, before it is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ContentFields {
    /// The kind of experience, which decides which members it has.
    pub kind: ExperienceKind,
    /// For a redirect: an `http` or `https` URL. It may contain macros after its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        nullable = false,
        max_length = 4096,
        example = "https://example.com/?sn={{tag:attribute:sku}}"
    )]
    pub target_url: Option<String>,
    /// For a redirect: other targets under conditions. The first rule whose conditions all apply
    /// decides; if no rule applies, `target_url` is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Vec<Rule>, required = false, max_items = 50)]
    pub rules: Option<Vec<Value>>,
    /// For a redirect: whether the other parameters of the visitor's URL are appended to the
    /// target, without those of the code and the key. A parameter that the target has itself stays
    /// as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pass_query: Option<bool>,
    /// For a studio experience: the blocks of its page, from top to bottom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Vec<Block>, required = false, max_items = 200)]
    pub blocks: Option<Vec<Value>>,
    /// For a studio experience: the appearance of its page.
    #[serde(
        default,
        deserialize_with = "strict_json::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(nullable = false)]
    pub theme: Option<Theme>,
}

/// Why a content cannot be saved. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// A redirect has no target.
    #[error("A redirect experience needs a target_url.")]
    NoTarget,
    /// The member `blocks` is missing. It may be empty.
    #[error("A studio experience needs blocks; an empty list is allowed.")]
    NoBlocks,
    /// It has a member of the other kind.
    #[error(
        "A redirect experience has no blocks and no theme, a studio experience no target_url, no rules and no pass_query."
    )]
    OtherKind,
    /// Its target is not valid.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// One of its blocks is not valid.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// One of its rules is not valid.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// It has more than [`BLOCKS_MAX`] blocks.
    #[error("A page can have at most {BLOCKS_MAX} blocks, including those in conditions.")]
    TooMany,
    /// Nested deeper than [`DEPTH_MAX`].
    #[error("Blocks can be nested at most {DEPTH_MAX} deep.")]
    TooDeep,
    /// It is not a JSON object with these members.
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
                pass_query,
                blocks: None,
                theme: None,
            } => {
                let target = Target::parse(&target_url.ok_or(ContentError::NoTarget)?)?;
                let rules = rule::read(rules.unwrap_or_default())?;
                let pass_query = pass_query.unwrap_or_default();
                Ok(Self::Redirect {
                    target,
                    rules,
                    pass_query,
                })
            }
            ContentFields {
                kind: ExperienceKind::Studio,
                target_url: None,
                rules: None,
                pass_query: None,
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
    /// A content that a caller wants to save. In addition to the checks of [`TryFrom`], each of its
    /// macros must be able to have a value. Stored content may have other macros.
    pub fn to_save(fields: ContentFields) -> Result<Self, ContentError> {
        // Checked first: otherwise the error for a misspelt macro that is the whole target would be
        // "not a URL".
        if let Some(url) = &fields.target_url {
            macros::check(url).map_err(TargetError::from)?;
        }
        rule::check_urls(fields.rules.as_deref().unwrap_or_default())?;
        block::check_urls(fields.blocks.as_deref().unwrap_or_default())?;
        let content = Self::try_from(fields)?;
        content.check_macros()?;
        Ok(content)
    }

    /// Checks that each of its macros can have a value.
    pub fn check_macros(&self) -> Result<(), ContentError> {
        match self {
            Self::Redirect { target, rules, .. } => {
                macros::check(target.source()).map_err(TargetError::from)?;
                Ok(rule::check_macros(rules)?)
            }
            Self::Studio { blocks, .. } => Ok(block::check_macros(blocks)?),
        }
    }

    /// The countries in its conditions, each with the number of its rule or of its outermost block,
    /// from 1.
    pub fn countries(&self) -> Vec<(u32, &[String])> {
        match self {
            Self::Redirect { rules, .. } => {
                let rules = (1..).zip(rules);
                let conditions = rules
                    .flat_map(|(number, rule)| rule.when.iter().map(move |when| (number, when)));
                conditions
                    .map(|(number, when)| (number, when.countries()))
                    .filter(|(_, countries)| !countries.is_empty())
                    .collect()
            }
            Self::Studio { blocks, .. } => block::countries(blocks),
        }
    }

    /// Reads and checks a content: `{"kind": "redirect", "target_url": "..."}` or
    /// `{"kind": "studio", "blocks": [...]}`.
    pub fn from_json(json: &str) -> Result<Self, ContentError> {
        serde_json::from_str::<ContentFields>(json)?.try_into()
    }

    /// The content as [`Content::from_json`] reads it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and lists can be written as JSON")
    }

    /// The images on its page.
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

    /// The variables that visitors write on its page. Its tags need each of them, because an update
    /// changes variables but creates none.
    pub fn written_variables(&self) -> BTreeSet<PropertyKey> {
        match self {
            Self::Redirect { .. } => BTreeSet::new(),
            Self::Studio { blocks, .. } => block::written_variables(blocks),
        }
    }

    /// The languages in its conditions.
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

    /// The groups of visitors in its conditions, as pairs of first group and group after the last.
    /// Empty if it does not use groups.
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

    /// The groups of tags in its conditions. Some of them may be deleted.
    pub fn tag_groups(&self) -> BTreeSet<GroupId> {
        let mut found = BTreeSet::new();
        match self {
            Self::Redirect { rules, .. } => {
                let conditions = rules.iter().flat_map(|rule| &rule.when);
                found.extend(conditions.flat_map(When::tag_groups));
            }
            Self::Studio { blocks, .. } => block::tag_groups(blocks, &mut found),
        }
        found
    }

    /// Whether it treats groups of visitors differently.
    pub fn splits(&self) -> bool {
        !self.split().is_empty()
    }

    /// Whether it is a redirect or a studio page.
    pub const fn kind(&self) -> ExperienceKind {
        match self {
            Self::Redirect { .. } => ExperienceKind::Redirect,
            Self::Studio { .. } => ExperienceKind::Studio,
        }
    }
}
