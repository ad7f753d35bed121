//! The blocks of a studio page.

mod check;
mod contents;
mod entry;
mod form;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::theme::is_default;
use super::{Link, When};
use crate::id::ImageId;
use crate::macros::Target;
use crate::strict_json;
use crate::tag::PropertyKey;

pub(super) use check::{BlockProblem, check_macros, check_urls, read};
pub use contents::button_values;
pub(super) use contents::{
    count, countries, depth, images, languages, split, tag_groups, written_variables,
};
pub use entry::EntryFault;
pub use form::forms;
pub use form::{FieldKind, Form, FormField};

strict_json::tagged_by_name!(Block, "type");

/// A block of a studio page. Every text except keys can contain macros, and so can a button's URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    deny_unknown_fields,
    remote = "Self"
)]
pub enum Block {
    /// A heading above other blocks.
    Heading {
        /// Plain text, with macros.
        #[schema(max_length = 500)]
        text: String,
    },
    /// A paragraph of rich text.
    Text {
        /// Markdown. HTML is not interpreted.
        #[schema(max_length = 10_000)]
        text: String,
    },
    /// A button with a link.
    Button {
        /// Label of the button.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// An `http`, `https`, `mailto` or `tel` URL.
        #[schema(value_type = String, max_length = 4096)]
        url: Link,
        /// Emphasis of the button.
        #[serde(default, skip_serializing_if = "is_default")]
        #[schema(required = false)]
        look: ButtonLook,
    },
    /// A link to a video on another site. The page loads nothing from that site until the visitor
    /// follows the link.
    Video {
        /// Label of the link.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// An `http` or `https` URL.
        #[schema(value_type = String, max_length = 4096)]
        url: Target,
    },
    /// A highlighted message with an icon for its tone.
    Notice {
        /// Its icon and colour.
        tone: Tone,
        /// Short title of the notice.
        #[schema(min_length = 1, max_length = 500)]
        title: String,
        /// Further text below the title.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[schema(required = false, max_length = 500)]
        text: String,
    },
    /// Progress: a row of `of` marks, the first of them filled.
    Progress {
        /// Label that names the counted thing.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// Number of filled marks, or a macro that gives a number. Any other text counts as 0.
        #[schema(max_length = 500, example = "{{tag:variable:stamps}}")]
        value: String,
        /// Number of marks in all.
        #[schema(minimum = 1, maximum = 30)]
        of: u8,
    },
    /// An image of the experience.
    Image {
        /// Image of the experience to show.
        image_id: ImageId,
        /// Alt text. Empty if decorative.
        #[serde(default)]
        #[schema(required = false, max_length = 500)]
        alt: String,
    },
    /// A horizontal line between blocks.
    Divider {},
    /// A table of keys and values.
    Table {
        /// Rows from top to bottom. A row with an empty value is left out.
        #[schema(max_items = 100)]
        #[serde(deserialize_with = "strict_json::list")]
        rows: Vec<TableRow>,
    },
    /// A form. Its values become the tag's variables, and each sent form is stored as a submission.
    Form {
        /// Its fields, each for a different variable.
        #[schema(min_items = 1, max_items = 50)]
        #[serde(deserialize_with = "strict_json::list")]
        fields: Vec<FormField>,
        /// The label of its button.
        #[schema(min_length = 1, max_length = 500)]
        submit_label: String,
        /// Whether it can be sent only once per tag. Forms for the same variables count as one
        /// form.
        #[serde(default, skip_serializing_if = "is_default")]
        #[schema(required = false)]
        once: bool,
    },
    /// A button that sets a variable.
    VariableButton {
        /// Label of the button.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// Key of the variable that it sets.
        variable: PropertyKey,
        /// The value it gets.
        #[schema(max_length = 4096)]
        value: String,
    },
    /// Blocks that depend on a condition.
    Condition {
        /// Condition that selects the blocks.
        #[serde(deserialize_with = "strict_json::one")]
        when: When,
        /// The blocks that are shown if it applies.
        #[serde(deserialize_with = "read_nested")]
        #[schema(no_recursion)]
        blocks: Vec<Block>,
        /// The blocks that are shown otherwise.
        #[serde(
            default,
            deserialize_with = "read_nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        #[schema(no_recursion, required = false)]
        otherwise: Vec<Block>,
    },
}

/// The emphasis of a button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ButtonLook {
    /// Filled: the main action.
    #[default]
    Filled,
    /// Outlined: one of several actions.
    Outlined,
}

/// The tone of a notice. Each has its own icon and colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Everything is fine: a check mark in a disc.
    Good,
    /// Neither good nor bad: a ring.
    Neutral,
    /// A problem: a cross.
    Caution,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// Label of the row.
    #[schema(max_length = 500)]
    pub key: String,
    /// Value of the row.
    #[schema(max_length = 500)]
    pub value: String,
}

/// A block that is not valid, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Block {number}{}: {problem}", match kind { Some(kind) => format!(" ({kind})"), None => String::new() })]
pub struct BlockError {
    /// Its position among its neighbours, from 1.
    pub number: usize,
    /// Its type, if it has one.
    pub kind: Option<String>,
    /// The error, in words. For a condition it can be an error of an inner block, with that block's
    /// own position.
    pub problem: String,
}

impl Block {
    /// The inner blocks, in lists of neighbours.
    fn inner(&self) -> impl Iterator<Item = &[Self]> {
        let lists: [&[Self]; 2] = match self {
            Self::Condition {
                blocks, otherwise, ..
            } => [blocks, otherwise],
            _ => [&[], &[]],
        };
        lists.into_iter()
    }

    /// The name of its type.
    fn kind(&self) -> Option<String> {
        let block = serde_json::to_value(self).ok()?;
        Some(block.get("type")?.as_str()?.to_owned())
    }
}

/// Reads the blocks of a condition, so that an error names the inner block.
fn read_nested<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    read(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
