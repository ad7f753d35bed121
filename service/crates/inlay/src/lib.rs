//! Chips of NFC tags that write codes into their URLs: verify a code, derive the keys, and make the
//! bytes that encode a chip.
//!
//! A tag's chip and antenna are its *inlay*. On every tap, a rolling-code inlay writes a code into
//! its URL: its UID, its read counter, and a MAC over both under a key that never leaves the chip.
//! Other inlays write only UID and counter, which anyone can forge.
//!
//! The crate is pure: it does no input or output, reads no clock and draws no randomness. The
//! caller passes them as arguments.
//!
//! # Quick start
//!
//! Verify the URL of an NTAG 424 DNA. The values are those of NXP's application note AN12196, with
//! the all-zero keys of a new chip.
//!
//! ```
//! use inlay::counter::{Acceptance, CounterState};
//! use inlay::key::{AesKey, InlayKeys, Keys};
//! use inlay::template::{Request, Template, TemplateSettings};
//! use inlay::{Technology, Uid};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // How the chips of a batch write their URLs.
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/tag?picc_data={picc}&cmac={mac}",
//!     Technology::Ntag424Dna,
//! ))?;
//!
//! // The URL of one tap, and the code in it.
//! let url = "https://tags.example/tag\
//!     ?picc_data=EF963FF7828658A599F3041510671E88&cmac=94EED9EE65337086";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//!
//! // The keys of this chip, as they were written to it.
//! let uid: Uid = "04DE5F1EACC040".parse()?;
//! let keys = InlayKeys::Aes(Keys {
//!     meta: Some(AesKey::from_hex("00000000000000000000000000000000")?),
//!     file: AesKey::from_hex("00000000000000000000000000000000")?,
//! });
//!
//! let verdict = template.check(None, &code, uid, &keys);
//! assert!(verdict.is_authentic());
//! assert_eq!(verdict.counter, Some(61));
//!
//! // A copied URL is authentic, too. Store the counter, and accept each only once.
//! let stored = CounterState::default();
//! let Acceptance::Accepted { state, .. } = stored.accept(61) else {
//!     return Err("the URL was used before".into());
//! };
//! assert_eq!(state.accept(61), Acceptance::Replayed { last: 61 });
//! # Ok(())
//! # }
//! ```
//!
//! If many chips share a meta key, [`Template::open`](template::Template::open) decrypts the UID
//! first, and [`Template::check_opened`](template::Template::check_opened) verifies the code with
//! that chip's file key. If the template is not known, [`solver::solve`] finds it from URLs and
//! keys: the program `examples/verify.rs` does so.
//!
//! # Chips
//!
//! | Chip | [`Technology`] | Code in the URL | Example |
//! |---|---|---|---|
//! | NXP NTAG 424 DNA | [`Ntag424Dna`](Technology::Ntag424Dna) | MAC of 64 bits, in AES or LRP mode; UID, counter and file data can be encrypted | [here](technology::ntag424#ntag-424-dna) |
//! | NXP NTAG 424 DNA `TagTamper` | [`Ntag424DnaTt`](Technology::Ntag424DnaTt) | the same, and the state of a tamper loop | [here](technology::ntag424#ntag-424-dna-tagtamper) |
//! | NXP NTAG 223 DNA | [`Ntag223Dna`](Technology::Ntag223Dna) | MAC of 64 bits; with `StatusDetect` the state of a loop | [here](technology::ntag22x#ntag-223-dna) |
//! | NXP NTAG 224 DNA | [`Ntag224Dna`](Technology::Ntag224Dna) | MAC of 64 bits; with `StatusDetect` the state of a loop | [here](technology::ntag22x#ntag-224-dna) |
//! | Silicon Craft SIC43NT | [`Sic43Nt`](Technology::Sic43Nt) | key stream of 32 bits, and a tamper flag | [here](technology::sic43nt#sic43nt) |
//! | Silicon Craft SIC43S1 | [`Sic43S1`](Technology::Sic43S1) | MAC of 128 bits over a time stamp, and a tamper flag | [here](technology::sic43s1#sic43s1) |
//! | NXP NTAG 210 | [`Ntag210`](Technology::Ntag210) | UID; proves nothing | [here](technology::ntag21x#ntag-210) |
//! | NXP NTAG 212 | [`Ntag212`](Technology::Ntag212) | UID; proves nothing | [here](technology::ntag21x#ntag-212) |
//! | NXP NTAG 213 | [`Ntag213`](Technology::Ntag213) | UID and counter; proves nothing | [here](technology::ntag21x#ntag-213) |
//! | NXP NTAG 213 TT | [`Ntag213Tt`](Technology::Ntag213Tt) | UID, counter and the text of a tamper loop; proves nothing | [here](technology::ntag21x#ntag-213-tt) |
//! | NXP NTAG 215 | [`Ntag215`](Technology::Ntag215) | UID and counter; proves nothing | [here](technology::ntag21x#ntag-215) |
//! | NXP NTAG 216 | [`Ntag216`](Technology::Ntag216) | UID and counter; proves nothing | [here](technology::ntag21x#ntag-216) |
//! | NXP MIFARE Ultralight | [`Ultralight`](Technology::Ultralight) | none: a static URL | [here](technology::ntag21x#mifare-ultralight) |
//!
//! # Modules
//!
//! | Module | Subject |
//! |---|---|
//! | [`uid`] | the number that identifies a chip |
//! | [`key`], [`diversify`], [`derivation`] | keys, stored or derived from a master key |
//! | [`template`] | how a batch of inlays writes its URLs |
//! | [`technology`] | the chips, a file for each family |
//! | [`check`], [`assessment`] | a code of any template against an inlay's keys, and the verdict |
//! | [`slug`] | the form of a slug, by which a URL names a tag |
//! | [`counter`] | has this code been used before? |
//! | [`solver`] | from URLs and keys to their template |
//! | [`diagnose`] | why does this code not verify? |
//! | [`ndef`] | the messages on tags: parse them, and build the message of one URI |
//! | [`ev2`] | secure messaging with an NTAG 424 DNA, command by command |
//! | [`originality`] | the signature over a chip's UID |
//! | [`pasted`] | the URLs in a text from mail or a web page |
//! | [`code`], [`verify`] | a code of the canonical form `?uid=...&token=...`, and the inlay that made it |
//! | [`virtual_inlay`] | an inlay in software |
//!
//! # Limits
//!
//! * A code that verifies proves that the chip made it, not that it is new: check its [counter].
//! * A chip with its [factory key](Technology::has_factory_key) proves nothing, because everyone
//!   knows that key.
//! * A SIC43NT's code has 32 bits. Limit the guesses for each UID.
//! * MACs are compared in constant time. The work of a check is the same whether the inlay is known
//!   or not. [`solver`], [`diagnose`] and [`originality`] do not run in constant time.
//!
//! # Features
//!
//! No feature is on by default.
//!
//! | Feature | Effect |
//! |---|---|
//! | `serde` | settings, words, UIDs and derivations implement `Serialize` and `Deserialize`. Keys implement only `Deserialize` |
//! | `openapi` | types of a web API implement `utoipa::ToSchema`. It includes `serde`, whose names the schemas use |
//! | `effort` | counts the AES operations of a check, for tests of constant work |
//!
//! # Sources
//!
//! "Data sheet" is NXP `NT4H2421Gx` rev 3.0 (NTAG 424 DNA), and "AN12196" is rev 1.8 of that
//! application note.
//!
//! | Algorithm | Source | Item |
//! |---|---|---|
//! | AES-CMAC | NIST SP 800-38B | [`key::cmac`] |
//! | PICC data | data sheet section 9.3.4, AN12196 section 3 | [`technology::ntag424::MetaKey`] |
//! | Session keys in AES mode | data sheet section 9.3.9.1 | [`technology::ntag424::session::session_key`] |
//! | Session vector in LRP mode | data sheet section 9.3.9.2 | [`technology::ntag424::lrp::session_vector`] |
//! | LRP, LRICB and CMAC over LRP | AN12304 | [`technology::ntag424::lrp`] |
//! | SDMMAC | data sheet section 9.3.8 | [`technology::ntag424::session::sdmmac`] |
//! | Encrypted file data | data sheet section 9.3.6 | [`technology::ntag424::Session`] |
//! | Layouts and offsets of mirrors | data sheet sections 9.3.3 to 9.3.7, tables 69 and 71 | [`template`] |
//! | NDEF messages | NFC Forum NDEF 1.0, RTDs URI, Text and Smart Poster 1.0 | [`ndef`] |
//! | NDEF file | NFC Forum URI RTD, data sheet section 8.2.3 | [`template::Layout`] |
//! | File settings | data sheet section 10.7.1, table 69 | [`technology::ntag424::file_settings`] |
//! | File settings in an answer | data sheet section 10.7.2, table 71 | [`FileSettings`](technology::ntag424::file_settings::FileSettings) |
//! | Capability container of files | NFC Forum Type 4 Tag 1.2 sections 4.3 and 5.1 | [`technology::type4`] |
//! | Blocks of a data area | NFC Forum Type 2 Tag 1.2 section 2.4 | [`Block`](technology::type2::Block) |
//! | Locks of pages | NTAG213/215/216 data sheet rev 3.2 sections 8.5.2, 8.5.3 and 8.5.7; MF0ICU1 section 7.5.2 | [`technology::type2::access`] |
//! | States of a tamper loop | `NT4H2421Tx` rev 3.0 section 10.2 | [`assessment::Tamper`] |
//! | Secure messaging | data sheet sections 9.1 and 9.2, AN12196 sections 5 and 6, AN12321 | [`ev2`] |
//! | SUNCMAC | AN12998 | [`technology::ntag22x`] |
//! | MICKEY version 1 | eSTREAM, 2005 | [`technology::sic43nt::keystream`] |
//! | Code of a SIC43NT, code of a SIC43S1 | Silicon Craft's published verification servers | [`technology::sic43nt`], [`technology::sic43s1`] |
//! | ASCII mirror, memory | NTAG213/215/216 data sheet rev 3.2 sections 8.5.1 to 8.5.7 and 8.7 | [`technology::ntag21x`] |
//! | Write password | NTAG213/215/216 data sheet rev 3.2 sections 8.5.7, 8.8 and 10.7 | [`WritePassword`](technology::ntag21x::WritePassword) |
//! | `GET_VERSION` of pages | the data sheets that [`of_version`](technology::type2::of_version) lists | [`technology::type2`] |
//! | `GetVersion` of files | `NT4H2421Gx` and `NT4H2421Tx` rev 3.0, section 10.5.2 | [`technology::ntag424::of_version`] |
//! | Diversified keys | AN10922 section 2.2 | [`diversify`](mod@diversify) |
//! | Keys of Boltcard | `DETERMINISTIC.md` of its repository | [`derivation::boltcard_keys`] |
//! | Keys of sdm-backend | its published source, PBKDF2 of RFC 8018 | [`derivation::SdmBackendVersion`] |
//! | Originality signatures | SEC 1 section 4.1.4, SEC 2; keys of AN11341, AN11350, AN12196, AN12998 and AN13452 | [`originality`] |

// The workspace leaves this to the error types. A published library says it at each function.
#![warn(clippy::missing_errors_doc)]

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
pub mod ndef;
pub mod originality;
pub mod pasted;
pub mod slug;
pub mod solver;
pub mod technology;
pub mod template;
pub(crate) mod text;
pub mod uid;
pub mod verify;
pub mod virtual_inlay;
mod word;

pub use technology::Technology;
pub use uid::Uid;
pub use word::UnknownWord;

use word::word;

/// How the chip shows its UID and read counter in the URL (data sheet section 9.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
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

/// The README's program is compiled and run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
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
