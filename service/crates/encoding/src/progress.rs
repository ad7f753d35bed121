//! State kept between two turns. It holds session keys and the turn's commands, so it is stored
//! wrapped as a whole.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Candidate;
use super::plan::Proof;
use super::turn::Command;
use domain::id::EncodingRootId;
use inlay::ev2::{Handshake, Protection, Reply, Session};
use inlay::technology::Technology;

/// State kept between two turns.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The purpose of the commands that were sent.
    pub phase: Phase,
    /// The commands that were sent.
    pub commands: Vec<Command>,
    /// The digest of the answers that led here: the same ones get the same turn again.
    pub answered: Option<[u8; 32]>,
    /// Facts about the chip in this insertion.
    pub chip: Chip,
    /// Whether a command that changes the chip was sent.
    pub wrote: bool,
    /// Whether an authorised person allowed replacing keys of this chip, for this insertion.
    #[serde(default)]
    pub replace: bool,
    /// The chip has the keys but a wrong message or wrong settings: write it again.
    pub rewrite: bool,
    /// The URL of the read that proved a finished encoding. Its code is used up; it is stored only
    /// here, wrapped.
    #[serde(default)]
    pub url: Option<String>,
}

/// Facts about a chip in this insertion.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the chip or its reader"
)]
pub struct Chip {
    /// Versions of its keys, as it states them without proof.
    pub shown: [Option<u8>; 5],
    /// How often the steps began again.
    pub attempts: u8,
    /// How often everything except key 0 was written.
    #[serde(default)]
    pub writes: u8,
    /// Refused authentications in this insertion.
    pub refusals: u32,
    /// Turns in which the chip asked to wait.
    pub delays: u32,
    /// The key that opened it.
    pub opened: Option<Candidate>,
    /// Keys of other slots that were proved.
    pub proved: Vec<(u8, Candidate)>,
    /// Slots whose key does not match its version.
    pub doubts: Vec<u8>,
    /// The chip's technology, if it is known before the chip is asked.
    #[serde(default)]
    pub technology: Option<Technology>,
    /// The technology that its version states.
    #[serde(default)]
    pub version: Option<Technology>,
    /// Whether it speaks LRP, if it was asked.
    #[serde(default)]
    pub lrp: bool,
    /// Whether its reader returns one page of four bytes if four pages are requested.
    #[serde(default)]
    pub by_page: bool,
    /// Whether it holds a message that was not overwritten in this insertion.
    #[serde(default)]
    pub has_message: bool,
    /// The result of trying our write passwords on a chip that is protected by one; `None` if they
    /// were not tried.
    #[serde(default)]
    pub password: Option<TriedPassword>,
    /// Whether it had a write password of ours before this encoding, or one that was given up before
    /// it, began to change it.
    #[serde(default)]
    pub had_password: bool,
}

/// The result of trying our write passwords on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TriedPassword {
    /// The password of this root opened the chip.
    Opened(EncodingRootId),
    /// The chip has a password of somebody else.
    Foreign,
}

impl Chip {
    /// The facts that stay known if the chip is checked again in the same insertion.
    pub(crate) fn kept(self) -> Self {
        Self {
            attempts: self.attempts,
            writes: self.writes,
            refusals: self.refusals,
            delays: self.delays,
            doubts: self.doubts,
            technology: self.technology,
            by_page: self.by_page,
            has_message: self.has_message,
            password: self.password,
            had_password: self.had_password,
            ..Self::default()
        }
    }
}

