//! Cells that a spreadsheet replaced by numbers or dates. They are never completed by a guess.

use inlay::Uid;

use super::protection::{is_invisible, meant};

/// The change that a spreadsheet made to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Scientific notation, which has lost the last digits.
    Scientific,
    /// A number without its leading zeros.
    Shortened,
    /// A number that was rounded to 15 digits.
    Rounded,
    /// A number with separators or decimals.
    Separated,
    /// A date that a spreadsheet made of a number.
    Date,
    /// An error of the spreadsheet, such as an overflow.
    Error,
}

/// Explains a refused cell in words. The text does not show the cell: the cell may be a key, and
/// rows with the same problem are listed together.
pub fn words(column: &str, damage: Damage) -> String {
    let is = match damage {
        Damage::Scientific => "a number in scientific notation, which has lost its last digits",
        Damage::Shortened => "a number that has lost its leading zeros or other digits",
        Damage::Rounded => "a number that was rounded to 15 digits",
        Damage::Separated => "a number with separators or decimals",
        Damage::Date => "a date",
        Damage::Error => "an error or an overflow",
    };
    format!(
        "{column} is {is}: a spreadsheet changed the text. Format the column as text where it is from, and export it again."
    )
}

/// The damage of a UID; `None` if the cell is a UID or anything else.
pub fn of_uid(cell: &str) -> Option<Damage> {
    let cell = meant(cell);
    // A date with a time has as many digits as a UID.
    let is_uid = without_marks(cell).parse::<Uid>().is_ok() && !is_date(cell);
    if is_uid { None } else { of_hex(cell, 14) }
}

/// The damage of a key in hexadecimal digits.
pub fn of_key(cell: &str) -> Option<Damage> {
    let cell = meant(cell);
    let plain = without_marks(cell);
    let is_key = matches!(plain.len(), 20 | 32) && is_hex(&plain);
    if !is_key {
        return of_hex(cell, 32);
    }
    is_rounded(&plain).then_some(Damage::Rounded)
}

/// Whether digits are those of a number that a spreadsheet rounded: it keeps 15 of them, with zeros
/// after these.
fn is_rounded(plain: &str) -> bool {
    const KEPT: usize = 15;
    let kept = plain.trim_end_matches('0').len();
    // Many test keys are one digit and zeros, but a rounded number has further digits.
    let is_number = is_digits(plain) && !plain.starts_with('0') && kept > 2;
    is_number && plain.len() > KEPT && kept <= KEPT
}

/// The damage of a slug. If it really has the form of a number or a date, its owner writes an
/// apostrophe before it. Digits can be a slug.
pub fn of_slug(cell: &str) -> Option<Damage> {
    let rounded = || is_rounded(cell.trim()).then_some(Damage::Rounded);
    of_number(cell).or_else(rounded)
}

/// The damage of a text that a spreadsheet could read as a number.
pub(crate) fn of_number(cell: &str) -> Option<Damage> {
    if is_error(cell) {
        Some(Damage::Error)
    } else if is_scientific(cell, false) {
        Some(Damage::Scientific)
    } else if is_date(cell) {
        Some(Damage::Date)
    } else if is_separated(cell) {
        Some(Damage::Separated)
    } else {
        None
    }
}

/// The damage of a text of `length` hexadecimal digits; `cell` is already known not to be one.
fn of_hex(cell: &str, length: usize) -> Option<Damage> {
    let plain = without_marks(cell);
    let is_of_number = |c: char| c.is_ascii_digit() || is_mark(c);
    if is_error(cell) {
        Some(Damage::Error)
    } else if is_scientific(cell, true) {
        Some(Damage::Scientific)
    } else if is_date(cell) {
        Some(Damage::Date)
    } else if is_digits(&plain) && plain.len() < length {
        Some(Damage::Shortened)
    } else if plain.contains(is_mark) && plain.chars().all(is_of_number) {
        Some(Damage::Separated)
    } else {
        None
    }
}

/// A UID or a key without the characters that people write between its bytes, before them (`0x`), or
/// to protect them from a spreadsheet.
pub fn without_marks(cell: &str) -> String {
    let is_between = |c: char| matches!(c, ':' | '-') || c.is_whitespace() || is_invisible(c);
    let plain: String = meant(cell).chars().filter(|c| !is_between(*c)).collect();
    let digits = plain
        .strip_prefix("0x")
        .or_else(|| plain.strip_prefix("0X"));
    digits.unwrap_or(&plain).to_owned()
}

