//! The encoding of one inlay: from a blank chip to a tag whose tap was verified, and back.
//!
//! Who holds the reader relays commands and understands nothing. This module decides what is
//! sent, from what came back: answers in, the next [`Turn`] out. It reads and writes nothing.
//! What it changes in the [`Journal`] is on disk before the turn's commands leave, so that
//! whatever is torn, the journal can name the key of every slot of the chip.
//!
//! | Module | Subject |
//! |---|---|
//! | [`turn`] | what goes to a relay and comes back |
//! | [`journal`] | the keys a chip may have, and how often it was asked |
//! | [`plan`] | what is written: the NDEF file and its settings; and the proof |
//! | [`pages`] | the same for a chip that has pages instead of files |
//! | [`progress`] | what is kept between two turns |
//! | [`machine`] | the decisions |
//! | [`run`] | many chips, one after the other |
//! | [`order`] | chips that a bureau encodes |
//!
//! The order on the chip: facts, key 0 proved, everything checked before the first write,
//! mirrors off, NDEF file, keys 1 to 4, mirrors on, read-only, key 0 last and alone, everything
//! proved again, one read whose code is verified. Until key 0 is changed the key that opened the
//! chip opens it again. An encoding that was torn is laid down again and goes through the same
//! steps: recovery is no code of its own.

pub mod journal;
pub mod machine;
pub mod order;
pub mod pages;
pub mod plan;
pub mod progress;
pub mod run;
pub mod turn;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{EncodingId, EncodingRunId, InlayId, TagId};
use crate::inlay::technology::Mode;
use crate::inlay::{Technology, Uid};

pub use journal::{Candidate, Generation, Imported, Journal, Root, Roots, SlotState, Source};
pub use pages::Pages;
pub use plan::{Form, Plan};
pub use progress::Progress;
pub use turn::{Answers, Fault, Turn};

/// How long a session is good for after its last turn, in milliseconds. A chip that lies on a
/// reader for longer was left there.
pub const SESSION_MILLIS: i64 = 60_000;
/// How long nobody else may encode a chip for something else after its last turn.
pub const LEASE_MILLIS: i64 = 120_000;

/// The first byte of a random UID (ISO/IEC 14443-3). A UID of 7 bytes begins with the number of a
/// manufacturer, and none has this one.
pub const RANDOM_ID: u8 = 0x08;

/// A UID as the reader shows it: a random one has 4 bytes, and zeros behind it here.
pub fn shown_uid(uid: Uid) -> String {
    let text = uid.to_string();
    match uid.bytes() {
        [RANDOM_ID, _, _, _, 0, 0, 0] => text[..8].to_owned(),
        _ => text,
    }
}

/// How far an encoding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingState)]
pub enum State {
    /// Nothing was written.
    Planned,
    /// A command that changes the chip was sent.
    Writing,
    /// Keys 1 to 4 and the settings are proved; this turn has the change of key 0.
    Keyed,
    /// The chip has taken the change of key 0, which is not proved yet.
    Sealing,
    /// The new key 0 opened the chip.
    Sealed,
    /// A read of the chip was verified, and the inlay is bound.
    Verified,
    /// The chip is half way, or untouched: lay it down again.
    Interrupted,
    /// It is not encoded; `reason` says why.
    Rejected,
    /// It was given up. The keys that it may have are kept.
    Abandoned,
    /// The chip is as it left the factory, proved.
    Reset,
}

/// Why a chip is not encoded, or not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingReason)]
pub enum Reason {
    /// The chip is of a kind that this tag cannot be encoded on, or its generations of keys are used up.
    NotEncodable,
    /// Key 0 is none that Tapdesk knows.
    ForeignKey,
    /// One of the keys 1 to 4 is none that Tapdesk knows.
    ForeignSlot,
    /// A key of the chip is locked for good, because it was guessed too often.
    Locked,
    /// The chip makes whoever opens it wait: leave it on the reader, or come back later.
    Delayed,
    /// The chip is in LRP mode, for good.
    Lrp,
    /// The chip shows a random UID, for good.
    RandomId,
    /// The chip on the reader is another one.
    UidMismatch,
    /// The URL does not fit into the chip.
    UrlTooLong,
    /// The chip is a finished inlay of a tag, has keys that were imported, or has no keys and something else on it.
    AlreadyEncoded,
    /// The tag has an inlay.
    TagHasInlay,
    /// The chip belongs to another run.
    InUseElsewhere,
    /// The chip, or its settings, cannot be written any more.
    ReadOnly,
    /// The chip has a known UID and lacks the keys of that chip: it may be an imitation.
    NotGenuine,
}

/// What a chip is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An inlay of this tag.
    Tag(TagId),
    /// As it left the factory.
    Factory,
}

/// An encoding.
#[derive(Debug)]
pub struct Encoding {
    /// Its identifier.
    pub id: EncodingId,
    /// The chip.
    pub uid: Uid,
    /// What it is to become.
    pub target: Target,
    /// The run that it is part of.
    pub run_id: Option<EncodingRunId>,
    /// What is written; `None` to wipe.
    pub form: Option<Form>,
    /// The generation of keys that is written.
    pub generation: Option<u8>,
    /// How far it is.
    pub state: State,
    /// Why it is not encoded.
    pub reason: Option<Reason>,
    /// The number of its turn.
    pub seq: u32,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last turn was made.
    pub updated_at: Timestamp,
    /// What came of it.
    pub outcome: Option<Outcome>,
    /// What is kept between two turns; `None` once it is over.
    pub progress: Option<Progress>,
}

/// What came of an encoding: a verified inlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The inlay.
    pub inlay_id: Option<InlayId>,
    /// The counter of that read.
    pub counter: u32,
    /// The chip, as it says itself: a `TagTamper` may be encoded as an NTAG 424 DNA.
    #[serde(default)]
    pub technology: Option<Technology>,
    /// The mode that it is in; `None` for a chip without modes.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// One command and its status, for the audit: never data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The name of the command.
    pub name: String,
    /// The status word; `None` if no answer came.
    pub status: Option<u16>,
}

impl State {
    /// Whether the same encoding can go on.
    pub const fn is_open(self) -> bool {
        !matches!(
            self,
            Self::Verified | Self::Rejected | Self::Abandoned | Self::Reset
        )
    }
}

/// The words of states and reasons are the same in storage and in the API.
pub fn word<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The way back.
pub fn of_word<T: for<'de> Deserialize<'de>>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}
