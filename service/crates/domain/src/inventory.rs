//! The inlays and master keys of an owner, as they are configured.
//!
//! Keys are sealed here: wrapped for storage, and recognised by their fingerprints. This module
//! cannot turn a sealed key back into its bytes; only `keyring` can.

mod change;
mod master_key;
mod sealed;
mod unlisted;
mod url_template;

pub use change::{KeyChange, MemberPatch};
pub use master_key::{MasterKeyFields, SealedMasterKey};
pub use sealed::{KeptKeys, SealedKey, SealedKeys};
pub use unlisted::{
    CREATE_LIMIT, CREATE_LIMIT_MAX, ChipPlace, KeyPrints, UnlistedChip, UnlistedMode, UnlistedRule,
};
pub use url_template::{
    InvalidUrlTemplate, SharedKey, SharedKeySource, URL_TEMPLATES_MAX, UrlTemplate,
    UrlTemplateFields, shared_keys_max,
};

use std::borrow::Cow;

use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::field_error::OfField;
use crate::id::{InlayId, TagId, UrlTemplateId, VirtualInlayId};
use crate::revision::{Revised, Revision};
use inlay::key::KeyFingerprint;
use inlay::technology::{Family, Mode};
use inlay::template::Field;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// An inlay, with the state of its counter.
#[derive(Clone, Debug)]
pub struct Inlay {
    /// Identifier, used in the API.
    pub id: InlayId,
    /// UID of the chip; it never changes.
    pub uid: Uid,
    /// The members that its owner sets.
    pub fields: InlayFields,
    /// Whether it belongs to the simulated world.
    pub simulated: bool,
    /// The highest counter accepted under its keys; 0 if none was.
    pub last_counter: u32,
    /// Whether its chip still has the keys that a bureau wrote.
    pub bureau_keys: bool,
}

/// The writable members of an inlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayFields {
    /// The technology of the chip; it never changes either.
    pub technology: Technology,
    /// The cipher of an NTAG 424 DNA.
    pub mode: Mode,
    /// The URL template; `None` for the canonical form.
    pub url_template_id: Option<UrlTemplateId>,
    /// The tag it is bound to.
    pub tag_id: Option<TagId>,
    /// How it shows UID and counter in the canonical form; `None` if it makes no such codes.
    pub mirror: Option<Mirror>,
    /// Where the MAC's input begins.
    pub mac_from: MacFrom,
    /// Its keys. An inlay that stops making codes keeps them.
    pub keys: Option<SealedKeys>,
    /// The chip's keys 0, 3 and 4, if they came with the inlay: only with them can the chip be
    /// encoded again.
    pub other_keys: Option<SealedKey>,
    /// When it was blocked, because it was lost or cloned: its codes are refused since then. `None`
    /// if it is not blocked.
    pub blocked_at: Option<Timestamp>,
}

impl InlayFields {
    /// Whether both describe the same inlay. The same key has another sealed form each time, so
    /// fingerprints are compared.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let keys = |fields: &Self| {
            let keys = fields.keys.as_ref();
            let others = fields.other_keys.as_ref().map(|keys| keys.fingerprint);
            let keys = keys.map(|keys| (keys.master_key_id(), keys.meta(), keys.file()));
            (keys, others)
        };
        let rest = |fields: &Self| Self {
            keys: None,
            other_keys: None,
            ..fields.clone()
        };
        keys(self) == keys(other) && rest(self) == rest(other)
    }
}

/// The revision covers only the visible part of its keys.
impl Revised for InlayFields {
    fn revision(&self) -> Revision {
        let keys = self.keys.as_ref().map(|keys| {
            let check = |key: KeyFingerprint| key.check().to_string();
            (
                keys.master_key_id(),
                keys.meta().map(check),
                check(keys.file()),
            )
        });
        let Self {
            technology,
            mode,
            url_template_id,
            tag_id,
            mirror,
            mac_from,
            blocked_at,
            other_keys,
            ..
        } = self;
        let written = (mode, url_template_id, mirror, mac_from);
        let keys = (keys, other_keys.is_some());
        Revision::of(&(technology, tag_id, written, keys, blocked_at.is_some()))
    }
}

impl Revised for Inlay {
    fn revision(&self) -> Revision {
        self.fields.revision()
    }
}

