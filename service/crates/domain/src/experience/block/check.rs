//! The rules that blocks obey, and the errors of blocks that do not.

use serde_json::Value;

use super::{Block, BlockError, form};
use crate::experience::condition::{COUNTRIES_MAX, LANGUAGES_MAX};
use crate::experience::{LinkError, rich_text};
use crate::macros::{self, Misspelt};
use crate::strict_json;
use crate::tag::{InvalidProperty, PropertyKey, check_value};
use crate::text::text_fits;

/// Longest rich text, in characters.
const TEXT_MAX: usize = 10_000;
/// Longest heading, label, choice, or text of a table's cell, in characters.
const LABEL_MAX: usize = 500;
/// Most rows of a table.
const ROWS_MAX: usize = 100;
/// Most steps of a progress.
const STEPS_MAX: u8 = 30;

/// An error in a block that has the right shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::experience) enum BlockProblem {
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
pub(in crate::experience) fn read(values: Vec<Value>) -> Result<Vec<Block>, BlockError> {
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
pub(in crate::experience) fn check_macros(blocks: &[Block]) -> Result<(), BlockError> {
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
pub(in crate::experience) fn check_urls(blocks: &[Value]) -> Result<(), BlockError> {
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

impl Block {
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

pub(super) fn filled(member: &'static str, label: &str) -> Result<(), BlockProblem> {
    if label.trim().is_empty() {
        return Err(BlockProblem::Empty(member));
    }
    text(member, label, LABEL_MAX)
}

pub(super) fn at_most<T>(what: &'static str, items: &[T], max: usize) -> Result<(), BlockProblem> {
    if items.len() > max {
        return Err(BlockProblem::Many { what, max });
    }
    Ok(())
}
