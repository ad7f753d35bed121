//! The AES keys of an inlay. They are zeroized when dropped and never appear in output; only their
//! [`KeyCheck`] is shown.

mod mac;

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
#[cfg(feature = "serde")]
use zeroize::Zeroizing;
use zeroize::{Zeroize, ZeroizeOnDrop};

#[cfg(feature = "openapi")]
use crate::text::text_schema;
use crate::text::{as_text, hex};

pub use mac::cmac;

/// An AES-128 key. Comparison takes constant time. `Debug` shows nothing of the key, and there is
/// no `Display` and no `Serialize`. JSON only reads it, as 32 hex digits.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct AesKey([u8; 16]);

impl AesKey {
    /// The key of every new chip: all zero, known to everyone.
    pub const FACTORY: Self = Self([0; 16]);

    /// From the key's bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// From 32 hex digits in either case.
    ///
    /// # Errors
    ///
    /// [`KeyError`] for any other text.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        hex(text).map(Self).ok_or(KeyError)
    }

    /// The key's bytes, for a cipher or for wrapping them.
    pub const fn expose(&self) -> &[u8; 16] {
        &self.0
    }

    /// Whether this is the all-zero key of a new chip.
    pub fn is_factory(&self) -> bool {
        *self == Self::FACTORY
    }

    /// The fingerprint by which the key is recognised.
    pub fn fingerprint(&self) -> KeyFingerprint {
        KeyFingerprint(cmac(self, &[0; 16]))
    }

    /// The part of the key that may be shown.
    pub fn check(&self) -> KeyCheck {
        self.fingerprint().check()
    }
}

impl PartialEq for AesKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for AesKey {}

impl fmt::Debug for AesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AesKey(redacted)")
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for AesKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde's own error would quote the input.
        let text = String::deserialize(deserializer)
            .map(Zeroizing::new)
            .map_err(|_| serde::de::Error::custom(KeyError))?;
        Self::from_hex(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
text_schema!(AesKey, "^[0-9A-Fa-f]{32}$");

/// A text that is not a valid [`AesKey`]. The error does not quote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 32 hex digits (AES-128)")]
pub struct KeyError;

/// The AES-CMAC of 16 zero bytes under a key. Only equal keys have equal fingerprints, and the key
/// cannot be computed from it. Stored to recognise a key; never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyFingerprint([u8; 16]);

impl KeyFingerprint {
    /// From its stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The fingerprint of a secret of any length; a secret that is not an AES key is hashed to one
    /// first.
    pub fn of_bytes(secret: &[u8]) -> Self {
        let key = <[u8; 16]>::try_from(secret).unwrap_or_else(|_| {
            let digest = Sha256::digest(secret);
            std::array::from_fn(|i| digest[i])
        });
        AesKey::from_bytes(key).fingerprint()
    }

    /// The bytes to store.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// The part of the key that may be shown.
    pub const fn check(self) -> KeyCheck {
        let [a, b, c, ..] = self.0;
        KeyCheck([a, b, c])
    }

    /// Whether it is of the all-zero key of a new chip.
    pub fn is_factory(self) -> bool {
        self == AesKey::FACTORY.fingerprint()
    }
}

impl fmt::Debug for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFingerprint({}..)", self.check())
    }
}

/// The first 3 bytes of the AES-CMAC of 16 zero bytes under a key: enough to
/// compare two keys by eye, not to find one. As text 6 upper-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyCheck([u8; 3]);

impl fmt::Display for KeyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for KeyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyCheck({self})")
    }
}

/// A text that is not a valid [`KeyCheck`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key check is 6 hex digits")]
pub struct KeyCheckError;

impl FromStr for KeyCheck {
    type Err = KeyCheckError;

    fn from_str(text: &str) -> Result<Self, KeyCheckError> {
        hex(text).map(Self).ok_or(KeyCheckError)
    }
}

as_text!(KeyCheck, "^[0-9A-Fa-f]{6}$");

/// The two keys that make a rolling code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// `SDMMetaReadKey`, which encrypts the PICC data of the encrypted mirror. `None` with the
    /// plain mirror. `None` with the encrypted mirror means that the file key serves both purposes.
    pub meta: Option<AesKey>,
    /// `SDMFileReadKey`, from which the MAC's session key is derived.
    pub file: AesKey,
}

impl Keys {
    /// The key that encrypts the PICC data.
    pub fn for_picc_data(&self) -> &AesKey {
        self.meta.as_ref().unwrap_or(&self.file)
    }

    /// Whether any of the keys is the all-zero factory key: a code made with it proves nothing.
    pub fn factory(&self) -> bool {
        self.file.is_factory() || self.meta.as_ref().is_some_and(AesKey::is_factory)
    }
}

/// The 80-bit key of a SIC43NT. Comparison takes constant time, and `Debug` shows nothing of the
/// key.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Sic43ntKey([u8; 10]);

impl Sic43ntKey {
    /// From the key's bytes.
    pub const fn from_bytes(bytes: [u8; 10]) -> Self {
        Self(bytes)
    }

