//! Characters that web pages, mail and programs escape. Each function says whether it changed the
//! text.

use percent_encoding::percent_decode_str;

use super::has_value;

/// The longest number of an entity with its `;`, in bytes: three digits with many leading zeros.
/// Without a limit, a hostile text of `&#` takes cubic time.
const NUMBER_MAX: usize = 12;

/// Replaces the entities that HTML uses for characters of a URL. Some programs escape twice, so
/// this is repeated.
pub(super) fn entities(text: &str) -> (String, bool) {
    let mut text = text.to_owned();
    let mut is_changed = false;
    // Each round makes the text shorter.
    while let Some((at, length, character)) = entity(&text.to_ascii_lowercase()) {
        text.replace_range(at..at + length, character.encode_utf8(&mut [0; 4]));
        is_changed = true;
    }
    (text, is_changed)
}

/// The place, length and character of an entity in a text of lower case.
fn entity(lower: &str) -> Option<(usize, usize, char)> {
    const NAMED: [(&str, char); 11] = [
        ("&amp;", '&'),
        ("&amp%3b", '&'),
        ("%26amp%3b", '&'),
        ("%26amp;", '&'),
        ("&equals;", '='),
        ("&quest;", '?'),
        ("&colon;", ':'),
        ("&sol;", '/'),
        ("&quot;", '"'),
        ("&lt;", '<'),
        ("&gt;", '>'),
    ];
    let named = NAMED.into_iter().find_map(|(entity, character)| {
        let at = lower.find(entity)?;
        Some((at, entity.len(), character))
    });
    let numbered = || {
        lower.match_indices("&#").find_map(|(at, start)| {
            let rest = &lower[at + start.len()..];
            let end = rest.bytes().take(NUMBER_MAX).position(|b| b == b';')?;
            let number = &rest[..end];
            let code = match number.strip_prefix('x') {
                Some(hex) => u8::from_str_radix(hex, 16),
                None => number.parse(),
            };
            let character = code.ok().filter(u8::is_ascii_graphic)?;
            Some((at, start.len() + number.len() + 1, char::from(character)))
        })
    };
    named.or_else(numbered)
}

/// Replaces the escapes of JSON and of programming languages (`\u0026`, `\x26`, `\/`, `\n`), and a
/// backslash before other punctuation, as Markdown and shells have it. No URL has a backslash.
pub(super) fn of_programs(text: &str) -> (String, bool) {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        whole += before;
        if let Some((byte, behind)) = code(after) {
            whole.push(char::from(byte));
            rest = behind;
        } else if let Some(behind) = after.strip_prefix(['n', 'r', 't']) {
            whole.push(' ');
            rest = behind;
        } else {
            if !after.starts_with(|c: char| c.is_ascii_punctuation()) {
                whole.push('\\');
            }
            rest = after;
        }
    }
    whole += rest;
    let is_changed = whole != text;
    (whole, is_changed)
}

/// The character that `uXXXX` or `xXX` at the beginning of a text stands for, and the text behind
/// it. Besides characters of URLs these are the codes of NDEF for `http://` and `https://`.
fn code(text: &str) -> Option<(u8, &str)> {
    let digits = match text.as_bytes().first()? {
        b'u' => 4,
        b'x' => 2,
        _ => return None,
    };
    let byte = u8::from_str_radix(text.get(1..=digits)?, 16).ok()?;
    let is_meant = byte.is_ascii_graphic() || (1..=4).contains(&byte);
    is_meant.then(|| (byte, &text[1 + digits..]))
}

/// Whether a URL ends within a value, and an ellipsis is behind it. Text can end with one, too, so a
/// value as long as that of a chip is whole.
pub(super) fn is_shortened(url: &str, behind: &str) -> bool {
    let digits = url.bytes().rev().take_while(u8::is_ascii_hexdigit).count();
    let is_whole = digits >= 16 || matches!(digits, 6 | 8 | 14);
    let is_value = url.contains('?') && url[..url.len() - digits].ends_with('=');
    is_value && !is_whole && (behind.starts_with('…') || behind.starts_with("..."))
}

/// Leaves out characters that take no space: word processors and chats put them into long words.
pub(super) fn invisible(text: &str) -> (String, bool) {
    let is_visible = |c: &char| !matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}');
    let visible: String = text.chars().filter(is_visible).collect();
    let is_changed = visible.len() < text.len();
    (visible, is_changed)
}

/// The text with its percent-encoded URLs decoded, without the URLs that they were parts of; `None`
/// if there is none with a value of a chip.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    let mut is_changed = false;
    let pieces = text.split_inclusive(char::is_whitespace).map(|piece| {
        let inner = inner(piece);
        is_changed |= inner.is_some();
        inner.map_or_else(|| piece.to_owned(), |url| url + "\n")
    });
    let whole: String = pieces.collect();
    is_changed.then_some(whole)
}

/// The URL inside of another one in a piece of text, decoded.
fn inner(piece: &str) -> Option<String> {
    let url = defended(piece)
        .or_else(|| encoded(piece))
        .or_else(|| in_parameter(piece))?;
    has_value(&url).then_some(url)
}

/// The URL inside of one by Proofpoint's URL Defense, version 3. It has one slash or two behind its
/// scheme.
fn defended(piece: &str) -> Option<String> {
    let (_, rest) = piece.split_once("urldefense.com/v3/__")?;
    let (url, _) = rest.split_once("__;")?;
    let (scheme, rest) = url.split_once(":/")?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    Some(format!("{scheme}://{rest}"))
}

/// The URL in a parameter of another one, decoded. Some programs leave its scheme and its slashes as
/// they are, and encode its separators, as those of a URL inside of another one must be.
fn in_parameter(piece: &str) -> Option<String> {
    let lower = piece.to_ascii_lowercase();
    let starts = ["=https://", "=http://"].into_iter();
    let start = starts.filter_map(|start| lower.find(start)).min()? + 1;
    let url = piece[start..].split('&').next()?;
    let is_encoded = lower[start..start + url.len()].contains("%3f");
    is_encoded.then(|| percent_decode_str(url).decode_utf8_lossy().into_owned())
}

/// The percent-encoded URL in a piece of text, decoded.
fn encoded(piece: &str) -> Option<String> {
    let lower = piece.to_ascii_lowercase();
    // Programs that wrap what is already wrapped encode it twice.
    let starts = [
        "http%3a%2f%2f",
        "https%3a%2f%2f",
        "http%253a%252f%252f",
        "https%253a%252f%252f",
    ];
    let start = starts
        .into_iter()
        .filter_map(|start| lower.find(start))
        .min()?;
    let rest = &piece[start..];
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "%.-_~+*".contains(c)));
    let mut url = rest[..end.unwrap_or(rest.len())].to_owned();
    while !url.contains("://") {
        let decoded = percent_decode_str(&url).decode_utf8_lossy().into_owned();
        if decoded == url {
            return None;
        }
        url = decoded;
    }
    Some(url)
}
