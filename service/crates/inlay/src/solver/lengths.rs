//! Values of a URL that lack digits, or have a letter in the place of one. The values beside them
//! show which value of a chip was meant.

use super::remarks::{Remark, values};
use crate::uid;

/// The fewest hex digits that count as a chip's value: those of a UID minus one, because a value
/// that lost a digit is a finding here.
pub(super) const VALUE_MIN: usize = uid::DIGITS - 1;
/// The fewest digits if all are decimal: times in milliseconds have 13.
const DECIMAL_MIN: usize = 14;
/// How long values of a chip usually are, with those that stand together.
const USUAL: [usize; 7] = [14, 16, 20, 22, 32, 36, 48];
/// The fewest decimal digits of a value with a wrong letter. Words have none.
const TYPED_MIN: usize = 4;

/// A value of a chip: how many digits it has, and its name.
type Expected = (usize, &'static str);

const UID: Expected = (uid::DIGITS, "a UID");
const MAC: Expected = (16, "a MAC");
const PICC: Expected = (32, "encrypted PICC data");
const PICC_LRP: Expected = (48, "encrypted PICC data in LRP mode");
const PICC_AND_MAC: Expected = (48, "encrypted PICC data with a MAC");

/// The first value of a URL with an odd number of hex digits, and how many they are.
pub(super) fn cut(url: &str) -> Option<(&str, usize)> {
    values(url).find_map(|(name, value)| {
        let is_decimal = value.bytes().all(|b| b.is_ascii_digit());
        let least = if is_decimal { DECIMAL_MIN } else { VALUE_MIN };
        let is_cut = is_hex(value) && value.len() >= least && value.len() % 2 == 1;
        is_cut.then_some((name, value.len()))
    })
}

/// Values that lack digits, beside those that [`cut`] finds, and UIDs before an `x` that do.
pub(super) fn short(url: &str) -> Vec<Remark> {
    let values: Vec<_> = values(url).collect();
    let remarks = values
        .iter()
        .enumerate()
        .filter_map(|(at, &(name, value))| {
            let (digits, expected) = match value.split_once('x') {
                Some((uid, rest)) if is_hex(uid) && is_hex(rest) && uid.len() >= 8 => {
                    (uid.len(), (uid.len() != UID.0).then_some(UID)?)
                }
                _ => (value.len(), expected(&values, at)?),
            };
            let name = name.to_owned();
            Some(Remark::Length {
                name,
                digits,
                expected,
            })
        });
    remarks.collect()
}

/// The value that this one is a part of, if the others show it.
fn expected(values: &[(&str, &str)], at: usize) -> Option<Expected> {
    let (_, value) = values[at];
    if !is_hex(value) || value.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let has = |values: &[(&str, &str)], length: usize| {
        let mut values = values.iter();
        values.any(|&(_, value)| value.len() == length && is_hex(value))
    };
    let is_of_uid = begins_uid(value);
    match value.len() {
        // From 13 on, an odd number is named already.
        8..=12 | 14 if lacks_mac(values, at) => Some(MAC),
        12 if is_of_uid => Some(UID),
        28 | 30 if !is_of_uid => Some(PICC),
        18 | 20 | 22 | 24 | 26 if !is_of_uid => {
            let is_before_mac = has(&values[at + 1..], MAC.0) && !has(values, PICC.0);
            is_before_mac.then_some(PICC)
        }
        44 | 46 if has(values, MAC.0) => Some(PICC_LRP),
        44 | 46 => Some(PICC_AND_MAC),
        _ => None,
    }
}

/// Whether the value is behind encrypted PICC data, and no other value is a MAC. Only digits as a
/// chip writes them count: many programs write hashes in small letters.
fn lacks_mac(values: &[(&str, &str)], at: usize) -> bool {
    let is_written = |value: &str| is_hex(value) && !value.bytes().any(|b| b.is_ascii_lowercase());
    let mut before = values[..at].iter();
    let is_other = |value: &str| {
        let is_uid = value.len() == UID.0 && begins_uid(value);
        is_hex(value) && (is_uid || (MAC.0..PICC.0).contains(&value.len()))
    };
    is_written(values[at].1)
        && before.any(|&(_, value)| value.len() == PICC.0 && is_written(value))
        && !values.iter().any(|&(_, value)| is_other(value))
}

/// Whether a text begins like the UID of a supported chip: with the number of NXP or Silicon Craft.
fn begins_uid(text: &str) -> bool {
    text.starts_with("04") || text.starts_with("39")
}

/// The first value with a letter that looks like a digit, and that letter.
pub(super) fn mistyped(url: &str) -> Option<(&str, char)> {
    let looks_like_digit = |c: char| matches!(c, 'O' | 'o' | 'I' | 'l');
    values(url).find_map(|(name, value)| {
        value.split('x').find_map(|part| {
            let letter = part.chars().find(|&c| looks_like_digit(c))?;
            let mut characters = part.chars();
            let is_typed = characters.all(|c| c.is_ascii_hexdigit() || looks_like_digit(c));
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            let is_value = USUAL.contains(&part.len()) && digits >= TYPED_MIN;
            (is_typed && is_value).then_some((name, letter))
        })
    })
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}
