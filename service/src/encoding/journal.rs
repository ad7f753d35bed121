//! The keys a chip may have, and how often it was asked for them.
//!
//! A chip has five keys. Each was written with a version, one byte: here it is the generation,
//! which is never 0 and never the same twice for a UID. So the version names the key, as far as
//! an unproved byte can, and the journal knows every key that was ever sent to the chip.

use serde::{Deserialize, Serialize};

use crate::id::EncodingRootId;
use crate::inlay::Uid;
use crate::inlay::diversify::diversify;
use crate::inlay::ev2::KEYS;
use crate::inlay::key::AesKey;
use crate::inlay::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT};

/// Ends the input of the derivation, so that a key of anything else is none of these.
const PURPOSE: &[u8; 8] = b"TAPDESK1";

/// Refused authentications of a chip since it was last opened. A chip counts them itself, and is
/// lost at 1,000; six are three honest mistakes.
pub const REFUSALS_MAX: u32 = 6;
/// Refused authentications while a chip lies on the reader.
pub const REFUSALS_AT_ONCE: u32 = 2;
/// Authentications in a row of which nobody knows how they ended. The chip counts them, too, and
/// begins to delay at 50.
pub const TORN_MAX: u32 = 40;
/// Generations of keys since the chip was last proved to be whole. Half of all numbers: nobody uses
/// the others up who may only encode.
pub const UNPROVED_MAX: usize = 128;

/// A root from which keys are derived.
#[derive(Debug)]
pub struct Root {
    /// Its identifier.
    pub id: EncodingRootId,
    /// The root.
    pub key: AesKey,
    /// Whether it only opens chips.
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

    fn get(&self, id: EncodingRootId) -> Option<&Root> {
        self.0.iter().find(|root| root.id == id)
    }
}

impl Root {
    /// The key of a slot of a chip, in a generation.
    pub fn key(&self, uid: Uid, slot: u8, generation: u8) -> AesKey {
        let input = [&[slot][..], &uid.bytes(), &[generation], PURPOSE].concat();
        diversify(&self.key, &input).expect("the input is 17 bytes")
    }
}

/// A key that a slot of a chip may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Candidate {
    /// All zeros.
    Factory,
    /// Of a generation in the journal.
    Recorded(u8),
    /// That of the chip's inlay, which was imported with it.
    Imported,
    /// Of a root, in a generation that the journal does not know: the journal is older than the chip.
    Derived {
        /// The root.
        root: EncodingRootId,
        /// The generation.
        generation: u8,
    },
}

/// Where the keys of a generation come from.
#[derive(Debug)]
pub enum Source {
    /// They are derived.
    Root(EncodingRootId),
    /// They are random: stored before they are sent.
    Own(Box<[AesKey; KEYS as usize]>),
}

/// What is known of one key of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// It was not sent.
    Planned,
    /// It was sent: the chip may have it.
    Sent,
    /// The chip proved to have it.
    Confirmed,
    /// Another one was proved after it.
    Superseded,
}

/// Five keys of a chip.
#[derive(Debug)]
pub struct Generation {
    /// Its number, 1 to 255: the version with which its keys are written.
    pub number: u8,
    /// Where they come from.
    pub source: Source,
    /// What is known of each.
    pub slots: [SlotState; KEYS as usize],
}

/// The keys with which the inlay of a chip was imported, as far as no generation has them.
#[derive(Debug, Default)]
pub struct Imported {
    /// The meta read key.
    pub meta: Option<AesKey>,
    /// The file read key.
    pub file: Option<AesKey>,
}

/// What is known of a chip.
#[derive(Debug)]
pub struct Journal {
    /// The chip.
    pub uid: Uid,
    /// The generation whose key 0 opened it last. A chip with it that opens with the factory key
    /// is an imitation.
    pub confirmed: Option<u8>,
    /// The generation whose keys a bureau wrote, until others are proved. Which versions the bureau
    /// wrote them with is not known for sure.
    pub bureau: Option<u8>,
    /// Refused authentications since it was last opened.
    pub refusals: u32,
    /// Authentications in a row of which nobody knows how they ended.
    pub torn: u32,
    /// What was refused since it was last opened: asked last next time.
    pub refused: Vec<Candidate>,
    /// Every generation, the oldest first. None is ever removed.
    pub generations: Vec<Generation>,
    /// What the chip's inlay knows of its keys. It is stored there.
    pub imported: Imported,
}

impl Journal {
    /// Of a chip that nobody has seen.
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

