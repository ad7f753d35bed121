//! How far a move has come.

use serde::{Deserialize, Serialize};

use super::value::Key;
use crate::clock::Timestamp;

/// The row of `settings` that holds the mark. It is none of the settings, and is not moved.
pub(in crate::storage) const NAME: &str = "move";

/// How far a move has come, as it is kept in the database it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// A digest of what no other database has in common with the source.
    pub source: String,
    /// The source's last interaction when the move began.
    pub last_interaction: i64,
    /// What is done.
    pub progress: Progress,
}

/// What is done of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// All rows of the tables before `table`, and those of `table` up to `after`.
    Copying {
        /// The table's name.
        table: String,
        /// The last row; `None` for none yet.
        after: Option<Key>,
    },
    /// All rows; they are yet to be compared.
    Comparing,
    /// Everything: it can be served since then.
    Complete(Timestamp),
    /// Everything in this database went elsewhere: it is served no more.
    Left {
        /// Where to.
        to: String,
        /// When.
        at: Timestamp,
    },
}

impl Mark {
    /// Whether it is of a move that leads to the database it is in.
    pub(in crate::storage) fn leads_here(&self) -> bool {
        !matches!(self.progress, Progress::Left { .. })
    }

    /// Reads what [`Self::to_json`] wrote.
    pub(in crate::storage) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The text that is kept.
    pub(in crate::storage) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("it has no keys but names")
    }
}

/// Whether the text of a mark is that of a move to here which is not finished. One
/// that cannot be read is: whoever wrote it knows what is missing.
pub(in crate::storage) fn is_unfinished(json: &str) -> bool {
    !Mark::from_json(json)
        .is_some_and(|mark| matches!(mark.progress, Progress::Complete(_) | Progress::Left { .. }))
}

/// Where everything was moved to, and when, if the text of a mark says so.
pub(in crate::storage) fn left_for(json: &str) -> Option<(String, Timestamp)> {
    match Mark::from_json(json)?.progress {
        Progress::Left { to, at } => Some((to, at)),
        _ => None,
    }
}
