//! NDEF messages, the content of NFC tags: records in, records out. Any input results in records or
//! in one error, in bounded time.
//!
//! Source: NFC Forum, NFC Data Exchange Format 1.0; RTDs URI, Text and Smart Poster 1.0.
//!
//! ```
//! use inlay::ndef::{self, Record};
//!
//! # fn main() -> Result<(), inlay::ndef::NdefError> {
//! // Code 4 stands for `https://`.
//! let message = ndef::short_uri(4, b"tags.example/t");
//! assert_eq!(message[..5], [0xD1, 0x01, 0x0F, b'U', 4]);
//! let records = ndef::parse(&message)?;
//! assert_eq!(ndef::url(&records), Some("https://tags.example/t"));
//! # Ok(())
//! # }
//! ```

/// Most records of a message that [`parse`] accepts.
const RECORDS_MAX: usize = 64;
/// The prefixes of URIs, by the code that stands for them (URI RTD 1.0, table 3).
pub const PREFIXES: [&str; 36] = [
    "",
    "http://www.",
    "https://www.",
    "http://",
    "https://",
    "tel:",
    "mailto:",
    "ftp://anonymous:anonymous@",
    "ftp://ftp.",
    "ftps://",
    "sftp://",
    "smb://",
    "nfs://",
    "ftp://",
    "dav://",
    "news:",
    "telnet://",
    "imap:",
    "rtsp://",
    "urn:",
    "pop:",
    "sip:",
    "sips:",
    "tftp:",
    "btspp://",
    "btl2cap://",
    "btgoep://",
    "tcpobex://",
    "irdaobex://",
    "file://",
    "urn:epc:id:",
    "urn:epc:tag:",
    "urn:epc:pat:",
    "urn:epc:raw:",
    "urn:epc:",
    "urn:nfc:",
];

/// A record of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
pub enum Record {
    /// A URI record (URI RTD 1.0).
    Uri {
        /// The URI with its prefix written out.
        uri: String,
    },
    /// A text record for people (Text RTD 1.0).
    Text {
        /// Its language, as in `en`.
        language: String,
        /// The text, decoded from UTF-8 or UTF-16.
        text: String,
    },
    /// A URI with titles.
    SmartPoster {
        /// The poster's records: its URI and its titles.
        records: Vec<Record>,
    },
    /// A record without type and payload.
    Empty,
    /// A record of any other type.
    Other {
        /// Its type, as in `text/vcard`.
        name: String,
        /// The length of its content in bytes.
        length: usize,
    },
}

/// Why bytes are not an NDEF message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NdefError {
    /// It ends within a record.
    #[error("The message ends in the middle of a record.")]
    CutOff,
    /// The first record does not begin a message, or a later one does.
    #[error("The first record is not marked as the first.")]
    NoBeginning,
    /// No record ends the message.
    #[error("The message does not end: its last record says that more follow.")]
    NoEnd,
    /// A record is split into chunks.
    #[error("A record is split into chunks, which is not supported.")]
    Chunked,
    /// A record has a type although its format forbids one, or a reserved format.
    #[error("A record has an unknown type.")]
    Kind,
    /// The content of a URI or text record is malformed.
    #[error("A text record contains no valid text.")]
    Text,
    /// The message has too many records.
    #[error("The message has more than 64 records.")]
    TooMany,
}

/// The records of a message. Bytes after its end are ignored.
///
/// # Errors
///
/// [`NdefError`] if the bytes are no message, or a message with more than 64 records.
pub fn parse(message: &[u8]) -> Result<Vec<Record>, NdefError> {
    records(message, true)
}

/// The first URL of a message: of a URI record, or of a smart poster.
pub fn url(records: &[Record]) -> Option<&str> {
    records.iter().find_map(|record| match record {
        Record::Uri { uri } => Some(uri.as_str()),
        Record::SmartPoster { records } => url(records),
        _ => None,
    })
}

