//! The chip from which a URL was read, compared with the chip that made its code. Only a reader of
//! the chip can distinguish a copied code from a genuine one.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::field_error::FieldError;
use inlay::technology::Family;
use inlay::technology::type2::shows_its_kind;
use inlay::{Technology, Uid, uid};

/// Longest word for a kind of chip, in bytes.
const TECHNOLOGY_MAX: usize = 32;

/// The chip from which a reader read a URL.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// The UID in hexadecimal, of 4, 7 or 10 bytes; null if unknown.
    #[serde(default)]
    #[schema(pattern = "^([0-9A-Fa-f]{8}|[0-9A-Fa-f]{14}|[0-9A-Fa-f]{20})$")]
    uid: Option<String>,
    /// The technology: that of an inlay, or another word for any other chip; null if unknown.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 32)]
    technology: Option<String>,
    /// Whether the chip's settings make it write codes into its URL; null if they were not read. It
    /// is ignored for chips other than NTAG 424 DNA, because only those show their settings.
    #[serde(default)]
    makes_codes: Option<bool>,
}

/// Whether the chip is the one that made the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// It is: both have the same UID and are of the same kind.
    Same,
    /// It is not: the URL was copied from another chip.
    Copied,
    /// The UID of the chip or of the maker is not known, so they cannot be compared.
    NotComparable,
}

/// A chip compared with the maker of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Result of the comparison.
    pub carrier: Carrier,
    /// A sentence that explains the result; null if it is the same chip.
    pub why: Option<String>,
}

/// The known facts about the maker of a code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CodeChip {
    /// The UID that the code states, or that was decrypted from it.
    pub(super) uid: Option<Uid>,
    /// The technology of the inlay with that UID, if the service has one.
    pub(super) technology: Option<Technology>,
}

impl Chip {
    /// Checks the length and the characters of the texts.
    pub fn validate(&self) -> Result<(), FieldError> {
        let hex = |uid: &String| uid.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lengths = uid::LENGTHS.map(|bytes| 2 * bytes);
        let fits = |uid: &String| lengths.contains(&uid.len()) && hex(uid);
        if !self.uid.as_ref().is_none_or(fits) {
            let why = "A chip's UID has 8, 14 or 20 hexadecimal digits.";
            return Err(FieldError::of("chip.uid", why));
        }
        let named = |word: &String| (1..=TECHNOLOGY_MAX).contains(&word.len());
        if !self.technology.as_ref().is_none_or(named) {
            let why = format!("A chip's technology has 1 to {TECHNOLOGY_MAX} characters.");
            return Err(FieldError::of("chip.technology", why));
        }
        Ok(())
    }

    /// Whether this is the chip that made a code of `maker`.
    pub(super) fn compare(&self, maker: CodeChip) -> Comparison {
        let copied = |why: String| Comparison {
            carrier: Carrier::Copied,
            why: Some(why),
        };
        let not_comparable = |why: &str| Comparison {
            carrier: Carrier::NotComparable,
            why: Some(why.to_owned()),
        };
        let expected = maker.technology.unwrap_or(Technology::Ntag424Dna);
        // No other chip that makes codes shows its settings without its key.
        if self.makes_codes == Some(false) && expected.family() == Family::Ntag424 {
            return copied(
                "The URL contains a code, but this chip makes none: the URL was copied from another chip."
                    .to_owned(),
            );
        }
        if let Some(make) = &self.technology
            && is_other_make(make, expected)
        {
            return copied(format!(
                "The code was made by an {expected}, but this is another kind of chip: the URL was copied from another chip."
            ));
        }
        match (&self.uid, maker.uid) {
            (None, _) => not_comparable(
                "The reader does not report the chip's UID, so a copied URL cannot be detected.",
            ),
            (Some(uid), _) if is_random(uid) => {
                not_comparable("The chip shows a random UID, so a copied URL cannot be detected.")
            }
            (Some(_), None) => not_comparable(
                "The code hides its UID, and no key of this service decrypts it, so a copied URL cannot be detected.",
            ),
            (Some(uid), Some(code)) if uid.eq_ignore_ascii_case(&code.to_string()) => Comparison {
                carrier: Carrier::Same,
                why: None,
            },
            (Some(uid), Some(code)) => copied(format!(
                "The code was made by the chip {code}, but this is the chip {}: the URL was copied.",
                uid.to_ascii_uppercase()
            )),
        }
    }
}

/// Whether a reader that reports `make` certainly found another kind of chip than `expected`. An
/// NTAG 424 DNA, which is of NFC Forum Type 4, always identifies itself. For chips of Type 2, many
/// readers know only the type.
fn is_other_make(make: &str, expected: Technology) -> bool {
    match (make, make.parse::<Technology>()) {
        ("other_type2", _) => expected.family() == Family::Ntag424,
        // No inlay has another chip of Type 4, and a chip has only one UID.
        ("other_type4" | "inconsistent", _) => true,
        (_, Ok(make)) if shows_its_kind(make) && shows_its_kind(expected) => make != expected,
        (_, Ok(make)) => make.family() != expected.family(),
        (_, Err(_)) => expected.family() == Family::Ntag424 || shows_its_kind(expected),
    }
}

