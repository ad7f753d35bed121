//! An interaction: one tap of a physical tag, and its result.

mod history;
mod origin;
mod reason;
mod staff_note;
mod verdict;
mod view;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

pub use history::{
    Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, TagName, UpdateFault,
};
pub use origin::TapOrigin;
pub use reason::{CounterMove, Reason, VerificationState};
pub use staff_note::{NOTE_MAX, NoteEdit, PhotoEdit, StaffNote, StaffPhoto};
pub use verdict::{Refusal, Unchecked, Verdict};
pub use view::InteractionView;

use crate::clock::{Millis, Timestamp};
use crate::id::{ExperienceId, GroupId, InlayId, InteractionId, TagId, UrlTemplateId};
use crate::rolling_key::KeyHash;
use crate::tag::PropertyKey;
use crate::visitor::OperatingSystem;
use inlay::Uid;
use inlay::assessment::Tamper;

/// The way of scanning a tag (macros `interaction:tech:value` and `:name`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Tech {
    /// By an NFC inlay.
    #[serde(rename = "n")]
    Nfc,
    /// By a printed QR code.
    #[serde(rename = "q")]
    Qr,
    /// By the URL without a code.
    #[serde(rename = "u")]
    Url,
}

impl Tech {
    /// The short value, which is also the stored one.
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

/// The sender of a request: an HMAC of address and user agent, from which neither can be computed.
/// It is only in memory; [`Self::at`] makes the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client(pub [u8; 16]);

/// The stored form of a client, kept for 30 days. The digest differs from tag to tag, so that a
/// visitor cannot be followed from one tag to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientId(pub [u8; 16]);

/// The place at which a client is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownAt {
    /// At a tag, by any of its inlays.
    Tag(TagId),
    /// At an inlay that is on no tag.
    Inlay(InlayId),
    /// At a chip that is no inlay.
    Chip(Uid),
}

/// Number of groups that the visitors of an experience are divided into. A hundred, so that a split
/// can be given in per cent.
pub const VISITOR_GROUPS: u8 = 100;

impl Client {
    /// The same sender as a phone of staff. A visitor with its address and user agent, as behind one
    /// router, is another client, and does not count as one who was here before.
    #[must_use]
    pub fn of_staff(self) -> Self {
        let digest = Sha256::new()
            .chain_update(b"staff")
            .chain_update(self.0)
            .finalize();
        Self(std::array::from_fn(|byte| digest[byte]))
    }

    /// The stored digest of this client at one place.
    pub fn at(self, place: KnownAt) -> ClientId {
        let mut digest = Sha256::new();
        digest.update(self.0);
        let mut place_of = |kind: &[u8], id: &[u8]| {
            digest.update(kind);
            digest.update(id);
        };
        match place {
            KnownAt::Tag(id) => place_of(b"tag", &id.get().to_be_bytes()),
            KnownAt::Inlay(id) => place_of(b"inl", &id.get().to_be_bytes()),
            KnownAt::Chip(uid) => place_of(b"chp", &uid.bytes()),
        }
        let digest = digest.finalize();
        ClientId(std::array::from_fn(|byte| digest[byte]))
    }

    /// The group of this client in an experience, from 0. It is the same at every tap, but differs
    /// between experiences.
    pub fn group(self, experience: ExperienceId) -> u8 {
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(experience.get().to_be_bytes());
        let digest = digest.finalize();
        // 2^32 is not a multiple of 100, but the groups' shares differ by only 1 in 40 million.
        let number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        u8::try_from(number % u32::from(VISITOR_GROUPS)).unwrap_or_default()
    }
}

/// The stored facts about a visitor, for reports. They are too coarse to identify anybody. `None`
/// means unknown or erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// The operating system of the device.
    pub system: Option<OperatingSystem>,
    /// The first part of the best language, as `de`.
    pub language: Option<String>,
    /// The group of [`Client::group`]; `None` if the experience has no groups.
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
    /// The values for a client whose last interaction with the tag was at `last`.
    pub fn since(last: Option<Timestamp>, now: Timestamp) -> Self {
        let within = |days| last.is_some_and(|last| now.since(last) < Millis::days(days));
        Self {
            month: within(30),
            day: within(1),
        }
    }
}

/// The published version of an experience that a tap got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRef {
    /// Experience that was published.
    pub experience_id: ExperienceId,
    /// The version, from 1.
    pub version: u32,
}

/// The claim of a code before storage has checked its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The verdict does not depend on the counter, and no inlay is known to have made the code.
    Decided(Verdict),
    /// The verdict does not depend on the counter, and this inlay made the code.
    Known {
        /// Inlay that made the code.
        inlay_id: InlayId,
        /// Verdict on the tap.
        verdict: Verdict,
    },
    /// This inlay made the code, and the counter decides the verdict.
    Counter {
        /// The inlay that made it.
        inlay_id: InlayId,
        /// The version of the keys it verified with.
        key_version: u32,
        /// Read counter of the code.
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

/// How a counter decides the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterRule {
    /// The code is authentic: its tap is verified if the counter rose.
    Proof,
    /// Anyone can write the code: nothing is verified, and the counter may rise by a limited amount
    /// a day.
    Mirror,
    /// The code is authentic, but its inlay is blocked. Nothing is verified, and the code is used
    /// up, so that it does not verify once the inlay is unblocked.
    Blocked,
}

