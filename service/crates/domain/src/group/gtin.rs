//! GTINs: the numbers of trade items (GS1 General Specifications, section 2.1).

use serde::Serialize;
use utoipa::ToSchema;

use crate::text::read_by_parse;

/// A GTIN: 8, 12, 13 or 14 digits whose check digit is right, kept as 14 digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, pattern = "^([0-9]{8}|[0-9]{12,14})$", example = "09520123456788")]
pub struct Gtin(String);

/// A text that is no GTIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidGtin {
    /// It is not a number of one of the four lengths.
    #[error("A GTIN has 8, 12, 13 or 14 digits.")]
    Digits,
    /// A digit was mistyped, or two were swapped.
    #[error(
        "The check digit of this GTIN is wrong: its last digit would be {0}. Compare all digits."
    )]
    Check(u8),
}

impl Gtin {
    /// Checks and parses a GTIN.
    ///
    /// # Errors
    ///
    /// [`InvalidGtin`], a sentence for people.
    pub fn parse(text: &str) -> Result<Self, InvalidGtin> {
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        if !is_number || !matches!(text.len(), 8 | 12 | 13 | 14) {
            return Err(InvalidGtin::Digits);
        }
        let number = format!("{text:0>14}");
        let expected = check_digit(&number[..13]);
        if !number.ends_with(char::from(b'0' + expected)) {
            return Err(InvalidGtin::Check(expected));
        }
        Ok(Self(number))
    }

    /// The 14 digits, with zeros in front of a shorter GTIN.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The check digit of the 13 digits before it: the digits count three times and once, in turn, and
/// the check digit completes the sum to a multiple of ten.
fn check_digit(digits: &str) -> u8 {
    let weighted = digits.bytes().zip([3, 1].into_iter().cycle());
    let sum: u32 = weighted
        .map(|(digit, weight)| u32::from(digit - b'0') * weight)
        .sum();
    u8::try_from((10 - sum % 10) % 10).unwrap_or_default()
}

read_by_parse!(Gtin);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gtin_is_proved_by_its_check_digit_and_kept_as_14_digits() {
        // GS1's own examples, and numbers of well-known goods.
        for (text, kept) in [
            ("96385074", "00000096385074"),
            ("614141000036", "00614141000036"),
            ("9520123456788", "09520123456788"),
            ("4006381333931", "04006381333931"),
            ("09520123456788", "09520123456788"),
            ("10614141000415", "10614141000415"),
        ] {
            assert_eq!(Gtin::parse(text).unwrap().as_str(), kept, "{text}");
        }
        for (text, why) in [
            ("", InvalidGtin::Digits),
            ("952012345678", InvalidGtin::Check(2)),
            ("9520123456789", InvalidGtin::Check(8)),
            ("9520123546788", InvalidGtin::Check(6)),
            ("952-012-3456-788", InvalidGtin::Digits),
            ("123456789012345", InvalidGtin::Digits),
            ("٩520123456788", InvalidGtin::Digits),
        ] {
            assert_eq!(Gtin::parse(text), Err(why), "{text}");
        }
    }
}
