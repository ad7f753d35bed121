//! The message of a chip, as the page has it.

use serde::Serialize;
use tapdesk_service::inlay::ndef::{self, Record};

/// The message on a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "NdefMessage"))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Message {
    /// A message with records.
    Records {
        /// The records, in their order.
        #[cfg_attr(test, ts(as = "Vec<NdefRecord>"))]
        records: Vec<Record>,
    },
    /// The chip is formatted and has no message.
    Blank,
    /// The chip was never formatted for messages.
    Unformatted,
    /// Not read since the chip was encoded or wiped.
    Unread,
    /// Reading the message needs a key or a password.
    Protected,
    /// The memory contains something that is not a message.
    Broken {
        /// The error as a sentence.
        reason: String,
    },
    /// The card has no memory for messages.
    None,
}

impl Message {
    /// Parses the message in `bytes`.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::Blank;
        }
        match ndef::parse(bytes) {
            Ok(records) if records == [Record::Empty] => Self::Blank,
            Ok(records) => Self::Records { records },
            Err(error) => Self::broken(error.to_string()),
        }
    }

    pub(super) fn broken(reason: impl Into<String>) -> Self {
        Self::Broken {
            reason: reason.into(),
        }
    }

    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Records { records } => ndef::url(records),
            _ => None,
        }
    }
}

// ts-rs declares only types of this crate, so the declaration of `inlay::ndef::Record` is here.
/// A record of a message.
#[cfg(test)]
#[derive(ts_rs::TS)]
#[ts(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its declaration is used")]
enum NdefRecord {
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
        records: Vec<NdefRecord>,
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
