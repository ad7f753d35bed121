//! An interaction: one tap of a physical tag, and its result.

mod history;
mod reason;
mod view;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use history::{
    Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, TagName, UpdateFault,
};
pub use reason::{CounterMove, Reason, VerificationState};
pub(crate) use view::InteractionView;

use crate::clock::Timestamp;
use crate::id::{ExperienceId, InlayId, InteractionId, TagId, UrlTemplateId};
use crate::inlay::Uid;
use crate::inlay::assessment::Tamper;
use crate::rolling_key::KeyHash;
use crate::tag::PropertyKey;

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

/// How the visitor came (macros `interaction:tech:value` and `:name`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Tech {
    /// An NFC inlay.
    #[serde(rename = "n")]
    Nfc,
    /// A printed QR code.
    #[serde(rename = "q")]
    Qr,
    /// The bare URL.
    #[serde(rename = "u")]
    Url,
}

impl Tech {
    /// The short value, which is also what is stored.
    pub const fn value(self) -> &'static str {
        match self {
            Self::Nfc => "n",
            Self::Qr => "q",
            Self::Url => "u",
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nfc => "NFC",
            Self::Qr => "QR-Code",
            Self::Url => "URL",
        }
    }

    /// The technology with the short value `text`.
    pub fn from_value(text: &str) -> Option<Self> {
        [Self::Nfc, Self::Qr, Self::Url]
            .into_iter()
            .find(|tech| tech.value() == text)
    }
}

/// A client as far as it is kept: an HMAC of address and user agent, from which neither follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientId(pub [u8; 16]);

/// Whether a client interacted with a tag before (payload `device.r` and `device.rd`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returning {
    /// In the last 30 days.
    pub month: bool,
    /// In the last 24 hours.
    pub day: bool,
}

impl Returning {
    /// For a client whose last interaction with the tag was at `last`.
    pub fn since(last: Option<Timestamp>, now: Timestamp) -> Self {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let within = |days: i64| last.is_some_and(|last| now.millis_since(last) < days * DAY);
        Self {
            month: within(30),
            day: within(1),
        }
    }
}

/// The published version of an experience a tap led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRef {
    /// The experience.
    pub experience_id: ExperienceId,
    /// The version, from 1.
    pub version: u32,
}

/// What is known of a code before the storage has looked at its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The verdict does not depend on the counter, and no inlay is known to have made the code.
    Decided(Verdict),
    /// The same, of a code of this inlay.
    Known {
        /// The inlay.
        inlay_id: InlayId,
        /// The verdict.
        verdict: Verdict,
    },
    /// A code of this inlay: its counter decides.
    Counter {
        /// The inlay that made it.
        inlay_id: InlayId,
        /// The version of the keys it verified with.
        key_version: u32,
        /// Its counter.
        counter: u32,
        /// How the counter decides.
        rule: CounterRule,
    },
}

impl Claim {
    /// The inlay that made the code, if it is known.
    pub const fn inlay_id(&self) -> Option<InlayId> {
        match self {
            Self::Decided(_) => None,
            Self::Known { inlay_id, .. } | Self::Counter { inlay_id, .. } => Some(*inlay_id),
        }
    }

    /// The verdict, if the counter does not decide it.
    pub const fn decided(&self) -> Option<Verdict> {
        match self {
            Self::Decided(verdict) | Self::Known { verdict, .. } => Some(*verdict),
            Self::Counter { .. } => None,
        }
    }
}

/// How a counter decides about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterRule {
    /// The code is authentic: its tap is verified if the counter rose.
    Proof,
    /// Anyone can write it: nothing is verified, and the counter may rise by so much a day.
    Mirror,
    /// The code is authentic, and its inlay blocked: nothing is verified, and the code is spent,
    /// so that it does not verify once the inlay is unblocked.
    Blocked,
}

/// A tap as it is handed to storage, which decides time, counter and verdict.
#[derive(Clone, Debug)]
pub struct NewInteraction {
    /// The tag; `None` if the inlay that made the code is on none.
    pub tag_id: Option<TagId>,
    /// The code's claim.
    pub claim: Claim,
    /// How the visitor came.
    pub tech: Tech,
    /// Where the tap led.
    pub experience: Option<VersionRef>,
    /// The state of the inlay's tamper loop; `None` if it has none.
    pub tamper: Option<Tamper>,
    /// The decrypted file data of an authentic code.
    pub file_data: Option<Vec<u8>>,
    /// The hash of the key that the answer will contain; `None` issues none.
    pub key: Option<NewKey>,
    /// The client.
    pub client: ClientId,
    /// Two-letter country code, as configured or found.
    pub country: String,
    /// Whether the tag is simulated.
    pub simulated: bool,
    /// Offset of simulated time, in milliseconds; 0 for what is not simulated.
    pub time_offset: i64,
    /// The URL template that had no real tap before, as far as is known: the first one is noted
    /// with it.
    pub first_at_template: Option<UrlTemplateId>,
}

/// A key to be stored with its interaction.
#[derive(Clone, Copy, Debug)]
pub struct NewKey {
    /// Its hash.
    pub hash: KeyHash,
    /// A digest of the tap's URL, to know the same URL again on a reload.
    pub url_digest: [u8; 8],
}

/// What storage decided about a tap, committed.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// The interaction.
    pub id: InteractionId,
    /// Its time.
    pub at: Timestamp,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the client came before.
    pub returning: Returning,
}

/// An interaction as the payload and a repeated answer need it.
#[derive(Clone, Debug)]
pub struct KeyedInteraction {
    /// The interaction.
    pub id: InteractionId,
    /// Its time.
    pub at: Timestamp,
    /// The tag.
    pub tag_id: TagId,
    /// The inlay that made an authentic code.
    pub inlay_id: Option<InlayId>,
    /// The verdict.
    pub verdict: Verdict,
    /// How the visitor came.
    pub tech: Tech,
    /// Where the tap led.
    pub experience: Option<VersionRef>,
    /// Country code.
    pub country: String,
    /// Whether the client came before.
    pub returning: Returning,
    /// The state of the inlay's tamper loop.
    pub tamper: Option<Tamper>,
    /// Whether it is simulated.
    pub simulated: bool,
    /// The digest of the tap's URL.
    pub url_digest: [u8; 8],
    /// The present when it was read, in the time of its world: its key lives by it.
    pub read_at: Timestamp,
}

/// A variable's change by an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// The variable.
    pub key: PropertyKey,
    /// Its value before.
    pub old: String,
    /// Its value since.
    pub new: String,
}
