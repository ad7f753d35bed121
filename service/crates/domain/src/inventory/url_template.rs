//! URL templates as their owner configures them, with the keys that open their codes.

use std::borrow::Cow;

use crate::clock::Timestamp;
use crate::field_error::OfField;
use crate::id::{MasterKeyId, UrlTemplateId};
use crate::inventory::{
    CREATE_LIMIT_MAX, SealedKey, SealedKeys, SealedMasterKey, UnlistedMode, UnlistedRule,
};
use crate::keyring::{Keyring, KeyringError};
use crate::revision::{Revised, Revision};
use crate::text::Name;
use inlay::derivation::MasterSecret;
use inlay::key::{AesKey, KeyCheck, KeyFingerprint};
use inlay::technology::Mode;
use inlay::template::{Field, Template, TemplateSettings};

/// Most shared keys of a template: on every tap without slug and UID, each costs one decryption.
const SHARED_KEYS_MAX: usize = 64;
/// The same in LRP mode, where a decryption is some 50 AES operations.
const SHARED_LRP_KEYS_MAX: usize = 4;
/// Most master keys of which each derives a file key for one code: a wrong code costs as many
/// derivations.
const FILE_MASTERS_MAX: usize = 4;
/// Most templates: a request that matches no route is compared with the templates of its host.
pub const URL_TEMPLATES_MAX: usize = 1_000;

/// Most shared keys of a template for chips in this mode.
pub const fn shared_keys_max(mode: Mode) -> usize {
    match mode {
        Mode::Aes => SHARED_KEYS_MAX,
        Mode::Lrp => SHARED_LRP_KEYS_MAX,
    }
}

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
    /// When a tap last found that the day's limit of created tags was reached; `None` if it never
    /// was.
    pub limited_at: Option<Timestamp>,
}

/// The writable members of a URL template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlTemplateFields {
    /// The owner's name for it; need not be unique.
    pub name: Name,
    /// Template that passed all checks.
    pub template: Template,
    /// The keys that open the PICC data of its codes, and the master keys of file keys.
    pub keys: Vec<SharedKey>,
    /// How it treats chips that are no inlays.
    pub unlisted: UnlistedRule,
}

/// A meta key that many inlays share, or a master key from which their file keys are derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedKey {
    /// The fingerprint of the meta key; if there is none, of the master key.
    pub fingerprint: KeyFingerprint,
    /// The source of the key.
    pub source: SharedKeySource,
    /// Whether there is a meta key that all inlays share. A master key that derives another one for
    /// each chip opens no codes, but derives file keys.
    pub opens: bool,
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
    #[error(
        "The master key {0} gives each inlay a meta key of its own, so none is shared. Send the shared one in meta_keys."
    )]
    NotShared(MasterKeyId),
    /// Too many master keys would derive a file key for each code.
    #[error(
        "At most {FILE_MASTERS_MAX} master keys derive file keys for the same code: this would be {0}."
    )]
    TooManyMasterKeys(usize),
    /// The daily limit is out of range.
    #[error("create_limit is a number from 1 to {CREATE_LIMIT_MAX}.")]
    CreateLimit,
    /// The chips do not have an AES key.
    #[error("A shared file key is an AES key, and the chips of this template have none.")]
    NoAesKey,
    /// The URL names its tag, so a code needs no list of chips.
    #[error(
        "A template with {{slug}} finds its tags by the slug, so it knows no unlisted chips: unlisted is \"refuse\"."
    )]
    UnlistedBySlug,
    /// No code of the template can prove which chip made it.
    #[error(
        "Unlisted chips need codes that prove a tap: a template with {{mac}} and a counter, of chips with AES keys."
    )]
    UnlistedUnproved,
    /// The template has no key to check the MAC of an unlisted chip.
    #[error(
        "Unlisted chips need keys that check their codes: send master_key_ids or shared_file_key."
    )]
    UnlistedWithoutKeys,
    /// The template has no key to decrypt the UID of an unlisted chip.
    #[error(
        "Unlisted chips need a shared meta key, because it opens {{picc}}: add meta_keys or a master key that shares one, or set unlisted to \"refuse\" first."
    )]
    UnlistedUnopened,
}

