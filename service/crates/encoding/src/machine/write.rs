//! The commands that change the chip. The journal records them before they leave.

use super::open::first_half;
use super::{Machine, Next, WRITES_MAX};
use crate::journal::UNPROVED_MAX;
use crate::machine::check::Proved;
use crate::progress::{Opening, Phase, Write};
use crate::turn::Command;
use crate::{Answers, Candidate, Generation, Reason, SlotState, Source};
use domain::entropy;
use inlay::ev2::{
    self, CC_FILE, KEY_0, KEYS, NDEF_FILE, Protection, ReplyError, Session, Status, answer,
};
use inlay::key::AesKey;
use inlay::technology::Mode;
use inlay::technology::ntag424::file_settings;

/// Bytes of a `WriteData`: with its header it is one frame (FSC 128), which is written whole or
/// not at all (data sheet section 8.6).
pub(super) const CHUNK: usize = 100;
/// Bytes of the NDEF file.
const FILE: usize = 256;
/// Where the capability container states who may write the NDEF file (AN12196 section 6.14).
const CC_WRITE_ACCESS: u16 = 0x0E;
/// Read-only: phones must not write the file.
const CC_READ_ONLY: u8 = 0xFF;
const CC_WRITABLE: u8 = 0x00;
/// `SetConfiguration` of the tamper loop: on, its state for everyone to read.
const TAMPER_OPTION: u8 = 0x07;
const TAMPER_ON: [u8; 2] = [0x01, 0x0E];

/// Commands of a session with their names and slots.
struct Batch {
    session: Session,
    commands: Vec<Command>,
    writes: Vec<Write>,
}

impl Batch {
    fn add(
        &mut self,
        name: impl Into<String>,
        slot: Option<u8>,
        make: impl FnOnce(&mut Session) -> ev2::Command,
    ) {
        let command = make(&mut self.session);
        self.commands
            .push(Command::new(name, &command.apdu, "9100"));
        self.writes.push(Write::new(slot, command.reply));
    }

    fn change_key(&mut self, slot: u8, old: &AesKey, new: &AesKey, version: u8) {
        self.add(format!("ChangeKey {slot}"), Some(slot), |session| {
            session.change_key(slot, old, new, version)
        });
    }

    fn write_file(&mut self, name: &str, file: u8, offset: usize, data: &[u8]) {
        // A file has 256 bytes.
        let at = u16::try_from(offset).unwrap_or(u16::MAX);
        self.add(name, None, |session| {
            session.write_data(Protection::Plain, file, at, data)
        });
    }

    /// Writes length 0, then everything after it, then its length: an interrupted write reads as
    /// empty.
    fn write_message(&mut self, file: &[u8]) {
        let (length, message) = file.split_at(2);
        self.write_file("WriteData, empty message", NDEF_FILE, 0, &[0, 0]);
        for (index, chunk) in message.chunks(CHUNK).enumerate() {
            self.write_file("WriteData, message", NDEF_FILE, 2 + index * CHUNK, chunk);
        }
        if length != [0, 0] {
            self.write_file("WriteData, length", NDEF_FILE, 0, length);
        }
    }
}

