//! The check before the first write and after the last: the chip's own UID, the versions of its
//! keys and its settings, proved by a session of key 0.

use super::{Machine, Next};
use crate::progress::{Opening, Phase, Write};
use crate::turn::Command;
use crate::{Answers, Candidate, Reason, SlotState};
use inlay::ev2::{self, KEY_0, KEYS, NDEF_FILE, ReplyError, Session, Status};
use inlay::technology::ntag424::file_settings;

/// Commands of the check: the UID, five versions, the settings.
const COMMANDS: usize = 7;

/// Proved facts about the chip.
pub(super) struct Proved {
    pub(super) versions: [u8; KEYS as usize],
    pub(super) settings: Vec<u8>,
}

impl Machine<'_> {
    /// Reads everything with proof. `read` adds the read that proves a tap, which counts only if
    /// everything else is correct.
    pub(super) fn check(&mut self, mut session: Session, read: bool) -> Next {
        let mut made = vec![("GetCardUID".to_owned(), session.get_card_uid())];
        made.extend((0..KEYS).map(|slot| {
            let name = format!("GetKeyVersion {slot}, with proof");
            (name, session.get_key_version(slot))
        }));
        let settings = session.get_file_settings(NDEF_FILE);
        made.push(("GetFileSettings 2, with proof".to_owned(), settings));
        let replies = made.iter().map(|(_, made)| Write::new(None, made.reply));
        let replies = replies.collect();
        let mut commands: Vec<_> = made
            .into_iter()
            .map(|(name, made)| Command::new(name, &made.apdu, "9100"))
            .collect();
        let read = read && self.means.plan.is_some();
        if read {
            commands.extend(self.read_commands());
        }
        let phase = Phase::Check {
            session,
            replies,
            read,
        };
        Next::Send(phase, commands)
    }

    pub(super) fn checked(
        &mut self,
        session: Session,
        replies: &[Write],
        read: bool,
        answers: &Answers,
    ) -> Next {
        let mut contents = Vec::with_capacity(COMMANDS);
        for (index, reply) in replies.iter().enumerate() {
            let Some(answer) = answers.get(index) else {
                return Self::gone(answers);
            };
            match session.open(reply.reply(), answer) {
                Ok(content) => contents.push(content),
                // A random UID or another configuration prevents reading the UID with key 0.
                Err(ReplyError::Status(Status(0x919D)) | ReplyError::WrongMac) => {
                    return Next::Rejected(Reason::NotGenuine);
                }
                Err(_) => return Self::gone(answers),
            }
        }
        let (Some((uid, rest)), Some(settings)) = (contents.split_first(), contents.last()) else {
            return Self::gone(answers);
        };
        if uid[..] != self.encoding.uid.bytes() {
            return self.another(Reason::UidMismatch);
        }
        let mut versions = [0; KEYS as usize];
        for (version, content) in versions.iter_mut().zip(rest) {
            *version = content.first().copied().unwrap_or(0);
        }
        let Some(settings) = file_settings::of_answer(settings) else {
            return Next::Rejected(Reason::NotEncodable);
        };
        let proved = Proved { versions, settings };
        self.decide(session, &proved, read, answers)
    }

    fn decide(&mut self, session: Session, proved: &Proved, read: bool, answers: &Answers) -> Next {
        let opened = self.chip.opened.unwrap_or(Candidate::Factory);
        if self.wipes() {
            let blank = opened == Candidate::Factory
                && proved.versions == [0; KEYS as usize]
                && proved.settings == file_settings::FACTORY
                && self.chip.doubts.is_empty()
                && !self.chip.has_message;
            if blank {
                return self.reset();
            }
        } else if let (Some(plan), Some(goal)) = (self.means.plan, self.encoding.generation)
            && opened == Candidate::Recorded(goal)
            && proved.versions == [goal; KEYS as usize]
            && proved.settings == plan.settings
            && !self.rewrite
        {
            for slot in 0..KEYS {
                self.journal.note(goal, slot, SlotState::Confirmed);
            }
            return if read {
                self.read_back(answers, COMMANDS)
            } else {
                self.read()
            };
        }
        if read {
            // The settings were written and are not as they should be, and the read has ended the
            // session.
            self.rewrite = true;
            return Next::Again;
        }
        if !file_settings::changed_by_key_0(&proved.settings) {
            return Next::Rejected(Reason::ReadOnly);
        }
        if opened == Candidate::Factory && self.has_foreign_message() {
            return Next::Rejected(Reason::AlreadyEncoded);
        }
        self.note_versions(proved);
        for slot in 1..KEYS {
            if self
                .old_key(slot, proved.versions[usize::from(slot)])
                .is_none()
            {
                return self.prove_slot(slot, proved);
            }
        }
        self.write(session, proved)
    }

    /// Whether another program wrote the message of a chip that has its factory key 0. Encoding
    /// such a chip overwrites the message, so it needs a confirmation; a message of this encoding
    /// or of this tag needs none.
    fn has_foreign_message(&self) -> bool {
        let is_own = self.wrote || self.means.is_inlay || !self.journal.keys_sent().is_empty();
        self.chip.has_message && !self.wipes() && !self.replace && !is_own
    }

    /// Records the proof that versions give: if a generation's key was sent, its version proves
    /// that the chip has it.
    fn note_versions(&mut self, proved: &Proved) {
        for (slot, version) in (0..KEYS).zip(proved.versions) {
            if self.journal.state(version, slot) == Some(SlotState::Sent)
                && !self.chip.doubts.contains(&slot)
            {
                self.journal.note(version, slot, SlotState::Confirmed);
            }
        }
        self.chip.shown = proved.versions.map(Some);
    }

    /// The key of a slot, if its version and the journal determine it; `None` if the slot must
    /// prove its key first.
    pub(super) fn old_key(&self, slot: u8, version: u8) -> Option<Candidate> {
        let proved = self.chip.proved.iter().find(|(of, _)| *of == slot);
        if let Some((_, candidate)) = proved {
            return Some(*candidate);
        }
        if self.chip.doubts.contains(&slot) {
            return None;
        }
        match self.journal.state(version, slot) {
            // A bureau, or whoever encoded an imported chip, may have written its key with any
            // version.
            None if version == 0
                && self.journal.of_bureau(slot).is_none()
                && !self.may_be_imported(slot) =>
            {
                Some(Candidate::Factory)
            }
            None | Some(SlotState::Planned) => None,
            Some(_) => Some(Candidate::Recorded(version)),
        }
    }

    /// Whether a slot may have the key that the chip was imported with. If another slot has a
    /// factory key, the chip was more probably never encoded, unless key 0 is the imported one.
    fn may_be_imported(&self, slot: u8) -> bool {
        let mut proved = self.chip.proved.iter();
        let is_blank = self.chip.opened != Some(Candidate::Imported)
            && proved.any(|(_, candidate)| *candidate == Candidate::Factory);
        self.journal.imported(slot).is_some() && !is_blank
    }

    /// Whether a slot may have the factory key because wiping an imported chip was interrupted. Slots
    /// are wiped in their order, so asking for the factory key first finds the last wiped one with
    /// one refusal.
    fn may_be_wiped(&self, version: u8, proved: &Proved) -> bool {
        let mut slots = self.chip.proved.iter();
        let is_behind = slots.any(|(_, candidate)| *candidate == Candidate::Imported);
        let began = match self.chip.opened {
            Some(Candidate::Imported) => self.wipes() || proved.versions[0] != 0,
            // Key 0 is wiped last.
            Some(Candidate::Factory) => self.journal.imported(KEY_0).is_some(),
            _ => false,
        };
        version == 0 && began && !is_behind
    }

    fn prove_slot(&mut self, slot: u8, proved: &Proved) -> Next {
        let like = self.chip.proved.last().map(|(_, candidate)| *candidate);
        let like = like.or(self.chip.opened);
        let version = proved.versions[usize::from(slot)];
        let mut candidates = self
            .journal
            .candidates_of_slot(slot, version, like, self.means.roots);
        if self.may_be_wiped(version, proved) {
            candidates.sort_by_key(|one| *one != Candidate::Factory);
        }
        self.open(Opening {
            slot,
            candidates,
            read: false,
        })
    }

    /// Asks the next slot to prove its key; returns to key 0 when all did.
    pub(super) fn prove_slots(&mut self) -> Next {
        let shown = self.chip.shown.map(Option::unwrap_or_default);
        let proved = Proved {
            versions: shown,
            settings: Vec::new(),
        };
        for slot in 1..KEYS {
            if self.old_key(slot, shown[usize::from(slot)]).is_none() {
                return self.prove_slot(slot, &proved);
            }
        }
        self.open_key_0(false)
    }

    fn reset(&mut self) -> Next {
        self.journal.confirmed = None;
        self.journal.bureau = None;
        for generation in &mut self.journal.generations {
            generation.slots = [SlotState::Superseded; ev2::KEYS as usize];
        }
        Next::Reset
    }
}
