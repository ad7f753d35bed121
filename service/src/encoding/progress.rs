//! What is kept between two turns. It has session keys and the turn's commands in it: at rest it
//! is wrapped as a whole.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Candidate;
use super::plan::Proof;
use super::turn::Command;
use crate::inlay::ev2::{Handshake, Protection, Reply, Session};
use crate::inlay::technology::Technology;

/// What is kept between two turns.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// What the commands that were sent are for.
    pub phase: Phase,
    /// The commands that were sent.
    pub commands: Vec<Command>,
    /// The digest of the answers that led here: the same ones get the same turn again.
    pub answered: Option<[u8; 32]>,
    /// What is known of the chip in this insertion.
    pub chip: Chip,
    /// Whether a command that changes the chip was sent.
    pub wrote: bool,
    /// Whether a person who may has said, for this insertion, that keys of the chip are replaced.
    #[serde(default)]
    pub replace: bool,
    /// The chip has the keys and does not do what it should: write it again.
    pub rewrite: bool,
    /// The URL of the read that proved a finished encoding: spent, and at rest only here, wrapped.
    #[serde(default)]
    pub url: Option<String>,
}

/// What is known of a chip in this insertion.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Chip {
    /// Versions of its keys, as it says without proof.
    pub shown: [Option<u8>; 5],
    /// How often it was begun again.
    pub attempts: u8,
    /// How often all of it but key 0 was written.
    #[serde(default)]
    pub writes: u8,
    /// Refused authentications.
    pub refusals: u32,
    /// Turns that it asked to wait.
    pub delays: u32,
    /// The key that opened it.
    pub opened: Option<Candidate>,
    /// Keys of other slots that were proved.
    pub proved: Vec<(u8, Candidate)>,
    /// Slots whose key is not what its version says.
    pub doubts: Vec<u8>,
    /// What it is, as far as that is known before it is asked.
    #[serde(default)]
    pub technology: Option<Technology>,
    /// What its version says that it is.
    #[serde(default)]
    pub version: Option<Technology>,
    /// Whether it speaks LRP, as far as it was asked.
    #[serde(default)]
    pub lrp: bool,
}

/// What the commands that were sent are for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub enum Phase {
    /// What the chip says without a key.
    #[default]
    Facts,
    /// Whether it is in LRP mode.
    LrpProbe,
    /// First half of an authentication.
    Challenge(Opening),
    /// Second half.
    Response(Opening, #[serde(with = "handshake")] Handshake),
    /// Everything, with proof; `read`: and the read that proves a tap.
    Check {
        /// The session.
        #[serde(with = "session")]
        session: Session,
        /// What each answer is checked by.
        replies: Vec<Write>,
        /// Whether the read is part of it.
        read: bool,
    },
    /// From AES to LRP mode, for ever, and the first half of the proof of key 0 there.
    Switch,
    /// Everything but key 0.
    Write {
        /// The session.
        #[serde(with = "session")]
        session: Session,
        /// What each command does.
        writes: Vec<Write>,
    },
    /// Key 0, and the first half of its proof.
    Seal,
    /// The read that proves a tap.
    ReadBack,
    /// A chip that has pages instead of files.
    Pages(PageStep),
    /// Nothing is expected.
    Over,
}

/// What the commands to a chip of pages are for.
#[derive(Debug, Serialize, Deserialize)]
pub enum PageStep {
    /// Its UID and its size.
    Head,
    /// Its data area and its settings.
    Whole(Technology),
    /// Its mirror was switched off, which holds from a new activation on. Who knows which chip that
    /// activates: nothing is written before it is asked.
    Unmirrored,
    /// What is written, and read again after a new activation. The first reads begin at
    /// `compare`, the others at `proof`.
    Written {
        /// The chip.
        chip: Technology,
        /// The first read of what was written; `None` if nothing is.
        compare: Option<usize>,
        /// The first read after the new activation.
        proof: usize,
    },
    /// The lock bits, which are read again.
    Locked {
        /// The chip.
        chip: Technology,
        /// The URL and the counter that the chip showed before.
        proof: Proof,
    },
}

/// An authentication.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// The slot.
    pub slot: u8,
    /// The keys that it may have; the first one is being tried.
    pub candidates: Vec<Candidate>,
    /// Whether the read that proves a tap comes with what follows.
    pub read: bool,
}

/// What a command in a session does, and how its answer is checked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Write {
    /// The slot whose key it changes.
    pub slot: Option<u8>,
    counter: u16,
    protection: u8,
    #[serde(default)]
    blocks: u32,
}

impl Write {
    /// A command that changes the key of `slot`, or none.
    pub fn new(slot: Option<u8>, reply: Reply) -> Self {
        Self {
            slot,
            counter: reply.counter,
            protection: match reply.protection {
                Protection::Plain => 0,
                Protection::Mac => 1,
                Protection::IfAny => 2,
                Protection::Full => 3,
            },
            blocks: reply.blocks,
        }
    }

    /// What its answer is checked by.
    pub fn reply(&self) -> Reply {
        Reply {
            counter: self.counter,
            protection: match self.protection {
                0 => Protection::Plain,
                1 => Protection::Mac,
                2 => Protection::IfAny,
                _ => Protection::Full,
            },
            blocks: self.blocks,
        }
    }
}

impl Progress {
    /// Whether what was begun is allowed only by what a person said for this insertion.
    pub fn is_by_word(&self) -> bool {
        self.replace && !self.wrote
    }

    /// In bytes, to be wrapped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // It has names and numbers only, which JSON can say.
        Zeroizing::new(serde_json::to_vec(self).unwrap_or_default())
    }

    /// From its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

macro_rules! in_hex {
    ($module:ident, $type:ident) => {
        mod $module {
            use serde::{Deserialize as _, Deserializer, Serializer, de};
            use zeroize::Zeroizing;

            use super::$type;

            pub(super) fn serialize<S: Serializer>(
                value: &$type,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let text = base16ct::lower::encode_string(&value.to_bytes());
                serializer.serialize_str(&Zeroizing::new(text))
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                let error = || de::Error::custom("not readable");
                let text = Zeroizing::new(String::deserialize(deserializer)?);
                let bytes = base16ct::lower::decode_vec(text.as_bytes()).map_err(|_| error())?;
                $type::from_bytes(&Zeroizing::new(bytes)).ok_or_else(error)
            }
        }
    };
}

in_hex!(handshake, Handshake);
in_hex!(session, Session);