    /// The key of a slot that the chip's inlay was imported with, if it has one for it.
    pub fn imported(&self, slot: u8) -> Option<&AesKey> {
        match slot {
            META_SLOT => self.imported.meta.as_ref(),
            FILE_SLOT => self.imported.file.as_ref(),
            _ => None,
        }
    }

    /// A generation.
    pub fn generation(&self, number: u8) -> Option<&Generation> {
        self.generations.iter().find(|one| one.number == number)
    }

    /// The key of a slot.
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

    /// Notes what is known of a key.
    pub fn note(&mut self, generation: u8, slot: u8, state: SlotState) {
        let mut all = self.generations.iter_mut();
        if let Some(one) = all.find(|one| one.number == generation)
            && let Some(place) = one.slots.get_mut(usize::from(slot))
        {
            *place = state;
        }
    }

    /// What is known of a key.
    pub fn state(&self, generation: u8, slot: u8) -> Option<SlotState> {
        let slots = self.generation(generation)?.slots;
        slots.get(usize::from(slot)).copied()
    }

    /// Notes that a key opened the chip. A generation that the journal did not know is in it from
    /// now on.
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
                        // The journal is older than the chip: any of them may be there.
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

    /// Notes that the chip did not begin the authentication that was noted as sent last.
    pub fn not_begun(&mut self) {
        self.torn = self.torn.saturating_sub(1);
    }

    /// Notes that a key was refused.
    pub fn refuse(&mut self, candidate: Candidate) {
        self.not_begun();
        self.refusals += 1;
        if !self.refused.contains(&candidate) {
            self.refused.push(candidate);
        }
    }

    /// A person who may answers for the chip: a budget that is used up begins again. Another chip
    /// with its UID may have used it up.
    pub fn forgive(&mut self) {
        if self.refusals >= REFUSALS_MAX {
            self.refusals = 0;
            self.refused.clear();
        }
        if self.torn >= TORN_MAX {
            self.torn = 0;
        }
    }

    /// How many generations were made since the chip was last proved to be whole.
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

    /// A number for new keys: never used for this chip, and not one that the chip shows, which
    /// could be another one's. `None` if all are used up.
    pub fn next_generation(&self, shown: &[u8]) -> Option<u8> {
        let newest = self.generations.iter().map(|one| one.number).max();
        let fits = |number: &u8| !shown.contains(number) && self.generation(*number).is_none();
        let after = (newest.unwrap_or(0)..=u8::MAX).skip(1).find(fits);
        after.or_else(|| (1..=u8::MAX).find(fits))
    }

    /// The keys that slot 0 may have, the most probable first. `shown` is its version as the chip
    /// says without proof.
    pub fn candidates_of_key_0(&self, shown: Option<u8>, roots: &Roots) -> Vec<Candidate> {
        let mut all = Vec::new();
        let bureau = self.of_bureau(0);
        match shown {
            Some(0) if self.confirmed.is_none() && bureau.is_none() => all.push(Candidate::Factory),
            Some(version)
                if version != 0 && (bureau.is_none() || self.state(version, 0).is_some()) =>
            {
                all.extend(self.named(0, version, roots));
            }
            _ => {}
        }
        all.extend(bureau);
        all.extend(self.confirmed.map(Candidate::Recorded));
        let newest_first = self.generations.iter().rev();
        let sent = newest_first.filter(|one| one.slots[0] == SlotState::Sent);
        all.extend(sent.map(|one| Candidate::Recorded(one.number)));
        all.push(Candidate::Factory);
        self.in_order(all)
    }

    /// The keys that another slot may have which is not as expected. `like` opened another slot.
    pub fn candidates_of_slot(
        &self,
        slot: u8,
        shown: u8,
        like: Option<Candidate>,
        roots: &Roots,
    ) -> Vec<Candidate> {
        let mut all = Vec::new();
        let named = self.named(slot, shown, roots);
        let imported = self.imported(slot).map(|_| Candidate::Imported);
        if self.state(shown, slot).is_none() {
            all.extend(self.of_bureau(slot));
            all.extend(imported);
        }
        if like.is_some_and(|like| like != Candidate::Factory) {
            all.extend(&named);
            all.push(Candidate::Factory);
        } else {
            all.extend(
                named
                    .iter()
                    .filter(|one| matches!(one, Candidate::Recorded(_))),
            );
            all.push(Candidate::Factory);
            all.extend(&named);
        }
        let newest_first = self.generations.iter().rev();
        let sent = newest_first.filter(|one| one.slots[usize::from(slot)] == SlotState::Sent);
        all.extend(sent.map(|one| Candidate::Recorded(one.number)));
        all.extend(imported);
        self.in_order(all)
    }