/// A separator in a number: of decimals, or between thousands.
fn is_mark(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `#####`, `#NAME?` and similar.
fn is_error(cell: &str) -> bool {
    let word = cell.trim().strip_prefix('#');
    word.is_some_and(|word| {
        let is_overflow = word.chars().all(|c| c == '#');
        is_overflow || word.ends_with(['!', '?']) || word == "N/A"
    })
}

/// `4.11223E+12`, `1,23E+05`, `4E+20`; also `4E20` if the text cannot be anything else.
fn is_scientific(cell: &str, without_sign: bool) -> bool {
    let number = cell.trim().trim_start_matches(['+', '-']);
    let Some((mantissa, exponent)) = number.split_once(['e', 'E']) else {
        return false;
    };
    let (whole, fraction) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, "0"));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let has_sign = mantissa.contains(['.', ',']) || exponent.starts_with('+');
    is_digits(whole)
        && is_digits(fraction)
        && is_digits(digits)
        && digits.len() <= 3
        && (has_sign || without_sign)
}

/// `4112233445566.0`, `4,112,233`: digits with decimals, or with separators between thousands.
fn is_separated(cell: &str) -> bool {
    let cell = cell.trim().trim_start_matches('-');
    let groups: Vec<_> = cell.split(|c: char| is_mark(c) || c == ' ').collect();
    let [first, rest @ .., last] = &groups[..] else {
        return false;
    };
    let is_thousand = |group: &&str| is_digits(group) && group.len() == 3;
    let thousands = (1..=3).contains(&first.len()) && rest.iter().all(is_thousand);
    let decimals = rest.is_empty() || thousands;
    is_digits(first)
        && is_digits(last)
        && ((decimals && last.bytes().all(|byte| byte == b'0')) || (thousands && last.len() == 3))
}

/// The first three letters of months in the most frequent languages of spreadsheets.
const MONTHS: [&str; 33] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mär",
    "mrz", "mai", "okt", "dez", "jän", "fév", "avr", "jui", "aoû", "déc", "ene", "abr", "ago",
    "set", "dic", "gen", "mag", "giu", "lug", "ott",
];

/// A day as spreadsheets show it, with or without a time: `2023-11-04`, `04.11.2023`, `11/4/23`,
/// `04-Nov`, `Nov 23`, `4. Nov 2023`.
fn is_date(cell: &str) -> bool {
    let cell = cell.trim();
    if !cell.starts_with(char::is_alphanumeric) {
        return false;
    }
    let day = match cell.split_once([' ', 'T']) {
        Some((day, time)) if is_time(time) => day,
        _ => cell,
    };
    let parts: Vec<_> = day
        .split(['/', '.', '-', ' '])
        .filter(|part| !part.is_empty())
        .collect();
    let is = |part: &str, lengths: &[usize]| is_digits(part) && lengths.contains(&part.len());
    let at_most = |part: &str, most: u32| {
        part.parse()
            .is_ok_and(|number| (1..=most).contains(&number))
    };
    let is_day = |part: &str| is(part, &[1, 2]) && at_most(part, 31);
    let is_year = |part: &str| is(part, &[2, 4]);
    // Many slugs are groups of two digits with hyphens.
    let short = !day.contains('-');
    match parts[..] {
        [year, month, day] if is(year, &[4]) => is_day(month) && is_day(day),
        [one, other, year] if is_day(one) && is_day(other) => {
            (is(year, &[4]) || (short && is(year, &[2])))
                && (at_most(one, 12) || at_most(other, 12))
        }
        [day, month, year] => is_day(day) && is_month(month) && is_year(year),
        [one, other] => (is_day(one) && is_month(other)) || (is_month(one) && is_year(other)),
        _ => false,
    }
}

fn is_month(part: &str) -> bool {
    let part = part.to_lowercase();
    let is_letters = part.chars().all(char::is_alphabetic) && part.chars().count() <= 4;
    is_letters && MONTHS.iter().any(|month| part.starts_with(month))
}

