//! Encodings: the journal of chips, the turns of an encoding, and the roots of chip keys.

use super::KeptPlace;
use domain::clock::Timestamp;
use domain::id::{EncodingId, EncodingRootId, EncodingRunId, InlayId, TagId};
use domain::inventory::{Inlay, NewInlay, SealedKey};
use encoding::{Exchange, Form, Goal, SlotState, State};
use inlay::Uid;
use inlay::ev2::KEYS;

/// An encoding as it is stored.
#[derive(Clone, Debug)]
pub struct StoredEncoding {
    /// The encoding's id; `None` before it is stored.
    pub id: Option<EncodingId>,
    /// The chip that is encoded.
    pub uid: Uid,
    /// The intended result: the inlay that the chip becomes.
    pub goal: Goal,
    /// The encoding run that it belongs to.
    pub run_id: Option<EncodingRunId>,
    /// The form in which URL and keys are written; `None` before it is decided.
    pub form: Option<Form>,
    /// The generation of keys that is being written.
    pub generation: Option<u8>,
    /// The encoding's progress from start to verification, and how it ended.
    pub state: State,
    /// The number of the latest turn.
    pub seq: u32,
    /// The machine's state between two turns, wrapped. It stays after the end: the next encoding of
    /// the chip has to know some of it.
    pub progress: Option<Vec<u8>>,
    /// When the encoding began.
    pub created_at: Timestamp,
    /// When its latest turn was stored.
    pub updated_at: Timestamp,
}

/// The service's knowledge of a chip, as it is stored.
#[derive(Clone, Debug)]
pub struct StoredJournal {
    /// The chip that the journal describes.
    pub uid: Uid,
    /// The generation whose key 0 last opened the chip.
    pub confirmed: Option<u8>,
    /// The generation that an encoding bureau wrote, until the chip proves other keys.
    pub bureau: Option<u8>,
    /// Refused authentications since a key last opened the chip.
    pub refusals: u32,
    /// Consecutive authentications whose result is unknown.
    pub torn: u32,
    /// The keys that the chip refused since then, in JSON; they are tried last.
    pub refused: String,
    /// Every generation of keys, the oldest first.
    pub generations: Vec<StoredGeneration>,
}

/// One generation of a chip's five keys, as it is stored.
#[derive(Clone)]
pub struct StoredGeneration {
    /// The generation's number, unique for its chip.
    pub number: u8,
    /// The root from which the keys are derived; `None` if they are stored.
    pub root: Option<EncodingRootId>,
    /// The keys, wrapped; empty if they are derived from a root.
    pub own: Vec<Vec<u8>>,
    /// For each key slot, whether the chip is known to have this generation's key.
    pub slots: [SlotState; KEYS as usize],
}

impl std::fmt::Debug for StoredGeneration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredGeneration({}, {:?})", self.number, self.slots)
    }
}

/// All data that a decision about a chip needs, as of one moment.
#[derive(Clone, Debug)]
pub struct ChipState {
    /// The chip's journal; `None` for a chip about which nothing is known yet.
    pub journal: Option<StoredJournal>,
    /// The chip's newest encoding.
    pub latest: Option<StoredEncoding>,
    /// The chip's newest finished encoding: it was verified, or reset the chip to its factory
    /// state.
    pub finished: Option<StoredEncoding>,
    /// The inlay of this chip.
    pub inlay: Option<Inlay>,
}

/// A root of chip keys, as it is stored.
#[derive(Clone, Debug)]
pub struct SealedRoot {
    /// The root's id, to which stored generations refer.
    pub id: EncodingRootId,
    /// The root key, wrapped by the service's wrapping key.
    pub key: SealedKey,
    /// When the root was generated.
    pub created_at: Timestamp,
    /// Since when the root derives no new keys, and only opens chips.
    pub retired_at: Option<Timestamp>,
    /// When the first backup was made that contains both the root and the key that wraps it.
    pub backed_up_at: Option<Timestamp>,
    /// Since when others may know the root.
    pub compromised_at: Option<Timestamp>,
}

/// An inlay whose chip has keys of a compromised root, one that others may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposedInlay {
    /// The inlay to encode again with new keys.
    pub inlay_id: InlayId,
    /// The UID of the inlay's chip.
    pub uid: Uid,
    /// The tag that the inlay is on.
    pub tag_id: Option<TagId>,
    /// The tag's current slug.
    pub slug: Option<String>,
    /// The compromised root's id.
    pub root_id: EncodingRootId,
    /// The inlay's key version.
    pub generation: u32,
}

/// A turn to store, whole: all of it is on disk before its commands are sent.
#[derive(Clone, Debug)]
pub struct EncodingTurn {
    /// The encoding after this turn.
    pub encoding: StoredEncoding,
    /// The chip's newest encoding and its turn number, as the decision saw them.
    pub expected: Option<(EncodingId, u32)>,
    /// The chip's journal after this turn.
    pub journal: StoredJournal,
    /// Names and status words of the commands that were sent.
    pub exchanges: Vec<Exchange>,
    /// How this turn changes the chip's inlay.
    pub ending: Ending,
    /// Whether a person confirmed, for this placing of the chip, that its keys may be replaced. For
    /// the audit log.
    pub replaces: bool,
    /// The place in a run to reserve for the chip, if this turn begins its encoding.
    pub place: Option<KeptPlace>,
}

/// How a turn changes a chip's inlay.
#[derive(Clone, Debug)]
pub enum Ending {
    /// The inlay does not change.
    None,
    /// The inlay is bound to its tag with its keys, and every code up to the verified one counts as
    /// used.
    Bound(Box<NewInlay>),
    /// The chip is in its factory state again, so its inlay is deleted.
    Reset,
}

/// Selects encodings for a list; an encoding must match every given member.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodingFilter {
    /// Encodings of this chip.
    pub uid: Option<Uid>,
    /// Encodings of this run.
    pub run_id: Option<EncodingRunId>,
}
