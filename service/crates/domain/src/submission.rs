//! Submissions: a record of each sent form, in addition to the variables that it set.

pub mod entries;

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::experience::{Content, FieldKind, Form, button_values, forms};
use crate::id::{ExperienceId, InteractionId, SubmissionId, TagId};
use crate::interaction::{UpdateFault, VerificationState, VersionRef};
use crate::macros::Template;
use crate::tag::PropertyKey;

/// A field as the visitor filled it in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmittedField {
    /// Label of the field, as the owner wrote it.
    pub label: String,
    /// The variable that it set.
    pub variable: PropertyKey,
    /// Kind of entry that the field takes.
    pub kind: FieldKind,
    /// The entry; `true` or `false` for a checkbox or a consent.
    pub value: String,
}

/// A visitor's agreement to a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Consent {
    /// The text next to the checkbox.
    pub text: String,
    /// The version of the experience whose page showed the text.
    pub version: u32,
}

/// A form that a visitor sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Submission {
    /// Identifier, used in the API.
    pub id: SubmissionId,
    /// When it was sent.
    pub at: Timestamp,
    /// The tap on whose page the form was. The tap has its own retention, so it may already be
    /// deleted.
    pub interaction_id: InteractionId,
    /// Tag on whose page the form was.
    pub tag_id: TagId,
    /// The last part of the tag's URL; null if the tag is not within the token's reach any more.
    pub slug: Option<String>,
    /// The tag's name; null under the same condition as `slug`.
    pub tag_name: Option<String>,
    /// The experience that has the form.
    pub experience_id: ExperienceId,
    /// The version of that experience.
    pub experience_version: u32,
    /// Whether the tap was verified; `null` if it was not checked.
    pub tag_verified: Option<bool>,
    /// Its fields, in their order.
    pub fields: Vec<SubmittedField>,
    /// The agreement of the visitor; `null` if the form has no consent field, or the visitor did
    /// not agree.
    pub consent: Option<Consent>,
    /// Whether the tap was simulated.
    pub simulated: bool,
    /// Why it is not saved: its variables were not written. `null` if it is saved.
    pub not_saved: Option<NotSaved>,
}

/// A form that is stored, although its variables could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NotSaved {
    /// Why it was refused.
    pub reason: UpdateFault,
    /// The present obstacle to saving it, in words; `null` if it can be saved.
    pub in_the_way: Option<String>,
    /// The variables that the tag still lacks.
    pub missing_variables: Vec<PropertyKey>,
}

impl NotSaved {
    /// A form without a present obstacle.
    pub const fn new(reason: UpdateFault) -> Self {
        Self {
            reason,
            in_the_way: None,
            missing_variables: Vec::new(),
        }
    }

    /// Records the present obstacle.
    pub fn is(&mut self, in_the_way: Option<InTheWay>) {
        self.in_the_way = in_the_way.as_ref().map(ToString::to_string);
        self.missing_variables = match in_the_way {
            Some(InTheWay::MissingVariables(missing)) => missing,
            _ => Vec::new(),
        };
    }
}

/// An obstacle that the owner can remove before the form is saved. Each is a sentence with the way
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InTheWay {
    /// The tag is deleted.
    Deleted,
    /// The tag has no experience.
    NotAssigned,
    /// The tag lacks variables. At least one.
    MissingVariables(Vec<PropertyKey>),
}

impl fmt::Display for InTheWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deleted => f.write_str("The tag is deleted. Restore it, then save the entry."),
            Self::NotAssigned => {
                f.write_str("The tag leads to no experience. Assign it, then save the entry.")
            }
            Self::MissingVariables(missing) => {
                let keys: Vec<_> = missing.iter().map(PropertyKey::as_str).collect();
                let (noun, pronoun) = match keys.len() {
                    1 => ("variable", "it"),
                    _ => ("variables", "them"),
                };
                let keys = keys.join(", ");
                write!(
                    f,
                    "The tag has no {noun} {keys}. Add {pronoun}, then save the entry."
                )
            }
        }
    }
}