impl Machine<'_> {
    /// Writes everything except key 0. Each old key is known.
    pub(super) fn write(&mut self, session: Session, proved: &Proved) -> Next {
        if self.wants_lrp() && session.mode() == Mode::Aes {
            return self.switch(session, proved);
        }
        if self.chip.writes >= WRITES_MAX {
            return Next::Rejected(Reason::NotEncodable);
        }
        self.chip.writes += 1;
        let Some(goal) = self.goal(proved) else {
            return Next::Rejected(Reason::NotEncodable);
        };
        let mut batch = Batch {
            session,
            commands: Vec::new(),
            writes: Vec::new(),
        };
        if let Some(plan) = self.means.plan {
            // Anyone can write a new file in clear; any other file first loses its mirrors.
            if proved.settings != file_settings::FACTORY {
                batch.add("ChangeFileSettings, mirrors off", None, |session| {
                    session.change_file_settings(NDEF_FILE, &file_settings::SDM_OFF)
                });
            }
            batch.write_message(&plan.file);
        } else {
            if proved.settings != file_settings::FACTORY {
                batch.add("ChangeFileSettings, factory", None, |session| {
                    session.change_file_settings(NDEF_FILE, &file_settings::FACTORY)
                });
            }
            batch.write_message(&[0; FILE]);
        }
        if let Err(reason) = self.change_keys(&mut batch, goal, proved) {
            return Next::Rejected(reason);
        }
        let access = if let Some(plan) = self.means.plan {
            if file_settings::has_tamper(&plan.settings) {
                batch.add("SetConfiguration, tamper loop", None, |session| {
                    session.set_configuration(TAMPER_OPTION, &TAMPER_ON)
                });
            }
            batch.add("ChangeFileSettings, mirrors on", None, |session| {
                session.change_file_settings(NDEF_FILE, &plan.settings)
            });
            CC_READ_ONLY
        } else {
            CC_WRITABLE
        };
        let at = usize::from(CC_WRITE_ACCESS);
        batch.write_file("WriteData, capability container", CC_FILE, at, &[access]);
        let Batch {
            session,
            commands,
            writes,
        } = batch;
        self.chip.has_message = false;
        Next::Send(Phase::Write { session, writes }, commands)
    }

    /// Switches from AES to LRP mode, which cannot be undone. It comes before any other write,
    /// because the chip loses nothing by it: it continues in LRP mode with the keys that it has.
    fn switch(&mut self, session: Session, proved: &Proved) -> Next {
        // The switch cannot be undone, so a chip that cannot be finished is not switched.
        if self.next_generation(proved).is_none() {
            return Next::Rejected(Reason::NotEncodable);
        }
        self.journal.torn += 1;
        let made = session.switch_to_lrp();
        let switch = Command::new("SetConfiguration, LRP mode", &made.apdu, "9100");
        Next::Send(Phase::Switch, vec![switch, first_half(Mode::Lrp, KEY_0)])
    }

    pub(super) fn switched(&mut self, answers: &Answers) -> Next {
        let Some((_, status)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        if status != Status::OK {
            self.journal.not_begun();
            return Self::gone(answers);
        }
        self.chip.lrp = true;
        let opening = Opening {
            slot: KEY_0,
            candidates: self.chip.opened.into_iter().collect(),
            read: false,
        };
        self.challenged(opening, answers.get(1), answers)
    }

    fn change_keys(
        &mut self,
        batch: &mut Batch,
        goal: Candidate,
        proved: &Proved,
    ) -> Result<(), Reason> {
        let version = number(goal);
        for slot in 1..KEYS {
            let shown = proved.versions[usize::from(slot)];
            let old = self.old_key(slot, shown).ok_or(Reason::ForeignSlot)?;
            // A factory key with another version is written again, because a version must name its
            // key.
            if old == goal && shown == version {
                continue;
            }
            let keys = self.key(slot, old).zip(self.key(slot, goal));
            let (old, new) = keys.ok_or(Reason::ForeignSlot)?;
            self.journal.note(version, slot, SlotState::Sent);
            batch.change_key(slot, &old, &new, version);
        }
        // Key 0 is sent without a checksum (data sheet section 10.6.1), so the chip would store
        // garbage, too. So it is changed only in a session in which the chip accepted a key that
        // has a checksum. If the chip already has all four keys, it gets the last one once more.
        if batch.writes.iter().all(|write| write.slot.is_none()) {
            let slot = KEYS - 1;
            let same = self.key(slot, goal).ok_or(Reason::ForeignSlot)?;
            batch.change_key(slot, &same, &same, version);
        }
        Ok(())
    }

    /// The keys that are written to the chip: the generation that it already has except for key 0,
    /// or a new one. `None` if all numbers are used up.
    ///
    /// A key that was sent and is not on this chip may be on another chip that pretends to be this
    /// one. Such a key is never sent again.
    fn goal(&mut self, proved: &Proved) -> Option<Candidate> {
        if self.wipes() {
            return Some(Candidate::Factory);
        }
        if let Some(number) = self.encoding.generation
            && proved.versions[1..] == [number; KEYS as usize - 1]
            && self.journal.state(number, 0) == Some(SlotState::Planned)
            && self.chip.doubts.is_empty()
        {
            return Some(Candidate::Recorded(number));
        }
        let number = self.next_generation(proved)?;
        let source = if self.means.own_keys {
            let random = || AesKey::from_bytes(entropy::bytes(self.means.entropy));
            Source::Own(Box::new(std::array::from_fn(|_| random())))
        } else {
            Source::Root(self.means.roots.active()?.id)
        };
        self.journal.generations.push(Generation {
            number,
            source,
            slots: [SlotState::Planned; KEYS as usize],
        });
        self.encoding.generation = Some(number);
        self.rewrite = false;
        Some(Candidate::Recorded(number))
    }

    /// The number of new keys. The last numbers are kept for a chip that an authorised person
    /// vouches for, because a relay could use all of them up.
    fn next_generation(&self, proved: &Proved) -> Option<u8> {
        if self.journal.unproved() >= UNPROVED_MAX && !self.replace {
            return None;
        }
        self.journal.next_generation(&proved.versions)
    }

    pub(super) fn written(
        &mut self,
        session: Session,
        writes: &[Write],
        answers: &Answers,
    ) -> Next {
        let goal = match (self.wipes(), self.encoding.generation) {
            (true, _) => Candidate::Factory,
            (false, Some(number)) => Candidate::Recorded(number),
            (false, None) => return Next::Again,
        };
        for (index, write) in writes.iter().enumerate() {
            let Some(answer) = answers.get(index) else {
                return Self::gone(answers);
            };
            match (session.open(write.reply(), answer), write.slot) {
                (Ok(_), Some(slot)) => {
                    self.journal.note(number(goal), slot, SlotState::Confirmed);
                    self.chip.doubts.retain(|doubt| *doubt != slot);
                }
                (Ok(_), None) => {}
                // The old key is not the one that its version names.
                (Err(ReplyError::Status(Status::INTEGRITY)), Some(slot)) => {
                    if !self.chip.doubts.contains(&slot) {
                        self.chip.doubts.push(slot);
                    }
                    return Next::Again;
                }
                (Err(_), _) => return Self::gone(answers),
            }
        }
        self.chip.proved.clear();
        if self.chip.opened == Some(goal) {
            // The chip is to be wiped and still has the factory key 0: check it once more.
            if self.chip.shown[0] == Some(0) {
                return self.open_key_0(false);
            }
        }
        self.seal(session, goal)
    }

    /// Changes key 0, last and by itself. A generation whose key 0 was sent is never sent again.
    fn seal(&mut self, session: Session, goal: Candidate) -> Next {
        let version = number(goal);
        let made = self
            .key(KEY_0, goal)
            .and_then(|new| session.change_key_0(&new, version));
        // The chip would decrypt this command to another key, so it is not sent.
        let Some(made) = made else {
            return Next::Again;
        };
        match goal {
            Candidate::Factory => self.journal.confirmed = None,
            _ => self.journal.note(version, KEY_0, SlotState::Sent),
        }
        self.journal.torn += 1;
        let change = Command::new("ChangeKey 0", &made.apdu, "9100");
        let half = first_half(self.mode(), KEY_0);
        Next::Send(Phase::Seal, vec![change, half])
    }

    pub(super) fn sealed(&mut self, answers: &Answers) -> Next {
        let Some((_, status)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        if status != Status::OK {
            self.journal.not_begun();
            return Self::gone(answers);
        }
        let goal = match (self.wipes(), self.encoding.generation) {
            (false, Some(number)) => Candidate::Recorded(number),
            _ => Candidate::Factory,
        };
        self.chip.opened = None;
        self.chip.proved.clear();
        let opening = Opening {
            slot: KEY_0,
            candidates: vec![goal],
            read: true,
        };
        self.challenged(opening, answers.get(1), answers)
    }
}

/// The version with which a key is written.
const fn number(key: Candidate) -> u8 {
    match key {
        Candidate::Factory | Candidate::Imported => 0,
        Candidate::Recorded(number) => number,
        Candidate::Derived { generation, .. } => generation,
    }
}
