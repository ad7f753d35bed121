//! The encoding of one inlay: from a blank chip to a tag whose tap was verified, and back.
//!
//! A relay holds the reader; it passes commands on without interpreting them. This crate decides
//! which commands follow from the answers: answers in, the next [`Turn`] out. It reads and writes
//! nothing. Its changes to the [`Journal`] are on disk before the turn's commands leave. So the
//! journal can name the key of every slot of the chip, wherever the encoding is interrupted.
//!
//! | Module | Subject |
//! |---|---|
//! | [`turn`] | commands to a relay, and its answers |
//! | [`journal`] | the keys a chip may have, and how often it was asked |
//! | [`plan`] | the NDEF file and its settings; and the proof |
//! | [`pages`] | the same for a chip that has pages instead of files |
//! | [`state`] | the state of an encoding |
//! | [`progress`] | the state that is kept between two turns |
//! | [`machine`] | the decisions |
//! | [`run`] | many chips, one after the other |
//! | [`order`] | chips that a bureau encodes |
//!
//! The order on the chip: facts, key 0 proved, everything checked before the first write, mirrors
//! off, NDEF file, keys 1 to 4, mirrors on, read-only, key 0 last and by itself, everything proved
//! again, one read whose code is verified. Until key 0 is changed the key that opened the chip
//! opens it again. An interrupted encoding goes through the same steps when the chip is placed on
//! the reader again: recovery has no code of its own.

pub mod journal;
pub mod machine;
pub mod order;
pub mod pages;
pub mod plan;
pub mod progress;
pub mod run;
pub mod state;
pub mod turn;

use serde::{Deserialize, Serialize};

use domain::clock::{Millis, Timestamp};
use domain::id::{EncodingId, EncodingRunId, TagId};
use inlay::Uid;
use inlay::uid::RANDOM_ID;

pub use journal::{Candidate, Generation, Imported, Journal, Root, Roots, SlotState, Source};
pub use pages::Pages;
pub use plan::{Form, Plan, is_encodable, is_lockable};
pub use progress::Progress;
pub use state::{EncodingOutcome, OpenedAddress, Reason, Stage, State, StateWord};
pub use turn::{Answers, Fault, Turn};

/// How long a session stays valid after its last turn. A chip that stays on a
/// reader for longer was left there.
pub const SESSION: Millis = Millis::minutes(1);
/// How long a chip is reserved for its encoding after the last turn.
pub const LEASE: Millis = Millis::minutes(2);

/// A UID as the reader shows it. A random UID has 4 bytes; here zeros follow them.
pub fn shown_uid(uid: Uid) -> String {
    let text = uid.to_string();
    match uid.bytes() {
        [RANDOM_ID, _, _, _, 0, 0, 0] => text[..8].to_owned(),
        _ => text,
    }
}

/// The goal of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An inlay of this tag.
    Tag(TagId),
    /// An inlay of a tag that is created in the commit of the encoding.
    NewTag,
    /// A chip in its factory state.
    Factory,
}

impl Goal {
    /// The tag, if it exists already.
    pub const fn tag(self) -> Option<TagId> {
        match self {
            Self::Tag(tag) => Some(tag),
            Self::NewTag | Self::Factory => None,
        }
    }
}

/// One chip's way from its first command to a verified inlay, or back to its factory state.
#[derive(Debug)]
pub struct Encoding {
    /// Identifier by which relays and the API address the encoding; `None` before it is stored.
    pub id: Option<EncodingId>,
    /// UID of the chip.
    pub uid: Uid,
    /// The goal for the chip.
    pub goal: Goal,
    /// The encoding run that it belongs to; `None` outside of a run.
    pub run_id: Option<EncodingRunId>,
    /// How the URL is written; `None` to wipe the chip.
    pub form: Option<Form>,
    /// The generation of keys that is written; `None` until one is chosen.
    pub generation: Option<u8>,
    /// The progress so far, and how the encoding ended.
    pub state: State,
    /// The number of the present turn.
    pub seq: u32,
    /// When the encoding began.
    pub created_at: Timestamp,
    /// When its last turn was made.
    pub updated_at: Timestamp,
    /// State kept between two turns. Once the encoding is over, it has only what a later one of the
    /// chip needs, or is `None`.
    pub progress: Option<Progress>,
}

/// One command and its status, for the audit log: never data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The name of the command.
    pub name: String,
    /// The status word; `None` if no answer came.
    pub status: Option<u16>,
}

/// The words of states and reasons are the same in storage and in the API.
pub fn word<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The state or reason that a stored word stands for; `None` for an unknown word.
pub fn of_word<T: for<'de> Deserialize<'de>>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}