/// A time of day, such as `00:00` or `13:05:00`.
fn is_time(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts.iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_that_became_a_number_is_known() {
        use Damage::{Date, Error, Scientific, Separated, Shortened};
        for (cell, expected) in [
            ("4.11223E+12", Some(Scientific)),
            ("4,11223E+12", Some(Scientific)),
            ("4.52123E+20", Some(Scientific)),
            ("4.52123456e20", Some(Scientific)),
            ("4E20", Some(Scientific)),
            ("1,23E+05", Some(Scientific)),
            ("4112233445566", Some(Shortened)),
            ("4112233", Some(Shortened)),
            ("4112233445566.0", Some(Separated)),
            ("4.112.233.445.566", Some(Separated)),
            ("4 112 233 445 566", Some(Shortened)),
            ("4’112’233’445’566", Some(Separated)),
            ("04.11.2023", Some(Date)),
            ("2023-11-04 00:00:00", Some(Date)),
            ("########", Some(Error)),
            ("#NUM!", Some(Error)),
            ("0452123456E012", None),
            ("04112233445566", None),
            ("04:A1:B2:C3:D4:E5:80", None),
            ("04-11-22-33-44-55-66", None),
            ("04A1B2C3D4E5", None),
            ("bottle", None),
        ] {
            assert_eq!(of_uid(cell), expected, "{cell}");
        }
    }

    #[test]
    fn a_uid_and_a_key_are_read_without_their_protection() {
        let key = "0c3b25d92b38ae443229dd59ad34b85d";
        for uid in [
            "=\"04A1B2C3D4E580\"",
            "'04A1B2C3D4E580",
            "0x04A1B2C3D4E580",
            "0X04A1B2C3D4E580",
            "\u{202d}04A1B2C3D4E580\u{202c}",
            "=\"0x04:A1:B2:C3:D4:E5:80\"",
            " \u{200e}'04 A1 B2 C3 D4 E5 80",
        ] {
            let cell = uid.replace("04A1B2C3D4E580", key);
            assert_eq!(of_uid(uid), None, "{uid}");
            assert_eq!(without_marks(uid), "04A1B2C3D4E580", "{uid}");
            assert_eq!(of_key(&cell), None, "{cell}");
            if cell.contains(key) {
                assert_eq!(without_marks(&cell), key, "{cell}");
            }
        }
        // Protection that came too late.
        for cell in ["=\"4.11223E+12\"", "'4.11223E+12"] {
            assert_eq!(of_uid(cell), Some(Damage::Scientific), "{cell}");
            assert_eq!(of_key(cell), Some(Damage::Scientific), "{cell}");
        }
        assert_eq!(of_uid("'4112233445566"), Some(Damage::Shortened));
        // Half a protection is none.
        assert_eq!(without_marks("=\"04A1B2C3D4E580"), "=\"04A1B2C3D4E580");
    }

    #[test]
    fn a_key_that_became_a_number_is_known() {
        use Damage::{Rounded, Scientific, Shortened};
        for (cell, expected) in [
            ("1.11111E+31", Some(Scientific)),
            ("1,11111111111111E+31", Some(Scientific)),
            ("12345678901234500000000000000000", Some(Rounded)),
            ("12345678901234500000", Some(Rounded)),
            ("1111111111111111111111111111111", Some(Shortened)),
            ("0", Some(Shortened)),
            ("11111111111111111111111111111111", None),
            ("00000000000000000000000000000000", None),
            ("10000000000000000000000000000000", None),
            ("0c3b25d92b38ae443229dd59ad34b85d", None),
        ] {
            assert_eq!(of_key(cell), expected, "{cell}");
        }
    }

    #[test]
    fn a_slug_that_became_a_number_or_a_date_is_known() {
        use Damage::{Date, Rounded, Scientific, Separated};
        for (cell, expected) in [
            ("1234567890123450000", Some(Rounded)),
            ("1234567890123450", Some(Rounded)),
            ("123456789012340", None),
            ("1234567890123456", None),
            ("12345678901234560", None),
            ("1000000000000000", None),
            ("0234567890123450000", None),
            ("1.23457E+18", Some(Scientific)),
            ("1E+05", Some(Scientific)),
            ("41", None),
            ("1042", None),
            ("1.5", None),
            ("AbC123xy", None),
            ("123456.0", Some(Separated)),
            ("123,456", Some(Separated)),
            ("04-Nov", Some(Date)),
            ("nov-23", Some(Date)),
            ("4. Nov", Some(Date)),
            ("2023-11-04", Some(Date)),
            ("11/4/2023", Some(Date)),
            ("2023-11-04T00:00:00", Some(Date)),
            ("123456", None),
            ("1234567e12", None),
            ("12e-05", None),
            ("bottle-41", None),
            ("2023-41-04", None),
            ("01-02-03", None),
            ("-1-1-2023", None),
            ("may-flower", None),
            ("04-november-x", None),
        ] {
            assert_eq!(of_slug(cell), expected, "{cell}");
        }
    }

    #[test]
    fn words_name_the_spreadsheet() {
        let words = words("file_key", Damage::Scientific);
        assert!(words.starts_with("file_key is a number in scientific notation"));
        assert!(words.contains("spreadsheet"), "{words}");
    }
}
