//! The schemes by which the field derives an inlay's keys from a master key, a file each.

mod boltcard;
mod ntag424_crate;
mod schemes;
mod sdm_backend;

use std::fmt;

use zeroize::Zeroizing;

use crate::Uid;
use crate::diversify::{DiversificationInput, MasterKey};
use crate::key::{AesKey, Keys, cmac};
#[cfg(feature = "openapi")]
use crate::text::text_schema;

pub use boltcard::{BoltcardKeys, boltcard_keys};
pub use ntag424_crate::SystemId;
pub use sdm_backend::SdmBackendVersion;

/// How an inlay's keys are derived from a master key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(
    feature = "serde",
    serde(
        tag = "scheme",
        rename_all = "snake_case",
        deny_unknown_fields,
        remote = "Self"
    )
)]
pub enum Derivation {
    /// NXP AN10922 over an input that the owner chooses.
    An10922 {
        /// The input of the diversification.
        input: DiversificationInput,
        /// Whether the meta key is diversified too; otherwise it is the master key itself.
        #[cfg_attr(feature = "serde", serde(default))]
        diversify_meta: bool,
    },
    /// Boltcard's deterministic scheme: K1 is the shared meta key, K2 the file key.
    Boltcard {
        /// The card's version, which rises with each time it is written.
        version: u32,
    },
    /// The schemes of sdm-backend.
    SdmBackend {
        /// 1 of the older scheme, 2 of the one since 2023.
        #[cfg_attr(feature = "openapi", schema(value_type = u8, minimum = 1, maximum = 2))]
        version: SdmBackendVersion,
        /// The slot of the meta key.
        #[cfg_attr(feature = "serde", serde(default = "first"))]
        meta_slot: u8,
        /// The slot of the file key.
        #[cfg_attr(feature = "serde", serde(default = "second"))]
        file_slot: u8,
    },
    /// The layout of the `ntag424` crate: a shared meta key, and file keys by UID and slot.
    Ntag424Crate {
        /// The application's own name.
        system_id: SystemId,
        /// The slot of the file key.
        #[cfg_attr(feature = "serde", serde(default = "second"))]
        file_slot: u8,
    },
    /// A CMAC over an input, without AN10922's padding. Not AN10922, and seen in the field.
    PlainCmac {
        /// The input of the CMAC: usually 01h and the UID.
        input: DiversificationInput,
    },
}

/// The longest master key, in bytes: HMAC-SHA256 hashes longer ones anyway.
const MASTER_MAX: usize = 64;

// serde's derive also accepts a number in place of a variant's name. These impls accept only the
// name. They call the inherent functions that `remote = "Self"` makes.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Derivation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let scheme = value.get("scheme");
        if scheme.is_some_and(|name| !name.is_string()) {
            return Err(serde::de::Error::custom("scheme must be a name"));
        }
        Self::deserialize(value).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Derivation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

const fn first() -> u8 {
    1
}

const fn second() -> u8 {
    2
}

/// A key from which others are derived. Most are AES keys; sdm-backend's may have any length. Wiped
/// when dropped; `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterSecret(Zeroizing<Vec<u8>>);

/// The master key is not of the length that the scheme needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this scheme needs a master key of 32 hex digits (AES-128)")]
pub struct MasterLengthError;

impl MasterSecret {
    /// From the key's bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }

    /// From pairs of hex digits; `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        base16ct::mixed::decode_vec(text)
            .ok()
            .map(|bytes| Self(Zeroizing::new(bytes)))
    }

    /// The key's bytes, for wrapping them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The master key as an AES key.
    ///
    /// # Errors
    ///
    /// [`MasterLengthError`] if the key does not have 16 bytes.
    pub fn aes(&self) -> Result<AesKey, MasterLengthError> {
        let bytes = <[u8; 16]>::try_from(self.expose());
        bytes.map(AesKey::from_bytes).map_err(|_| MasterLengthError)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for MasterSecret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde's own error would quote the input.
        let invalid = || serde::de::Error::custom(InvalidMasterSecret);
        let text = String::deserialize(deserializer).map(Zeroizing::new);
        let text = text.map_err(|_| invalid())?;
        let secret = Self::from_hex(&text);
        secret
            .filter(|secret| (1..=MASTER_MAX).contains(&secret.0.len()))
            .ok_or_else(invalid)
    }
}