/// Whether a UID in hex digits is random each time the chip is powered.
fn is_random(uid: &str) -> bool {
    base16ct::mixed::decode_vec(uid).is_ok_and(|bytes| uid::is_random(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Uid = Uid::from_bytes([0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]);

    fn chip(uid: Option<&str>, technology: Option<&str>, makes_codes: Option<bool>) -> Chip {
        Chip {
            uid: uid.map(str::to_owned),
            technology: technology.map(str::to_owned),
            makes_codes,
        }
    }

    #[test]
    fn a_chip_is_told_from_the_maker_of_a_code_by_uid_make_and_settings() {
        let known = CodeChip {
            uid: Some(CODE),
            technology: Some(Technology::Ntag424Dna),
        };
        let stranger = CodeChip::default();
        let rolls = Some("ntag424dna");
        for (chip, maker, expected) in [
            (
                chip(Some("04de5f1eacc040"), rolls, Some(true)),
                known,
                Carrier::Same,
            ),
            (
                chip(Some("04DE5F1EACC040"), None, None),
                known,
                Carrier::Same,
            ),
            (
                chip(Some("04DE5F1EACC041"), rolls, Some(true)),
                known,
                Carrier::Copied,
            ),
            (
                chip(Some("04DE5F1EACC040"), Some("ntag215"), None),
                known,
                Carrier::Copied,
            ),
            (
                chip(Some("04DE5F1EACC040"), Some("other_type4"), None),
                known,
                Carrier::Copied,
            ),
            (
                chip(Some("04DE5F1EACC040"), rolls, Some(false)),
                known,
                Carrier::Copied,
            ),
            // A UID of four bytes that is not random belongs to another chip.
            (
                chip(Some("18112233"), rolls, Some(true)),
                known,
                Carrier::Copied,
            ),
            (
                chip(Some("08112233"), rolls, Some(true)),
                known,
                Carrier::NotComparable,
            ),
            (
                chip(Some("08112233"), rolls, Some(false)),
                known,
                Carrier::Copied,
            ),
            (
                chip(Some("08112233"), Some("ntag215"), None),
                known,
                Carrier::Copied,
            ),
            (chip(None, rolls, Some(true)), known, Carrier::NotComparable),
            (
                chip(Some("04DE5F1EACC040"), rolls, Some(true)),
                stranger,
                Carrier::NotComparable,
            ),
            (
                chip(Some("04DE5F1EACC040"), Some("ntag215"), None),
                stranger,
                Carrier::Copied,
            ),
        ] {
            let found = chip.compare(maker);
            assert_eq!(found.carrier, expected, "{chip:?}");
            assert_eq!(found.why.is_none(), expected == Carrier::Same, "{chip:?}");
        }
    }

    #[test]
    fn what_a_reader_cannot_know_of_a_chip_makes_no_copy() {
        let uid = Some("04DE5F1EACC040");
        let maker = |technology| CodeChip {
            uid: Some(CODE),
            technology: Some(technology),
        };
        for expected in [
            Technology::Ntag223Dna,
            Technology::Ntag224Dna,
            Technology::Sic43Nt,
            Technology::Sic43S1,
        ] {
            let word = Some(expected.as_str());
            for (technology, makes_codes) in [
                (Some("other_type2"), Some(false)),
                (Some("other_type2"), None),
                (None, Some(false)),
                (word, Some(false)),
                (word, None),
            ] {
                let chip = chip(uid, technology, makes_codes);
                let found = chip.compare(maker(expected));
                assert_eq!(found.carrier, Carrier::Same, "{expected}: {chip:?}");
            }
            for other in ["ntag213", "ntag424dna", "other_type4", "inconsistent"] {
                let found = chip(uid, Some(other), None).compare(maker(expected));
                assert_eq!(found.carrier, Carrier::Copied, "{expected}: {other}");
            }
            let elsewhere = chip(Some("04DE5F1EACC041"), Some("other_type2"), None);
            assert_eq!(elsewhere.compare(maker(expected)).carrier, Carrier::Copied);
        }
        // A password hides which NTAG it is.
        for expected in [Technology::Ntag213, Technology::Ntag216] {
            let found = chip(uid, Some("other_type2"), None).compare(maker(expected));
            assert_eq!(found.carrier, Carrier::Same, "{expected}");
        }
        // A TagTamper that was registered as a chip without a loop, and a chip without a loop that
        // was registered as a TagTamper.
        for (word, expected) in [
            ("ntag424dna_tt", Technology::Ntag424Dna),
            ("ntag424dna", Technology::Ntag424DnaTt),
        ] {
            let found = chip(uid, Some(word), Some(true)).compare(maker(expected));
            assert_eq!(found.carrier, Carrier::Same, "{expected}");
            let found = chip(uid, Some(word), Some(false)).compare(maker(expected));
            assert_eq!(found.carrier, Carrier::Copied, "{expected}");
        }
    }

    #[test]
    fn what_is_no_uid_or_no_word_is_refused() {
        for (chip, is_valid) in [
            (chip(None, None, None), true),
            (chip(Some("08112233"), Some("desfire"), None), true),
            (chip(Some("04DE5F1EACC0400102AA"), None, None), true),
            (chip(Some("04DE5F"), None, None), false),
            (chip(Some("04DE5F1EACC04G"), None, None), false),
            (chip(None, Some(""), None), false),
            (chip(None, Some(&"x".repeat(33)), None), false),
        ] {
            assert_eq!(chip.validate().is_ok(), is_valid, "{chip:?}");
        }
    }
}
