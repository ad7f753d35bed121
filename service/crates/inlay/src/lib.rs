//! The inlays and their one-time codes: which chip, and which keys?
//!
//! Pure over bytes: nothing here reads or writes anything, reads a clock or draws its own
//! randomness.
//!
//! A rolling-code inlay (NTAG 424 DNA with Secure Dynamic Messaging) writes a code into its URL on
//! every tap: its UID, its read counter, and a MAC over both under a key that never leaves the
//! chip.
//!
//! | Module | Subject |
//! |---|---|
//! | [`uid`] | the number a chip is known by |
//! | [`key`], [`diversify`], [`derivation`] | its keys, own or derived from a master key |
//! | [`template`] | how a batch of inlays writes its URLs |
//! | [`technology`] | the chips, a file for each family |
//! | [`check`], [`assessment`] | a code of any template against an inlay's keys, and the verdict |
//! | [`solver`] | from URLs and keys to their template |
//! | [`ev2`] | secure messaging with an NTAG 424 DNA, command by command |
//! | [`pasted`] | the URLs in a text from mail or a web page |
//! | [`originality`] | the signature over a chip's UID |
//! | [`code`] | the code of the canonical form, parsed |
//! | [`session`] | the cryptography of one read of an NTAG 424 DNA in AES mode |
//! | [`verify`] | which inlay of a tag made a code of the canonical form? |
//! | [`counter`] | has this code been used before? |
//! | [`diagnose`] | why does this code not verify? |
//! | [`virtual_inlay`] | an inlay in software |
//!
//! Sources: NXP NTAG 424 DNA data sheet `NT4H2421Gx` rev 3.0 section 9.3 and application note
//! AN12196 rev 1.8, cited as "data sheet" and "AN12196".

pub mod assessment;
pub mod check;
pub mod code;
pub mod counter;
pub mod derivation;
pub mod diagnose;
pub mod diversify;
#[cfg(any(test, feature = "effort"))]
#[doc(hidden)]
pub mod effort;
pub mod ev2;
pub mod key;
pub mod originality;
pub mod pasted;
pub mod session;
pub mod solver;
pub mod technology;
pub mod template;
pub(crate) mod text;
pub mod uid;
pub mod verify;
pub mod virtual_inlay;
mod word;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use technology::Technology;
pub use uid::Uid;
pub use word::UnknownWord;

use word::word;

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

    /// The word for this mirror in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
        }
    }
}

/// The start of the URL's part that the SDMMAC covers.
///
/// It is the chip's `SDMMACInputOffset` (data sheet section 9.3.8). The part ends at the character
/// before the MAC.
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

    /// The word for this beginning in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Uid => "uid",
        }
    }
}

word!(Mirror);
word!(MacFrom);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_json_and_in_storage() {
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
}
