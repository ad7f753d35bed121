//! Whether a tap is verified, and why not.

use super::{CounterMove, Reason};
use inlay::Uid;

/// The outcome of verification. It has three states (decisions, "What sets `tag_verified`?").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// `tag_verified: true`. The code is authentic and its counter is higher
    /// than any accepted before.
    Verified {
        /// The code's read counter.
        counter: u32,
        /// The highest counter accepted before it; 0 if there was none.
        previous: u32,
    },
    /// `tag_verified: false`, with the reason.
    NotVerified(Refusal),
    /// `tag_verified: null`, with the reason.
    NotChecked(Unchecked),
}

/// Why a tap is not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The tag's inlay makes codes, but the URL has none.
    NoCode,
    /// `uid` or `token` is missing, repeated, or does not have the shape of a code.
    Malformed,
    /// The code names no inlay of this tag, in clear or encrypted.
    UnknownInlay {
        /// The UID that it names, if it names one in clear.
        uid: Option<Uid>,
    },
    /// The MAC was not made with the inlay's key.
    WrongMac {
        /// The counter that the code claims; `None` if it has no counter.
        counter: Option<u32>,
    },
    /// The chip's counter is switched off, so its codes are always the same.
    CounterOff,
    /// There were too many wrong codes for the chip, so its codes are not checked for a while.
    Guessed,
    /// The owner blocked the inlay, because it was lost or cloned.
    Blocked {
        /// The counter that the code proves; `None` if it proves no counter.
        counter: Option<u32>,
    },
    /// The counter was accepted before.
    Replayed {
        /// Read counter of the code.
        counter: u32,
        /// The highest one accepted.
        last: u32,
    },
    /// A code with a higher counter was accepted earlier.
    OutOfOrder {
        /// Read counter of the code.
        counter: u32,
        /// The highest one accepted.
        last: u32,
    },
    /// The inlay's keys were replaced between reading and recording the code.
    KeysReplaced {
        /// The counter that the code claims.
        counter: u32,
    },
}

/// Why a tap was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// The tag's verifier is off.
    VerifierOff,
    /// The visitor used a QR code or a static URL, which contain no code.
    NoCode,
    /// The code is authentic, but always the same: the inlay mirrors no counter.
    SameCode,
    /// The chip makes no MAC: anyone can write the next number.
    NoMac {
        /// The counter that the URL shows, if it has one.
        counter: Option<u32>,
        /// The highest counter shown before it, if the inlay is known.
        last: Option<u32>,
    },
    /// The chip makes no MAC, and the URL shows the UID of a chip that is not an inlay of the tag.
    OtherUid {
        /// The UID that the URL shows.
        uid: Uid,
    },
    /// The chip makes no MAC, and its counter rose by more than is allowed in a day. The stored
    /// counter stays.
    Jumped {
        /// The counter that the URL shows.
        counter: u32,
        /// Stored counter, which stays.
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

    /// Reason for the verdict.
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
            Self::NotChecked(Unchecked::OtherUid { .. }) => Reason::OtherUid,
            Self::NotChecked(Unchecked::Jumped { .. }) => Reason::Jumped,
        }
    }

    /// The UID in clear that names no inlay of the tag.
    pub const fn other_uid(self) -> Option<Uid> {
        match self {
            Self::NotVerified(Refusal::UnknownInlay { uid }) => uid,
            Self::NotChecked(Unchecked::OtherUid { uid }) => Some(uid),
            _ => None,
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

    /// How the counter in the URL moved; `None` if there is none, or if it is not known to be the
    /// inlay's.
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

    /// The code's counter, and the highest one accepted before it.
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

    /// The verdict from its stored reason, counters and UID; `None` if they do not form a verdict.
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
            Reason::OtherUid => return Some(Self::NotChecked(Unchecked::OtherUid { uid: uid? })),
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
