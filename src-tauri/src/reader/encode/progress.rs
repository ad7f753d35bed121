//! Progress of an encoding for the page; `ui/src/lib/shell/types.ts` is generated from these types.

use serde::Serialize;
use serde_json::Value;
use tapdesk_service::id::EncodingId;

use super::turn::{Command, Step, Turn};

/// Progress of an encoding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingProgress"))]
pub struct Progress {
    /// The name of the reader.
    pub reader: String,
    /// The number of the insertion that is encoded.
    pub insertion: u64,
    /// The encoding's id at the service; none until it has begun.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub id: Option<EncodingId>,
    /// The encoding's state, by the admin API's name.
    #[cfg_attr(test, ts(type = "EncodingState"))]
    pub state: String,
    /// The reason why the inlay is not encoded, by the admin API's name.
    #[cfg_attr(test, ts(type = "EncodingReason | null"))]
    pub reason: Option<String>,
    /// The service's explanation of a refusal. Another attempt would be refused, too.
    pub refusal: Option<String>,
    /// The result of an encoding that succeeded.
    #[cfg_attr(
        test,
        ts(type = "{ tag_id: number; slug: string; url: string; counter: number } | null")
    )]
    pub result: Option<Value>,
    /// The number of steps so far.
    pub step: Step,
    /// The name of the step in progress.
    pub doing: Option<String>,
    /// The completed steps, oldest first.
    pub log: Vec<Line>,
}

/// A completed step: its name, its status and its time. The data is never logged, because it
/// reveals all keys of a session that the factory key opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingLine"))]
pub struct Line {
    /// The name of the step.
    pub name: String,
    /// The status word; `None` for a new activation, and if no answer came.
    pub status: Option<String>,
    /// The duration, in microseconds.
    pub micros: u64,
}

impl Progress {
    pub(super) fn new(reader: String, insertion: u64) -> Self {
        Self {
            reader,
            insertion,
            id: None,
            state: "planned".to_owned(),
            reason: None,
            refusal: None,
            result: None,
            step: Step::default(),
            doing: None,
            log: Vec::new(),
        }
    }

    pub(super) fn at(&mut self, turn: &Turn) {
        self.id = Some(turn.id);
        self.state.clone_from(&turn.state);
        self.reason.clone_from(&turn.reason);
        self.result.clone_from(&turn.result);
        self.step = turn.step;
        self.doing = None;
    }

    pub(super) fn is_refused(&mut self, why: String) {
        self.refusal = Some(why);
        self.doing = None;
    }

    pub(super) fn begins(&mut self, name: &str) {
        self.doing = Some(name.to_owned());
    }

    pub(super) fn noted(&mut self, command: &Command, answer: Option<&[u8]>, micros: u64) {
        self.log.push(Line {
            name: command.name.clone(),
            status: answer.and_then(|answer| command.status(answer)),
            micros,
        });
    }
}
