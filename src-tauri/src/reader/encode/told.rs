//! What the page hears of an encoding: `ui/src/lib/shell/types.ts` is made from it.

use serde::Serialize;
use serde_json::Value;

use super::turn::{Command, Step, Turn};

/// Where an encoding stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingProgress"))]
pub struct Told {
    /// The reader's name.
    pub reader: String,
    /// The insertion.
    pub insertion: u64,
    /// The encoding's id at the service.
    pub id: Option<i64>,
    /// Its state, by the service's word.
    #[cfg_attr(test, ts(type = "EncodingState"))]
    pub state: String,
    /// Why it is not encoded, by the service's word.
    #[cfg_attr(test, ts(type = "EncodingReason | null"))]
    pub reason: Option<String>,
    /// Why the service refuses to encode it, in its own words. Another attempt is refused, too.
    pub refusal: Option<String>,
    /// What came of it.
    #[cfg_attr(
        test,
        ts(type = "{ tag_id: number; slug: string; url: string; counter: number } | null")
    )]
    pub result: Option<Value>,
    /// How far it is.
    pub step: Step,
    /// The step that is under way.
    pub doing: Option<String>,
    /// The steps that were made.
    pub log: Vec<Line>,
}

/// A step that was made: its name, its status and its time. Its data are not noted, whatever they
/// are: a session that the factory key opened can be read by whoever sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingLine"))]
pub struct Line {
    /// What it was.
    pub name: String,
    /// The status word; `None` for a new activation, and if no answer came.
    pub status: Option<String>,
    /// How long it took, in microseconds.
    pub micros: u64,
}

impl Told {
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
