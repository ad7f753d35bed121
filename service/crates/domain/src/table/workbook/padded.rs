//! Numbers that a format of Excel shows with more characters than their values have: `00042` or
//! `SN-0042` for 42. People who print slugs or serial numbers see and use that text.

/// A number format of zeros and literal text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Padded {
    pieces: Vec<Piece>,
    /// The number of digits that the format shows at least.
    digits: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// The place of a digit.
    Digit,
    /// A character that every number gets.
    Text(char),
}

/// Largest number whose digits a spreadsheet keeps.
const NUMBER_MAX: f64 = 1e15;

impl Padded {
    /// Parses the code of a number format. `None` if it does something else, such as decimals, or
    /// if whole numbers look like their values.
    pub(super) fn parse(code: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut chars = code.chars();
        while let Some(c) = chars.next() {
            match c {
                '0' => pieces.push(Piece::Digit),
                '"' => {
                    let mut is_open = true;
                    for c in chars.by_ref() {
                        if c == '"' {
                            is_open = false;
                            break;
                        }
                        pieces.push(Piece::Text(c));
                    }
                    if is_open {
                        return None;
                    }
                }
                '\\' => pieces.push(Piece::Text(chars.next()?)),
                '-' | '+' | ' ' | '(' | ')' => pieces.push(Piece::Text(c)),
                _ => return None,
            }
        }
        let is_digit = |piece: &&Piece| **piece == Piece::Digit;
        let digits = pieces.iter().filter(is_digit).count();
        let has_text_first = matches!(pieces.first(), Some(Piece::Text(_)));
        let is_padded = digits > 1 || (digits == 1 && has_text_first);
        is_padded.then_some(Self { pieces, digits })
    }

    /// The text that a person sees; `None` if it is no whole number, or a negative or a long one.
    pub(super) fn text(&self, number: f64) -> Option<String> {
        if number.fract() != 0.0 || !(0.0..NUMBER_MAX).contains(&number) {
            return None;
        }
        let width = self.digits;
        // Without a sign if it is zero.
        let number = number + 0.0;
        let digits = format!("{number:0width$.0}");
        // The first place has the digits for which there is no place.
        let mut places = 1 + digits.len() - width;
        let mut digits = digits.chars();
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(c) => text.push(*c),
                Piece::Digit => {
                    text.extend(digits.by_ref().take(places));
                    places = 1;
                }
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_text_that_its_format_shows() {
        for (code, number, expected) in [
            ("00000", 42.0, Some("00042")),
            ("00000", 1_234_567.0, Some("1234567")),
            ("00", 0.0, Some("00")),
            ("00", -0.0, Some("00")),
            ("\"SN-\"0000", 42.0, Some("SN-0042")),
            ("\\S\\N0", 42.0, Some("SN42")),
            ("0000-0000", 12_345_678.0, Some("1234-5678")),
            ("0000-0000", 123_456_789.0, Some("12345-6789")),
            (
                "00000000000000",
                4_112_233_445_566.0,
                Some("04112233445566"),
            ),
            ("00000", 0.5, None),
            ("00000", -42.0, None),
            ("00000", 1e15, None),
        ] {
            let format = Padded::parse(code).unwrap();
            assert_eq!(format.text(number).as_deref(), expected, "{code} {number}");
        }
        for other in [
            "",
            "0",
            "General",
            "0.00",
            "#,##0",
            "0%",
            "0 \"pcs\"",
            "00;-00",
            "yyyy-mm-dd",
            "@",
            "\"open",
            "0.00E+00",
            "[Red]00",
            "\\",
        ] {
            assert_eq!(Padded::parse(other), None, "{other}");
        }
    }
}