/// An inlay to be stored.
#[derive(Clone, Debug)]
pub struct NewInlay {
    /// UID of the chip.
    pub uid: Uid,
    /// The members that its owner sets.
    pub fields: InlayFields,
    /// Whether it belongs to the simulated world.
    pub simulated: bool,
    /// The highest used counter, if the inlay comes from another service; otherwise 0.
    pub last_counter: u32,
}

impl NewInlay {
    /// The same inlay, bound to a tag.
    #[must_use]
    pub fn on(mut self, tag: TagId) -> Self {
        self.fields.tag_id = Some(tag);
        self
    }
}

/// A virtual inlay of the simulator, with the state of its chip.
#[derive(Clone, Debug)]
pub struct SimulatedInlay {
    /// Its identifier in the simulator.
    pub id: VirtualInlayId,
    /// The chip's read counter: how often it was tapped.
    pub counter: u32,
    /// The last part of its tag's URL; `None` if it is on no tag.
    pub slug: Option<String>,
    /// The inlay, as the service stores it.
    pub inlay: Inlay,
}

/// A random UID in NXP's range, for a chip in software.
pub fn virtual_uid(entropy: &dyn Entropy) -> Uid {
    let mut uid = entropy::bytes::<7>(entropy);
    uid[0] = 0x04;
    Uid::from_bytes(uid)
}

/// Why an inlay is not valid. Each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInlay {
    /// The chip cannot make codes.
    #[error("An {0} makes no codes: it has no mirror and no keys.")]
    MakesNoCodes(Technology),
    /// It makes codes, but has no keys.
    #[error(
        "An inlay that makes codes needs keys: file_key, and meta_key with the encrypted mirror; or master_key_id."
    )]
    NoKeys,
    /// It has the encrypted mirror, but no key to decrypt it.
    #[error("Encrypted PICC data need a meta_key: the chip's SDMMetaReadKey.")]
    NoMetaKey,
    /// It has a meta key, but no key for the MAC.
    #[error("A meta_key is not enough: send file_key, the chip's SDMFileReadKey, too.")]
    NoFileKey,
    /// It has both an own file key and a master key.
    #[error(
        "The file key is the inlay's own or that of a master key: send file_key or master_key_id."
    )]
    TwoSources,
    /// The meta key of its own is removed, but the master key is not sent.
    #[error(
        "The inlay's keys are those of a master key. Send master_key_id, too, to use the meta key that it derives."
    )]
    MetaOfMaster,
    /// It has factory keys, which everyone knows.
    #[error(
        "The factory key is known to everyone, so a code made with it proves nothing. \
         Write keys of your own to the chip, or send \"allow_factory_keys\": true."
    )]
    FactoryKey,
    /// A key does not have the length that the chip needs.
    #[error("A key of {0} has {digits} hex digits.", digits = .0.key_digits().unwrap_or_default())]
    KeyLength(Technology),
    /// The chip does not have such a key.
    #[error("A {0} has one key: send it as file_key.")]
    OneKey(Technology),
    /// The chip has no keys 0, 3 and 4.
    #[error("Only an NTAG 424 DNA has keys 0, 3 and 4.")]
    OtherKeys,
    /// The chip can write its codes only with a URL template.
    #[error("An inlay with {0} makes codes only with a URL template: send url_template_id.")]
    NeedsTemplate(Technology),
    /// The canonical form exists only in AES mode.
    #[error("Without a URL template an inlay is in AES mode: mode is \"aes\".")]
    CanonicalMode,
    /// The template already decides how the inlay shows UID and counter.
    #[error(
        "An inlay with a URL template has no mirror and no mac_from of its own: the template says both."
    )]
    MirrorAndTemplate,
    /// The template is for another chip.
    #[error("The URL template is for {template}, and the inlay is {inlay}.")]
    OtherTechnology {
        /// Technology of the template.
        template: Technology,
        /// Technology of the inlay.
        inlay: Technology,
    },
    /// The template is for the other mode.
    #[error("The URL template is for the mode \"{template}\", and the inlay's is \"{inlay}\".")]
    OtherMode {
        /// Mode of the template.
        template: Mode,
        /// Mode of the inlay.
        inlay: Mode,
    },
    /// Its URL contains nothing by which a tap can find the inlay.
    #[error(
        "The URL template has neither {{slug}} nor {{uid}}, so a tap finds the inlay only by a meta key of the template, \
         and this inlay's is not among them. Add it to the template first, or send meta_key."
    )]
    NotFound,
    /// It makes no codes, so there are none to block.
    #[error(
        "This inlay makes no codes, so none of them can be blocked. Unbind it from its tag, or delete it."
    )]
    NothingToBlock,
    /// The counter is higher than the chip's counter can be.
    #[error("last_counter of {0} is at most {max}.", max = .0.counter_max())]
    LastCounter(Technology),
    /// The counter may not fall: an accepted code is never accepted again.
    #[error("last_counter is {0} already, and only rises.")]
    CounterFalls(u32),
}

