//! The state of an encoding, and its words in the API and in the database.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::id::InlayId;
use domain::tag_url::TagUrlReason;
use inlay::Technology;
use inlay::technology::Mode;

/// The state of an encoding, with exactly the facts that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The encoding can continue. The reason says why it does not continue now.
    Open(Stage, Option<Reason>),
    /// A read of the chip was verified, and the inlay is bound.
    Verified(EncodingOutcome),
    /// The chip is not encoded.
    Rejected(Reason),
    /// The encoding was given up, with the reason that it had then. The keys that the chip may have
    /// are kept.
    Abandoned(Option<Reason>),
    /// The chip is proved to be in its factory state.
    Reset,
}

/// The progress of an encoding that can continue. [`StateWord`] explains each stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the same names are documented")]
pub enum Stage {
    Planned,
    Writing,
    Keyed,
    Sealing,
    Sealed,
    Interrupted,
}

/// The progress of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingState)]
pub enum StateWord {
    /// No command that changes the chip was sent.
    Planned,
    /// A command that changes the chip was sent.
    Writing,
    /// Keys 1 to 4 and the settings are proved; this turn changes key 0.
    Keyed,
    /// The chip accepted the change of key 0, which is not proved yet.
    Sealing,
    /// The new key 0 opened the chip.
    Sealed,
    /// A read of the chip was verified, and the inlay is bound.
    Verified,
    /// The chip is half encoded or untouched: place it on the reader again.
    Interrupted,
    /// The chip is not encoded; `reason` says why.
    Rejected,
    /// The encoding was given up. The keys that the chip may have are kept.
    Abandoned,
    /// The chip is proved to be in its factory state.
    Reset,
}

/// Why a chip is not encoded, or not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingReason)]
pub enum Reason {
    /// This tag cannot be encoded on this kind of chip, or the chip's generations of keys are used
    /// up.
    NotEncodable,
    /// Tapdesk does not know key 0.
    ForeignKey,
    /// Tapdesk does not know one of the keys 1 to 4.
    ForeignSlot,
    /// A key of the chip is locked for good, because wrong keys were tried too often.
    Locked,
    /// The chip delays every authentication: leave it on the reader, or come back later.
    Delayed,
    /// The chip is in LRP mode, for good.
    Lrp,
    /// The chip shows a random UID, for good.
    RandomId,
    /// The chip on the reader is another one.
    UidMismatch,
    /// The URL does not fit into the chip.
    UrlTooLong,
    /// The chip is a finished inlay of a tag, has imported keys, or has no keys and holds another
    /// message.
    AlreadyEncoded,
    /// The tag already has an inlay.
    TagHasInlay,
    /// The chip belongs to another run.
    InOtherRun,
    /// The chip, or its settings, cannot be written any more.
    ReadOnly,
    /// The chip has a known UID but not the keys of that chip: it may be an imitation.
    NotGenuine,
    /// The reader does not pass on the chip's own commands, which a write password needs.
    NotPassedOn,
}

/// The result of an encoding: a verified inlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodingOutcome {
    /// Inlay of the chip; `None` until it is stored.
    pub inlay_id: Option<InlayId>,
    /// The counter of the read that proved the tap.
    pub counter: u32,
    /// The chip as it identifies itself: a `TagTamper` may be encoded as an NTAG 424 DNA.
    #[serde(default)]
    pub technology: Option<Technology>,
    /// The chip's mode; `None` for a chip without modes.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// Whether the chip's address could be opened; `None` if it was not tried.
    #[serde(default)]
    pub address: Option<OpenedAddress>,
}

/// The result of opening the address in a chip's URL, once the chip is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedAddress {
    /// Whether this service answered.
    pub opened: bool,
    /// Why it did not answer.
    pub reason: Option<TagUrlReason>,
}

impl State {
    /// The state before the first command.
    pub const PLANNED: Self = Self::Open(Stage::Planned, None);

