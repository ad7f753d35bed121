//! The facts that the chip states without a key, and which keys it may have.

use super::{Machine, Next};
use crate::progress::{Chip, Opening, Phase};
use crate::turn::Command;
use crate::{Answers, Reason};
use inlay::ev2::{GET_VERSION, KEYS, MORE, SELECT_APPLICATION, Status, answer, get_key_version};
use inlay::technology::Technology;
use inlay::technology::ntag21x::Memory;
use inlay::technology::ntag424::of_version;

/// Length of the answer to `GetVersion`, in three parts.
const VERSION: usize = 28;
/// Where the UID begins in that answer.
const UID_AT: usize = 14;

impl Machine<'_> {
    /// The commands that identify the chip.
    pub(super) fn look(&self) -> Next {
        // A plan fits one kind of chip. Wiping works for any kind: a chip of pages has no
        // application to select, and readers differ in their answer to that.
        let has_pages = match self.means.plan {
            Some(plan) => plan.pages.is_some(),
            None => self.chip.technology.and_then(Memory::of).is_some(),
        };
        if has_pages {
            return self.look_at_pages();
        }
        let mut commands = vec![
            Command::new("Select application", &SELECT_APPLICATION, "9000"),
            Command::new("GetVersion 1", &GET_VERSION, "91AF"),
            Command::new("GetVersion 2", &MORE, "91AF"),
            Command::new("GetVersion 3", &MORE, "9100"),
        ];
        commands.extend((0..KEYS).map(|slot| {
            let name = format!("GetKeyVersion {slot}");
            Command::new(name, &get_key_version(slot), "9100")
        }));
        Next::Send(Phase::Facts, commands)
    }

    pub(super) fn facts(&mut self, answers: &Answers) -> Next {
        let Some((_, selected)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        if selected != Status::ISO_OK && self.wipes() {
            return self.look_at_pages();
        }
        if selected != Status::ISO_OK {
            return self.another(Reason::NotEncodable);
        }
        let mut version = Vec::with_capacity(VERSION);
        for part in 1..=3 {
            let Some((data, status)) = answers.get(part).and_then(answer) else {
                return Self::gone(answers);
            };
            if status != Status::MORE && status != Status::OK {
                return self.another(Reason::NotEncodable);
            }
            version.extend(data);
        }
        match self.check_version(&version) {
            Ok(technology) => self.chip.version = Some(technology),
            Err(reason) => return self.another(reason),
        }
        // A chip that does not state its versions without a key is asked for its keys in the
        // journal's order.
        self.chip.shown = std::array::from_fn(|slot| match answers.get(4 + slot).map(answer) {
            Some(Some((&[version], Status::OK))) => Some(version),
            _ => None,
        });
        if answers.fault.is_some() {
            return Self::gone(answers);
        }
        if let Some(generation) = self.means.finished
            && !self.replace
            && !self.wrote
            && !self.rewrite
        {
            let of_it = self.chip.shown.iter().flatten();
            return if of_it.clone().all(|version| *version == generation) {
                self.encoding.generation = Some(generation);
                self.read()
            } else {
                Next::Rejected(Reason::NotGenuine)
            };
        }
        self.open_key_0(false)
    }

    /// The chip's technology, or why it does not fit this encoding.
    fn check_version(&self, version: &[u8]) -> Result<Technology, Reason> {
        let (Some(technology), Some(uid)) = (of_version(version), version.get(UID_AT..UID_AT + 7))
        else {
            return Err(Reason::NotEncodable);
        };
        let planned = self
            .means
            .plan
            .map(|plan| plan.template().settings().technology);
        if planned.is_some_and(|planned| !technology.serves_as(planned)) {
            return Err(Reason::NotEncodable);
        }
        if uid == [0; 7] {
            return Err(Reason::RandomId);
        }
        if uid != self.encoding.uid.bytes() {
            return Err(Reason::UidMismatch);
        }
        Ok(technology)
    }

    /// Asks for key 0 with the candidates for it.
    pub(super) fn open_key_0(&mut self, read: bool) -> Next {
        let Chip { shown, opened, .. } = &self.chip;
        let mut candidates = self.journal.candidates_of_key_0(shown[0], self.means.roots);
        if let Some(opened) = *opened {
            candidates.retain(|one| *one != opened);
            candidates.insert(0, opened);
        }
        self.open(Opening {
            slot: 0,
            candidates,
            read,
        })
    }
}
