//! The form of a studio page: what it asks for, and in which order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Block, BlockProblem, at_most, filled};
use crate::inlay::text::text_schema;
use crate::macros::Template;
use crate::tag::PropertyKey;

/// Most fields of a form: each is a variable of one update, which takes 64.
const FIELDS_MAX: usize = 50;
/// Most choices of a field.
const CHOICES_MAX: usize = 100;

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FormField {
    /// What it asks for.
    #[schema(min_length = 1, max_length = 500)]
    pub label: String,
    /// What can be entered.
    pub kind: FieldKind,
    /// The key of the variable it is written to.
    pub variable: PropertyKey,
    /// The options: at least one for a choice, none for other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 100, value_type = Vec<Choice>)]
    pub choices: Vec<String>,
    /// Whether it is required.
    #[serde(default)]
    #[schema(required = false)]
    pub required: bool,
}

/// A choice, for the OpenAPI document.
struct Choice;
text_schema!(Choice, r"\S", max_length = 500);

/// What can be entered in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A line of text.
    Text,
    /// Text of several lines.
    Multiline,
    /// A mail address.
    Email,
    /// A number.
    Number,
    /// One of some choices.
    Choice,
    /// Yes or no.
    Checkbox,
    /// Yes or no to a text, the label, which a submission keeps. It can contain no macros.
    Consent,
}

/// A form of a page.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// Its fields.
    pub fields: &'a [FormField],
    /// Whether it can be sent once per tag.
    pub once: bool,
}

impl<'a> Form<'a> {
    /// The field for a variable.
    pub fn field(&self, variable: &PropertyKey) -> Option<&'a FormField> {
        self.fields.iter().find(|field| field.variable == *variable)
    }
}

/// The forms, including those in conditions.
pub(crate) fn forms(blocks: &[Block]) -> Vec<Form<'_>> {
    let forms = blocks.iter().flat_map(|block| match block {
        Block::Form { fields, once, .. } => {
            let once = *once;
            vec![Form { fields, once }]
        }
        block => block.inner().flat_map(forms).collect(),
    });
    forms.collect()
}

/// Checks what the types alone do not.
pub(super) fn check(fields: &[FormField]) -> Result<(), BlockProblem> {
    if fields.is_empty() {
        return Err(BlockProblem::Empty("fields"));
    }
    at_most("fields", fields, FIELDS_MAX)?;
    let mut variables = BTreeSet::new();
    for field in fields {
        filled("label", &field.label)?;
        if !variables.insert(&field.variable) {
            return Err(BlockProblem::SameVariable(field.variable.clone()));
        }
        check_choices(field)?;
    }
    let mut consents = fields
        .iter()
        .filter(|field| field.kind == FieldKind::Consent);
    if let Some(consent) = consents.next()
        && Template::parse(&consent.label).marked() != consent.label
    {
        return Err(BlockProblem::MacroInConsent(consent.variable.clone()));
    }
    if consents.next().is_some() {
        return Err(BlockProblem::SeveralConsents);
    }
    Ok(())
}

fn check_choices(field: &FormField) -> Result<(), BlockProblem> {
    match (field.kind, field.choices.is_empty()) {
        (FieldKind::Choice, true) => return Err(BlockProblem::Empty("choices")),
        (FieldKind::Choice, false) | (_, true) => {}
        (_, false) => return Err(BlockProblem::ChoicesOfOther(field.variable.clone())),
    }
    at_most("choices", &field.choices, CHOICES_MAX)?;
    let mut choices = BTreeSet::new();
    for choice in &field.choices {
        filled("A choice", choice)?;
        if !choices.insert(choice) {
            return Err(BlockProblem::SameChoice(field.variable.clone()));
        }
    }
    Ok(())
}