#[cfg(feature = "openapi")]
text_schema!(MasterSecret, "^([0-9A-Fa-f]{2}){1,64}$", max_length = 128);

/// A text that is not a valid [`MasterSecret`]. The error does not quote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a master key is 32 hex digits (AES-128); one of sdm_backend has 2 to 128")]
pub struct InvalidMasterSecret;

impl fmt::Debug for MasterSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterSecret(redacted)")
    }
}

impl Derivation {
    /// The keys of one inlay, the meta key included.
    ///
    /// # Errors
    ///
    /// [`MasterLengthError`] if the scheme needs an AES key and the master key does not have 16
    /// bytes.
    pub fn keys(&self, master: &MasterSecret, uid: Uid) -> Result<Keys, MasterLengthError> {
        let shared = self.shared_meta_key(master)?;
        let file = match self {
            Self::An10922 { input, .. } => {
                let master = MasterKey {
                    key: master.aes()?,
                    input: input.clone(),
                    diversify_meta: false,
                };
                master.diversified(uid)
            }
            Self::Boltcard { version } => boltcard_keys(&master.aes()?, uid, *version).k2,
            Self::SdmBackend {
                version, file_slot, ..
            } => version.tag_key(master.expose(), uid, *file_slot),
            Self::Ntag424Crate {
                system_id,
                file_slot,
            } => system_id.key(&master.aes()?, uid, *file_slot),
            Self::PlainCmac { input } => {
                AesKey::from_bytes(cmac(&master.aes()?, &input.bytes(uid)))
            }
        };
        let meta = shared.unwrap_or_else(|| file.clone());
        Ok(Keys {
            meta: Some(meta),
            file,
        })
    }

    /// All five keys of one chip, by slot; `None` if the scheme does not define them.
    ///
    /// # Errors
    ///
    /// [`MasterLengthError`] if the scheme needs an AES key and the master key does not have 16
    /// bytes.
    pub fn chip_keys(
        &self,
        master: &MasterSecret,
        uid: Uid,
    ) -> Result<Option<[AesKey; 5]>, MasterLengthError> {
        let Self::Boltcard { version } = self else {
            return Ok(None);
        };
        let keys = boltcard_keys(&master.aes()?, uid, *version);
        Ok(Some([keys.k0, keys.k1, keys.k2, keys.k3, keys.k4]))
    }

    /// The meta key, if it is the same for all inlays: then one address can serve them all.
    ///
    /// # Errors
    ///
    /// [`MasterLengthError`] if the scheme needs an AES key and the master key does not have 16
    /// bytes.
    pub fn shared_meta_key(
        &self,
        master: &MasterSecret,
    ) -> Result<Option<AesKey>, MasterLengthError> {
        Ok(match self {
            Self::An10922 {
                diversify_meta: true,
                ..
            } => None,
            Self::An10922 { .. } | Self::PlainCmac { .. } => Some(master.aes()?),
            Self::Boltcard { .. } => Some(boltcard::shared_key(&master.aes()?)),
            Self::SdmBackend {
                version, meta_slot, ..
            } => Some(version.shared_key(master.expose(), *meta_slot)),
            Self::Ntag424Crate { .. } => Some(ntag424_crate::shared_key(&master.aes()?)),
        })
    }

    /// Checks that the scheme takes a master key of this length.
    ///
    /// # Errors
    ///
    /// [`MasterLengthError`] if the scheme needs an AES key and the master key does not have 16
    /// bytes.
    pub fn check(&self, master: &MasterSecret) -> Result<(), MasterLengthError> {
        let fits = self.master_bytes().contains(&master.0.len());
        fits.then_some(()).ok_or(MasterLengthError)
    }

    /// Whether deriving takes milliseconds. Then the result is stored, and never computed on a tap.
    pub fn is_slow(&self) -> bool {
        matches!(
            self,
            Self::SdmBackend {
                version: SdmBackendVersion::Legacy,
                ..
            }
        )
    }
}