/// The purpose of the commands that were sent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub enum Phase {
    /// Facts that the chip states without a key.
    #[default]
    Facts,
    /// Asks whether the chip is in LRP mode.
    LrpProbe,
    /// First half of an authentication.
    Challenge(Opening),
    /// Second half of an authentication.
    Response(Opening, #[serde(with = "handshake")] Handshake),
    /// Reads everything with proof; with `read`, also the read that proves a tap.
    Check {
        /// Authenticated session of key 0.
        #[serde(with = "session")]
        session: Session,
        /// How each answer is checked.
        replies: Vec<Write>,
        /// Whether the read is part of it.
        read: bool,
    },
    /// Switches from AES to LRP mode, which cannot be undone; then the first half of the proof of
    /// key 0.
    Switch,
    /// Writes everything except key 0.
    Write {
        /// Authenticated session of key 0.
        #[serde(with = "session")]
        session: Session,
        /// The effect of each command.
        writes: Vec<Write>,
    },
    /// Changes key 0; then the first half of its proof.
    Seal,
    /// The read that proves a tap.
    ReadBack,
    /// A step for a chip that has pages instead of files.
    Pages(PageStep),
    /// The insertion is over: no answer is expected.
    Over,
}

/// The purpose of the commands to a chip of pages.
#[derive(Debug, Serialize, Deserialize)]
pub enum PageStep {
    /// Its UID and its size.
    Head,
    /// Its data area and its settings.
    Whole(Technology),
    /// Tries the write passwords of these roots; that of the first one was sent.
    Opening {
        /// Technology of the chip.
        chip: Technology,
        /// Roots of the passwords that are not refused yet.
        roots: Vec<EncodingRootId>,
    },
    /// Its mirror was switched off, which takes effect at the next activation. Another chip may be
    /// on the reader then, so it is asked before anything is written.
    Unmirrored,
    /// Written data, read again after a new activation. The first reads begin at `compare`, the
    /// others at `proof`.
    Written {
        /// Technology of the chip.
        chip: Technology,
        /// The first read of written data; `None` if no data is written.
        compare: Option<usize>,
        /// The first read after the new activation.
        proof: usize,
    },
    /// The write password, which protects no page yet, and an authentication with it.
    Password {
        /// Technology of the chip.
        chip: Technology,
        /// Its first configuration page, in which the password is put into force.
        cfg0: [u8; 4],
    },
    /// The first page that needs the write password; everything is read again.
    Protected {
        /// Technology of the chip.
        chip: Technology,
    },
    /// The lock bits, which are read again.
    Locked {
        /// Technology of the chip.
        chip: Technology,
        /// The URL and the counter that the chip showed before.
        proof: Proof,
    },
}

/// An authentication that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// Slot of the key, 0 to 4.
    pub slot: u8,
    /// The keys that it may have; the first one is being tried.
    pub candidates: Vec<Candidate>,
    /// Whether the following check includes the read that proves a tap.
    pub read: bool,
}

/// The effect of a command in a session, and how its answer is checked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Write {
    /// The slot whose key it changes; `None` for a command that changes no key.
    pub slot: Option<u8>,
    counter: u16,
    protection: u8,
    #[serde(default)]
    blocks: u32,
}

impl Write {
    /// A command that changes the key of `slot`, if there is one.
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

    /// How its answer is checked.
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

impl PageStep {
    /// Whether its commands change the chip.
    pub(crate) const fn writes(&self) -> bool {
        matches!(
            self,
            Self::Unmirrored
                | Self::Written {
                    compare: Some(_),
                    ..
                }
                | Self::Password { .. }
                | Self::Protected { .. }
                | Self::Locked { .. }
        )
    }
}

impl Progress {
    /// Whether only a person's permission for this insertion allows the work that has begun.
    pub fn is_by_word(&self) -> bool {
        self.replace && !self.wrote
    }

    /// The facts about the chip that its next encoding has to know if this one ends before its goal,
    /// without the commands and the keys of the session.
    #[must_use]
    pub fn remains(&self) -> Self {
        Self {
            chip: Chip {
                had_password: self.chip.had_password,
                ..Chip::default()
            },
            ..Self::default()
        }
    }

    /// Serializes the state, so that it can be wrapped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // It holds names and numbers only, which JSON can represent.
        Zeroizing::new(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Restores the state; `None` if the bytes are not valid.
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
