//! The bytes of a chip as apps and programs show them: in hex with any separators, as a dump with
//! offsets and characters beside the bytes, or as decimal numbers.

use crate::ndef;

/// The fewest bytes of an NDEF message with a web address.
const BYTES_MIN: usize = 12;

/// The URL that a text has as bytes, and whether it is one; otherwise the text itself.
pub(super) fn text(text: &str) -> (String, bool) {
    for read in [hex, decimal] {
        let bytes: Vec<u8> = text.lines().flat_map(|line| bytes(line, read)).collect();
        // Words and values of a URL look like a few bytes.
        let is_most = bytes.len() * 6 >= text.chars().filter(|c| !c.is_whitespace()).count();
        if bytes.len() >= BYTES_MIN
            && is_most
            && let Some(url) = url(&bytes)
        {
            return (url, true);
        }
    }
    (text.to_owned(), false)
}

/// The bytes in a line: its longest run of words that are some.
fn bytes(line: &str, read: fn(&str) -> Option<Vec<u8>>) -> Vec<u8> {
    // Dumps have the characters of the bytes behind them.
    let line = line.split('|').next().unwrap_or_default();
    let line = without_offset(line);
    let (mut longest, mut run) = (Vec::new(), Vec::new());
    let separators = |c: char| c.is_whitespace() || ",;:-[](){}\"'".contains(c);
    for word in line.split(separators).filter(|word| !word.is_empty()) {
        match read(word) {
            Some(bytes) => run.extend(bytes),
            None => run.clear(),
        }
        if run.len() > longest.len() {
            longest.clone_from(&run);
        }
    }
    longest
}

/// The bytes of a line of a dump without its offset: eight digits before shorter words, four or more
/// digits with a colon, or the number of a page in brackets. Behind a colon the bytes end with two
/// spaces.
fn without_offset(line: &str) -> &str {
    let line = line.trim_start();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_hexdigit).count();
    let first = digits(line);
    let rest = &line[first..];
    if let Some(page) = line.strip_prefix('[') {
        return page.split_once("] ").map_or(line, |(_, rest)| rest);
    }
    if let Some(bytes) = rest.strip_prefix(": ").filter(|_| first >= 4) {
        let bytes = bytes.trim_start();
        return bytes.split_once("  ").map_or(bytes, |(bytes, _)| bytes);
    }
    let next = digits(rest.trim_start());
    if first == 8 && (1..8).contains(&next) {
        rest
    } else {
        line
    }
}

/// The bytes of a word of hex digits.
fn hex(word: &str) -> Option<Vec<u8>> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    let digits = digits.unwrap_or(word);
    let mut bytes = vec![0; digits.len() / 2];
    base16ct::mixed::decode(digits, &mut bytes).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// The byte of a decimal number.
fn decimal(word: &str) -> Option<Vec<u8>> {
    word.parse().ok().map(|byte| vec![byte])
}

/// The URL of an NDEF message that is somewhere in these bytes, of a record's payload, or of the
/// characters themselves.
fn url(bytes: &[u8]) -> Option<String> {
    let of_message = (0..bytes.len()).find_map(|at| {
        let records = ndef::parse(&bytes[at..]).ok()?;
        let url = ndef::url(&records)?;
        is_url(url).then(|| url.to_owned())
    });
    of_message.or_else(|| {
        let end = bytes.iter().rposition(|byte| !matches!(byte, 0 | 0xFE))?;
        let bytes = &bytes[..=end];
        // The type of the record can be before its payload.
        let payload = bytes.strip_prefix(b"U").unwrap_or(bytes);
        let (code, rest) = payload.split_first()?;
        let prefixed = ndef::PREFIXES
            .get(usize::from(*code))
            .and_then(|prefix| Some(format!("{prefix}{}", std::str::from_utf8(rest).ok()?)));
        let plain = || std::str::from_utf8(bytes).ok().map(str::to_owned);
        prefixed.or_else(plain).filter(|url| is_url(url))
    })
}

/// Whether a text is a URL as a chip has it.
fn is_url(text: &str) -> bool {
    text.contains("://") && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pasted::{Note, readings};

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE65337086";

    fn message() -> Vec<u8> {
        ndef::short_uri(4, &URL.as_bytes()["https://".len()..])
    }

    fn written(bytes: &[u8], format: fn(u8) -> String, between: &str) -> String {
        let bytes: Vec<_> = bytes.iter().map(|byte| format(*byte)).collect();
        bytes.join(between)
    }

    /// Lines of a dump, from the index of a line, its bytes and its characters.
    fn dump(bytes: &[u8], width: usize, line: fn(usize, &[u8], &str) -> String) -> String {
        let lines = bytes.chunks(width).enumerate().map(|(index, bytes)| {
            let shown = bytes.iter().map(|byte| match byte {
                b' '..=b'~' => char::from(*byte),
                _ => '.',
            });
            line(index, bytes, &shown.collect::<String>())
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn upper(byte: u8) -> String {
        format!("{byte:02X}")
    }

    #[test]
    fn bytes_in_any_form_are_read_as_their_url() {
        let record = message();
        let file = [&[0, 77][..], record.as_slice()].concat();
        let memory = [&[3, 77][..], record.as_slice(), &[0xFE, 0, 0][..]].concat();
        for bytes in [
            &record,
            &file,
            &memory,
            &record[3..].to_vec(),
            &record[4..].to_vec(),
        ] {
            for text in [
                written(bytes, upper, ""),
                format!("0x{}", written(bytes, upper, "")),
                written(bytes, upper, ":"),
                written(bytes, |byte| format!("{byte:02x}"), " "),
                written(bytes, |byte| format!("0x{byte:02x}"), ", "),
                format!("NDEF (hex): {}", written(bytes, upper, "-")),
                format!("[{}]", written(bytes, |byte| byte.to_string(), ", ")),
                dump(bytes, 16, |index, bytes, shown| {
                    format!(
                        "{:08x}  {}  |{shown}|",
                        index * 16,
                        written(bytes, upper, " ")
                    )
                }),
                dump(bytes, 16, |index, bytes, shown| {
                    let pairs = bytes.chunks(2).map(|pair| written(pair, upper, ""));
                    let pairs = pairs.collect::<Vec<_>>().join(" ");
                    format!("{:08x}: {pairs:<40} {shown}", index * 16)
                }),
                dump(bytes, 4, |index, bytes, shown| {
                    format!(
                        "[{:02X}] {} |{shown}|",
                        index + 4,
                        written(bytes, upper, " ")
                    )
                }),
            ] {
                assert_eq!(super::text(&text), (URL.to_owned(), true), "{text}");
                let reading = readings(&text).swap_remove(0);
                assert_eq!(reading.urls, [URL]);
                assert_eq!(reading.notes, [Note::Bytes]);
            }
        }
        let text = written(URL.as_bytes(), upper, "");
        assert_eq!(super::text(&text), (URL.to_owned(), true));
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let http = written(b"mailto:someone@mail.example", upper, "");
        let cut = written(&message()[..40], upper, " ");
        for text in [URL, "", "no url", "04DE5F1EACC040", &http, &cut, "1, 2, 3"] {
            assert_eq!(super::text(text), (text.to_owned(), false), "{text}");
        }
    }
}
