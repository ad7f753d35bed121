//! The blocks of a studio page.

mod form;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::condition::{COUNTRIES_MAX, LANGUAGES_MAX};
use super::theme::is_default;
use super::{Link, LinkError, When, rich_text};
use crate::id::ImageId;
use crate::macros::Target;
use crate::object;
use crate::tag::{InvalidProperty, PropertyKey, check_value, text_fits};

pub(crate) use form::forms;
pub use form::{FieldKind, Form, FormField};

/// Longest rich text, in characters.
const TEXT_MAX: usize = 10_000;
/// Longest heading, label, choice, or text of a table's cell, in characters.
const LABEL_MAX: usize = 500;
/// Most rows of a table.
const ROWS_MAX: usize = 100;
/// Most steps of a progress.
const STEPS_MAX: u8 = 30;

object::tagged_by_name!(Block, "type");

/// A block of a studio page. Every text except keys can contain macros, and so can a button's URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    deny_unknown_fields,
    remote = "Self"
)]
pub enum Block {
    /// A heading.
    Heading {
        /// Plain text.
        #[schema(max_length = 500)]
        text: String,
    },
    /// Rich text.
    Text {
        /// Markdown. HTML in it is shown as text.
        #[schema(max_length = 10_000)]
        text: String,
    },
    /// A button with a link.
    Button {
        /// What it says.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// An `http`, `https`, `mailto` or `tel` URL.
        #[schema(value_type = String, max_length = 4096)]
        url: Link,
        /// How much it stands out.
        #[serde(default, skip_serializing_if = "is_default")]
        #[schema(required = false)]
        look: ButtonLook,
    },
    /// A link to a video on another site. Nothing is loaded before the visitor follows it.
    Video {
        /// What it shows.
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
        /// What it says, in a few words.
        #[schema(min_length = 1, max_length = 500)]
        title: String,
        /// More of it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[schema(required = false, max_length = 500)]
        text: String,
    },
    /// Progress: a row of `of` marks, the first of them filled.
    Progress {
        /// What is counted.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// How many are filled: a number, or a macro that gives one. Anything else counts as 0.
        #[schema(max_length = 500, example = "{{tag:variable:stamps}}")]
        value: String,
        /// How many there are.
        #[schema(minimum = 1, maximum = 30)]
        of: u8,
    },
    /// An image of the experience.
    Image {
        /// Which.
        image_id: ImageId,
        /// Alt text. Empty if decorative.
        #[serde(default)]
        #[schema(required = false, max_length = 500)]
        alt: String,
    },
    /// A line.
    Divider {},
    /// Keys and values.
    Table {
        /// From top to bottom. A row with an empty value is left out.
        #[schema(max_items = 100)]
        #[serde(deserialize_with = "object::list")]
        rows: Vec<TableRow>,
    },
    /// A form. Its values become the tag's variables, and each sending is kept as a submission.
    Form {
        /// Its fields, each for a different variable.
        #[schema(min_items = 1, max_items = 50)]
        #[serde(deserialize_with = "object::list")]
        fields: Vec<FormField>,
        /// The label of its button.
        #[schema(min_length = 1, max_length = 500)]
        submit_label: String,
        /// Whether it can be sent once per tag. Forms for the same variables are one form.
        #[serde(default, skip_serializing_if = "is_default")]
        #[schema(required = false)]
        once: bool,
    },
    /// A button that sets a variable.
    VariableButton {
        /// What it says.
        #[schema(min_length = 1, max_length = 500)]
        label: String,
        /// The variable's key.
        variable: PropertyKey,
        /// The value it gets.
        #[schema(max_length = 4096)]
        value: String,
    },
    /// Blocks that depend on a condition.
    Condition {
        /// The condition.
        #[serde(deserialize_with = "object::one")]
        when: When,
        /// The blocks that are shown if it is met.
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

/// How much a button stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ButtonLook {
    /// Filled: the thing to do.
    #[default]
    Filled,
    /// Outlined: one of several things.
    Outlined,
}

/// The tone of a notice. Each has its own icon and colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// As it should be: a check mark in a disc.
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
    /// What it is about.
    #[schema(max_length = 500)]
    pub key: String,
    /// What is said about it.
    #[schema(max_length = 500)]
    pub value: String,
}

/// Which block is not well formed, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Block {number}{}: {problem}", match kind { Some(kind) => format!(" ({kind})"), None => String::new() })]
pub struct BlockError {
    /// Its place among its neighbours, from 1.
    pub number: usize,
    /// Its type, if it says one.
    pub kind: Option<String>,
    /// What is wrong, in words. Of a condition also an error of a block within, with its own place.
    pub problem: String,
}

/// What can be wrong with a block of the right shape.
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
}

/// Reads blocks and checks each.
pub(super) fn read(values: Vec<Value>) -> Result<Vec<Block>, BlockError> {
    let numbered = values.into_iter().zip(1..);
    let blocks = numbered.map(|(value, number)| {
        let kind = value.get("type").and_then(Value::as_str).map(str::to_owned);
        let block = object::one::<Block, _>(value).map_err(|error| error.to_string());
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

/// Reads the blocks of a condition, so that an error names the one within.
fn read_nested<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    read(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// How many blocks there are, including those in conditions.
pub(super) fn count(blocks: &[Block]) -> usize {
    blocks
        .iter()
        .map(|block| 1 + block.inner().map(count).sum::<usize>())
        .sum()
}

/// How deep they nest; 0 for none.
pub(super) fn depth(blocks: &[Block]) -> usize {
    let depths = blocks
        .iter()
        .map(|block| 1 + block.inner().map(depth).max().unwrap_or(0));
    depths.max().unwrap_or(0)
}

/// The images they show, including those in conditions.
pub(super) fn images(blocks: &[Block]) -> Vec<ImageId> {
    let shown = blocks.iter().flat_map(|block| match block {
        Block::Image { image_id, .. } => vec![*image_id],
        block => block.inner().flat_map(images).collect(),
    });
    shown.collect()
}

/// The languages that their conditions name.
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

/// Whether a button sets `variable`.
pub(crate) fn has_button(blocks: &[Block], variable: &PropertyKey) -> bool {
    blocks.iter().any(|block| match block {
        Block::VariableButton { variable: set, .. } => set == variable,
        block => block.inner().any(|inner| has_button(inner, variable)),
    })
}

/// The groups of visitors that conditions are for, each once.
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
    /// The blocks within, in lists of neighbours.
    fn inner(&self) -> impl Iterator<Item = &[Self]> {
        let lists: [&[Self]; 2] = match self {
            Self::Condition {
                blocks, otherwise, ..
            } => [blocks, otherwise],
            _ => [&[], &[]],
        };
        lists.into_iter()
    }

    /// Checks what the types alone do not.
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
