//! The next commands of an encoding, as the admin API returns them.

use serde::Deserialize;
use serde_json::Value;
use tapdesk_service::id::EncodingId;

/// A response of the admin API with the next commands.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) id: EncodingId,
    pub(super) seq: u32,
    pub(super) state: String,
    /// The commands to send. Empty when the encoding has ended.
    #[serde(default)]
    pub(super) commands: Vec<Command>,
    #[serde(default)]
    pub(super) step: Step,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) result: Option<Value>,
}

/// Progress of an encoding in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingStep"))]
pub struct Step {
    /// The number of completed steps.
    pub at: u32,
    /// The number of all steps.
    pub of: u32,
}

/// A command to the card, or a request to activate it again.
#[derive(Debug, Deserialize)]
pub(super) struct Command {
    #[serde(default)]
    pub(super) apdu: Option<String>,
    /// A command of the chip itself, which the reader passes on.
    #[serde(default)]
    pub(super) native: Option<String>,
    /// The status words that let the encoding continue.
    #[serde(default)]
    pub(super) expect: Vec<String>,
    #[serde(default)]
    pub(super) reset: bool,
    pub(super) name: String,
}

impl Command {
    /// Whether the next command may follow this answer.
    pub(super) fn is_expected(&self, answer: &[u8]) -> bool {
        let Some(status) = self.status(answer) else {
            // The answer to a new activation has no status.
            return true;
        };
        let mut expected = self.expect.iter();
        expected.any(|expected| expected.eq_ignore_ascii_case(&status))
    }

    /// The status word of an answer; `None` for a new activation.
    pub(super) fn status(&self, answer: &[u8]) -> Option<String> {
        let status = answer.last_chunk::<2>().filter(|_| !self.reset)?;
        Some(super::super::apdu::hex(status))
    }
}
