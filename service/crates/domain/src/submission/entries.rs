//! Compares the data of a form with the fields on its page.

use crate::experience::{Content, EntryFault, Form, button_values, forms};
use crate::tag::PropertyKey;

/// A field of a form whose entry cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// The form's position on its page, from 1.
    pub form: usize,
    /// The variable that the field is for.
    pub variable: PropertyKey,
    /// Error in the entry.
    pub fault: EntryFault,
}

/// The result of comparing a form's data with its page.
#[derive(Debug, PartialEq, Eq)]
pub enum Entries<'a> {
    /// The entries of a form, as they are stored.
    Form(Vec<(PropertyKey, String)>),
    /// The variable belongs to buttons; these are the values that they set, with their macros.
    Button(Vec<&'a str>),
    /// The fields of a form whose entries cannot be saved, in order.
    Refused(Vec<FieldFault>),
    /// Neither a form nor a button of the page sends these variables.
    NotOffered,
}

/// Compares `data` with the page that it was sent from. `number` is the form's position on the
/// page, from 1, if the sender gave it. Omitted fields count as empty.
pub fn compare<'a>(
    content: &'a Content,
    number: Option<usize>,
    data: &[(PropertyKey, String)],
) -> Entries<'a> {
    let Content::Studio { blocks, .. } = content else {
        return Entries::NotOffered;
    };
    if let (None, [(variable, _)]) = (number, data) {
        let values = button_values(blocks, variable);
        if !values.is_empty() {
            return Entries::Button(values);
        }
    }
    let forms = forms(content);
    let has_all = |form: &Form<'_>| data.iter().all(|(key, _)| form.field(key).is_some());
    let named = number.and_then(|number| number.checked_sub(1));
    let named = named.filter(|place| forms.get(*place).is_some_and(has_all));
    // A form without its number is identified by its fields.
    let whole = |form: &Form<'_>| form.fields.len() == data.len() && has_all(form);
    let found = named
        .or_else(|| forms.iter().position(whole))
        .or_else(|| forms.iter().position(has_all));
    let Some((place, form)) = found.and_then(|place| Some((place, forms.get(place)?))) else {
        return Entries::NotOffered;
    };
    let (mut entries, mut faults) = (Vec::new(), Vec::new());
    for field in form.fields {
        let sent = data.iter().find(|(key, _)| *key == field.variable);
        match field.entry(sent.map_or("", |(_, entered)| entered)) {
            Ok(entry) => entries.extend(sent.map(|(key, _)| (key.clone(), entry))),
            Err(fault) => faults.push(FieldFault {
                form: place + 1,
                variable: field.variable.clone(),
                fault,
            }),
        }
    }
    if faults.is_empty() {
        Entries::Form(entries)
    } else {
        Entries::Refused(faults)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page() -> Content {
        let content = json!({"kind": "studio", "blocks": [
            {"type": "form", "submit_label": "OK", "fields": [
                {"label": "Name", "kind": "text", "variable": "name", "required": true},
                {"label": "Age", "kind": "number", "variable": "age"},
                {"label": "I agree", "kind": "consent", "variable": "agreed", "required": true},
            ]},
            {"type": "condition", "when": {"type": "scan_count", "at_least": 9}, "blocks": [
                {"type": "form", "submit_label": "OK", "fields": [
                    {"label": "Colour", "kind": "choice", "variable": "colour", "choices": ["Red"]},
                ]},
                {"type": "variable_button", "label": "Red", "variable": "colour", "value": "Red"},
                {"type": "variable_button", "label": "No", "variable": "colour", "value": "not {{tag:name}}"},
            ]},
        ]});
        Content::from_json(&content.to_string()).unwrap()
    }

    fn data(pairs: &[(&str, &str)]) -> Vec<(PropertyKey, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (PropertyKey::parse(key).unwrap(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn each_entry_that_cannot_be_saved_is_named_at_its_field() {
        let page = page();
        for (number, sent, faults) in [
            (
                Some(1),
                &[("name", "Ada"), ("age", "36"), ("agreed", "true")][..],
                &[][..],
            ),
            (Some(1), &[("name", "Ada"), ("agreed", "true")], &[]),
            (
                Some(1),
                &[("name", " \n"), ("age", "abc"), ("agreed", "false")],
                &[
                    (1, "name", EntryFault::Missing),
                    (1, "age", EntryFault::Number),
                    (1, "agreed", EntryFault::Missing),
                ],
            ),
            (
                Some(1),
                &[("age", "1")],
                &[
                    (1, "name", EntryFault::Missing),
                    (1, "agreed", EntryFault::Missing),
                ],
            ),
            (
                Some(2),
                &[("colour", "Blue")],
                &[(2, "colour", EntryFault::Choice)],
            ),
            (Some(2), &[("colour", "Red")], &[]),
            // An invalid number does not bypass the checks.
            (
                Some(2),
                &[("age", "abc")],
                &[
                    (1, "name", EntryFault::Missing),
                    (1, "age", EntryFault::Number),
                    (1, "agreed", EntryFault::Missing),
                ],
            ),
            (
                Some(0),
                &[("colour", "Blue")],
                &[(2, "colour", EntryFault::Choice)],
            ),
            (
                Some(usize::MAX),
                &[("colour", "Blue")],
                &[(2, "colour", EntryFault::Choice)],
            ),
            (
                None,
                &[("name", "Ada"), ("age", "x"), ("agreed", "true")],
                &[(1, "age", EntryFault::Number)],
            ),
        ] {
            let compared = compare(&page, number, &data(sent));
            let expected: Vec<_> = faults
                .iter()
                .map(|(form, variable, fault)| FieldFault {
                    form: *form,
                    variable: PropertyKey::parse(variable).unwrap(),
                    fault: *fault,
                })
                .collect();
            match compared {
                Entries::Form(_) => assert!(expected.is_empty(), "{number:?} {sent:?}"),
                Entries::Refused(faults) => assert_eq!(faults, expected, "{number:?} {sent:?}"),
                other => panic!("{number:?} {sent:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn entries_are_stored_as_a_browser_sends_them() {
        let sent = data(&[
            ("agreed", "true"),
            ("age", " 36 "),
            ("name", "Ada\nLovelace"),
        ]);
        let stored = data(&[("name", "AdaLovelace"), ("age", "36"), ("agreed", "true")]);
        assert_eq!(compare(&page(), Some(1), &sent), Entries::Form(stored));
        // An omitted field keeps its value.
        let sent = data(&[("name", "Ada"), ("agreed", "true")]);
        assert_eq!(compare(&page(), Some(1), &sent), Entries::Form(sent));
    }

    #[test]
    fn what_neither_a_form_nor_a_button_sends_is_not_offered() {
        let page = page();
        let button = Entries::Button(vec!["Red", "not {{tag:name}}"]);
        assert_eq!(compare(&page, None, &data(&[("colour", "x")])), button);
        for (number, sent) in [
            (None, &[("other", "x")][..]),
            (Some(1), &[("other", "x")]),
            // One variable more than the form has, or the variables of two forms.
            (
                Some(1),
                &[
                    ("name", "Ada"),
                    ("age", "x"),
                    ("agreed", "true"),
                    ("other", "x"),
                ],
            ),
            (Some(2), &[("colour", "Blue"), ("name", "Ada")]),
            (None, &[("colour", "Blue"), ("other", "x")]),
        ] {
            assert_eq!(
                compare(&page, number, &data(sent)),
                Entries::NotOffered,
                "{sent:?}"
            );
        }
    }
}
