//! The result of a page's form, in words.

use super::words::Words;
use domain::experience::{Block, EntryFault, FormField, Tone, forms_of};
use domain::submission::entries::FieldFault;

/// The result of a page's form, for a message at its top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormOutcome {
    /// The form is saved.
    Saved,
    /// The key was already used.
    Used,
    /// The tag requires a verified tap.
    Unverified,
    /// The tag does not have the variable, or has no page any more.
    NotReady,
    /// The same, but the submission is kept until the owner saves it.
    Kept,
    /// A value is too long.
    TooLong,
    /// The form can be sent once per tag, and was already sent.
    SentBefore,
    /// Entries of the form cannot be saved. At least one.
    Refused(Vec<FieldFault>),
    /// The page has no such form or button, or not any more.
    NotOffered,
}

impl FormOutcome {
    /// The first field whose entry cannot be saved.
    pub(super) fn field<'b>(&self, blocks: &'b [Block]) -> Option<&'b FormField> {
        let Self::Refused(faults) = self else {
            return None;
        };
        let fault = faults.first()?;
        let form = *forms_of(blocks).get(fault.form.checked_sub(1)?)?;
        form.field(&fault.variable)
    }

    /// The message and its tone.
    pub(super) fn said(&self, words: &Words) -> (Tone, String) {
        let (tone, said) = match self {
            Self::Saved => (Tone::Good, &words.saved),
            Self::Used => (Tone::Neutral, &words.used),
            Self::Unverified => (Tone::Caution, &words.unverified),
            Self::NotReady => (Tone::Caution, &words.not_ready),
            Self::Kept => (Tone::Caution, &words.kept),
            Self::TooLong => (Tone::Caution, &words.too_long),
            Self::SentBefore => (Tone::Neutral, &words.sent),
            Self::NotOffered => (Tone::Caution, &words.not_offered),
            Self::Refused(faults) => {
                let said = faults.first().map(|fault| in_words(fault.fault, words));
                return (Tone::Caution, said.unwrap_or_default());
            }
        };
        (tone, said.clone())
    }
}

/// Why an entry cannot be saved, in the words of a language.
pub(super) fn in_words(fault: EntryFault, words: &Words) -> String {
    match fault {
        EntryFault::Missing => words.missing.clone(),
        EntryFault::Email => words.email.clone(),
        EntryFault::Number => words.number.clone(),
        EntryFault::Choice => words.choice.clone(),
        EntryFault::TooLong(max) => words.at_most.replace("{max}", &max.to_string()),
    }
}
