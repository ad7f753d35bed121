//! Which chip, which keys: the inlays and their one-time codes.
//!
//! Pure over bytes: nothing here reads or writes anything, tells the time or
//! draws randomness of its own.
//!
//! A rolling-code inlay (NTAG 424 DNA with Secure Dynamic Messaging) writes a
//! code into its URL on every tap: who it is, how often it was read, and a MAC
//! over both under a key that never leaves the chip.
//!
//! | Module | Subject |
//! |---|---|
//! | [`uid`] | the number a chip is known by |
//! | [`key`], [`diversify`] | its AES keys, own or derived from a master key |
//! | [`code`] | the one-time code of a URL, parsed |
//! | [`session`] | the cryptography of one read: session keys, PICC data, SDMMAC |
//! | [`verify`] | is this code of this inlay? |
//! | [`counter`] | has this code been used before? |
//! | [`diagnose`] | why does this code not verify? |
//! | [`virtual_inlay`] | an inlay in software |
//!
//! Sources: NXP NTAG 424 DNA data sheet `NT4H2421Gx` rev 3.0 section 9.3 and
//! application note AN12196 rev 1.8, cited as "data sheet" and "AN12196".

pub mod code;
pub mod counter;
pub mod diagnose;
pub mod diversify;
pub mod key;
pub mod session;
pub(crate) mod text;
pub mod uid;
pub mod verify;
pub mod virtual_inlay;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use uid::Uid;

/// The chip of an inlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Technology {
    /// NXP NTAG 424 DNA: AES keys, a one-time code on every tap.
    Ntag424Dna,
    /// NXP NTAG 213: a static URL.
    Ntag213,
    /// NXP NTAG 215: a static URL.
    Ntag215,
    /// NXP NTAG 216: a static URL.
    Ntag216,
    /// NXP MIFARE Ultralight: a static URL.
    Ultralight,
}

impl Technology {
    const ALL: [Self; 5] = [
        Self::Ntag424Dna,
        Self::Ntag213,
        Self::Ntag215,
        Self::Ntag216,
        Self::Ultralight,
    ];

    /// Whether the chip can make rolling codes.
    pub fn rolls(self) -> bool {
        self == Self::Ntag424Dna
    }

    /// The word for it, in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ntag424Dna => "ntag424dna",
            Self::Ntag213 => "ntag213",
            Self::Ntag215 => "ntag215",
            Self::Ntag216 => "ntag216",
            Self::Ultralight => "ultralight",
        }
    }
}

/// How the chip shows its UID and read counter in the URL (data sheet section 9.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mirror {
    /// In clear: `uid` is the UID, `token` is the counter and the MAC.
    Plain,
    /// Encrypted under the meta key: `uid` is `PICCENCData`, `token` is the MAC.
    Encrypted,
}

impl Mirror {
    const ALL: [Self; 2] = [Self::Plain, Self::Encrypted];

    /// The word for it, in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
        }
    }
}

/// Where the part of the URL that the SDMMAC covers begins (`SDMMACInputOffset`,
/// data sheet section 9.3.8). It ends at the character before the MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MacFrom {
    /// At the MAC itself: the input is empty. UID and counter are bound through the session key.
    None,
    /// At the first character of `uid`'s value: `<UID>&token=<counter>` with the
    /// plain mirror, `<PICCENCData>&token=` with the encrypted one, in the upper
    /// case in which the chip writes.
    Uid,
}

impl MacFrom {
    const ALL: [Self; 2] = [Self::None, Self::Uid];

    /// The word for it, in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Uid => "uid",
        }
    }
}

/// A word that is none of those known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {}", .expected.join(" or "))]
pub struct UnknownWord {
    expected: Vec<&'static str>,
}

/// `Display` and `FromStr` through `as_str`.
macro_rules! word {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                let found = Self::ALL.into_iter().find(|word| word.as_str() == text);
                found.ok_or_else(|| UnknownWord {
                    expected: Self::ALL.map(Self::as_str).to_vec(),
                })
            }
        }
    };
}

word!(Technology);
word!(Mirror);
word!(MacFrom);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_json_and_in_storage() {
        for technology in Technology::ALL {
            assert_eq!(technology.as_str().parse(), Ok(technology));
            let json = serde_json::to_string(&technology).unwrap();
            assert_eq!(json, format!("{:?}", technology.as_str()));
        }
        for mirror in Mirror::ALL {
            assert_eq!(mirror.as_str().parse(), Ok(mirror));
            let json = serde_json::to_string(&mirror).unwrap();
            assert_eq!(json, format!("{:?}", mirror.as_str()));
        }
        for mac_from in MacFrom::ALL {
            assert_eq!(mac_from.as_str().parse(), Ok(mac_from));
            let json = serde_json::to_string(&mac_from).unwrap();
            assert_eq!(json, format!("{:?}", mac_from.as_str()));
        }
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        let error = "encoded".parse::<Mirror>().unwrap_err();
        assert_eq!(error.to_string(), "expected plain or encrypted");
    }

    #[test]
    fn only_the_ntag_424_dna_rolls() {
        let rolling = Technology::ALL.into_iter().filter(|t| t.rolls());
        assert_eq!(rolling.collect::<Vec<_>>(), [Technology::Ntag424Dna]);
    }
}
