//! Read counters: hexadecimal in the URLs of chips, decimal in the tables of most services.

use serde::Deserialize;
use utoipa::ToSchema;

use super::damage;

/// The notation of a counter's digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = CounterDigits)]
pub enum Digits {
    /// Hexadecimal, as chips write it into their URLs: `000021` is 33.
    Hex,
    /// Decimal: `21` is 21.
    Decimal,
}

/// The number in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// This number, in either notation.
    Is(u32),
    /// This number, which leading zeros or letters show to be hexadecimal.
    Hexadecimal(u32),
    /// One of two numbers: the importing person must choose the notation.
    Unclear,
}

/// Whether the heading of a column states that it is decimal.
pub fn is_decimal(heading: &str) -> bool {
    let plain: String = heading
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    plain.to_ascii_lowercase().starts_with("lastcounter")
}

/// Reads a cell that is not empty. `said` is the notation of its digits, if it is known. Otherwise
/// `decimal` states whether plain digits are decimal. An error is a sentence for people.
pub fn read(cell: &str, said: Option<Digits>, decimal: bool) -> Result<Counter, String> {
    let cell = cell.trim();
    if let Some(why) = damage::of_number(cell) {
        return Err(damage::words("The counter", why));
    }
    let prefixed = cell.strip_prefix("0x").or_else(|| cell.strip_prefix("0X"));
    let digits = prefixed.unwrap_or(cell);
    let none = || format!("\"{cell}\" is no counter.");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(none());
    }
    let number = |radix| u32::from_str_radix(digits, radix).map_err(|_| none());
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let has_zeros = digits.len() > 1 && digits.starts_with('0');
    if said == Some(Digits::Decimal) && prefixed.is_none() && !is_plain {
        let (length, is) = (digits.len(), number(16)?);
        return Err(format!(
            "\"{cell}\" is no decimal counter: it has {length} hexadecimal digits, and is {is} if it is hexadecimal. Say counter=hex to read it so."
        ));
    }
    Ok(match said {
        Some(Digits::Decimal) if prefixed.is_none() => Counter::Is(number(10)?),
        Some(_) => Counter::Is(number(16)?),
        None if prefixed.is_some() || !is_plain || has_zeros => match number(16)? {
            // Both notations give the same number, so the choice does not matter.
            same @ 0..=9 => Counter::Is(same),
            other => Counter::Hexadecimal(other),
        },
        None if decimal || digits.len() == 1 => Counter::Is(number(10)?),
        None => Counter::Unclear,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_letters_are_hexadecimal_and_plain_digits_what_the_column_says() {
        use Counter::{Hexadecimal, Is, Unclear};
        for (cell, decimal, expected) in [
            ("000021", false, Hexadecimal(33)),
            ("000021", true, Hexadecimal(33)),
            ("00001E", true, Hexadecimal(30)),
            ("1e3", false, Hexadecimal(0x1e3)),
            ("0x21", true, Hexadecimal(33)),
            ("21", false, Unclear),
            ("21", true, Is(21)),
            ("7", false, Is(7)),
            ("000007", false, Is(7)),
            ("0", false, Is(0)),
            ("000000", false, Is(0)),
            (" 21 ", true, Is(21)),
        ] {
            assert_eq!(read(cell, None, decimal), Ok(expected), "{cell}");
        }
        for (cell, said, expected) in [
            ("21", Digits::Hex, 33),
            ("21", Digits::Decimal, 21),
            ("000021", Digits::Decimal, 21),
            ("0x21", Digits::Decimal, 33),
        ] {
            assert_eq!(read(cell, Some(said), false), Ok(Is(expected)), "{cell}");
        }
    }

    #[test]
    fn a_counter_that_is_none_is_refused_in_words() {
        for (cell, part) in [
            ("1,23E+05", "spreadsheet"),
            ("1.23E+05", "spreadsheet"),
            ("21.0", "spreadsheet"),
            ("1,234", "spreadsheet"),
            ("04-Nov", "spreadsheet"),
            ("-1", "no counter"),
            ("x", "no counter"),
            ("0x", "no counter"),
            ("123456789", "no counter"),
        ] {
            let refused = read(cell, Some(Digits::Hex), false).unwrap_err();
            assert!(refused.contains(part), "{cell}: {refused}");
        }
        assert_eq!(
            read("00001E", Some(Digits::Decimal), false).unwrap_err(),
            "\"00001E\" is no decimal counter: it has 6 hexadecimal digits, and is 30 if it is \
             hexadecimal. Say counter=hex to read it so."
        );
        for cell in ["123456789A", "4294967296"] {
            let refused = read(cell, Some(Digits::Decimal), false).unwrap_err();
            assert_eq!(refused, format!("\"{cell}\" is no counter."));
        }
        assert!(read("4294967296", None, true).is_err());
    }

    #[test]
    fn a_heading_says_whether_plain_digits_are_decimal() {
        for (heading, expected) in [
            ("last_counter", true),
            ("Last counter", true),
            ("LAST-COUNTER value", true),
            ("counter", false),
            ("read counter", false),
        ] {
            assert_eq!(is_decimal(heading), expected, "{heading}");
        }
    }
}
