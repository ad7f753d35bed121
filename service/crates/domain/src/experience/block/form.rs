//! The form of a studio page: its fields and their order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Block;
use super::check::{BlockProblem, at_most, filled};
use crate::macros::Template;
use crate::schema::text_schema;
use crate::tag::PropertyKey;

/// Most fields of a form. Each is a variable of one update, which takes at most 64.
const FIELDS_MAX: usize = 50;
/// Most choices of a field.
const CHOICES_MAX: usize = 100;

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FormField {
    /// Label of the field.
    #[schema(min_length = 1, max_length = 500)]
    pub label: String,
    /// Kind of entry that the field takes.
    pub kind: FieldKind,
    /// The key of the variable it is written to.
    pub variable: PropertyKey,
    /// The options: at least one for a choice, empty for other kinds.
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

/// The kind of entry that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A line of text.
    Text,
    /// Text of several lines.
    Multiline,
    /// A mail address, checked as browsers check it.
    Email,
    /// A number, checked as browsers check it.
    Number,
    /// One of a list of choices.
    Choice,
    /// Yes or no, as a check box.
    Checkbox,
    /// Agreement to a text, the label, which is stored with each submission. The label can contain
    /// no macros.
    Consent,
}

/// A form of a page.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// Fields in the order of the page.
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
pub fn forms(blocks: &[Block]) -> Vec<Form<'_>> {
    let forms = blocks.iter().flat_map(|block| match block {
        Block::Form { fields, once, .. } => {
            let once = *once;
            vec![Form { fields, once }]
        }
        block => block.inner().flat_map(forms).collect(),
    });
    forms.collect()
}

/// Checks the number of fields, their labels, choices and variables.
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
