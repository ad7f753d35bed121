//! Whether a tap is verified, and why not.

use super::{CounterMove, Reason};
use crate::inlay::Uid;

/// The outcome of verification: three states, never two (decisions, "What sets
/// `tag_verified`?").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// `tag_verified: true`. The code is authentic and its counter is higher
    /// than any accepted before.
    Verified {
        /// The code's read counter.
        counter: u32,
        /// The highest one accepted before it; 0 for none.
        previous: u32,
    },
    /// `tag_verified: false`.
    NotVerified(Refusal),
    /// `tag_verified: null`.
    NotChecked(Unchecked),
}

/// Why a tap is not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The tag's inlay makes codes, and none came.
    NoCode,
    /// `uid` or `token` is missing, repeated, or not of its shape.
    Malformed,
    /// The code names, or decrypts to, no inlay of this tag.
    UnknownInlay {
        /// The UID it names, if it does in clear.
        uid: Option<Uid>,
    },
    /// The MAC is not the inlay's.
    WrongMac {
        /// The counter the code claims; `None` if it has none.
        counter: Option<u32>,
    },
    /// The chip's counter is switched off, so its codes are always the same.
    CounterOff,
    /// Too many wrong codes came for the chip, so its codes are not checked for a while.
    Guessed,
    /// The owner blocked the inlay: it was lost, or cloned.
    Blocked {
        /// The counter that the code proves; `None` if it proves none.
        counter: Option<u32>,
    },
    /// The counter was accepted before.
    Replayed {
        /// The code's counter.
        counter: u32,
        /// The highest one accepted.
        last: u32,
    },
    /// A higher counter was accepted before this code came.
    OutOfOrder {
        /// The code's counter.
        counter: u32,
        /// The highest one accepted.
        last: u32,
    },
    /// The inlay's keys were replaced between reading and recording the code.
    KeysReplaced {
        /// The counter the code claims.
        counter: u32,
    },
}

/// Why a tap was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// The tag's verifier is off.
    VerifierOff,
    /// The visitor came by a QR code or a static URL, which contain no code.
    NoCode,
    /// The code is authentic, but always the same: the inlay mirrors no counter.
    SameCode,
    /// The chip makes no MAC: anyone can write the next number.
    NoMac {
        /// The counter that the URL shows, if it has one.
        counter: Option<u32>,
        /// The highest one shown before it, if the inlay is known.
        last: Option<u32>,
    },
    /// The chip makes no MAC, and its counter rose by more than it may in a day: the stored one
    /// stays.
    Jumped {
        /// The counter that the URL shows.
        counter: u32,
        /// The stored one.
        last: u32,
    },
}

impl Verdict {
    /// The value of `tag_verified` (specification 2.2).
    pub const fn tag_verified(self) -> Option<bool> {
        match self {
            Self::Verified { .. } => Some(true),
            Self::NotVerified(_) => Some(false),
            Self::NotChecked(_) => None,
        }
    }

