//! The blocks of a studio page.

mod entry;
mod form;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::condition::{COUNTRIES_MAX, LANGUAGES_MAX};
use super::theme::is_default;
use super::{Link, LinkError, When, rich_text};
use crate::id::ImageId;
use crate::macros::{self, Misspelt, Target};
use crate::strict_json;
use crate::tag::{InvalidProperty, PropertyKey, check_value};
use crate::text::text_fits;

pub use entry::EntryFault;
pub use form::forms;
pub use form::{FieldKind, Form, FormField};

/// Longest rich text, in characters.
const TEXT_MAX: usize = 10_000;
/// Longest heading, label, choice, or text of a table's cell, in characters.
const LABEL_MAX: usize = 500;
/// Most rows of a table.
const ROWS_MAX: usize = 100;
/// Most steps of a progress.
const STEPS_MAX: u8 = 30;

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

/// An error in a block that has the right shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BlockProblem {
    #[error("{member} can have at most {max} characters, and no NUL character.")]
    Text { member: &'static str, max: usize },
    #[error("{0} cannot be empty.")]
    Empty(&'static str),
    #[error("It can have at most {max} {what}.")]
    Many { what: &'static str, max: usize },
    #[error("Two of its fields write to the variable {0}. Give each a variable of its own.")]
    SameVariable(PropertyKey),
    #[error("Its field {0} can have choices only where its kind is choice.")]
    ChoicesOfOther(PropertyKey),
    #[error("Two choices of its field {0} are the same.")]
    SameChoice(PropertyKey),
    #[error("The text of the consent {0} is kept as it was shown, so it can contain no macros.")]
    MacroInConsent(PropertyKey),
    #[error("It can have one consent. Put everything to agree to into one text.")]
    SeveralConsents,
    #[error(transparent)]
    Value(#[from] InvalidProperty),
    #[error("Its condition names nothing that could be met.")]
    NothingToMeet,
    #[error("Its condition can never be met: at_least is more than at_most.")]
    NeverMet,
    #[error("It can name at most {LANGUAGES_MAX} languages, each a tag such as de or pt-BR.")]
    Language,
    #[error("It can name at most {COUNTRIES_MAX} countries, each two letters such as DE.")]
    Country,
    #[error("Its condition can never be met: it ends before it begins.")]
    EndsBeforeItBegins,
    #[error("Its visitors are none: from must be below until, which is at most 100.")]
    Split,
    #[error("It can have 1 to {STEPS_MAX} marks.")]
    Steps,
    #[error("The link to {url} cannot be one: {error}")]
    Link { url: String, error: LinkError },
    #[error(transparent)]
    Macro(#[from] Misspelt),
    /// An error of a block inside a condition.
    #[error(transparent)]
    Within(Box<BlockError>),
}

/// Reads blocks and checks each.
pub(super) fn read(values: Vec<Value>) -> Result<Vec<Block>, BlockError> {
    let numbered = values.into_iter().zip(1..);
    let blocks = numbered.map(|(value, number)| {
        let kind = value.get("type").and_then(Value::as_str).map(str::to_owned);
        let block = strict_json::one::<Block, _>(value).map_err(|error| error.to_string());
        let checked = block.and_then(|block| match block.check() {
            Ok(()) => Ok(block),
            Err(problem) => Err(problem.to_string()),
        });
        checked.map_err(|problem| BlockError {
            number,
            kind,
            problem,
        })
    });
    blocks.collect()
}

/// Checks that each macro of the blocks can have a value.
pub(super) fn check_macros(blocks: &[Block]) -> Result<(), BlockError> {
    (1..).zip(blocks).try_for_each(|(number, block)| {
        block.check_macros().map_err(|problem| BlockError {
            number,
            kind: block.kind(),
            problem: problem.to_string(),
        })
    })
}

/// Runs the same check on URLs and rich texts of blocks that are not parsed yet, including those in
/// conditions: a single macro can be a whole URL.
pub(super) fn check_urls(blocks: &[Value]) -> Result<(), BlockError> {
    let text = |block: &Value, member: &str| {
        let text = block.get(member).and_then(Value::as_str);
        text.map_or_else(String::new, str::to_owned)
    };
    (1..).zip(blocks).try_for_each(|(number, block)| {
        let own = ["url", "text"].into_iter();
        let own = own.map(|member| macros::check(&text(block, member)).map_err(|e| e.to_string()));
        let within = ["blocks", "otherwise"].into_iter();
        let within = within.map(|member| {
            let blocks = block.get(member).and_then(Value::as_array);
            check_urls(blocks.map(Vec::as_slice).unwrap_or_default()).map_err(|e| e.to_string())
        });
        let checked: Result<(), String> = own.chain(within).collect();
        checked.map_err(|problem| BlockError {
            number,
            kind: Some(text(block, "type")).filter(|kind| !kind.is_empty()),
            problem,
        })
    })
}

/// Reads the blocks of a condition, so that an error names the inner block.
fn read_nested<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    read(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// The number of blocks, including those in conditions.
pub(super) fn count(blocks: &[Block]) -> usize {
    blocks
        .iter()
        .map(|block| 1 + block.inner().map(count).sum::<usize>())
        .sum()
}

/// The nesting depth; 0 for no blocks.
pub(super) fn depth(blocks: &[Block]) -> usize {
    let depths = blocks
        .iter()
        .map(|block| 1 + block.inner().map(depth).max().unwrap_or(0));
    depths.max().unwrap_or(0)
}

/// The images in the blocks, including those in conditions.
pub(super) fn images(blocks: &[Block]) -> Vec<ImageId> {
    let shown = blocks.iter().flat_map(|block| match block {
        Block::Image { image_id, .. } => vec![*image_id],
        block => block.inner().flat_map(images).collect(),
    });
    shown.collect()
}

/// The languages in their conditions.
pub(super) fn languages(blocks: &[Block]) -> Vec<&str> {
    let named = blocks.iter().flat_map(|block| {
        let own: &[String] = match block {
            Block::Condition { when, .. } => when.languages(),
            _ => &[],
        };
        let within = block.inner().flat_map(languages);
        own.iter()
            .map(String::as_str)
            .chain(within)
            .collect::<Vec<_>>()
    });
    named.collect()
}

/// The values that buttons set `variable` to, with their macros.
pub fn button_values<'a>(blocks: &'a [Block], variable: &PropertyKey) -> Vec<&'a str> {
    let values = blocks.iter().flat_map(|block| match block {
        Block::VariableButton {
            variable: set,
            value,
            ..
        } if set == variable => vec![value.as_str()],
        block => {
            let within = block.inner();
            within
                .flat_map(|inner| button_values(inner, variable))
                .collect()
        }
    });
    values.collect()
}

/// The countries in conditions, each with the position of its outermost block on the page, from 1.
pub(super) fn countries(blocks: &[Block]) -> Vec<(u32, &[String])> {
    let named = (1..).zip(blocks).flat_map(|(number, block)| {
        let own: &[String] = match block {
            Block::Condition { when, .. } => when.countries(),
            _ => &[],
        };
        let own = (!own.is_empty()).then_some((number, own));
        let within = block.inner().flat_map(countries);
        own.into_iter()
            .chain(within.map(move |(_, countries)| (number, countries)))
            .collect::<Vec<_>>()
    });
    named.collect()
}

/// Collects the groups of visitors in conditions, each once.
pub(super) fn split(blocks: &[Block], found: &mut BTreeSet<(u8, u8)>) {
    for block in blocks {
        if let Block::Condition { when, .. } = block {
            found.extend(when.split());
        }
        block.inner().for_each(|inner| split(inner, found));
    }
}

/// The variables that visitors write on the page.
pub(super) fn written_variables(blocks: &[Block]) -> BTreeSet<PropertyKey> {
    let written = blocks.iter().flat_map(|block| {
        let mut own = block
            .inner()
            .flat_map(written_variables)
            .collect::<Vec<_>>();
        match block {
            Block::Form { fields, .. } => {
                own.extend(fields.iter().map(|field| field.variable.clone()));
            }
            Block::VariableButton { variable, .. } => own.push(variable.clone()),
            _ => {}
        }
        own
    });
    written.collect()
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

    /// Checks that each macro in its texts and links can have a value.
    fn check_macros(&self) -> Result<(), BlockProblem> {
        let texts: Vec<&str> = match self {
            Self::Heading { text } | Self::Text { text } => vec![text],
            Self::Button { label, url, .. } => vec![label, url.source()],
            Self::Video { label, url } => vec![label, url.source()],
            Self::Notice { title, text, .. } => vec![title, text],
            Self::Progress { label, value, .. } | Self::VariableButton { label, value, .. } => {
                vec![label, value]
            }
            Self::Image { alt, .. } => vec![alt],
            Self::Divider {} | Self::Condition { .. } => Vec::new(),
            Self::Table { rows } => {
                let cells = rows.iter().flat_map(|row| [&*row.key, &*row.value]);
                cells.collect()
            }
            Self::Form {
                fields,
                submit_label,
                ..
            } => {
                let labels = fields.iter().map(|field| &*field.label);
                labels.chain([&**submit_label]).collect()
            }
        };
        for text in texts {
            macros::check(text)?;
        }
        self.inner().try_for_each(|blocks| {
            check_macros(blocks).map_err(|error| BlockProblem::Within(Box::new(error)))
        })
    }

    /// Checks lengths, numbers and keys of the block.
    fn check(&self) -> Result<(), BlockProblem> {
        match self {
            Self::Heading { text: heading } => text("text", heading, LABEL_MAX),
            Self::Text { text: markdown } => {
                text("text", markdown, TEXT_MAX)?;
                rich_text::links(markdown).try_for_each(|(url, link)| match link {
                    Ok(_) => Ok(()),
                    Err(error) => Err(BlockProblem::Link { url, error }),
                })
            }
            Self::Button { label, .. } | Self::Video { label, .. } => filled("label", label),
            Self::Notice {
                title, text: more, ..
            } => {
                filled("title", title)?;
                text("text", more, LABEL_MAX)
            }
            Self::Progress { label, value, of } => {
                filled("label", label)?;
                text("value", value, LABEL_MAX)?;
                if (1..=STEPS_MAX).contains(of) {
                    Ok(())
                } else {
                    Err(BlockProblem::Steps)
                }
            }
            Self::Image { alt, .. } => text("alt", alt, LABEL_MAX),
            Self::Divider {} => Ok(()),
            Self::Table { rows } => {
                at_most("rows", rows, ROWS_MAX)?;
                rows.iter().try_for_each(|row| {
                    text("key", &row.key, LABEL_MAX)?;
                    text("value", &row.value, LABEL_MAX)
                })
            }
            Self::Form {
                fields,
                submit_label,
                ..
            } => {
                filled("submit_label", submit_label)?;
                form::check(fields)
            }
            Self::VariableButton { label, value, .. } => {
                filled("label", label)?;
                Ok(check_value(value)?)
            }
            Self::Condition { when, .. } => when.check(),
        }
    }
}

fn text(member: &'static str, text: &str, max: usize) -> Result<(), BlockProblem> {
    if text_fits(text, max) {
        Ok(())
    } else {
        Err(BlockProblem::Text { member, max })
    }
}

fn filled(member: &'static str, label: &str) -> Result<(), BlockProblem> {
    if label.trim().is_empty() {
        return Err(BlockProblem::Empty(member));
    }
    text(member, label, LABEL_MAX)
}

fn at_most<T>(what: &'static str, items: &[T], max: usize) -> Result<(), BlockProblem> {
    if items.len() > max {
        return Err(BlockProblem::Many { what, max });
    }
    Ok(())
}