impl OfField for InvalidUrlTemplate {
    fn field(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NothingToOpen | Self::TooManyKeys(_) | Self::UnlistedUnopened => {
                "meta_keys".into()
            }
            Self::NotShared(_) | Self::TooManyMasterKeys(_) => "master_key_ids".into(),
            Self::CreateLimit => "create_limit".into(),
            Self::NoAesKey => "shared_file_key".into(),
            Self::UnlistedBySlug | Self::UnlistedUnproved | Self::UnlistedWithoutKeys => {
                "unlisted".into()
            }
        })
    }
}

impl UrlTemplateFields {
    /// The settings that determine a MAC. They cannot change while inlays use the template.
    pub fn settings(&self) -> &TemplateSettings {
        self.template.settings()
    }

    /// Checks the shared keys and the rule for unlisted chips against the template.
    pub fn validate(&self) -> Result<(), InvalidUrlTemplate> {
        let is_own = |key: &SharedKey| key.master_key_id().is_none();
        let has_picc = self.template.has(Field::Picc);
        if !has_picc && self.keys.iter().any(is_own) {
            return Err(InvalidUrlTemplate::NothingToOpen);
        }
        if self.keys.len() > shared_keys_max(self.settings().mode) {
            return Err(InvalidUrlTemplate::TooManyKeys(self.keys.len()));
        }
        if has_picc
            && !self.keys.iter().any(|key| key.opens)
            && let Some(id) = self.keys.iter().find_map(SharedKey::master_key_id)
        {
            return Err(InvalidUrlTemplate::NotShared(id));
        }
        // A code that the template's own meta key opens is tried with all master keys; one that a
        // master key opens, only with that one.
        let has_own = self.keys.iter().any(is_own);
        let of_one = |key: &SharedKey| has_picc && key.opens && !has_own;
        let derives_for_all = |key: &&SharedKey| !(is_own(key) || of_one(key));
        let masters = self.keys.iter().filter(derives_for_all).count();
        if masters > FILE_MASTERS_MAX {
            return Err(InvalidUrlTemplate::TooManyMasterKeys(masters));
        }
        self.validate_unlisted()
    }

    fn validate_unlisted(&self) -> Result<(), InvalidUrlTemplate> {
        let rule = &self.unlisted;
        if !(1..=CREATE_LIMIT_MAX).contains(&rule.create_limit) {
            return Err(InvalidUrlTemplate::CreateLimit);
        }
        if rule.file_key.is_some() && !self.has_aes_key() {
            return Err(InvalidUrlTemplate::NoAesKey);
        }
        match rule.mode {
            UnlistedMode::Refuse => Ok(()),
            UnlistedMode::Page | UnlistedMode::Create => self.recognises_unlisted(),
        }
    }

    /// Whether its chips make their MACs with an AES key.
    fn has_aes_key(&self) -> bool {
        self.settings().technology.has_aes_keys()
    }

    fn recognises_unlisted(&self) -> Result<(), InvalidUrlTemplate> {
        if self.template.has(Field::Slug) {
            return Err(InvalidUrlTemplate::UnlistedBySlug);
        }
        if !self.has_aes_key() || !self.template.proves_taps() {
            return Err(InvalidUrlTemplate::UnlistedUnproved);
        }
        if !self.has_file_keys() {
            return Err(InvalidUrlTemplate::UnlistedWithoutKeys);
        }
        // An unlisted chip has no keys of its own, so only a shared one tells its UID.
        if self.template.has(Field::Picc) && !self.keys.iter().any(|key| key.opens) {
            return Err(InvalidUrlTemplate::UnlistedUnopened);
        }
        Ok(())
    }

    /// Whether it has keys that check the MAC of any of its chips.
    fn has_file_keys(&self) -> bool {
        self.unlisted.file_key.is_some()
            || self.keys.iter().any(|key| key.master_key_id().is_some())
    }

    /// Whether an authentic code of a chip that is no inlay can be recognised.
    pub fn knows_unlisted(&self) -> bool {
        self.recognises_unlisted().is_ok()
    }

