//! The inlays and master keys of an owner, as they are configured.
//!
//! Keys are sealed here: wrapped for storage, and known again by their
//! fingerprints. Absent: a way from a sealed key to its bytes; only `keyring`
//! has one.

mod change;
mod master_key;
mod sealed;

pub use change::{KeyChange, MemberPatch};
pub use master_key::{MasterKeyFields, SealedMasterKey};
pub use sealed::{SealedKey, SealedKeys};

use std::borrow::Cow;

use crate::entropy::{self, Entropy};
use crate::field_error::OfField;
use crate::id::{InlayId, TagId, VirtualInlayId};
use crate::inlay::key::KeyFingerprint;
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::revision::{Revised, Revision};

/// An inlay, and how far its codes were used.
#[derive(Clone, Debug)]
pub struct Inlay {
    /// Its identifier.
    pub id: InlayId,
    /// The chip. It does not change.
    pub uid: Uid,
    /// What its owner decided.
    pub fields: InlayFields,
    /// Whether it lives in the simulated world.
    pub simulated: bool,
    /// The highest counter accepted under its keys; 0 for none.
    pub last_counter: u32,
}

/// What the owner of an inlay decides about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayFields {
    /// The chip's make. It does not change either.
    pub technology: Technology,
    /// The tag it is fixed to.
    pub tag_id: Option<TagId>,
    /// How it shows UID and counter; `None` where it makes no codes.
    pub mirror: Option<Mirror>,
    /// Where its MAC begins.
    pub mac_from: MacFrom,
    /// Its keys. One that stops making codes keeps them.
    pub keys: Option<SealedKeys>,
}

/// Of its keys, what is shown of them.
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
            tag_id,
            mirror,
            mac_from,
            ..
        } = self;
        Revision::of(&(technology, tag_id, mirror, mac_from, keys))
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
    /// The chip.
    pub uid: Uid,
    /// What its owner decided.
    pub fields: InlayFields,
    /// Whether it lives in the simulated world.
    pub simulated: bool,
}

impl NewInlay {
    /// The same, on a tag.
    #[must_use]
    pub fn on(mut self, tag: TagId) -> Self {
        self.fields.tag_id = Some(tag);
        self
    }
}

/// An inlay of the simulator: the chip's side of things.
#[derive(Clone, Debug)]
pub struct SimulatedInlay {
    /// Its identifier in the simulator.
    pub id: VirtualInlayId,
    /// The read counter, as the chip has it: how often it was tapped.
    pub counter: u32,
    /// The last part of its tag's URL; `None` where it is on no tag.
    pub slug: Option<String>,
    /// The inlay, as the service has it.
    pub inlay: Inlay,
}

/// A UID as NXP would give it, for a chip in software.
pub fn virtual_uid(entropy: &dyn Entropy) -> Uid {
    let mut uid = entropy::bytes::<7>(entropy);
    uid[0] = 0x04;
    Uid::from_bytes(uid)
}

/// Why an inlay cannot be as it is asked for. Each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInlay {
    /// The chip cannot make codes.
    #[error("An {0} makes no codes: it has no mirror and no keys.")]
    MakesNoCodes(Technology),
    /// It makes codes, and nothing says with which keys.
    #[error(
        "An inlay that makes codes needs keys: file_key, and meta_key with the encrypted mirror; or master_key_id."
    )]
    NoKeys,
    /// The encrypted mirror has nothing to decrypt it with.
    #[error("The encrypted mirror needs a meta_key: the chip's SDMMetaReadKey.")]
    NoMetaKey,
    /// A meta key and nothing to make the MAC with.
    #[error("A meta_key alone is not enough: send file_key, the chip's SDMFileReadKey, too.")]
    NoFileKey,
    /// Own keys and a master key at once.
    #[error("An inlay has keys of its own or those of a master key: send one of them.")]
    TwoSources,
    /// Keys that everyone knows.
    #[error(
        "The all-zero factory key is known to everyone, so a code made with it proves nothing. \
         Write keys of your own to the chip, or send \"allow_factory_keys\": true."
    )]
    FactoryKey,
}

impl OfField for InvalidInlay {
    fn field(&self) -> Option<Cow<'static, str>> {
        let field = match self {
            Self::MakesNoCodes(_) => "technology",
            Self::NoKeys | Self::NoFileKey => "file_key",
            Self::NoMetaKey => "meta_key",
            Self::TwoSources => "master_key_id",
            Self::FactoryKey => "allow_factory_keys",
        };
        Some(field.into())
    }
}

impl InlayFields {
    /// Whether both have the same keys, wherever they come from, or none.
    pub fn same_keys(&self, other: &Self) -> bool {
        match (&self.keys, &other.keys) {
            (Some(own), Some(others)) => own.same_keys(others),
            (None, None) => true,
            _ => false,
        }
    }

    /// Checks what the types alone do not: which keys a mirror needs.
    pub fn validate(&self) -> Result<(), InvalidInlay> {
        if !self.technology.rolls() && (self.mirror.is_some() || self.keys.is_some()) {
            return Err(InvalidInlay::MakesNoCodes(self.technology));
        }
        match (self.mirror, &self.keys) {
            (Some(_), None) => Err(InvalidInlay::NoKeys),
            (Some(Mirror::Encrypted), Some(keys)) if keys.meta().is_none() => {
                Err(InvalidInlay::NoMetaKey)
            }
            _ => Ok(()),
        }
    }
}
