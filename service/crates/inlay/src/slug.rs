//! The form of a slug: the text by which a tag's URL names the tag.
//!
//! Its characters are the unreserved ones of a URL (RFC 3986, section 2.3), so that nothing on the
//! way of a URL has a reason to escape them.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The shortest and the longest slug, in characters.
pub const LENGTHS: RangeInclusive<usize> = 1..=64;

/// Whether a text is a slug: 1 to 64 of `A-Z a-z 0-9 . _ ~ -`, and neither `.` nor `..`, which
/// browsers remove from a path.
///
/// ```
/// use inlay::slug::is_slug;
///
/// assert!(is_slug("1042") && is_slug("AbC_123") && is_slug("..."));
/// assert!(!is_slug("..") && !is_slug("a/b") && !is_slug("käse"));
/// ```
pub fn is_slug(text: &str) -> bool {
    LENGTHS.contains(&text.len()) && text.bytes().all(is_slug_byte) && !matches!(text, "." | "..")
}

/// A path's text without the escapes of characters that a slug can contain. Both forms are the same
/// URL (RFC 3986, section 6.2.2.2). All other escapes stay, and make the text no slug.
///
/// ```
/// use inlay::slug::unescaped;
///
/// assert_eq!(unescaped("a%7Eb%2d1"), "a~b-1");
/// assert_eq!(unescaped("a%2Fb%C3%A4%257E%7"), "a%2Fb%C3%A4%257E%7");
/// ```
pub fn unescaped(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        if let Some(byte) = after.get(..2).and_then(slug_byte) {
            plain.push(char::from(byte));
            rest = &after[2..];
        } else {
            plain.push('%');
            rest = after;
        }
    }
    if plain.is_empty() {
        return Cow::Borrowed(text);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The byte with these two hex digits, if a slug can contain it.
fn slug_byte(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex);
    byte.filter(|byte| is_slug_byte(*byte))
}

/// Whether a slug can contain this byte.
pub(crate) const fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'-')
}
