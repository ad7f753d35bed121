//! What the service wants next, as the admin API says it.

use serde::Deserialize;
use serde_json::Value;

/// A turn.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) id: i64,
    pub(super) seq: u32,
    pub(super) state: String,
    /// None: it is over.
    #[serde(default)]
    pub(super) commands: Vec<Command>,
    #[serde(default)]
    pub(super) step: Step,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) result: Option<Value>,
}

/// How many steps are done, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingStep"))]
pub struct Step {
    /// Those that are done.
    pub at: u32,
    /// All of them.
    pub of: u32,
}

/// A command to the card, or a new activation of it.
#[derive(Debug, Deserialize)]
pub(super) struct Command {
    #[serde(default)]
    pub(super) apdu: Option<String>,
    /// The statuses with which it goes on.
    #[serde(default)]
    pub(super) expect: Vec<String>,
    #[serde(default)]
    pub(super) reset: bool,
    pub(super) name: String,
}

impl Command {
    /// Whether the next command follows this answer.
    pub(super) fn is_expected(&self, answer: &[u8]) -> bool {
        let Some(status) = self.status(answer) else {
            // The answer to a new activation has no status.
            return true;
        };
        let mut expected = self.expect.iter();
        expected.any(|expected| expected.eq_ignore_ascii_case(&status))
    }

    /// The status of an answer to it.
    pub(super) fn status(&self, answer: &[u8]) -> Option<String> {
        let status = answer.last_chunk::<2>().filter(|_| !self.reset)?;
        Some(super::super::apdu::hex(status))
    }
}
