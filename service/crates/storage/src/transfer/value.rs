//! The text of a row. It is the same for both backends, so that it can be copied and compared: the
//! text format of PostgreSQL's `COPY`. It has a line for each row, a tab between values, `\N` for
//! null, `t` and `f`, and `\x` before hexadecimal bytes (PostgreSQL documentation, `COPY`, "Text
//! Format"; 8.4, "bytea Hex Format").

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::catalogue::Kind;
use crate::value::Value;

/// A row's position in its table: the text of the values of its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(pub String);

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The letters after a backslash, and the bytes that they encode.
const ESCAPED: [(u8, u8); 7] = [
    (b'\\', b'\\'),
    (b'b', 0x08),
    (b't', b'\t'),
    (b'n', b'\n'),
    (b'v', 0x0b),
    (b'f', 0x0c),
    (b'r', b'\r'),
];

impl<'a> Value<'a> {
    /// Appends the value's text to `line`.
    pub(crate) fn write(&self, line: &mut Vec<u8>) {
        match self {
            Self::Null => line.extend_from_slice(b"\\N"),
            Self::Integer(number) => line.extend_from_slice(number.to_string().as_bytes()),
            Self::Flag(flag) => line.push(if *flag { b't' } else { b'f' }),
            Self::Text(text) => {
                for byte in text.bytes() {
                    match ESCAPED.iter().find(|(_, stands_for)| *stands_for == byte) {
                        Some((letter, _)) => line.extend_from_slice(&[b'\\', *letter]),
                        None => line.push(byte),
                    }
                }
            }
            Self::Bytes(bytes) => {
                line.extend_from_slice(b"\\\\x");
                for byte in bytes.iter() {
                    line.push(DIGITS[usize::from(byte >> 4)]);
                    line.push(DIGITS[usize::from(byte & 15)]);
                }
            }
        }
    }

    /// Parses the value of this kind from its text; `None` if the text is invalid.
    pub(crate) fn read(kind: Kind, text: &'a str) -> Option<Self> {
        if text == "\\N" {
            return Some(Self::Null);
        }
        Some(match kind {
            Kind::Integer => Self::Integer(text.parse().ok()?),
            Kind::Flag => Self::Flag(match text {
                "t" => true,
                "f" => false,
                _ => return None,
            }),
            Kind::Text => Self::Text(unescaped(text)?),
            Kind::Bytes => {
                let digits = text.strip_prefix("\\\\x")?;
                Self::Bytes(Cow::Owned(base16ct::lower::decode_vec(digits).ok()?))
            }
        })
    }
}

fn unescaped(text: &str) -> Option<Cow<'_, str>> {
    let Some((before, mut rest)) = text.split_once('\\') else {
        return Some(Cow::Borrowed(text));
    };
    let mut whole = before.to_owned();
    loop {
        let letter = *rest.as_bytes().first()?;
        let (_, stands_for) = ESCAPED.iter().find(|(other, _)| *other == letter)?;
        whole.push(char::from(*stands_for));
        rest = &rest[1..];
        let Some((plain, next)) = rest.split_once('\\') else {
            whole.push_str(rest);
            return Some(Cow::Owned(whole));
        };
        whole.push_str(plain);
        rest = next;
    }
}

/// Splits the text of rows into its lines.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// The key of the last row in a text; the key is the row's first `columns` values.
pub fn last_key(text: &[u8], columns: usize) -> Option<Key> {
    let line = text.strip_suffix(b"\n")?;
    let line = line.rsplit(|byte| *byte == b'\n').next()?;
    let values: Vec<&str> = std::str::from_utf8(line)
        .ok()?
        .split('\t')
        .take(columns)
        .collect();
    Some(Key(values.join("\t")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(value: &Value<'_>) -> String {
        let mut line = Vec::new();
        value.write(&mut line);
        String::from_utf8(line).unwrap()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again_and_stays_within_its_place(
            number: i64, flag: bool, text in "(?s).*", bytes: Vec<u8>,
        ) {
            for (kind, value) in [
                (Kind::Integer, Value::Integer(number)),
                (Kind::Flag, Value::Flag(flag)),
                (Kind::Text, Value::Text(text.clone().into())),
                (Kind::Bytes, Value::Bytes(bytes.clone().into())),
                (Kind::Text, Value::Null),
            ] {
                let line = written(&value);
                prop_assert!(!line.contains(['\t', '\n']));
                prop_assert_eq!(Value::read(kind, &line), Some(value));
            }
        }
    }

    #[test]
    fn values_are_written_as_copy_writes_them() {
        for (value, text) in [
            (Value::Null, "\\N"),
            (Value::Integer(-5), "-5"),
            (Value::Flag(true), "t"),
            (Value::Text("".into()), ""),
            (Value::Text("\\N".into()), "\\\\N"),
            (Value::Text("a\tb\r\nc\\".into()), "a\\tb\\r\\nc\\\\"),
            (
                Value::Text("\u{8}\u{b}\u{c}\u{1}é".into()),
                "\\b\\v\\f\u{1}é",
            ),
            (Value::Bytes(vec![].into()), "\\\\x"),
            (Value::Bytes(vec![0, 171].into()), "\\\\x00ab"),
        ] {
            assert_eq!(written(&value), text);
        }
    }

    #[test]
    fn what_is_no_value_is_none() {
        for (kind, text) in [
            (Kind::Integer, "1.5"),
            (Kind::Flag, "true"),
            (Kind::Text, "\\"),
            (Kind::Text, "a\\z"),
            (Kind::Bytes, "00"),
            (Kind::Bytes, "\\\\x0"),
        ] {
            assert_eq!(Value::read(kind, text), None, "{text}");
        }
    }

    #[test]
    fn the_last_rows_key_is_its_first_values() {
        let rows = b"1\tdata\ta\tx\n2\tdata\tb\\n\ty\n";
        assert_eq!(last_key(rows, 3), Some(Key("2\tdata\tb\\n".to_owned())));
        assert_eq!(lines(rows).count(), 2);
        assert_eq!(last_key(b"", 1), None);
    }
}