/// A tap to be recorded. Storage decides its time, counter and verdict.
#[derive(Clone, Debug)]
pub struct NewInteraction {
    /// The tag; `None` if the inlay that made the code is on no tag.
    pub tag_id: Option<TagId>,
    /// Claim of the code.
    pub claim: Claim,
    /// The way of scanning.
    pub tech: Tech,
    /// The experience and version that the visitor gets.
    pub experience: Option<VersionRef>,
    /// The recalled group that decides the visitor's page.
    pub recalled_by: Option<GroupId>,
    /// The state of the inlay's tamper loop; `None` if it has no loop.
    pub tamper: Option<Tamper>,
    /// The decrypted file data of an authentic code.
    pub file_data: Option<Vec<u8>>,
    /// The hash of the key that the answer will contain; `None` if no key is issued.
    pub key: Option<NewKey>,
    /// The stored form of the client at this tag or inlay.
    pub client: ClientId,
    /// Two-letter country code, as configured or determined.
    pub country: String,
    /// Further facts about the visitor.
    pub traits: Traits,
    /// Whether the tag is simulated.
    pub simulated: bool,
    /// Offset of simulated time; no time for real taps.
    pub time_offset: Millis,
    /// The URL template that, as far as is known, had no real tap before. If this is the first one,
    /// it is recorded with the template.
    pub first_at_template: Option<UrlTemplateId>,
    /// The announced origin of the tap.
    pub origin: TapOrigin,
}

impl NewInteraction {
    /// A real visit, without experience, key and further facts.
    pub fn new(at: KnownAt, client: Client, claim: Claim, tech: Tech) -> Self {
        Self {
            tag_id: match at {
                KnownAt::Tag(id) => Some(id),
                KnownAt::Inlay(_) | KnownAt::Chip(_) => None,
            },
            claim,
            tech,
            experience: None,
            recalled_by: None,
            tamper: None,
            file_data: None,
            key: None,
            client: client.at(at),
            country: String::new(),
            traits: Traits::default(),
            simulated: false,
            time_offset: Millis::ZERO,
            first_at_template: None,
            origin: TapOrigin::Visitor,
        }
    }

    /// The origin of the tap that its interaction shows.
    pub const fn made_by(&self) -> TapOrigin {
        self.origin.in_world(self.simulated)
    }

    /// The name under which it is stored as a test tap; `None` for visits and for all taps of the
    /// simulated world.
    pub fn test_origin(&self) -> Option<&'static str> {
        self.made_by().stored()
    }
}

/// A key to be stored with its interaction.
#[derive(Clone, Copy, Debug)]
pub struct NewKey {
    /// Hash of the key; the key itself is never stored.
    pub hash: KeyHash,
    /// A digest of the tap's URL, by which a reload of the same URL is recognised.
    pub url_digest: [u8; 8],
}

/// The decisions of storage about a tap, after their commit.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// Identifier of the interaction.
    pub id: InteractionId,
    /// Time of the tap.
    pub at: Timestamp,
    /// Verdict on the code.
    pub verdict: Verdict,
    /// Whether the client tapped the tag before.
    pub returning: Returning,
}

/// The part of an interaction that the payload and a repeated answer need.
#[derive(Clone, Debug)]
pub struct KeyedInteraction {
    /// Identifier of the interaction.
    pub id: InteractionId,
    /// Time of the tap.
    pub at: Timestamp,
    /// Tag that was tapped.
    pub tag_id: TagId,
    /// The inlay that made an authentic code.
    pub inlay_id: Option<InlayId>,
    /// Verdict on the code.
    pub verdict: Verdict,
    /// The way of scanning.
    pub tech: Tech,
    /// The experience and version that the visitor got.
    pub experience: Option<VersionRef>,
    /// Two-letter country code; empty if it is not known.
    pub country: String,
    /// The group that the visitor is in, if the experience treats groups differently.
    pub group: Option<u8>,
    /// Whether the client tapped the tag before.
    pub returning: Returning,
    /// The state of the inlay's tamper loop.
    pub tamper: Option<Tamper>,
    /// Whether the tap is simulated.
    pub simulated: bool,
    /// The digest of the tap's URL.
    pub url_digest: [u8; 8],
    /// The time at which it was read, in the time of its world. It decides whether its key has
    /// expired.
    pub read_at: Timestamp,
}

/// A variable's change by an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// Key of the variable.
    pub key: PropertyKey,
    /// Its value before; null if a visitor had entered it whose data was erased later.
    pub old: Option<String>,
    /// Its value after the update.
    pub new: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_of_a_client_differs_from_tag_to_tag() {
        let client = Client([7; 16]);
        let stored = [
            client.at(KnownAt::Tag(TagId::new(1))),
            client.at(KnownAt::Tag(TagId::new(2))),
            client.at(KnownAt::Inlay(InlayId::new(1))),
            client.at(KnownAt::Chip(Uid::from_bytes([0, 0, 0, 0, 0, 0, 1]))),
            Client([8; 16]).at(KnownAt::Tag(TagId::new(1))),
            client.of_staff().at(KnownAt::Tag(TagId::new(1))),
            ClientId(client.0),
        ];
        for (at, one) in stored.iter().enumerate() {
            assert!(stored[at + 1..].iter().all(|other| other != one));
        }
        assert_eq!(client.at(KnownAt::Tag(TagId::new(1))), stored[0]);
    }

    #[test]
    fn a_client_stays_in_its_group_and_groups_are_of_one_size() {
        let client = |number: u64| {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&number.to_be_bytes());
            Client(id)
        };
        let mut sizes = [0_u32; VISITOR_GROUPS as usize];
        let mut moved = 0;
        for number in 0..20_000 {
            let group = client(number).group(ExperienceId::new(7));
            assert_eq!(group, client(number).group(ExperienceId::new(7)));
            sizes[usize::from(group)] += 1;
            moved += u32::from(group != client(number).group(ExperienceId::new(8)));
        }
        // 200 are expected in each group, with a standard deviation of 14.
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
