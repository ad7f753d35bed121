//! An interaction: one tap of a physical tag, and its result.

mod history;
mod reason;
mod verdict;
mod view;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

pub use history::{
    Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, TagName, UpdateFault,
};
pub use reason::{CounterMove, Reason, VerificationState};
pub use verdict::{Refusal, Unchecked, Verdict};
pub(crate) use view::InteractionView;

use crate::clock::Timestamp;
use crate::id::{ExperienceId, InlayId, InteractionId, TagId, UrlTemplateId};
use crate::inlay::assessment::Tamper;
use crate::rolling_key::KeyHash;
use crate::tag::PropertyKey;
use crate::visitor::OperatingSystem;

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

/// Groups that the visitors of an experience are divided into: a split is told by hundredths.
pub const VISITOR_GROUPS: u8 = 100;

impl ClientId {
    /// The group that this client is in for an experience, from 0: the same at every tap, and in
    /// another experience another one.
    pub fn group(self, experience: ExperienceId) -> u8 {
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(experience.0.to_be_bytes());
        let digest = digest.finalize();
        // Of 2^32 numbers, one in a hundred is in each group, to 1 in 40 million.
        let number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        u8::try_from(number % u32::from(VISITOR_GROUPS)).unwrap_or_default()
    }
}

/// What is kept of a visitor for reports: too coarse to know anybody by. `None` is not said, or
/// erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// The system of the device.
    pub system: Option<OperatingSystem>,
    /// The first part of the best language, as `de`.
    pub language: Option<String>,
    /// See [`ClientId::group`]; `None` if the experience has no groups.
    pub group: Option<u8>,
}

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
    /// What else is kept of the visitor.
    pub traits: Traits,
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
    /// The group that the visitor is in, if the experience treats groups differently.
    pub group: Option<u8>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_stays_in_its_group_and_groups_are_of_one_size() {
        let client = |number: u64| {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&number.to_be_bytes());
            ClientId(id)
        };
        let mut sizes = [0_u32; VISITOR_GROUPS as usize];
        let mut moved = 0;
        for number in 0..20_000 {
            let group = client(number).group(ExperienceId(7));
            assert_eq!(group, client(number).group(ExperienceId(7)));
            sizes[usize::from(group)] += 1;
            moved += u32::from(group != client(number).group(ExperienceId(8)));
        }
        // 200 each, with a standard deviation of 14.
        assert!(
            sizes.iter().all(|size| (120..280).contains(size)),
            "{sizes:?}"
        );
        assert!(
            moved > 19_000,
            "another experience divides them in its own way: {moved}"
        );
    }
}
