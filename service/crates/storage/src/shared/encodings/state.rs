//! The columns of an encoding's state: `state`, `reason`, `outcome`.

use crate::StorageError;
use crate::value::{Row, Value, unreadable};
use encoding::{State, of_word, word};

/// The condition for encodings that are still open.
pub(in crate::shared) const OPEN: &str =
    "state NOT IN ('verified', 'rejected', 'abandoned', 'reset')";
/// Cancels an open encoding, which keeps its reason. The higher `seq` shows a client in the middle
/// of it that another turn was stored. Its progress stays, because the next encoding of the chip has
/// to know some of it.
pub(in crate::shared) const ABANDONED: &str = "state = 'abandoned', seq = seq + 1";

/// Takes the three columns, in this order.
pub(in crate::shared) fn read(row: &mut Row) -> Result<State, StorageError> {
    let state = row.text("state", of_word)?;
    let reason = row.optional_text("reason", of_word)?;
    let outcome = row.optional_text("outcome", |json| serde_json::from_str(json).ok())?;
    State::of_parts(state, reason, outcome).ok_or_else(|| unreadable("state of an encoding"))
}

/// The values of the three columns, in this order.
pub(super) fn columns(state: &State) -> Result<[Value<'static>; 3], StorageError> {
    let outcome = state.outcome().map(serde_json::to_string).transpose();
    let outcome = outcome.map_err(|_| unreadable("outcome"))?;
    Ok([
        word(state.word()).into(),
        state.reason().map(word).into(),
        outcome.into(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding::{Reason, Stage};

    /// The conditions in SQL name the same words as the type.
    #[test]
    fn only_an_open_state_can_be_cancelled() {
        for state in [
            State::PLANNED,
            State::Open(Stage::Interrupted, None),
            State::Rejected(Reason::Locked),
            State::Abandoned(None),
            State::Reset,
        ] {
            let is_named = OPEN.contains(&format!("'{}'", word(state.word())));
            assert_eq!(is_named, !state.is_open(), "{state:?}");
        }
    }
}
