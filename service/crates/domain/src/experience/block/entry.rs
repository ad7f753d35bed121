//! Entries of a form's fields, checked as a browser checks them before it sends a form (HTML,
//! sections "The input element" and "Constraint validation"). The service checks them again: a
//! request that is written without a browser can contain anything.

use super::form::{FieldKind, FormField};

/// Why an entry cannot be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFault {
    /// The field is required, and empty.
    Missing,
    /// It is not a mail address.
    Email,
    /// It is not a number.
    Number,
    /// It is not one of the choices.
    Choice,
    /// It has more than this many characters, as JavaScript counts them: UTF-16 code units.
    TooLong(usize),
}

impl FieldKind {
    /// The longest entry, in UTF-16 code units; `None` if this kind has no limit.
    pub const fn max_length(self) -> Option<usize> {
        match self {
            Self::Text | Self::Multiline => Some(1000),
            // The longest path of a mail (RFC 5321, section 4.5.3.1.3).
            Self::Email => Some(254),
            Self::Number | Self::Choice | Self::Checkbox | Self::Consent => None,
        }
    }
}

impl FormField {
    /// The entry as it is stored. It is read as a browser reads it: line breaks in a single line,
    /// and space around an address or a number, are removed.
    ///
    /// # Errors
    ///
    /// If a browser would not send it.
    pub fn entry(&self, entered: &str) -> Result<String, EntryFault> {
        let entry = match self.kind {
            FieldKind::Text => one_line(entered),
            FieldKind::Multiline => entered.to_owned(),
            FieldKind::Email | FieldKind::Number => {
                one_line(entered).trim_matches(is_space).to_owned()
            }
            FieldKind::Choice => return self.choice(entered),
            FieldKind::Checkbox | FieldKind::Consent => return self.checkbox(entered),
        };
        if entry.trim().is_empty() {
            return self.unless_required(entry);
        }
        if let Some(max) = self.kind.max_length()
            && entry.encode_utf16().count() > max
        {
            return Err(EntryFault::TooLong(max));
        }
        match self.kind {
            FieldKind::Email if !is_mail_address(&entry) => Err(EntryFault::Email),
            FieldKind::Number if !is_number(&entry) => Err(EntryFault::Number),
            _ => Ok(entry),
        }
    }

    fn unless_required(&self, empty: String) -> Result<String, EntryFault> {
        if self.required {
            Err(EntryFault::Missing)
        } else {
            Ok(empty)
        }
    }

    /// The choice as it is offered, because a browser collapses the space in it.
    fn choice(&self, entered: &str) -> Result<String, EntryFault> {
        if entered.is_empty() {
            return self.unless_required(String::new());
        }
        let same = |choice: &&String| words(choice).eq(words(entered));
        let offered = self.choices.iter();
        let chosen = offered.clone().find(|choice| *choice == entered);
        let chosen = chosen.or_else(|| offered.clone().find(same));
        chosen.cloned().ok_or(EntryFault::Choice)
    }

    fn checkbox(&self, entered: &str) -> Result<String, EntryFault> {
        match entered {
            "true" => Ok("true".to_owned()),
            "false" | "" => self.unless_required("false".to_owned()),
            _ => Err(EntryFault::Choice),
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], "")
}

/// ASCII white space, as HTML has it.
const fn is_space(c: char) -> bool {
    c.is_ascii_whitespace()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// A valid e-mail address (HTML, section "E-mail state").
fn is_mail_address(text: &str) -> bool {
    let of_name = |b: u8| b.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&b);
    let is_label = |label: &str| {
        let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && name.bytes().all(of_name) && host.split('.').all(is_label)
    })
}

