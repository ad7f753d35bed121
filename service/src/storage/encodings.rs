//! Encodings: the journal of chips, the turns, the roots of their keys.

use async_trait::async_trait;

use super::{KeptPlace, StorageError};
use crate::clock::Timestamp;
use crate::encoding::{Exchange, Form, Outcome, Reason, SlotState, State, Target};
use crate::id::{EncodingId, EncodingRootId, EncodingRunId, InlayId, TagId};
use crate::inlay::Uid;
use crate::inlay::ev2::KEYS;
use crate::inventory::{Inlay, NewInlay, SealedKey};

/// An encoding as it is stored.
#[derive(Clone, Debug)]
pub struct StoredEncoding {
    /// Its identifier; `None` before it is stored.
    pub id: Option<EncodingId>,
    /// The chip.
    pub uid: Uid,
    /// What it is to become.
    pub target: Target,
    /// The run that it is part of.
    pub run_id: Option<EncodingRunId>,
    /// What is written.
    pub form: Option<Form>,
    /// The generation of keys that is written.
    pub generation: Option<u8>,
    /// How far it is.
    pub state: State,
    /// Why it is not encoded.
    pub reason: Option<Reason>,
    /// The number of its turn.
    pub seq: u32,
    /// What is kept between two turns, wrapped.
    pub progress: Option<Vec<u8>>,
    /// What came of it.
    pub outcome: Option<Outcome>,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last turn was made.
    pub updated_at: Timestamp,
}

/// What is known of a chip, as it is stored.
#[derive(Clone, Debug)]
pub struct StoredJournal {
    /// The chip.
    pub uid: Uid,
    /// The generation whose key 0 opened it last.
    pub confirmed: Option<u8>,
    /// The generation whose keys a bureau wrote, until others are proved.
    pub bureau: Option<u8>,
    /// Refused authentications since then.
    pub refusals: u32,
    /// Authentications in a row of which nobody knows how they ended.
    pub torn: u32,
    /// What was refused, in JSON.
    pub refused: String,
    /// Every generation, the oldest first.
    pub generations: Vec<StoredGeneration>,
}

/// Five keys of a chip, as they are stored.
#[derive(Clone)]
pub struct StoredGeneration {
    /// Its number.
    pub number: u8,
    /// The root that they are derived from.
    pub root: Option<EncodingRootId>,
    /// The keys, wrapped, if they are not derived.
    pub own: Vec<Vec<u8>>,
    /// What is known of each.
    pub slots: [SlotState; KEYS as usize],
}

impl std::fmt::Debug for StoredGeneration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredGeneration({}, {:?})", self.number, self.slots)
    }
}

/// All that a decision about a chip needs, as of one moment.
#[derive(Clone, Debug)]
pub struct ChipState {
    /// What is known of it.
    pub journal: Option<StoredJournal>,
    /// Its newest encoding.
    pub latest: Option<StoredEncoding>,
    /// Its newest encoding that came to its end: verified, or as it left the factory.
    pub finished: Option<StoredEncoding>,
    /// Its inlay.
    pub inlay: Option<Inlay>,
}

/// A root as it is stored.
#[derive(Clone, Debug)]
pub struct SealedRoot {
    /// Its identifier.
    pub id: EncodingRootId,
    /// The root.
    pub key: SealedKey,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it only opens chips.
    pub retired_at: Option<Timestamp>,
    /// When the first backup was made that has it, and the key that wraps it.
    pub backed_up_at: Option<Timestamp>,
    /// Since when others may know it.
    pub compromised_at: Option<Timestamp>,
}

/// An inlay whose chip has keys of a root that others may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposedInlay {
    /// The inlay.
    pub inlay_id: InlayId,
    /// The chip.
    pub uid: Uid,
    /// Its tag.
    pub tag_id: Option<TagId>,
    /// The tag's slug.
    pub slug: Option<String>,
    /// The root.
    pub root_id: EncodingRootId,
    /// The version of its keys.
    pub generation: u32,
}