    /// Why.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Verified { .. } => Reason::Verified,
            Self::NotVerified(Refusal::NoCode) => Reason::NoCode,
            Self::NotVerified(Refusal::Malformed) => Reason::Malformed,
            Self::NotVerified(Refusal::UnknownInlay { .. }) => Reason::UnknownInlay,
            Self::NotVerified(Refusal::WrongMac { .. }) => Reason::WrongMac,
            Self::NotVerified(Refusal::CounterOff) => Reason::CounterOff,
            Self::NotVerified(Refusal::Guessed) => Reason::Guessed,
            Self::NotVerified(Refusal::Blocked { .. }) => Reason::Blocked,
            Self::NotVerified(Refusal::Replayed { .. }) => Reason::Replayed,
            Self::NotVerified(Refusal::OutOfOrder { .. }) => Reason::OutOfOrder,
            Self::NotVerified(Refusal::KeysReplaced { .. }) => Reason::KeysReplaced,
            Self::NotChecked(Unchecked::VerifierOff) => Reason::VerifierOff,
            Self::NotChecked(Unchecked::NoCode) => Reason::Static,
            Self::NotChecked(Unchecked::SameCode) => Reason::SameCode,
            Self::NotChecked(Unchecked::NoMac { .. }) => Reason::NoMac,
            Self::NotChecked(Unchecked::Jumped { .. }) => Reason::Jumped,
        }
    }

    /// How many reads of the inlay before an accepted one never reached the service.
    pub const fn missed_reads(self) -> u32 {
        match self {
            Self::Verified { counter, previous } => {
                counter.saturating_sub(previous).saturating_sub(1)
            }
            Self::NotVerified(_) | Self::NotChecked(_) => 0,
        }
    }

    /// What the counter did that the URL shows; `None` if it shows none, or one that is not
    /// the inlay's.
    pub const fn counter_move(self) -> Option<CounterMove> {
        match self {
            Self::NotVerified(Refusal::Replayed { .. } | Refusal::OutOfOrder { .. }) => {
                Some(CounterMove::Repeated)
            }
            Self::NotChecked(Unchecked::NoMac {
                counter: Some(counter),
                last: Some(last),
            }) if counter <= last => Some(CounterMove::Repeated),
            Self::Verified { .. }
            | Self::NotChecked(Unchecked::NoMac {
                counter: Some(_),
                last: Some(_),
            }) => Some(CounterMove::Rose),
            Self::NotChecked(Unchecked::Jumped { .. }) => Some(CounterMove::Jumped),
            Self::NotVerified(_) | Self::NotChecked(_) => None,
        }
    }

    /// The counters the verdict speaks of: the code's, and the highest accepted before it.
    pub const fn counters(self) -> (Option<u32>, Option<u32>) {
        match self {
            Self::Verified { counter, previous } => (Some(counter), Some(previous)),
            Self::NotVerified(
                Refusal::Replayed { counter, last } | Refusal::OutOfOrder { counter, last },
            )
            | Self::NotChecked(Unchecked::Jumped { counter, last }) => (Some(counter), Some(last)),
            Self::NotVerified(Refusal::KeysReplaced { counter }) => (Some(counter), None),
            Self::NotVerified(Refusal::WrongMac { counter } | Refusal::Blocked { counter }) => {
                (counter, None)
            }
            Self::NotChecked(Unchecked::NoMac { counter, last }) => (counter, last),
            Self::NotVerified(_) | Self::NotChecked(_) => (None, None),
        }
    }

    /// The verdict that storage kept as its reason, counters and presented
    /// UID; `None` if they are no verdict's.
    pub fn from_parts(
        reason: Reason,
        counter: Option<u32>,
        last: Option<u32>,
        uid: Option<Uid>,
    ) -> Option<Self> {
        let refusal = match reason {
            Reason::Verified => {
                let (counter, previous) = counter.zip(last)?;
                return Some(Self::Verified { counter, previous });
            }
            Reason::VerifierOff => return Some(Self::NotChecked(Unchecked::VerifierOff)),
            Reason::Static => return Some(Self::NotChecked(Unchecked::NoCode)),
            Reason::SameCode => return Some(Self::NotChecked(Unchecked::SameCode)),
            Reason::NoMac => return Some(Self::NotChecked(Unchecked::NoMac { counter, last })),
            Reason::Jumped => {
                let (counter, last) = counter.zip(last)?;
                return Some(Self::NotChecked(Unchecked::Jumped { counter, last }));
            }
            Reason::CounterOff => Refusal::CounterOff,
            Reason::Guessed => Refusal::Guessed,
            Reason::Blocked => Refusal::Blocked { counter },
            Reason::NoCode => Refusal::NoCode,
            Reason::Malformed => Refusal::Malformed,
            Reason::UnknownInlay => Refusal::UnknownInlay { uid },
            Reason::WrongMac => Refusal::WrongMac { counter },
            Reason::Replayed => {
                let (counter, last) = counter.zip(last)?;
                Refusal::Replayed { counter, last }
            }
            Reason::OutOfOrder => {
                let (counter, last) = counter.zip(last)?;
                Refusal::OutOfOrder { counter, last }
            }
            Reason::KeysReplaced => Refusal::KeysReplaced { counter: counter? },
        };
        Some(Self::NotVerified(refusal))
    }
}