    /// The key that a bureau wrote to a slot, unless another one was proved there.
    pub fn of_bureau(&self, slot: u8) -> Option<Candidate> {
        let number = self.bureau?;
        let may = matches!(
            self.state(number, slot),
            Some(SlotState::Sent | SlotState::Confirmed)
        );
        may.then_some(Candidate::Recorded(number))
    }

    /// The keys whose version is `shown`: of the journal, or else derived from any root. The
    /// journal of an active root is whole, so a chip that it does not know is of an older one.
    fn named(&self, slot: u8, shown: u8, roots: &Roots) -> Vec<Candidate> {
        match self.state(shown, slot) {
            Some(_) => vec![Candidate::Recorded(shown)],
            None if shown == 0 => Vec::new(),
            None => {
                let mut roots: Vec<_> = roots.0.iter().collect();
                roots.sort_by_key(|root| !root.retired);
                let derived = roots.into_iter().map(|root| Candidate::Derived {
                    root: root.id,
                    generation: shown,
                });
                derived.collect()
            }
        }
    }

    /// Each once, and last what was refused before. Only two are tried: the factory key is one of
    /// them, if it is among them.
    fn in_order(&self, all: Vec<Candidate>) -> Vec<Candidate> {
        let mut once: Vec<Candidate> = Vec::with_capacity(all.len());
        for one in all {
            if !once.contains(&one) {
                once.push(one);
            }
        }
        once.sort_by_key(|one| self.refused.contains(one));
        let place = once.iter().position(|one| *one == Candidate::Factory);
        if let Some(place) = place.filter(|place| *place > 1)
            && self.confirmed.is_none()
            && !self.refused.contains(&Candidate::Factory)
        {
            let factory = once.remove(place);
            once.insert(1, factory);
        }
        once
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Roots {
        let root = |id, retired| Root {
            id: EncodingRootId(id),
            key: AesKey::from_bytes([u8::try_from(id).unwrap(); 16]),
            retired,
        };
        Roots(vec![root(2, false), root(1, true)])
    }

    #[test]
    fn a_key_is_another_one_in_each_slot_generation_chip_and_root() {
        let roots = roots();
        let mut seen = Vec::new();
        for root in &roots.0 {
            for uid in [[4, 1, 2, 3, 4, 5, 6], [4, 1, 2, 3, 4, 5, 7]] {
                for (slot, generation) in [(0, 1), (1, 1), (0, 2)] {
                    let key = root.key(Uid::from_bytes(uid), slot, generation);
                    assert!(!seen.contains(&key));
                    seen.push(key);
                }
            }
        }
    }

    #[test]
    fn a_generation_is_never_used_twice_nor_one_that_the_chip_shows() {
        let mut journal = Journal::new(Uid::from_bytes([4; 7]));
        assert_eq!(journal.next_generation(&[0; 5]), Some(1));
        assert_eq!(journal.next_generation(&[0, 1, 2, 0, 0]), Some(3));
        for number in [1, 3, 255] {
            journal.generations.push(Generation {
                number,
                source: Source::Root(EncodingRootId(1)),
                slots: [SlotState::Planned; 5],
            });
        }
        assert_eq!(journal.next_generation(&[2, 0, 0, 0, 0]), Some(4));
        for number in 1..=254 {
            if journal.generation(number).is_none() {
                journal.generations.push(Generation {
                    number,
                    source: Source::Root(EncodingRootId(1)),
                    slots: [SlotState::Planned; 5],
                });
            }
        }
        assert_eq!(journal.next_generation(&[0; 5]), None);
    }

    #[test]
    fn an_unknown_chip_is_asked_for_the_key_of_an_older_root_and_for_the_factory_key() {
        let journal = Journal::new(Uid::from_bytes([4; 7]));
        let roots = roots();
        let older = Candidate::Derived {
            root: EncodingRootId(1),
            generation: 9,
        };
        let asked = journal.candidates_of_key_0(Some(9), &roots);
        assert_eq!(asked[..2], [older, Candidate::Factory]);
        let asked = journal.candidates_of_key_0(Some(0), &roots);
        assert_eq!(asked, [Candidate::Factory]);
        let mut confirmed = Journal::new(journal.uid);
        confirmed.opened(0, older);
        let asked = confirmed.candidates_of_key_0(Some(0), &roots);
        assert_eq!(asked, [Candidate::Recorded(9), Candidate::Factory]);
    }
}
