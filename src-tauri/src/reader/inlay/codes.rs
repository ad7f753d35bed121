//! The codes of a chip, as the page has them.

use serde::Serialize;
use tapdesk_service::inlay::technology::ntag424::file_settings::FileSettings;
use tapdesk_service::inlay::{MacFrom, Mirror};

/// The codes that a chip writes into its URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ChipCodes"))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Codes {
    /// The chip does not report its settings.
    Unknown,
    /// It writes no codes that could verify a tap.
    Off,
    /// It writes a new code at each read.
    On {
        /// How it mirrors UID and counter; none if it mirrors neither.
        #[cfg_attr(test, ts(type = "Mirror | null"))]
        mirror: Option<Mirror>,
        /// The MAC input in the canonical form; none if only a URL template defines it.
        #[cfg_attr(test, ts(type = "MacFrom | null"))]
        mac_from: Option<MacFrom>,
        /// The number of the key that encrypts UID and counter.
        meta_key: Option<u8>,
        /// The number of the key that generates the MAC.
        file_key: Option<u8>,
        /// Whether the codes are in the canonical form, `uid` and `token`. Other forms need a URL
        /// template.
        canonical: bool,
        /// Why the codes verify no tap, as a sentence; none if they do.
        problem: Option<String>,
    },
}

impl Codes {
    /// The codes of an NTAG 424 DNA with these settings, in a file with this content.
    pub(super) fn of(settings: &FileSettings, file: &[u8]) -> Self {
        match settings.codes(file) {
            None => Self::Off,
            Some(codes) => Self::On {
                mirror: codes.mirror,
                mac_from: codes.mac_from,
                meta_key: codes.meta_key,
                file_key: codes.file_key,
                canonical: codes.canonical,
                problem: codes.problem.map(str::to_owned),
            },
        }
    }
}
