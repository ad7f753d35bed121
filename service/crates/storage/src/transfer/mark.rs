//! The progress of a move, as stored in the databases.

use serde::{Deserialize, Serialize};

use super::value::Key;
use domain::clock::Timestamp;

/// The row of `settings` with the mark. It is not a setting, and is not moved.
pub(crate) const NAME: &str = "move";

/// The progress of a move, as stored in its destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// A digest of data that no other database shares with the source.
    pub source: String,
    /// The source's last interaction when the move began.
    pub last_interaction: i64,
    /// The parts of the move that are complete.
    pub progress: Progress,
}

/// The stages of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Complete: all rows of the tables before `table`, and those of `table` up to `after`.
    Copying {
        /// The name of the table that is being copied.
        table: String,
        /// The key of the last copied row; `None` if none was copied yet.
        after: Option<Key>,
    },
    /// All rows are copied, but not compared yet.
    Comparing,
    /// The move is complete: the database can be served since this time.
    Complete(Timestamp),
    /// All data of this database was moved to another one: it can no longer be served.
    Left {
        /// The database that now has the data.
        to: String,
        /// When the move was completed.
        at: Timestamp,
    },
}

impl Mark {
    /// Whether the mark belongs to a move into the database that contains it.
    pub(crate) fn leads_here(&self) -> bool {
        !matches!(self.progress, Progress::Left { .. })
    }

    /// Parses the output of [`Self::to_json`].
    pub(crate) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The text to store.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("it has no keys but names")
    }
}

/// Whether the text of a mark belongs to an unfinished move into its database. An unreadable mark
/// counts as unfinished, because only its writer knows which data is missing.
pub(crate) fn is_unfinished(json: &str) -> bool {
    !Mark::from_json(json)
        .is_some_and(|mark| matches!(mark.progress, Progress::Complete(_) | Progress::Left { .. }))
}

/// The destination and time of a completed move from this database, if the text of a mark says so.
pub(crate) fn left_for(json: &str) -> Option<(String, Timestamp)> {
    match Mark::from_json(json)?.progress {
        Progress::Left { to, at } => Some((to, at)),
        _ => None,
    }
}
