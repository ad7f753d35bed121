//! What goes to a relay and comes back.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::{Encoding, Outcome, Reason, State, Target};
use crate::id::{EncodingId, TagId};

/// Most bytes of one answer: a short APDU with its status.
pub const ANSWER_MAX: usize = 258;

/// A command for the chip, or for the reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EncodingCommand)]
pub struct Command {
    /// The bytes to send to the chip, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([0-9A-F]{2})+$")]
    pub apdu: Option<String>,
    /// The statuses with which the relay goes on to the next command; after any other one it stops. A
    /// command to the chip always has some. A new activation has none, for its answer has no status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, min_items = 1)]
    pub expect: Vec<String>,
    /// If true, the reader activates the chip again; the answer is the ATR, and the relay goes on with any.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub reset: bool,
    /// The name of the step, for people.
    pub name: String,
}

impl Command {
    /// A command for the chip.
    pub fn new(name: impl Into<String>, apdu: &[u8], expect: &str) -> Self {
        Self {
            apdu: Some(format!("{:X}", base16ct::HexDisplay(apdu))),
            expect: vec![expect.to_owned()],
            reset: false,
            name: name.into(),
        }
    }

    /// A new activation.
    pub fn reset() -> Self {
        Self {
            apdu: None,
            expect: Vec::new(),
            reset: true,
            name: "New activation".to_owned(),
        }
    }
}

/// How far an encoding is, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EncodingStep)]
pub struct Step {
    /// Steps that are done.
    pub at: u32,
    /// All steps.
    pub of: u32,
}

/// A turn: what the relay does next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingTurn)]
pub struct Turn {
    /// The encoding.
    pub id: EncodingId,
    /// The number of the turn, by which it is answered.
    pub seq: u32,
    /// How far the encoding is.
    pub state: State,
    /// The commands, in their order. None: this insertion is over.
    pub commands: Vec<Command>,
    /// How far it is, in steps.
    pub step: Step,
    /// Why the chip is not encoded, or not now.
    pub reason: Option<Reason>,
    /// What came of it, once it is verified.
    pub result: Option<Finished>,
}

/// A finished encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingResult)]
pub struct Finished {
    /// The tag.
    pub tag_id: TagId,
    /// Its slug.
    pub slug: String,
    /// The one-time URL of the read that proved it.
    pub url: String,
    /// The counter of that read.
    pub counter: u32,
}

/// What a relay answers to a turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EncodingAnswers)]
pub struct Answers {
    /// The number of the turn.
    pub seq: u32,
    /// The answers in the order of the commands, in hexadecimal, up to the first unexpected one. If there are
    /// fewer answers than commands, the next command may have been executed.
    #[schema(max_items = 512)]
    pub answers: Vec<Bytes>,
    /// What kept the relay from going on.
    #[serde(default)]
    pub fault: Option<Fault>,
}

/// What kept a relay from going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingFault)]
pub enum Fault {
    /// The chip was taken away.
    Removed,
    /// The chip or the reader did not answer in time.
    Timeout,
}

/// An answer in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bytes({})", self.0.len())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let error = || serde::de::Error::custom("an answer is 1 to 258 bytes in hexadecimal");
        let text = String::deserialize(deserializer).map_err(|_| error())?;
        let bytes = base16ct::mixed::decode_vec(text).map_err(|_| error())?;
        if (1..=ANSWER_MAX).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(error())
        }
    }
}

crate::inlay::text::text_schema!(Bytes, "^([0-9A-Fa-f]{2}){1,258}$");

impl Answers {
    /// By what the same answers are known again. It stands in no list and no log.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update([self.fault.map_or(0, |fault| 1 + fault as u8)]);
        for Bytes(answer) in &self.answers {
            digest.update((answer.len() as u64).to_le_bytes());
            digest.update(answer);
        }
        digest.finalize().into()
    }

    /// An answer, if it came.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.answers.get(index).map(|Bytes(bytes)| bytes.as_slice())
    }
}

impl Encoding {
    /// Its present turn.
    pub fn turn(&self) -> Turn {
        let slug = self.form.as_ref().map(|form| form.slug.clone());
        let result = match (self.target, &self.outcome) {
            (Target::Tag(tag_id), Some(Outcome { counter, .. })) => Some(Finished {
                tag_id,
                slug: slug.unwrap_or_default(),
                url: self
                    .progress
                    .as_ref()
                    .and_then(|of| of.url.clone())
                    .unwrap_or_default(),
                counter: *counter,
            }),
            _ => None,
        };
        let commands = self.progress.as_ref().map(|progress| &progress.commands);
        Turn {
            id: self.id,
            seq: self.seq,
            state: self.state,
            commands: commands.cloned().unwrap_or_default(),
            step: super::machine::step(self),
            reason: self.reason,
            result,
        }
    }
}