/// A message of one short URI record: a prefix's code, and the URI after the prefix.
///
/// `rest` has at most 254 bytes, because the length of a short record is one byte. A longer one
/// gives a record whose length is wrong.
pub fn short_uri(code: u8, rest: &[u8]) -> Vec<u8> {
    let [.., length] = (rest.len() + 1).to_be_bytes();
    let mut message = Vec::with_capacity(5 + rest.len());
    message.extend([0xD1, 0x01, length, b'U', code]);
    message.extend(rest);
    message
}

fn records(mut message: &[u8], posters: bool) -> Result<Vec<Record>, NdefError> {
    let mut records = Vec::new();
    while records.len() < RECORDS_MAX {
        let (raw, rest) = RawRecord::split(message)?;
        if raw.begins != records.is_empty() {
            return Err(NdefError::NoBeginning);
        }
        records.push(raw.record(posters)?);
        match (raw.ends, rest) {
            (true, _) => return Ok(records),
            (false, []) => return Err(NdefError::NoEnd),
            (false, rest) => message = rest,
        }
    }
    Err(NdefError::TooMany)
}

/// A record with undecoded content.
struct RawRecord<'a> {
    begins: bool,
    ends: bool,
    /// `TNF`: how to interpret the type.
    format: u8,
    kind: &'a [u8],
    payload: &'a [u8],
}

impl<'a> RawRecord<'a> {
    /// Splits off the first record; the second part is the rest.
    fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), NdefError> {
        let mut bytes = bytes;
        let flags = byte(&mut bytes)?;
        if flags & 0x20 != 0 {
            return Err(NdefError::Chunked);
        }
        let kind_length = usize::from(byte(&mut bytes)?);
        let payload_length = if flags & 0x10 != 0 {
            usize::from(byte(&mut bytes)?)
        } else {
            let (length, rest) = bytes.split_first_chunk().ok_or(NdefError::CutOff)?;
            bytes = rest;
            usize::try_from(u32::from_be_bytes(*length)).map_err(|_| NdefError::CutOff)?
        };
        let id_length = match flags & 0x08 {
            0 => 0,
            _ => usize::from(byte(&mut bytes)?),
        };
        let kind = take(&mut bytes, kind_length)?;
        take(&mut bytes, id_length)?;
        let payload = take(&mut bytes, payload_length)?;
        let record = Self {
            begins: flags & 0x80 != 0,
            ends: flags & 0x40 != 0,
            format: flags & 0x07,
            kind,
            payload,
        };
        Ok((record, bytes))
    }

    /// Decodes the content. A poster within a poster is not opened.
    fn record(&self, posters: bool) -> Result<Record, NdefError> {
        let name = String::from_utf8_lossy(self.kind).into_owned();
        let other = |name| Record::Other {
            name,
            length: self.payload.len(),
        };
        Ok(match (self.format, self.kind) {
            (0, []) if self.payload.is_empty() => Record::Empty,
            (1, b"U") => Record::Uri {
                uri: uri(self.payload)?,
            },
            (1, b"T") => text(self.payload)?,
            (1, b"Sp") if posters => Record::SmartPoster {
                records: records(self.payload, false)?,
            },
            (1, _) => other(format!("urn:nfc:wkt:{name}")),
            (2, _) => other(name),
            (3, _) => Record::Uri {
                uri: utf8(self.kind)?,
            },
            (4, _) => other(format!("urn:nfc:ext:{name}")),
            (5, []) => other("bytes of an unstated type".to_owned()),
            _ => return Err(NdefError::Kind),
        })
    }
}

fn byte(bytes: &mut &[u8]) -> Result<u8, NdefError> {
    let (first, rest) = bytes.split_first().ok_or(NdefError::CutOff)?;
    *bytes = rest;
    Ok(*first)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], NdefError> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(NdefError::CutOff)?;
    *bytes = rest;
    Ok(taken)
}

fn utf8(bytes: &[u8]) -> Result<String, NdefError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| NdefError::Text)
}

fn uri(payload: &[u8]) -> Result<String, NdefError> {
    let (code, rest) = payload.split_first().ok_or(NdefError::Text)?;
    // A reserved code abbreviates nothing (URI RTD 1.0, section 3.2.2).
    let prefix = PREFIXES.get(usize::from(*code)).unwrap_or(&"");
    Ok(format!("{prefix}{}", utf8(rest)?))
}