impl OfField for InvalidInlay {
    fn field(&self) -> Option<Cow<'static, str>> {
        let field = match self {
            Self::MakesNoCodes(_) | Self::OtherTechnology { .. } => "technology",
            Self::NoKeys | Self::NoFileKey | Self::KeyLength(_) | Self::OneKey(_) => "file_key",
            Self::NoMetaKey | Self::MetaOfMaster => "meta_key",
            Self::TwoSources => "master_key_id",
            Self::OtherKeys => "other_keys",
            Self::FactoryKey => "allow_factory_keys",
            Self::NeedsTemplate(_) | Self::NotFound => "url_template_id",
            Self::CanonicalMode | Self::OtherMode { .. } => "mode",
            Self::MirrorAndTemplate => "mirror",
            Self::LastCounter(_) | Self::CounterFalls(_) => "last_counter",
            Self::NothingToBlock => "blocked",
        };
        Some(field.into())
    }
}

impl InlayFields {
    /// Whether both have the same keys, from any source, or none.
    pub fn same_keys(&self, other: &Self) -> bool {
        match (&self.keys, &other.keys) {
            (Some(own), Some(others)) => own.same_keys(others),
            (None, None) => true,
            _ => false,
        }
    }

    /// Checks that the keys fit the mirror. [`Self::validate_on`] checks the requirements of a URL
    /// template, in the operation that stores the inlay.
    pub fn validate(&self) -> Result<(), InvalidInlay> {
        if !self.technology.rolls() && (self.mirror.is_some() || self.keys.is_some()) {
            return Err(InvalidInlay::MakesNoCodes(self.technology));
        }
        if self.other_keys.is_some() && self.technology.family() != Family::Ntag424 {
            return Err(InvalidInlay::OtherKeys);
        }
        if self.blocked_at.is_some() && self.mirror.is_none() && self.url_template_id.is_none() {
            return Err(InvalidInlay::NothingToBlock);
        }
        if self.url_template_id.is_some() {
            if self.mirror.is_some() || self.mac_from != MacFrom::None {
                return Err(InvalidInlay::MirrorAndTemplate);
            }
            return Ok(());
        }
        if !self.technology.is_canonical() && (self.mirror.is_some() || self.keys.is_some()) {
            return Err(InvalidInlay::NeedsTemplate(self.technology));
        }
        if self.mode != Mode::Aes {
            return Err(InvalidInlay::CanonicalMode);
        }
        match (self.mirror, &self.keys) {
            (Some(_), None) => Err(InvalidInlay::NoKeys),
            (Some(Mirror::Encrypted), Some(keys)) if keys.meta().is_none() => {
                Err(InvalidInlay::NoMetaKey)
            }
            _ => Ok(()),
        }
    }

    /// Checks that its URL template fits this inlay, and that a tap of its URL can find it.
    pub fn validate_on(&self, template: &UrlTemplateFields) -> Result<(), InvalidInlay> {
        let settings = template.settings();
        if settings.technology != self.technology {
            return Err(InvalidInlay::OtherTechnology {
                template: settings.technology,
                inlay: self.technology,
            });
        }
        if settings.mode != self.mode {
            return Err(InvalidInlay::OtherMode {
                template: settings.mode,
                inlay: self.mode,
            });
        }
        let Some(keys) = &self.keys else {
            return if self.technology.rolls() {
                Err(InvalidInlay::NoKeys)
            } else {
                Ok(())
            };
        };
        if template.template.has(Field::Picc) && keys.meta().is_none() {
            return Err(InvalidInlay::NoMetaKey);
        }
        if !template.names_inlays() && !template.has_key(keys.for_picc_data()) {
            return Err(InvalidInlay::NotFound);
        }
        Ok(())
    }
}