    /// Whether the same encoding can continue.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open(..))
    }

    /// Whether the chip's tap was verified.
    pub const fn is_verified(&self) -> bool {
        matches!(self, Self::Verified(_))
    }

    /// The word of the state in the API and in the database.
    pub const fn word(&self) -> StateWord {
        match self {
            Self::Open(stage, _) => stage.word(),
            Self::Verified(_) => StateWord::Verified,
            Self::Rejected(_) => StateWord::Rejected,
            Self::Abandoned(_) => StateWord::Abandoned,
            Self::Reset => StateWord::Reset,
        }
    }

    /// Why the chip is not encoded, or not now; `None` if nothing prevents it.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Open(_, reason) | Self::Abandoned(reason) => *reason,
            Self::Rejected(reason) => Some(*reason),
            Self::Verified(_) | Self::Reset => None,
        }
    }

    /// The verified inlay; `None` unless the encoding is verified.
    pub const fn outcome(&self) -> Option<&EncodingOutcome> {
        match self {
            Self::Verified(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// The state that is stored as a word, a reason and an outcome; `None` if they do not belong
    /// together.
    pub fn of_parts(
        word: StateWord,
        reason: Option<Reason>,
        outcome: Option<EncodingOutcome>,
    ) -> Option<Self> {
        match (word, reason, outcome) {
            (StateWord::Verified, None, Some(outcome)) => Some(Self::Verified(outcome)),
            (StateWord::Rejected, Some(reason), None) => Some(Self::Rejected(reason)),
            (StateWord::Abandoned, reason, None) => Some(Self::Abandoned(reason)),
            (StateWord::Reset, None, None) => Some(Self::Reset),
            (word, reason, None) => Some(Self::Open(Stage::of_word(word)?, reason)),
            _ => None,
        }
    }

    /// Gives the encoding up. One that is over stays as it ended.
    #[must_use]
    pub fn abandon(self) -> Self {
        match self {
            Self::Open(_, reason) => Self::Abandoned(reason),
            over => over,
        }
    }

    /// Rejects the chip, even if it was verified in the same turn. An encoding that ended otherwise
    /// stays as it ended.
    #[must_use]
    pub fn reject(self, reason: Reason) -> Self {
        match self {
            Self::Open(..) | Self::Verified(_) => Self::Rejected(reason),
            over => over,
        }
    }

    /// Adds the stored inlay of a verified chip.
    #[must_use]
    pub fn bind(self, inlay: InlayId) -> Self {
        self.with(|outcome| outcome.inlay_id = Some(inlay))
    }

    /// Adds whether the address of a verified chip could be opened.
    #[must_use]
    pub fn open_address(self, address: OpenedAddress) -> Self {
        self.with(|outcome| outcome.address = Some(address))
    }

    /// Changes the outcome, if there is one.
    fn with(mut self, change: impl FnOnce(&mut EncodingOutcome)) -> Self {
        if let Self::Verified(outcome) = &mut self {
            change(outcome);
        }
        self
    }
}

impl Stage {
    const fn word(self) -> StateWord {
        match self {
            Self::Planned => StateWord::Planned,
            Self::Writing => StateWord::Writing,
            Self::Keyed => StateWord::Keyed,
            Self::Sealing => StateWord::Sealing,
            Self::Sealed => StateWord::Sealed,
            Self::Interrupted => StateWord::Interrupted,
        }
    }

    /// The stage of a word; `None` for a word of an encoding that is over.
    const fn of_word(word: StateWord) -> Option<Self> {
        match word {
            StateWord::Planned => Some(Self::Planned),
            StateWord::Writing => Some(Self::Writing),
            StateWord::Keyed => Some(Self::Keyed),
            StateWord::Sealing => Some(Self::Sealing),
            StateWord::Sealed => Some(Self::Sealed),
            StateWord::Interrupted => Some(Self::Interrupted),
            StateWord::Verified | StateWord::Rejected | StateWord::Abandoned | StateWord::Reset => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [StateWord; 10] = [
        StateWord::Planned,
        StateWord::Writing,
        StateWord::Keyed,
        StateWord::Sealing,
        StateWord::Sealed,
        StateWord::Verified,
        StateWord::Interrupted,
        StateWord::Rejected,
        StateWord::Abandoned,
        StateWord::Reset,
    ];

    fn outcome() -> EncodingOutcome {
        EncodingOutcome {
            inlay_id: None,
            counter: 7,
            technology: None,
            mode: None,
            address: None,
        }
    }

    /// Every word with and without a reason and an outcome.
    #[test]
    fn a_state_is_made_of_its_own_parts_and_of_no_others() {
        let mut made = 0;
        for word in WORDS {
            for reason in [None, Some(Reason::Locked)] {
                for outcome in [None, Some(outcome())] {
                    let Some(state) = State::of_parts(word, reason, outcome.clone()) else {
                        continue;
                    };
                    made += 1;
                    let parts = (state.word(), state.reason(), state.outcome());
                    assert_eq!(parts, (word, reason, outcome.as_ref()));
                }
            }
        }
        // Six stages and "abandoned" with or without a reason; the other three in one form each.
        assert_eq!(made, 2 * 7 + 3);
        for (word, reason) in [
            (StateWord::Rejected, None),
            (StateWord::Verified, None),
            (StateWord::Reset, Some(Reason::Locked)),
        ] {
            assert_eq!(State::of_parts(word, reason, None), None, "{word:?}");
        }
    }

    #[test]
    fn an_encoding_that_is_over_stays_as_it_ended() {
        let waiting = State::Open(Stage::Interrupted, Some(Reason::UidMismatch));
        assert_eq!(
            waiting.abandon(),
            State::Abandoned(Some(Reason::UidMismatch))
        );
        let verified = State::Verified(outcome());
        assert_eq!(verified.clone().abandon(), verified);
        assert_eq!(
            verified.reject(Reason::TagHasInlay),
            State::Rejected(Reason::TagHasInlay)
        );
        for over in [
            State::Rejected(Reason::Lrp),
            State::Abandoned(None),
            State::Reset,
        ] {
            assert!(!over.is_open());
            assert_eq!(over.clone().abandon(), over);
            assert_eq!(over.clone().reject(Reason::Locked), over);
            assert_eq!(over.clone().bind(InlayId::new(1)), over);
        }
    }
}
