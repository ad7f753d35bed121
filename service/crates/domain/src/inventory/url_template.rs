//! URL templates as their owner configures them, with the keys that open their codes.

use std::borrow::Cow;

use crate::clock::Timestamp;
use crate::field_error::OfField;
use crate::id::{MasterKeyId, UrlTemplateId};
use crate::inventory::{SealedKey, SealedMasterKey};
use crate::keyring::{Keyring, KeyringError};
use crate::revision::{Revised, Revision};
use crate::text::Name;
use inlay::derivation::MasterSecret;
use inlay::key::{AesKey, KeyCheck, KeyFingerprint};
use inlay::technology::Mode;
use inlay::template::{Field, Template, TemplateSettings};

/// Most shared keys of a template: on every tap without slug and UID, each costs one decryption.
pub const SHARED_KEYS_MAX: usize = 64;
/// The same in LRP mode, where a decryption is some 50 AES operations.
const SHARED_LRP_KEYS_MAX: usize = 4;
/// Most templates: a request that matches no route is compared with the templates of its host.
pub const URL_TEMPLATES_MAX: usize = 1_000;

/// The form of the URLs of a batch of inlays.
#[derive(Clone, Debug)]
pub struct UrlTemplate {
    /// Identifier, used in the API.
    pub id: UrlTemplateId,
    /// The members that its owner sets.
    pub fields: UrlTemplateFields,
    /// How many inlays use it.
    pub inlays: u64,
    /// When the first real tap of its inlays came in; `None` if none did.
    pub first_tap_at: Option<Timestamp>,
}

/// The writable members of a URL template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlTemplateFields {
    /// The owner's name for it; need not be unique.
    pub name: Name,
    /// Template that passed all checks.
    pub template: Template,
    /// The keys that open the PICC data of its codes.
    pub keys: Vec<SharedKey>,
}

/// A meta key that many inlays share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedKey {
    /// The fingerprint by which the key is recognised.
    pub fingerprint: KeyFingerprint,
    /// The source of the key.
    pub source: SharedKeySource,
}

/// The source of a shared meta key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedKeySource {
    /// The template's own key, wrapped by the keyring.
    Own(Vec<u8>),
    /// A key derived from a master key.
    Master(MasterKeyId),
}

/// Why a URL template is not valid. Each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrlTemplate {
    /// It has shared keys, but its URLs have nothing to decrypt.
    #[error("Shared meta keys open {{picc}}, and the template does not have it.")]
    NothingToOpen,
    /// It has too many shared keys: each costs a decryption on a tap.
    #[error(
        "A template has at most {SHARED_KEYS_MAX} shared meta keys, of LRP at most {SHARED_LRP_KEYS_MAX}: this would be {0}."
    )]
    TooManyKeys(usize),
    /// The master key derives a different meta key for each inlay.
    #[error("The master key {0} gives each inlay a meta key of its own, so none is shared.")]
    NotShared(MasterKeyId),
}

impl OfField for InvalidUrlTemplate {
    fn field(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NothingToOpen | Self::TooManyKeys(_) => "meta_keys".into(),
            Self::NotShared(_) => "master_key_ids".into(),
        })
    }
}

impl UrlTemplateFields {
    /// The settings that determine a MAC. They cannot change while inlays use the template.
    pub fn settings(&self) -> &TemplateSettings {
        self.template.settings()
    }

    /// Checks the shared keys against the template.
    pub fn validate(&self) -> Result<(), InvalidUrlTemplate> {
        let max = match self.settings().mode {
            Mode::Aes => SHARED_KEYS_MAX,
            Mode::Lrp => SHARED_LRP_KEYS_MAX,
        };
        if !self.keys.is_empty() && !self.template.has(Field::Picc) {
            return Err(InvalidUrlTemplate::NothingToOpen);
        }
        if self.keys.len() > max {
            return Err(InvalidUrlTemplate::TooManyKeys(self.keys.len()));
        }
        Ok(())
    }

    /// Adds keys; existing ones stay as they are.
    pub fn add(&mut self, keys: impl IntoIterator<Item = SharedKey>) {
        for key in keys {
            if !self.has_key(key.fingerprint) {
                self.keys.push(key);
            }
        }
    }

    /// Whether the template has this shared key.
    pub fn has_key(&self, key: KeyFingerprint) -> bool {
        self.keys.iter().any(|shared| shared.fingerprint == key)
    }

    /// Whether a tag can be found by the URL only, without decrypting its code.
    pub fn names_inlays(&self) -> bool {
        self.template.has(Field::Slug) || self.template.has(Field::Uid)
    }
}

impl Revised for UrlTemplate {
    fn revision(&self) -> Revision {
        let UrlTemplateFields {
            name,
            template,
            keys,
        } = &self.fields;
        let keys: Vec<_> = keys
            .iter()
            .map(|key| (key.fingerprint.check().to_string(), key.master_key_id()))
            .collect();
        Revision::of(&(name, template.settings(), keys))
    }
}

impl SharedKey {
    /// Seals a key of the template's own.
    pub fn seal(key: SealedKey) -> Self {
        Self {
            fingerprint: key.fingerprint,
            source: SharedKeySource::Own(key.wrapped),
        }
    }

    /// The meta key that all inlays of a master key share; `None` if each inlay has a different
    /// one.
    pub fn of_master(
        master: &SealedMasterKey,
        keyring: &Keyring,
    ) -> Result<Option<Self>, KeyringError> {
        let shared = Self::open_master(master, keyring)?;
        Ok(shared.map(|key| Self {
            fingerprint: key.fingerprint(),
            source: SharedKeySource::Master(master.id),
        }))
    }

    /// The opened key for [`Self::of_master`].
    pub fn open_master(
        master: &SealedMasterKey,
        keyring: &Keyring,
    ) -> Result<Option<AesKey>, KeyringError> {
        let secret: MasterSecret = keyring.master_secret(&master.fields.key.wrapped)?;
        let shared = master.fields.derivation.shared_meta_key(&secret);
        shared.map_err(|_| KeyringError::OtherKey)
    }

    /// The first 3 bytes of its fingerprint, if it is the template's own.
    pub fn own_check(&self) -> Option<KeyCheck> {
        match self.source {
            SharedKeySource::Own(_) => Some(self.fingerprint.check()),
            SharedKeySource::Master(_) => None,
        }
    }

    /// The master key it follows from.
    pub fn master_key_id(&self) -> Option<MasterKeyId> {
        match self.source {
            SharedKeySource::Own(_) => None,
            SharedKeySource::Master(id) => Some(id),
        }
    }
}