    /// From 20 hex digits in either case.
    ///
    /// # Errors
    ///
    /// [`Sic43ntKeyError`] for any other text.
    pub fn from_hex(text: &str) -> Result<Self, Sic43ntKeyError> {
        hex(text).map(Self).ok_or(Sic43ntKeyError)
    }

    /// The key's bytes, for a cipher or for wrapping them.
    pub const fn expose(&self) -> &[u8; 10] {
        &self.0
    }

    /// The fingerprint by which the key is recognised.
    pub fn fingerprint(&self) -> KeyFingerprint {
        KeyFingerprint::of_bytes(&self.0)
    }
}

impl PartialEq for Sic43ntKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Sic43ntKey {}

impl fmt::Debug for Sic43ntKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sic43ntKey(redacted)")
    }
}

/// A text that is not a valid [`Sic43ntKey`]. The error does not quote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key of a SIC43NT is 20 hex digits")]
pub struct Sic43ntKeyError;

/// A key of any technology. JSON only reads it, as hex digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SomeKey {
    /// An AES key: 32 hex digits.
    Aes(AesKey),
    /// The key of a SIC43NT: 20 hex digits.
    Rolling(Sic43ntKey),
}

impl SomeKey {
    /// From hex digits in either case.
    ///
    /// # Errors
    ///
    /// [`SomeKeyError`] for any other text.
    pub fn from_hex(text: &str) -> Result<Self, SomeKeyError> {
        let aes = AesKey::from_hex(text).map(Self::Aes);
        aes.or_else(|_| Sic43ntKey::from_hex(text).map(Self::Rolling))
            .map_err(|_| SomeKeyError)
    }

    /// The key's bytes, for wrapping them.
    pub fn expose(&self) -> &[u8] {
        match self {
            Self::Aes(key) => key.expose(),
            Self::Rolling(key) => key.expose(),
        }
    }

    /// The fingerprint by which the key is recognised.
    pub fn fingerprint(&self) -> KeyFingerprint {
        match self {
            Self::Aes(key) => key.fingerprint(),
            Self::Rolling(key) => key.fingerprint(),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for SomeKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde's own error would quote the input.
        let text = String::deserialize(deserializer)
            .map(Zeroizing::new)
            .map_err(|_| serde::de::Error::custom(SomeKeyError))?;
        Self::from_hex(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
text_schema!(SomeKey, "^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{20})$");

/// A text that is not a valid [`SomeKey`]. The error does not quote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 32 hex digits (AES-128), or 20 for a SIC43NT")]
pub struct SomeKeyError;

/// The keys of an inlay of any technology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InlayKeys {
    /// A chip that makes no MAC.
    None,
    /// AES keys. Chips with one key have it as the file key.
    Aes(Keys),
    /// The key of a SIC43NT.
    Rolling(Sic43ntKey),
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0c3b25d92b38ae443229dd59ad34b85d";

    #[test]
    fn a_key_shows_in_no_debug_output() {
        let key = AesKey::from_hex(HEX).unwrap();
        let keys = Keys {
            meta: Some(key.clone()),
            file: key,
        };
        assert_eq!(
            format!("{keys:?}"),
            "Keys { meta: Some(AesKey(redacted)), file: AesKey(redacted) }"
        );
    }

    #[cfg(feature = "serde")]
    #[test]
    fn an_error_quotes_nothing_of_what_was_sent_as_a_key() {
        for json in [
            "31415926535897932384626433832795",
            r#""31415926535897932384626433832795ff""#,
            r#"["31415926"]"#,
        ] {
            let error = serde_json::from_str::<AesKey>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains("32 hex digits"), "{error}");
            assert!(!error.contains("3141"), "{error}");
        }
    }

    #[test]
    fn a_key_is_32_hex_digits_in_either_case() {
        let key = AesKey::from_hex(HEX).unwrap();
        assert_eq!(key, AesKey::from_hex(&HEX.to_uppercase()).unwrap());
        #[cfg(feature = "serde")]
        assert_eq!(key, serde_json::from_str(&format!("{HEX:?}")).unwrap());
        for text in [
            "",
            "00",
            &HEX[..30],
            &HEX[..31],
            "zc3b25d92b38ae443229dd59ad34b85d",
        ] {
            assert_eq!(AesKey::from_hex(text), Err(KeyError), "{text:?}");
        }
    }

    #[test]
    fn one_factory_key_is_enough_to_be_flagged() {
        let own = AesKey::from_hex(HEX).unwrap();
        let keys = |meta, file| Keys { meta, file };
        assert!(keys(None, AesKey::FACTORY).factory());
        assert!(keys(Some(AesKey::FACTORY), own.clone()).factory());
        assert!(!keys(Some(own.clone()), own.clone()).factory());
        assert!(!keys(None, own).factory());
    }

    /// Against `openssl mac -cipher AES-128-CBC -macopt hexkey:<key> CMAC` of 16 zero bytes.
    #[test]
    fn the_check_of_a_key_is_the_beginning_of_a_cmac() {
        let own = AesKey::from_hex(HEX).unwrap();
        for (key, text) in [(AesKey::FACTORY, "763CBC"), (own, "34D574")] {
            assert_eq!(key.check().to_string(), text);
            assert_eq!(text.to_lowercase().parse(), Ok(key.check()));
        }
    }
}
