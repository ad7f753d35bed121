//! The keys by which a URL template knows any of its chips, even one that is no inlay.

use super::TapTemplate;
use domain::entropy::Entropy;
use domain::id::MasterKeyId;
use domain::inventory::{
    ChipPlace, InlayFields, KeyPrints, NewInlay, SealedKey, SealedKeys, SealedMasterKey,
    UrlTemplateFields,
};
use domain::keyring::{Keyring, KeyringError};
use domain::tag::{Slug, TagFields};
use inlay::assessment::{Assessment, FileData, Tamper};
use inlay::derivation::MasterSecret;
use inlay::key::{AesKey, InlayKeys, Keys};
use inlay::technology::ntag424::Mirrored;
use inlay::template::{Field, Filled, Template};
use inlay::{MacFrom, Uid};

/// The opened keys of a template that make the codes of any of its chips.
#[derive(Default)]
pub(crate) struct ChipKeys {
    /// The keys that open PICC data, in the order of the template's shared meta keys.
    pub(super) openers: Vec<Opener>,
    masters: Vec<Master>,
    shared: Option<AesKey>,
}

/// A key that opens PICC data.
pub(super) struct Opener {
    pub(super) key: AesKey,
    /// The master key that it comes from.
    pub(super) master_key_id: Option<MasterKeyId>,
}

/// A master key that derives file keys.
struct Master {
    sealed: SealedMasterKey,
    secret: MasterSecret,
}

/// An authentic code of a chip, and its keys.
#[derive(Debug)]
pub(crate) struct ChipCode {
    /// UID of the chip.
    pub(crate) uid: Uid,
    /// The counter of the code, from 1.
    pub(crate) counter: u32,
    /// The keys that made it.
    pub(crate) keys: KeysOfChip,
    /// The state of the tamper loop.
    pub(crate) tamper: Option<Tamper>,
    /// Decrypted file data of the chip.
    pub(crate) file_data: Option<FileData>,
}

/// The keys of a chip, from a template.
#[derive(Clone, Debug)]
pub(crate) struct KeysOfChip {
    keys: Keys,
    /// The master key of the file key. `None` for the shared key.
    master: Option<OfMaster>,
}

/// The master key that keys come from.
#[derive(Clone, Debug)]
struct OfMaster {
    /// The place in [`ChipKeys::masters`].
    index: usize,
    /// All that it derives for the chip, because deriving again may take milliseconds.
    derived: Keys,
}

impl KeysOfChip {
    /// The fingerprints of the keys.
    pub(crate) fn prints(&self) -> KeyPrints {
        KeyPrints {
            meta: self.keys.meta.as_ref().map(AesKey::fingerprint),
            file: self.keys.file.fingerprint(),
        }
    }
}