fn text(payload: &[u8]) -> Result<Record, NdefError> {
    let (status, rest) = payload.split_first().ok_or(NdefError::Text)?;
    let length = usize::from(status & 0x3F);
    let (language, text) = rest.split_at_checked(length).ok_or(NdefError::Text)?;
    let text = if status & 0x80 == 0 {
        utf8(text)?
    } else {
        utf16(text)?
    };
    Ok(Record::Text {
        language: utf8(language)?,
        text,
    })
}

/// UTF-16 with a byte order mark, or big-endian without one.
fn utf16(bytes: &[u8]) -> Result<String, NdefError> {
    let (little, bytes) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (true, rest),
        [0xFE, 0xFF, rest @ ..] => (false, rest),
        _ => (false, bytes),
    };
    let (units, []) = bytes.as_chunks::<2>() else {
        return Err(NdefError::Text);
    };
    let read = if little {
        u16::from_le_bytes
    } else {
        u16::from_be_bytes
    };
    let units = units.iter().map(|unit| read(*unit));
    char::decode_utf16(units)
        .collect::<Result<_, _>>()
        .map_err(|_| NdefError::Text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes a record with this format and type, short or long.
    fn record(flags: u8, kind: &[u8], payload: &[u8], short: bool) -> Vec<u8> {
        let mut bytes = vec![flags | if short { 0x10 } else { 0 }];
        bytes.push(u8::try_from(kind.len()).unwrap());
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        bytes.extend_from_slice(if short { &length[3..] } else { &length });
        bytes.extend_from_slice(kind);
        bytes.extend_from_slice(payload);
        bytes
    }

    fn one(uri: &str) -> Vec<Record> {
        let uri = uri.to_owned();
        vec![Record::Uri { uri }]
    }

    #[test]
    fn a_short_uri_is_read_back() {
        let longest = "a".repeat(254);
        for (code, rest) in [(4, "tags.example/t"), (0, "geo:1,2"), (3, &*longest)] {
            let records = parse(&short_uri(code, rest.as_bytes())).unwrap();
            let prefix = PREFIXES[usize::from(code)];
            assert_eq!(records, one(&format!("{prefix}{rest}")));
        }
    }

    /// The file of AN12196 table 6, up to its first mirror.
    #[test]
    fn the_record_of_an_application_note_is_read() {
        let rest = b"my424dna.com/?picc_data=";
        let message = [&b"\xD1\x01\x19U\x02"[..], rest].concat();
        assert_eq!(message, short_uri(2, rest));
        assert_eq!(
            url(&parse(&message).unwrap()),
            Some("https://www.my424dna.com/?picc_data=")
        );
    }

    #[test]
    fn a_uri_is_found_in_a_short_and_in_a_long_record() {
        for short in [true, false] {
            let message = record(0xC1, b"U", b"\x04example.com/t/k3v9qa", short);
            let records = parse(&message).unwrap();
            assert_eq!(records, one("https://example.com/t/k3v9qa"));
            assert_eq!(url(&records), Some("https://example.com/t/k3v9qa"));
        }
    }

    #[test]
    fn every_prefix_stands_for_what_it_abbreviates_and_a_reserved_one_for_nothing() {
        for (code, prefix) in PREFIXES.iter().enumerate() {
            let payload = [u8::try_from(code).unwrap(), b'x'];
            assert_eq!(
                parse(&record(0xC1, b"U", &payload, true)).unwrap(),
                one(&format!("{prefix}x"))
            );
        }
        assert_eq!(
            parse(&record(0xC1, b"U", b"\x24x", true)).unwrap(),
            one("x")
        );
    }

    #[test]
    fn a_smart_poster_shows_its_url_and_its_title() {
        let inner = [
            record(0x81, b"U", b"\x03example.com/", true),
            record(0x41, b"T", b"\x02enBottle", true),
        ]
        .concat();
        let records = parse(&record(0xC1, b"Sp", &inner, true)).unwrap();
        assert_eq!(url(&records), Some("http://example.com/"));
        let title = Record::Text {
            language: "en".to_owned(),
            text: "Bottle".to_owned(),
        };
        assert!(matches!(&records[..], [Record::SmartPoster { records }] if records[1] == title));
    }

    #[test]
    fn a_poster_within_a_poster_is_not_opened() {
        let inner = record(0xC1, b"Sp", &record(0xC1, b"U", b"\x03a", true), true);
        let records = parse(&record(0xC1, b"Sp", &inner, true)).unwrap();
        assert_eq!(url(&records), None);
    }

    #[test]
    fn the_first_url_of_several_records_counts() {
        let message = [
            record(0x82, b"text/plain", b"hello", true),
            record(0x01, b"U", b"\x04a", true),
            record(0x41, b"U", b"\x04b", false),
        ]
        .concat();
        let records = parse(&message).unwrap();
        assert_eq!(records.len(), 3);
        assert_eq!(url(&records), Some("https://a"));
    }

    #[test]
    fn texts_are_read_in_either_encoding() {
        for payload in [
            &b"\x02deGr\xc3\xbcn"[..],
            b"\x82de\x00G\x00r\x00\xfc\x00n",
            b"\x82de\xff\xfeG\x00r\x00\xfc\x00n\x00",
        ] {
            let records = parse(&record(0xC1, b"T", payload, true)).unwrap();
            assert!(
                matches!(&records[..], [Record::Text { text, .. }] if text == "Grün"),
                "{records:?}"
            );
        }
    }

    #[test]
    fn an_empty_record_is_no_error_and_no_url() {
        let records = parse(&[0xD0, 0x00, 0x00]).unwrap();
        assert_eq!(records, [Record::Empty]);
        assert_eq!(url(&records), None);
    }

    #[test]
    fn lengths_that_lie_are_errors_in_words() {
        for (bytes, error) in [
            (&b""[..], NdefError::CutOff),
            (b"\xD1", NdefError::CutOff),
            (b"\xD1\x01\xFFU\x04a", NdefError::CutOff),
            (b"\xC1\x01\xFF\xFF\xFF\xFFU", NdefError::CutOff),
            (b"\xD1\xFF\x01U", NdefError::CutOff),
            (b"\x51\x01\x01U\x04", NdefError::NoBeginning),
            (b"\x91\x01\x01U\x04", NdefError::NoEnd),
            (
                b"\x91\x01\x01U\x04\xD1\x01\x01U\x04",
                NdefError::NoBeginning,
            ),
            (b"\xF1\x01\x01U\x04", NdefError::Chunked),
            (b"\xD7\x00\x00", NdefError::Kind),
            (b"\xD0\x01\x00U", NdefError::Kind),
            (b"\xD1\x01\x00U", NdefError::Text),
            (b"\xD1\x01\x02U\x04\xFF", NdefError::Text),
            (b"\xD1\x01\x01T\x3F", NdefError::Text),
        ] {
            assert_eq!(parse(bytes), Err(error), "{bytes:x?}");
        }
        let many = [&[0x90, 0, 0][..], &[0x10, 0, 0].repeat(99), &[0x50, 0, 0]].concat();
        assert_eq!(parse(&many), Err(NdefError::TooMany));
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_records_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            if let Ok(records) = parse(&bytes) {
                prop_assert!((1..=RECORDS_MAX).contains(&records.len()));
            }
        }

        #[test]
        fn what_is_said_is_no_longer_than_the_message_and_its_prefixes(
            flags in any::<u8>(), kind in "[UTSp]{1,2}", payload in proptest::collection::vec(any::<u8>(), 0..200)
        ) {
            let message = record(0xC0 | flags & 0x07, kind.as_bytes(), &payload, true);
            let said = parse(&message).map_or(0, |records| format!("{records:?}").len());
            // Debug output writes a byte as four characters at most, plus names.
            prop_assert!(said < 8 * message.len() + 4096);
        }

        #[test]
        fn a_url_comes_back_as_it_was_written(path in "[a-zA-Z0-9/?=&]{0,230}", short in any::<bool>()) {
            let payload = [b"\x04", path.as_bytes()].concat();
            prop_assert_eq!(parse(&record(0xC1, b"U", &payload, short)).unwrap(), one(&format!("https://{path}")));
        }
    }
}
