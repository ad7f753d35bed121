//! The keys a chip may have, and how often it was asked for them.
//!
//! A chip has five keys. Each was written with a version, one byte. The version is the generation,
//! which is never 0 and never the same twice for a UID. So the version names the key, as far as an
//! unproved byte can, and the journal knows every key that was ever sent to the chip.

mod candidates;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use domain::id::EncodingRootId;
use inlay::Uid;
use inlay::diversify::diversify;
use inlay::ev2::KEYS;
use inlay::key::AesKey;
use inlay::technology::ntag21x::WritePassword;

/// Ends the input of the derivation, so that keys derived for another purpose differ from these.
const PURPOSE: &[u8; 8] = b"TAPDESK1";
/// The same for write passwords of chips without keys.
const PASSWORD_PURPOSE: &[u8; 8] = b"TAPDESKW";

/// Refused authentications of a chip since it was last opened. A chip counts them itself and locks
/// the key for good at 1,000; six allow three honest mistakes.
pub const REFUSALS_MAX: u32 = 6;
/// Refused authentications in one insertion.
pub const REFUSALS_AT_ONCE: u32 = 2;
/// Authentications in a row whose outcome is unknown. The chip counts them, too, and begins to
/// delay at 50.
pub const TORN_MAX: u32 = 40;
/// Generations of keys since all keys of the chip were last proved. The limit is half of all
/// numbers, so that a caller who may only encode cannot use the rest up.
pub const UNPROVED_MAX: usize = 128;

/// A root key from which the keys of chips are derived.
#[derive(Debug)]
pub struct Root {
    /// Identifier under which it is stored.
    pub id: EncodingRootId,
    /// Secret that enters the derivation.
    pub key: AesKey,
    /// Whether it only opens chips, and makes no new keys.
    pub retired: bool,
}

/// All roots, the newest first.
#[derive(Debug, Default)]
pub struct Roots(pub Vec<Root>);

impl Roots {
    /// The root of new keys.
    pub fn active(&self) -> Option<&Root> {
        self.0.iter().find(|root| !root.retired)
    }

    /// The root with this identifier; `None` if it is not known.
    pub fn get(&self, id: EncodingRootId) -> Option<&Root> {
        self.0.iter().find(|root| root.id == id)
    }
}

impl Root {
    /// The key of a slot of a chip, in a generation.
    pub fn key(&self, uid: Uid, slot: u8, generation: u8) -> AesKey {
        let input = [&[slot][..], &uid.bytes(), &[generation], PURPOSE].concat();
        diversify(&self.key, &input).expect("the input is 17 bytes")
    }

    /// The write password of a chip without keys: the first four bytes of the derived key, then the
    /// two bytes of its acknowledgement. It has no generation, because such a chip shows none: it
    /// changes with the root only.
    pub fn write_password(&self, uid: Uid) -> WritePassword {
        let input = [&uid.bytes()[..], PASSWORD_PURPOSE].concat();
        let key = diversify(&self.key, &input).expect("the input is 15 bytes");
        let [a, b, c, d, high, low, ..] = *key.expose();
        WritePassword {
            password: [a, b, c, d],
            acknowledgement: [high, low],
        }
    }
}

/// A key that a slot of a chip may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Candidate {
    /// The factory key, all zeros.
    Factory,
    /// A key of this generation in the journal.
    Recorded(u8),
    /// The key of this slot that was imported with the chip's inlay.
    Imported,
    /// A key derived from a root, in a generation that the journal does not know: the journal is
    /// older than the chip.
    Derived {
        /// Root of the derivation.
        root: EncodingRootId,
        /// Generation, as the chip shows it in the key's version.
        generation: u8,
    },
}

/// The origin of a generation's keys.
#[derive(Debug)]
pub enum Source {
    /// Keys derived from this root.
    Root(EncodingRootId),
    /// Random keys, stored before they are sent.
    Own(Box<[AesKey; KEYS as usize]>),
}

/// The state of one key of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// The key was not sent.
    Planned,
    /// The key was sent: the chip may have it.
    Sent,
    /// The chip proved to have the key.
    Confirmed,
    /// Another key was proved in this slot later.
    Superseded,
}

/// Five keys of a chip, written with one version.
#[derive(Debug)]
pub struct Generation {
    /// Its number, 1 to 255: the version with which its keys are written.
    pub number: u8,
    /// The origin of its keys.
    pub source: Source,
    /// The state of each key, by slot.
    pub slots: [SlotState; KEYS as usize],
}

/// The keys with which a chip's inlay was imported, by slot. Without factory keys, and without keys
/// that a generation has.
#[derive(Debug, Default)]
pub struct Imported(pub [Option<AesKey>; KEYS as usize]);

/// The history of one chip's keys.
#[derive(Debug)]
pub struct Journal {
    /// UID of the chip.
    pub uid: Uid,
    /// The generation whose key 0 last opened the chip. A chip with such a generation that opens
    /// with the factory key is an imitation.
    pub confirmed: Option<u8>,
    /// The generation whose keys a bureau wrote, until others are proved. The versions that the
    /// bureau used are not certain.
    pub bureau: Option<u8>,
    /// Refused authentications since the chip was last opened.
    pub refusals: u32,
    /// Authentications in a row whose outcome is unknown.
    pub torn: u32,
    /// Candidates refused since the chip was last opened. They are tried last next time.
    pub refused: Vec<Candidate>,
    /// Every generation, the oldest first. Generations are never removed.
    pub generations: Vec<Generation>,
    /// The keys that the chip's inlay was imported with. They are stored with the inlay.
    pub imported: Imported,
}