    /// Adds keys; existing ones stay as they are.
    pub fn add(&mut self, keys: impl IntoIterator<Item = SharedKey>) {
        for key in keys {
            let is_there = match key.master_key_id() {
                Some(id) => self
                    .keys
                    .iter()
                    .any(|shared| shared.master_key_id() == Some(id)),
                None => self.has_key(key.fingerprint),
            };
            if !is_there {
                self.keys.push(key);
            }
        }
    }

    /// Whether the template has this shared meta key.
    pub fn has_key(&self, key: KeyFingerprint) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|shared| shared.opens && shared.fingerprint == key)
    }

    /// The only shared meta key; `None` without one, or with several.
    pub fn opening_key(&self) -> Option<&SharedKey> {
        let mut keys = self.keys.iter().filter(|key| key.opens);
        let first = keys.next()?;
        // Of two sources for one key, such as two master keys, each is the key.
        keys.all(|key| key.fingerprint == first.fingerprint)
            .then_some(first)
    }

    /// The key that the chips of this template have as their meta read key, beside a file read key
    /// of their own: boltcard's layout. `None` if it is not certain, or if there is nothing to open.
    pub fn meta_key_beside_own(&self) -> Option<&SharedKey> {
        let has_picc = self.template.has(Field::Picc);
        self.opening_key().filter(|_| has_picc)
    }

    /// The key that the chips of this template have as their meta read key, instead of the one that
    /// their master key derives: NXP's own layout. `None` if it is not certain. `is_shared`: whether
    /// the master key derives the same meta read key for all chips.
    pub fn meta_key_beside(&self, derived: &SealedKeys, is_shared: bool) -> Option<&SharedKey> {
        let key = self.opening_key()?;
        let other = derived.meta() != Some(key.fingerprint);
        // A meta key for each chip is one that its owner chose, and a tap that names the chip can
        // use it.
        (other && (is_shared || !self.names_inlays())).then_some(key)
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
            unlisted,
        } = &self.fields;
        let keys: Vec<_> = keys
            .iter()
            .map(|key| (key.fingerprint.check().to_string(), key.master_key_id()))
            .collect();
        let file_key = unlisted.file_key.as_ref();
        let unlisted = (
            unlisted.mode,
            unlisted.create_limit,
            (unlisted.place.experience_id, unlisted.place.group_id),
            file_key.map(|key| key.fingerprint.check().to_string()),
        );
        Revision::of(&(name, template.settings(), keys, unlisted))
    }
}

impl SharedKey {
    /// Seals a key of the template's own.
    pub fn seal(key: SealedKey) -> Self {
        Self {
            fingerprint: key.fingerprint,
            source: SharedKeySource::Own(key.wrapped),
            opens: true,
        }
    }

    /// The keys that a template gets from a master key: file keys, and the meta key if all inlays
    /// share it.
    pub fn of_master(master: &SealedMasterKey, keyring: &Keyring) -> Result<Self, KeyringError> {
        let shared = Self::open_master(master, keyring)?;
        let own = master.fields.key.fingerprint;
        Ok(Self {
            fingerprint: shared.as_ref().map_or(own, AesKey::fingerprint),
            source: SharedKeySource::Master(master.id),
            opens: shared.is_some(),
        })
    }

    /// The meta key that all inlays of a master key share; `None` if each inlay has a different
    /// one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use inlay::Technology;
    use inlay::template::TemplateSettings;

    #[test]
    fn one_meta_key_from_two_sources_is_the_only_one() {
        let text = "https://tags.example/v?p={picc}&c={mac}";
        let settings = TemplateSettings::new(text, Technology::Ntag424Dna);
        let key = |print, source| SharedKey {
            fingerprint: KeyFingerprint::from_bytes([print; 16]),
            source,
            opens: true,
        };
        let of_master = |id| SharedKeySource::Master(MasterKeyId::new(id));
        let mut fields = UrlTemplateFields {
            name: Name::new("A URL template", "Bottles").unwrap(),
            template: Template::new(settings).unwrap(),
            keys: Vec::new(),
            unlisted: UnlistedRule::default(),
        };
        assert!(fields.opening_key().is_none());
        fields.add([key(1, of_master(1)), key(1, of_master(2))]);
        assert_eq!(fields.keys.len(), 2);
        assert!(fields.opening_key().is_some());
        fields.add([key(2, of_master(3))]);
        assert!(fields.opening_key().is_none());
    }
}
