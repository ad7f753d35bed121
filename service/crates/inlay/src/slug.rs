//! The form of a slug: the text by which a tag's URL names the tag.
//!
//! Its characters are the unreserved ones of a URL (RFC 3986, section 2.3), so that nothing on the
//! way of a URL has a reason to escape them.

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

/// Whether a slug can contain this byte.
pub(crate) const fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'-')
}