/// A valid floating-point number (HTML, section "Floating-point numbers") that a browser can hold.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_mantissa = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || digits(whole)) && digits(fraction),
        None => digits(mantissa),
    };
    let is_exponent = exponent
        .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    is_mantissa && is_exponent && text.parse().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::PropertyKey;

    fn field(kind: FieldKind, required: bool) -> FormField {
        FormField {
            label: "A field".to_owned(),
            kind,
            variable: PropertyKey::parse("a").unwrap(),
            choices: ["Red", "Light  blue", "<b>&\"'"].map(str::to_owned).into(),
            required,
        }
    }

    fn entry(kind: FieldKind, entered: &str) -> Result<String, EntryFault> {
        field(kind, false).entry(entered)
    }

    #[test]
    fn a_mail_address_is_what_browsers_take_for_one() {
        let label = "a".repeat(63);
        for address in [
            "ada@example.com",
            "ada@localhost",
            "a.b+c@example.co.uk",
            "o'brien/x=y?z^{|}~-@example.com",
            ".a.@example.com",
            "1@2",
            "a@xn--mller-kva.de",
            &format!("a@{label}.de"),
        ] {
            assert_eq!(entry(FieldKind::Email, address).as_deref(), Ok(address));
        }
        let trimmed = entry(FieldKind::Email, " \tada@exam\nple.com \r\n");
        assert_eq!(trimmed.as_deref(), Ok("ada@example.com"));
        for text in [
            "not-an-email",
            "@",
            "@example.com",
            "ada@",
            "ada@@example.com",
            "ada@example@com",
            "ada@.com",
            "ada@example.",
            "ada@example..com",
            "ada@-example.com",
            "ada@example-.com",
            "ada@exa_mple.com",
            "ada lovelace@example.com",
            "ada@exam ple.com",
            "\"ada\"@example.com",
            "Ada <ada@example.com>",
            "ada@example.com, eve@example.com",
            "ada@[192.0.2.1]",
            "ädä@example.com",
            "ada@müller.de",
            "ada@example.com\u{a0}",
            "ada@example.com\0",
            "<script>alert(1)</script>@x",
            &format!("a@{label}a.de"),
        ] {
            assert_eq!(
                entry(FieldKind::Email, text),
                Err(EntryFault::Email),
                "{text}"
            );
        }
        let long = format!("{}@example.com", "a".repeat(243));
        assert_eq!(
            entry(FieldKind::Email, &long),
            Err(EntryFault::TooLong(254))
        );
        assert!(entry(FieldKind::Email, &long[1..]).is_ok());
    }

    #[test]
    fn a_number_is_what_browsers_take_for_one() {
        for number in [
            "0",
            "5",
            "-5",
            "05",
            "1.5",
            "-.5",
            ".5",
            "1e3",
            "1E+3",
            "1.25e-10",
            "-0",
            "123456789012345678901234567890",
        ] {
            assert_eq!(entry(FieldKind::Number, number).as_deref(), Ok(number));
        }
        assert_eq!(entry(FieldKind::Number, " 5\n").as_deref(), Ok("5"));
        for text in [
            "abc",
            "1,5",
            "1.",
            ".",
            "-",
            "+5",
            "--5",
            "1e",
            "1e+",
            "e5",
            "1e5.5",
            "0x10",
            "1_000",
            "1 000",
            "1.5.2",
            "NaN",
            "nan",
            "Infinity",
            "inf",
            "-inf",
            "1e309",
            "-1e400",
            "٣",
            "½",
            "5%",
            "5€",
            "1\u{a0}000",
            "5\0",
            "'; DROP TABLE tags; --",
        ] {
            assert_eq!(
                entry(FieldKind::Number, text),
                Err(EntryFault::Number),
                "{text}"
            );
        }
    }

    #[test]
    fn a_choice_is_one_of_those_that_are_offered() {
        for choice in ["Red", "Light  blue", "<b>&\"'", ""] {
            assert_eq!(entry(FieldKind::Choice, choice).as_deref(), Ok(choice));
        }
        // As a browser sends it.
        let collapsed = entry(FieldKind::Choice, "Light blue");
        assert_eq!(collapsed.as_deref(), Ok("Light  blue"));
        for text in [
            "Green",
            "red",
            "Re",
            "Red,Light  blue",
            "Lightblue",
            " ",
            "0",
            "Red\0",
        ] {
            assert_eq!(
                entry(FieldKind::Choice, text),
                Err(EntryFault::Choice),
                "{text}"
            );
        }
        for kind in [FieldKind::Checkbox, FieldKind::Consent] {
            for (entered, stored) in [("true", "true"), ("false", "false"), ("", "false")] {
                assert_eq!(entry(kind, entered).as_deref(), Ok(stored));
            }
            for text in ["yes", "on", "TRUE", "1", "true ", "truefalse"] {
                assert_eq!(entry(kind, text), Err(EntryFault::Choice), "{text}");
            }
        }
    }

    #[test]
    fn a_text_has_a_length_and_one_of_one_line_has_no_line_breaks() {
        assert_eq!(entry(FieldKind::Text, "a\nb\r\n").as_deref(), Ok("ab"));
        assert_eq!(entry(FieldKind::Text, " a ").as_deref(), Ok(" a "));
        assert_eq!(
            entry(FieldKind::Multiline, "a\n\nb").as_deref(),
            Ok("a\n\nb")
        );
        for kind in [FieldKind::Text, FieldKind::Multiline] {
            assert!(entry(kind, &"ä".repeat(1000)).is_ok());
            // Two code units each.
            assert!(entry(kind, &"🍷".repeat(500)).is_ok());
            for long in ["ä".repeat(1001), "🍷".repeat(501)] {
                assert_eq!(entry(kind, &long), Err(EntryFault::TooLong(1000)));
            }
        }
    }

    #[test]
    fn a_required_field_has_to_be_filled_in() {
        for (kind, filled) in [
            (FieldKind::Text, "a"),
            (FieldKind::Multiline, "a"),
            (FieldKind::Email, "a@b"),
            (FieldKind::Number, "0"),
            (FieldKind::Choice, "Red"),
            (FieldKind::Checkbox, "true"),
            (FieldKind::Consent, "true"),
        ] {
            let required = field(kind, true);
            assert_eq!(required.entry(filled).as_deref(), Ok(filled));
            assert_eq!(required.entry(""), Err(EntryFault::Missing), "{kind:?}");
            assert!(entry(kind, "").is_ok(), "{kind:?}");
        }
        for kind in [
            FieldKind::Text,
            FieldKind::Multiline,
            FieldKind::Email,
            FieldKind::Number,
        ] {
            assert_eq!(field(kind, true).entry(" \n\t"), Err(EntryFault::Missing));
        }
        for kind in [FieldKind::Checkbox, FieldKind::Consent] {
            assert_eq!(field(kind, true).entry("false"), Err(EntryFault::Missing));
        }
    }
}
