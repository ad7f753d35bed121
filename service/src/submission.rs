//! What a form sent: a record of its own beside the variables that it set.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::experience::{Content, FieldKind, Form, FormField, forms, has_button};
use crate::id::{ExperienceId, InteractionId, SubmissionId, TagId};
use crate::interaction::{VerificationState, VersionRef};
use crate::tag::PropertyKey;

/// A field as its visitor filled it in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmittedField {
    /// What it asked for, as its owner wrote it.
    pub label: String,
    /// The variable that it set.
    pub variable: PropertyKey,
    /// What could be entered.
    pub kind: FieldKind,
    /// What was entered; `true` or `false` of a checkbox and of a consent.
    pub value: String,
}

/// What a visitor agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Consent {
    /// The text beside the checkbox.
    pub text: String,
    /// The version of the experience whose page showed it.
    pub version: u32,
}

/// A form that a visitor sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Submission {
    /// Its identifier.
    pub id: SubmissionId,
    /// When it was sent.
    pub at: Timestamp,
    /// The tap whose page it was sent from. The tap is kept for a time of its own.
    pub interaction_id: InteractionId,
    /// The tag.
    pub tag_id: TagId,
    /// The last part of the tag's URL.
    pub slug: String,
    /// The tag's name.
    pub tag_name: String,
    /// The experience that the form is on.
    pub experience_id: ExperienceId,
    /// The version of that experience.
    pub experience_version: u32,
    /// Whether the tap was verified; `null` if it was not checked.
    pub tag_verified: Option<bool>,
    /// Its fields, in their order.
    pub fields: Vec<SubmittedField>,
    /// What its visitor agreed to; `null` if the form did not ask, or they did not.
    pub consent: Option<Consent>,
    /// Whether it is simulated.
    pub simulated: bool,
}

/// A form that is being sent, as far as its update does not say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSubmission {
    /// The page that the form is on.
    pub page: VersionRef,
    /// Which form: see [`identity`].
    pub form: String,
    /// Whether it can be sent once per tag.
    pub once: bool,
    /// What became of the tap.
    pub verification: VerificationState,
    /// Its fields, in their order.
    pub fields: Vec<SubmittedField>,
    /// The text that its visitor agreed to.
    pub consent: Option<String>,
}

impl NewSubmission {
    /// The form of a page that sends `data`. `number` says which, if the sender says so: the form's
    /// place among those of the page, from 1. `None` if no form sends these variables, as a
    /// variable button does not.
    pub fn of(
        (content, page): (&Content, VersionRef),
        verification: VerificationState,
        number: Option<usize>,
        data: &[(PropertyKey, String)],
    ) -> Option<Self> {
        let forms = forms(content);
        let sends = |form: &&Form<'_>| {
            form.fields.len() == data.len() && data.iter().all(|(key, _)| form.field(key).is_some())
        };
        let named = number.and_then(|number| forms.get(number.checked_sub(1)?));
        let form = named.filter(sends).or_else(|| forms.iter().find(sends))?;
        let value = |key: &PropertyKey| {
            let sent = data.iter().find(|(sent, _)| sent == key);
            sent.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let fields = form.fields.iter().map(|field| SubmittedField {
            label: field.label.clone(),
            variable: field.variable.clone(),
            kind: field.kind,
            value: value(&field.variable),
        });
        let fields: Vec<_> = fields.collect();
        let agreed = fields
            .iter()
            .find(|field| field.kind == FieldKind::Consent && field.value == "true");
        Some(Self {
            page,
            form: identity(form),
            once: form.once,
            verification,
            consent: agreed.map(|field| field.label.clone()),
            fields,
        })
    }
}