impl ChipKeys {
    /// Opens the keys that make file keys.
    pub(super) fn open(
        &mut self,
        fields: &UrlTemplateFields,
        masters: Vec<SealedMasterKey>,
        keyring: &Keyring,
    ) -> Result<(), KeyringError> {
        for sealed in masters {
            let secret = keyring.master_secret(&sealed.fields.key.wrapped)?;
            self.masters.push(Master { sealed, secret });
        }
        let shared = fields.unlisted.file_key.as_ref();
        self.shared = shared.map(|key| keyring.unwrap(&key.wrapped)).transpose()?;
        Ok(())
    }

    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.masters.is_empty() && self.shared.is_none()
    }

    /// Whether deriving a key takes milliseconds.
    pub(crate) fn is_slow(&self) -> bool {
        let mut masters = self.masters.iter();
        masters.any(|master| master.sealed.fields.derivation.is_slow())
    }

    /// The chip that made a code, if one of these keys makes that code. The work does not depend on
    /// whether the chip is an inlay. `opened`: the PICC data that the template's keys open.
    pub(crate) fn maker(
        &self,
        template: &Template,
        code: &Filled,
        opened: &[(usize, Mirrored)],
    ) -> Option<ChipCode> {
        if !template.has(Field::Picc) {
            let uid = code.uid()?;
            let keys = self.keys(uid, None);
            return Self::first(keys, |keys| {
                template.check(None, code, uid, &InlayKeys::Aes(keys.keys.clone()))
            });
        }
        // Data that no key opens take the work of those that one opens. No chip has their UID.
        let unopened = [(0, Mirrored::default())];
        let opened = if opened.is_empty() { &unopened } else { opened };
        opened.iter().find_map(|(opener, mirrored)| {
            let uid = mirrored.uid.unwrap_or(Uid::from_bytes([0; 7]));
            let keys = self.keys(uid, self.openers.get(*opener));
            Self::first(keys, |keys| {
                let named = Some((uid, &keys.keys.file));
                template.check_opened(None, code, Some(*mirrored), named)
            })
        })
    }

    fn first(keys: Vec<KeysOfChip>, check: impl Fn(&KeysOfChip) -> Assessment) -> Option<ChipCode> {
        keys.into_iter().find_map(|keys| {
            let code = check(&keys);
            // Without a counter, a code cannot be distinguished from a copy.
            if !code.proves_tap() {
                return None;
            }
            Some(ChipCode {
                uid: code.uid?,
                counter: code.counter?,
                keys,
                tamper: code.tamper,
                file_data: code.file_data,
            })
        })
    }

    /// All keys that the chip `uid` may have.
    pub(crate) fn all(&self, template: &Template, uid: Uid) -> Vec<KeysOfChip> {
        if !template.has(Field::Picc) {
            return self.keys(uid, None);
        }
        let openers = self.openers.iter();
        openers
            .flat_map(|opener| self.keys(uid, Some(opener)))
            .collect()
    }

    /// The keys that the chip `uid` may have, if `opener` opened its PICC data.
    fn keys(&self, uid: Uid, opener: Option<&Opener>) -> Vec<KeysOfChip> {
        let meta = opener.map(|opener| &opener.key);
        // A master key's meta key comes with its own file keys; another meta key with any.
        let of = opener.and_then(|opener| opener.master_key_id);
        let masters = self.masters.iter().enumerate();
        let masters = masters.filter(|(_, master)| of.is_none_or(|of| of == master.sealed.id));
        let derived = masters.filter_map(|(index, master)| {
            // Its length was checked when it was stored.
            let derived = master
                .sealed
                .fields
                .derivation
                .keys(&master.secret, uid)
                .ok()?;
            let keys = Keys {
                meta: meta.cloned(),
                file: derived.file.clone(),
            };
            let master = Some(OfMaster { index, derived });
            Some(KeysOfChip { keys, master })
        });
        let shared = self.shared.iter().map(|file| KeysOfChip {
            keys: Keys {
                meta: meta.cloned(),
                file: file.clone(),
            },
            master: None,
        });
        derived.chain(shared).collect()
    }

    /// The keys of a chip in their stored form.
    fn seal(
        &self,
        of: &KeysOfChip,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<SealedKeys, KeyringError> {
        let meta = of.keys.meta.as_ref();
        if let Some(OfMaster { index, derived }) = &of.master
            && let Some(master) = self.masters.get(*index)
        {
            let derived = SealedKeys::of_derived(&master.sealed, derived, keyring, entropy)?;
            return Ok(match meta {
                Some(meta) if derived.meta() != Some(meta.fingerprint()) => {
                    derived.with_meta(SealedKey::seal(meta, keyring, entropy)?)
                }
                _ => derived,
            });
        }
        let seal = |key: &AesKey| SealedKey::seal(key, keyring, entropy);
        Ok(SealedKeys::Own {
            meta: meta.map(seal).transpose()?,
            file: seal(&of.keys.file)?,
        })
    }
}

impl TapTemplate {
    /// A chip of this template as a new inlay, on no tag.
    pub(crate) fn new_inlay(
        &self,
        uid: Uid,
        of: &KeysOfChip,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<NewInlay, KeyringError> {
        let settings = self.template.settings();
        Ok(NewInlay {
            uid,
            fields: InlayFields {
                technology: settings.technology,
                mode: settings.mode,
                url_template_id: Some(self.id),
                tag_id: None,
                mirror: None,
                mac_from: MacFrom::None,
                keys: Some(self.chip_keys()?.seal(of, keyring, entropy)?),
                other_keys: None,
                blocked_at: None,
            },
            simulated: false,
            last_counter: 0,
        })
    }
}

/// A new tag for a chip, with the UID as its name.
pub(crate) fn tag_of_chip(uid: Uid, place: ChipPlace, entropy: &dyn Entropy) -> TagFields {
    TagFields {
        slug: Slug::generate(entropy),
        experience_id: place.experience_id,
        group_id: place.group_id,
        ..TagFields::named(uid.to_string())
    }
}

impl std::fmt::Debug for ChipKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChipKeys({} masters)", self.masters.len())
    }
}