impl Journal {
    /// The journal of a chip that was never seen before.
    pub fn new(uid: Uid) -> Self {
        Self {
            uid,
            confirmed: None,
            bureau: None,
            refusals: 0,
            torn: 0,
            refused: Vec::new(),
            generations: Vec::new(),
            imported: Imported::default(),
        }
    }

    /// The imported key for a slot, if the chip's inlay has one.
    pub fn imported(&self, slot: u8) -> Option<&AesKey> {
        self.imported.0.get(usize::from(slot))?.as_ref()
    }

    /// The generation with this number, if the journal has it.
    pub fn generation(&self, number: u8) -> Option<&Generation> {
        self.generations.iter().find(|one| one.number == number)
    }

    /// The key that a candidate stands for in a slot; `None` if it is not known.
    pub fn key(&self, slot: u8, of: Candidate, roots: &Roots) -> Option<AesKey> {
        match of {
            Candidate::Factory => Some(AesKey::FACTORY),
            Candidate::Imported => self.imported(slot).cloned(),
            Candidate::Derived { root, generation } => {
                Some(roots.get(root)?.key(self.uid, slot, generation))
            }
            Candidate::Recorded(number) => match &self.generation(number)?.source {
                Source::Root(root) => Some(roots.get(*root)?.key(self.uid, slot, number)),
                Source::Own(keys) => keys.get(usize::from(slot)).cloned(),
            },
        }
    }

    /// Records the state of a key.
    pub fn note(&mut self, generation: u8, slot: u8, state: SlotState) {
        let mut all = self.generations.iter_mut();
        if let Some(one) = all.find(|one| one.number == generation)
            && let Some(place) = one.slots.get_mut(usize::from(slot))
        {
            *place = state;
        }
    }

    /// The state of a key; `None` if the generation is not in the journal.
    pub fn state(&self, generation: u8, slot: u8) -> Option<SlotState> {
        let slots = self.generation(generation)?.slots;
        slots.get(usize::from(slot)).copied()
    }

    /// Records that a key opened the chip. If the journal did not know the generation, it is added.
    pub fn opened(&mut self, slot: u8, with: Candidate) -> Candidate {
        self.refusals = 0;
        self.torn = 0;
        self.refused.clear();
        let number = match with {
            Candidate::Factory | Candidate::Imported => return with,
            Candidate::Recorded(number) => number,
            Candidate::Derived { root, generation } => {
                if self.generation(generation).is_none() {
                    self.generations.push(Generation {
                        number: generation,
                        source: Source::Root(root),
                        // The journal is older than the chip: the chip may have any of these keys.
                        slots: [SlotState::Sent; KEYS as usize],
                    });
                }
                generation
            }
        };
        self.note(number, slot, SlotState::Confirmed);
        if slot == 0 {
            self.confirmed = Some(number);
        }
        Candidate::Recorded(number)
    }

    /// Corrects the count of sent authentications: the chip did not begin the last one.
    pub fn not_begun(&mut self) {
        self.torn = self.torn.saturating_sub(1);
    }

    /// Records that the chip refused a key.
    pub fn refuse(&mut self, candidate: Candidate) {
        self.not_begun();
        self.refusals += 1;
        if !self.refused.contains(&candidate) {
            self.refused.push(candidate);
        }
    }

    /// Resets used-up limits, because an authorised person vouches for the chip. Another chip with
    /// the same UID may have used them up.
    pub fn forgive(&mut self) {
        if self.refusals >= REFUSALS_MAX {
            self.refusals = 0;
            self.refused.clear();
        }
        if self.torn >= TORN_MAX {
            self.torn = 0;
        }
    }

    /// How many generations were made since all keys of the chip were last proved.
    pub fn unproved(&self) -> usize {
        let is_open = |one: &&Generation| {
            one.slots[0] != SlotState::Superseded && Some(one.number) != self.confirmed
        };
        self.generations.iter().filter(is_open).count()
    }

    /// The generations of which the chip may have a key, the oldest first.
    pub fn keys_sent(&self) -> Vec<u8> {
        let may = |one: &&Generation| {
            let there = [SlotState::Sent, SlotState::Confirmed];
            one.slots.iter().any(|slot| there.contains(slot))
        };
        self.generations
            .iter()
            .filter(may)
            .map(|one| one.number)
            .collect()
    }

    /// A number for new keys: never used for this chip, and not one that the chip shows, because
    /// that could belong to another chip. `None` if all are used up.
    pub fn next_generation(&self, shown: &[u8]) -> Option<u8> {
        let newest = self.generations.iter().map(|one| one.number).max();
        let fits = |number: &u8| !shown.contains(number) && self.generation(*number).is_none();
        let after = (newest.unwrap_or(0)..=u8::MAX).skip(1).find(fits);
        after.or_else(|| (1..=u8::MAX).find(fits))
    }
}