/// Filters submissions by whether they are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SubmissionState {
    /// Submissions whose variables were written.
    #[default]
    Saved,
    /// Stored submissions whose variables were not written.
    Refused,
    /// Saved and refused ones.
    All,
}

/// The facts about a form that are not part of its update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSubmission {
    /// The experience and version that have the form.
    pub page: VersionRef,
    /// Identity of the form: see [`identity`].
    pub form: String,
    /// Whether it can be sent once per tag.
    pub once: bool,
    /// Verdict on the tap.
    pub verification: VerificationState,
    /// Its fields, in their order.
    pub fields: Vec<SubmittedField>,
    /// The text that its visitor agreed to.
    pub consent: Option<String>,
}

/// Why an update is refused: it has variables of several forms, and a submission is of one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeveralForms;

impl NewSubmission {
    /// The form of a page that sends `data`. If the sender gave it, `number` is the form's position
    /// on the page, from 1. `None` if no form sends these variables, as with a variable button.
    ///
    /// A form that can be sent once per tag also matches an update with some of its variables, or
    /// with additional ones: otherwise its sender could send it again and again. Only a form or a
    /// button of the page that sets exactly these variables takes precedence. An update with
    /// variables of several such forms is refused, because a submission is of one form.
    pub fn of(
        (content, page): (&Content, VersionRef),
        verification: VerificationState,
        number: Option<usize>,
        data: &[(PropertyKey, String)],
    ) -> Result<Option<Self>, SeveralForms> {
        let forms = forms(content);
        let named = number.and_then(|number| forms.get(number.checked_sub(1)?));
        let sends = |form: &&Form<'_>| {
            form.fields.len() == data.len() && data.iter().all(|(key, _)| form.field(key).is_some())
        };
        let whole = named.filter(sends).or_else(|| forms.iter().find(sends));
        let form = match whole {
            Some(form) => form,
            None if is_button(content, data) => return Ok(None),
            None => match part_of_once(&forms, data)? {
                Some(form) => named
                    .filter(|named| named.once && identity(named) == identity(form))
                    .unwrap_or(form),
                None => return Ok(None),
            },
        };
        let fields = form.fields.iter().filter_map(|field| {
            let (_, value) = data.iter().find(|(sent, _)| *sent == field.variable)?;
            Some(SubmittedField {
                label: field.label.clone(),
                variable: field.variable.clone(),
                kind: field.kind,
                value: value.clone(),
            })
        });
        let fields: Vec<_> = fields.collect();
        let agreed = fields
            .iter()
            .find(|field| field.kind == FieldKind::Consent && field.value == "true");
        let form = identity(form);
        Ok(Some(Self {
            page,
            once: forms
                .iter()
                .any(|other| other.once && identity(other) == form),
            form,
            verification,
            consent: agreed.map(|field| field.label.clone()),
            fields,
        }))
    }
}

/// The once-per-tag form that has a variable of `data`, if there is one.
fn part_of_once<'a>(
    forms: &'a [Form<'a>],
    data: &[(PropertyKey, String)],
) -> Result<Option<&'a Form<'a>>, SeveralForms> {
    let has = |form: &&Form<'_>| form.once && data.iter().any(|(key, _)| form.field(key).is_some());
    let mut found = forms.iter().filter(has);
    let first = found.next();
    let is_other = |form: &Form<'_>| first.is_some_and(|first| identity(first) != identity(form));
    if found.any(is_other) {
        return Err(SeveralForms);
    }
    Ok(first)
}

/// Whether a variable button of the page sends `data`. A button whose value has macros may send any
/// value, because the value depends on the tap.
fn is_button(content: &Content, data: &[(PropertyKey, String)]) -> bool {
    let ([(key, value)], Content::Studio { blocks, .. }) = (data, content) else {
        return false;
    };
    button_values(blocks, key)
        .into_iter()
        .any(|set| set == value || Template::parse(set).marked() != set)
}

