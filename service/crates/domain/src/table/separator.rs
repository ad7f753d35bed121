//! The character between the cells of a file.

use std::io::{BufRead, BufReader, Read};

/// Spreadsheets write commas or semicolons, by country, and tabs as "text"; databases also bars.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// How many bytes of the first line are read: more than a header with every column needs.
const HEADER_MAX: u64 = 1024 * 1024;

/// The separator of a file, and whether its first line only states it (`sep=;`). A line that states
/// an unknown one is refused in words.
pub(super) fn of(text: impl Read) -> Result<(u8, bool), String> {
    let mut text = BufReader::new(text.take(HEADER_MAX));
    let mut line = Vec::new();
    // An empty line before the header has no meaning.
    while line.is_empty() {
        let piece = text.fill_buf();
        let piece = piece.map_err(|error| format!("The file cannot be read: {error}."))?;
        if piece.is_empty() {
            break;
        }
        line = read_line(&mut text);
    }
    if let Some(said) = said(&line) {
        return said.map(|separator| (separator, true));
    }
    // The separator that is most frequent in the header; if several are, the first of them.
    let (mut best, mut most) = (SEPARATORS[0], 0);
    for separator in SEPARATORS {
        let times = times(&line, separator);
        if times > most {
            (best, most) = (separator, times);
        }
    }
    Ok((best, false))
}

/// A line without its end.
fn read_line(text: &mut impl BufRead) -> Vec<u8> {
    let bytes = text.bytes().map_while(Result::ok);
    bytes
        .take_while(|byte| !matches!(byte, b'\n' | b'\r'))
        .collect()
}

/// The separator that a `sep=` line names; `None` for any other line.
fn said(line: &[u8]) -> Option<Result<u8, String>> {
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let (word, named) = line.split_at_checked(4)?;
    if !word.eq_ignore_ascii_case(b"sep=") {
        return None;
    }
    let named = named.strip_suffix(b"\"").unwrap_or(named);
    // A spreadsheet that saves this line as a row appends separators to it.
    let known = match named {
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => Some(*first),
        _ => None,
    };
    let known = known.filter(|byte| SEPARATORS.contains(byte));
    Some(known.ok_or_else(|| {
        "The line \"sep=\" names no known separator. There are , ; | and tabs.".to_owned()
    }))
}

/// How often a separator is in a header, outside of quotes.
fn times(header: &[u8], separator: u8) -> usize {
    let mut quoted = false;
    let outside = header.iter().filter(|byte| {
        quoted ^= **byte == b'"';
        !quoted && **byte == separator
    });
    outside.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_or_a_line_before_it_says_the_separator() {
        for (text, expected) in [
            ("a,b;c,d", (b',', false)),
            ("a;b\n1,2,3", (b';', false)),
            ("\n\na\tb", (b'\t', false)),
            ("a|b", (b'|', false)),
            ("\"a,b,c\";d", (b';', false)),
            ("a", (b',', false)),
            ("", (b',', false)),
            ("sep=;\na,b,c", (b';', true)),
            ("SEP=\t\r\na,b", (b'\t', true)),
            ("\"sep=|\"\na,b", (b'|', true)),
            ("sep=,,,\na;b", (b',', true)),
        ] {
            assert_eq!(of(text.as_bytes()), Ok(expected), "{text:?}");
        }
        for odd in [
            "sep=",
            "sep=x",
            "sep=;,",
            "sep=\"",
            "sep=\u{fffd}",
            "sep=\0",
            "sep= ",
        ] {
            let refused = of(odd.as_bytes()).unwrap_err();
            assert!(refused.contains("no known separator"), "{odd}: {refused}");
        }
    }
}