/// The first field that has to be filled in and is not, of the form of a page that sends `data`.
/// `number` is the form's place among those of the page, from 1, if the sender says it.
pub fn missing<'a>(
    content: &'a Content,
    number: Option<usize>,
    data: &[(PropertyKey, String)],
) -> Option<&'a FormField> {
    let Content::Studio { blocks, .. } = content else {
        return None;
    };
    let forms = forms(content);
    let form = match number {
        // What a browser leaves out of a form is empty.
        Some(number) => forms.get(number.checked_sub(1)?).filter(|form| {
            let mut keys = data.iter().map(|(key, _)| key);
            keys.all(|key| form.field(key).is_some())
        }),
        None if matches!(data, [(key, _)] if has_button(blocks, key)) => None,
        None => forms.iter().find(|form| {
            form.fields.len() == data.len() && data.iter().all(|(key, _)| form.field(key).is_some())
        }),
    };
    form?.fields.iter().find(|field| {
        let value = data.iter().find(|(key, _)| *key == field.variable);
        let value = value.map_or("", |(_, value)| value.as_str());
        let is_filled = match field.kind {
            FieldKind::Checkbox | FieldKind::Consent => value == "true",
            _ => !value.trim().is_empty(),
        };
        field.required && !is_filled
    })
}

/// Which form it is, in whatever version and language: a digest of the variables that it sets.
pub fn identity(form: &Form<'_>) -> String {
    let mut variables: Vec<_> = form.fields.iter().map(|field| &field.variable).collect();
    variables.sort_unstable();
    let mut digest = Sha256::new();
    for variable in variables {
        digest.update(variable.as_str());
        digest.update(b"\n");
    }
    // Half of it tells the forms of a tag apart.
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
            experience_id: ExperienceId(7),
            version: 3,
        }
    }

    fn data(pairs: &[(&str, &str)]) -> Vec<(PropertyKey, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (PropertyKey::parse(key).unwrap(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_field_that_has_to_be_filled_in_is_named() {
        let page = content(&json!([
            {"type": "form", "submit_label": "OK", "fields": [
                {"label": "Name", "kind": "text", "variable": "name", "required": true},
                {"label": "Note", "kind": "text", "variable": "note"},
                {"label": "I agree", "kind": "consent", "variable": "agreed", "required": true},
            ]},
            {"type": "form", "submit_label": "OK", "fields": [
                {"label": "Colour", "kind": "text", "variable": "colour", "required": true},
            ]},
            {"type": "variable_button", "label": "None", "variable": "colour", "value": ""},
        ]));
        for (number, sent, named) in [
            (
                Some(1),
                &[("name", "Ada"), ("note", ""), ("agreed", "true")][..],
                None,
            ),
            (
                Some(1),
                &[("name", " \n"), ("note", "x"), ("agreed", "true")],
                Some("Name"),
            ),
            (
                Some(1),
                &[("name", "Ada"), ("note", ""), ("agreed", "false")],
                Some("I agree"),
            ),
            (Some(1), &[("name", "Ada"), ("note", "")], Some("I agree")),
            (Some(1), &[("note", "x")], Some("Name")),
            (
                None,
                &[("name", ""), ("note", ""), ("agreed", "true")],
                Some("Name"),
            ),
            (Some(2), &[("colour", "")], Some("Colour")),
            // A button of the page sends the same, and no form's number.
            (None, &[("colour", "")], None),
            // It is none of the form's.
            (Some(1), &[("colour", "")], None),
            (Some(3), &[("name", "")], None),
            (Some(0), &[("name", "")], None),
        ] {
            let missing = missing(&page, number, &data(sent));
            let label = missing.map(|field| field.label.as_str());
            assert_eq!(label, named, "{number:?} {sent:?}");
        }
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
            NewSubmission::of((&content, page()), verification, number, &sent).unwrap()
        };
        assert_eq!(of(Some(2)).consent.as_deref(), Some("I agree."));
        assert_eq!(of(Some(1)).consent.as_deref(), Some("Ich stimme zu."));
        // A number that cannot be is no reason to lose what was sent.
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
            NewSubmission::of((&content, page()), verification, None, &data(pairs))
        };
        let refused = of(&[("agreed", "false"), ("name", "Ada")]).unwrap();
        assert_eq!(refused.consent, None);
        assert_eq!(of(&[("name", "Ada")]), None);
        assert!(of(&[("note", "x")]).is_some());
    }
}