/// Whether the page has this form, named by its [`identity`], and allows it only once per tag.
pub fn is_once(content: &Content, form: &str) -> bool {
    let forms = forms(content);
    forms.iter().any(|one| one.once && identity(one) == form)
}

/// The identity of a form in all versions and languages: a digest of the variables that it sets.
pub fn identity(form: &Form<'_>) -> String {
    let mut variables: Vec<_> = form.fields.iter().map(|field| &field.variable).collect();
    variables.sort_unstable();
    let mut digest = Sha256::new();
    for variable in variables {
        digest.update(variable.as_str());
        digest.update(b"\n");
    }
    // Half of the digest is enough to distinguish the forms of a tag.
    let digest = digest.finalize();
    format!("{:x}", base16ct::HexDisplay(&digest[..16]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experience::ContentFields;

    fn content(blocks: &serde_json::Value) -> Content {
        let fields = json!({"kind": "studio", "blocks": blocks});
        let fields: ContentFields = serde_json::from_value(fields).unwrap();
        Content::try_from(fields).unwrap()
    }

    fn page() -> VersionRef {
        VersionRef {
            experience_id: ExperienceId::new(7),
            version: 3,
        }
    }

    fn data(pairs: &[(&str, &str)]) -> Vec<(PropertyKey, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (PropertyKey::parse(key).unwrap(), (*value).to_owned()))
            .collect()
    }

    /// The same form in two languages, and another one.
    fn languages() -> Content {
        let form = |name: &str, agree: &str| {
            json!({"type": "form", "submit_label": "OK", "once": true, "fields": [
                {"label": name, "kind": "text", "variable": "name"},
                {"label": agree, "kind": "consent", "variable": "agreed"},
            ]})
        };
        content(&json!([
            {"type": "condition", "when": {"type": "language", "any_of": ["de"]},
             "blocks": [form("Name", "Ich stimme zu.")], "otherwise": [form("Your name", "I agree.")]},
            {"type": "form", "submit_label": "OK", "fields": [{"label": "Note", "kind": "text", "variable": "note"}]},
        ]))
    }

    #[test]
    fn a_form_is_found_by_its_number_or_by_what_it_sends() {
        let content = languages();
        let sent = data(&[("agreed", "true"), ("name", "Ada")]);
        let of = |number| {
            let verification = VerificationState::Verified;
            let found = NewSubmission::of((&content, page()), verification, number, &sent);
            found.unwrap().unwrap()
        };
        assert_eq!(of(Some(2)).consent.as_deref(), Some("I agree."));
        assert_eq!(of(Some(1)).consent.as_deref(), Some("Ich stimme zu."));
        // An invalid number is no reason to lose the sent data.
        for number in [None, Some(0), Some(3), Some(99)] {
            assert_eq!(of(number).consent.as_deref(), Some("Ich stimme zu."));
        }
        assert_eq!(
            of(Some(1)).form,
            of(Some(2)).form,
            "one form, two languages"
        );
        assert!(of(None).once);
        let fields = of(None).fields;
        let values: Vec<_> = fields.iter().map(|field| field.value.as_str()).collect();
        assert_eq!(values, ["Ada", "true"], "in the order of the form");
    }

    #[test]
    fn who_does_not_agree_has_not_agreed_and_a_variable_button_is_no_form() {
        let content = languages();
        let of = |pairs: &[(&str, &str)]| {
            let verification = VerificationState::NotChecked;
            NewSubmission::of((&content, page()), verification, None, &data(pairs)).unwrap()
        };
        let refused = of(&[("agreed", "false"), ("name", "Ada")]).unwrap();
        assert_eq!(refused.consent, None);
        let part = of(&[("name", "Ada")]).unwrap();
        assert!(part.once && part.fields.len() == 1, "a part is its sending");
        assert!(of(&[("note", "x")]).is_some());
    }
}
