//! Commands to a relay, and its answers.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::{Reason, StateWord};
use domain::id::{EncodingId, TagId};

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
    /// The bytes of a command of the chip itself, in hexadecimal, which the relay passes on in its
    /// reader's frame. The answer is that of the chip and `9000`. If the chip refuses or does not
    /// answer, the relay activates it again, and the answer is `6300`. A relay whose reader passes
    /// no commands on answers `6A81`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([0-9A-F]{2})+$")]
    pub native: Option<String>,
    /// The statuses after which the relay continues with the next command; any other status stops
    /// it. A command to the chip always has at least one. A new activation has none, because its
    /// answer has no status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, min_items = 1)]
    pub expect: Vec<String>,
    /// If true, the reader activates the chip again. The answer is the ATR, and the relay continues
    /// whatever it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub reset: bool,
    /// The name of the step, for display.
    pub name: String,
}

impl Command {
    /// A command for the chip.
    pub fn new(name: impl Into<String>, apdu: &[u8], expect: &str) -> Self {
        Self {
            apdu: Some(format!("{:X}", base16ct::HexDisplay(apdu))),
            native: None,
            expect: vec![expect.to_owned()],
            reset: false,
            name: name.into(),
        }
    }

    /// A command of the chip itself, which the reader passes on.
    pub fn native(name: impl Into<String>, command: &[u8]) -> Self {
        Self {
            apdu: None,
            native: Some(format!("{:X}", base16ct::HexDisplay(command))),
            expect: vec!["9000".to_owned()],
            reset: false,
            name: name.into(),
        }
    }

    /// A new activation of the chip.
    pub fn reset() -> Self {
        Self {
            apdu: None,
            native: None,
            expect: Vec::new(),
            reset: true,
            name: "New activation".to_owned(),
        }
    }
}

/// Progress of an encoding, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EncodingStep)]
pub struct Step {
    /// Number of steps that are done.
    pub at: u32,
    /// Number of all steps.
    pub of: u32,
}

/// A turn: the next action of the relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingTurn)]
pub struct Turn {
    /// Encoding that the turn belongs to.
    pub id: EncodingId,
    /// The number of the turn; the answer repeats it.
    pub seq: u32,
    /// State of the encoding.
    pub state: StateWord,
    /// The commands, in order. If empty, this insertion is over.
    pub commands: Vec<Command>,
    /// Progress, as a number of steps.
    pub step: Step,
    /// Why the chip is not encoded, or not now.
    pub reason: Option<Reason>,
    /// The finished encoding, once it is verified.
    pub result: Option<Finished>,
}

/// The result of a verified encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingResult)]
pub struct Finished {
    /// Tag that the inlay belongs to.
    pub tag_id: TagId,
    /// The tag's slug, as in its tag URL.
    pub slug: String,
    /// The one-time URL of the read that proved it.
    pub url: String,
    /// The counter of that read.
    pub counter: u32,
}

/// A relay's answers to a turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EncodingAnswers)]
pub struct Answers {
    /// The number of the turn.
    pub seq: u32,
    /// The answers in the order of the commands, in hexadecimal, up to the first unexpected one. If
    /// there are fewer answers than commands, the next command may have been executed.
    #[schema(max_items = 512)]
    pub answers: Vec<Bytes>,
    /// Why the relay stopped early.
    #[serde(default)]
    pub fault: Option<Fault>,
}

/// The reasons why a relay stops early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingFault)]
pub enum Fault {
    /// The chip was removed from the reader.
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

domain::schema::text_schema!(Bytes, "^([0-9A-Fa-f]{2}){1,258}$");

impl Answers {
    /// A digest by which repeated answers are recognised. It never appears in a list or a log.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update([self.fault.map_or(0, |fault| 1 + fault as u8)]);
        for Bytes(answer) in &self.answers {
            digest.update((answer.len() as u64).to_le_bytes());
            digest.update(answer);
        }
        digest.finalize().into()
    }

    /// The answer to the command at `index`, if it came.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.answers.get(index).map(|Bytes(bytes)| bytes.as_slice())
    }
}