/// A turn to be stored, whole: whatever it says is on disk before its commands leave.
#[derive(Clone, Debug)]
pub struct EncodingTurn {
    /// The encoding after it.
    pub encoding: StoredEncoding,
    /// The newest encoding of the chip, and its turn, as the decision saw it.
    pub expected: Option<(EncodingId, u32)>,
    /// What is known of the chip.
    pub journal: StoredJournal,
    /// Names and statuses of the commands that were sent.
    pub exchanges: Vec<Exchange>,
    /// What becomes of the inlay.
    pub ending: Ending,
    /// Whether a person said, for this insertion, that keys of the chip are replaced: for the audit log.
    pub replaces: bool,
    /// The place in a run that is kept for the chip, if this turn begins its encoding.
    pub place: Option<KeptPlace>,
}

/// What becomes of the inlay of a chip.
#[derive(Clone, Debug)]
pub enum Ending {
    /// Nothing.
    None,
    /// It is bound to its tag, with its keys, and every code up to the verified one is spent.
    Bound(Box<NewInlay>),
    /// The chip is as it left the factory: its inlay is deleted.
    Reset,
}

/// Which encodings a list is of: those that fit all that is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodingFilter {
    /// Those of this chip.
    pub uid: Option<Uid>,
    /// Those of this run.
    pub run_id: Option<EncodingRunId>,
}

/// The operations on encodings.
#[async_trait]
pub trait Encodings: Send + Sync {
    /// An encoding.
    async fn encoding(&self, id: EncodingId) -> Result<Option<StoredEncoding>, StorageError>;

    /// At most `limit` encodings that `filter` lets through, the newest first, beginning behind `after`.
    async fn encodings(
        &self,
        filter: EncodingFilter,
        after: Option<EncodingId>,
        limit: usize,
    ) -> Result<Vec<StoredEncoding>, StorageError>;

    /// How many encodings `filter` lets through.
    async fn count_encodings(&self, filter: EncodingFilter) -> Result<u64, StorageError>;

    /// All that a decision about a chip needs, as of one moment.
    async fn chip_state(&self, uid: Uid) -> Result<ChipState, StorageError>;

    /// Stores a turn with all that it says. `None`, and nothing is stored, if another turn of the
    /// chip was stored meanwhile, or the place in the run is another chip's by now. If the inlay may not be bound
    /// any more, because it or its tag got another one meanwhile, the encoding is rejected instead.
    ///
    /// # Errors
    ///
    /// Those of [`insert_inlay`](super::Inlays::insert_inlay), if the inlay is bound.
    async fn store_turn(&self, turn: EncodingTurn) -> Result<Option<StoredEncoding>, StorageError>;

    /// Names and statuses of an encoding's commands, in their order, with their times.
    async fn encoding_exchanges(
        &self,
        id: EncodingId,
    ) -> Result<Vec<(Timestamp, Exchange)>, StorageError>;

    /// All roots, the newest first.
    async fn encoding_roots(&self) -> Result<Vec<SealedRoot>, StorageError>;

    /// Stores a root, unless there is one that makes new keys.
    async fn insert_encoding_root(&self, root: SealedKey) -> Result<(), StorageError>;

    /// Stores a root. All others only open chips from now on, and open encodings are given up:
    /// their new keys are of an older one. `compromised`: others may know those roots.
    async fn replace_encoding_root(
        &self,
        root: SealedKey,
        compromised: bool,
    ) -> Result<(), StorageError>;

    /// At most `limit` inlays whose chip has keys of a root that others may know, beginning behind
    /// `after`.
    async fn exposed_inlays(
        &self,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<ExposedInlay>, StorageError>;

    /// How many there are.
    async fn count_exposed_inlays(&self) -> Result<u64, StorageError>;

    /// Notes that a backup of the moment `at` has all roots, and the key that wraps them.
    async fn note_roots_backed_up(&self, at: Timestamp) -> Result<(), StorageError>;
}
