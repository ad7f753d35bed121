//! The read that proves a tap: as a phone reads, without a session.

use super::{Machine, Next};
use crate::progress::Phase;
use crate::turn::Command;
use crate::{Answers, Candidate, Reason, SlotState};
use inlay::ev2::{KEYS, SELECT_APPLICATION, SELECT_NDEF, Status, answer, read_binary};
use inlay::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT};

/// Most bytes of one read: a reader's answer has at most 256, its status included.
const READ: usize = 250;
/// The status of a file that nobody reads without a key.
const CLOSED: Status = Status(0x6982);

impl Machine<'_> {
    /// Only the read: everything else is proved, or was proved when the chip was encoded.
    pub(super) fn read(&self) -> Next {
        Next::Send(Phase::ReadBack, self.read_commands())
    }

    /// Reads the file in one run: one read raises the counter by one.
    pub(super) fn read_commands(&self) -> Vec<Command> {
        commands(self.means.plan.map_or(0, |plan| plan.file.len()))
    }

    /// Checks the read. Its answers begin with number `from`.
    pub(super) fn read_back(&mut self, answers: &Answers, from: usize) -> Next {
        let (Some(plan), Some(number)) = (self.means.plan, self.encoding.generation) else {
            return Next::Again;
        };
        let is_finished = self.means.finished == Some(number) && !self.replace;
        let expected = self.read_commands().len();
        let mut file = Vec::with_capacity(plan.file.len());
        for index in from..from + expected {
            let Some((data, status)) = answers.get(index).and_then(answer) else {
                return Self::gone(answers);
            };
            if status == CLOSED && is_finished {
                // Its counter is at its end, so that it shows its file to nobody; or somebody with
                // its key changed its settings. New keys help in both cases.
                return Next::Rejected(Reason::AlreadyEncoded);
            }
            if status != Status::ISO_OK {
                return Self::gone(answers);
            }
            file.extend(data);
        }
        let goal = Candidate::Recorded(number);
        let keys = self.key(META_SLOT, goal).zip(self.key(FILE_SLOT, goal));
        let Some((meta, key)) = keys else {
            return Next::Rejected(Reason::ForeignSlot);
        };
        let Some(proof) = plan.prove(&file, self.encoding.uid, &plan.keys(meta, key)) else {
            if is_finished {
                return Next::Rejected(Reason::AlreadyEncoded);
            }
            // The keys are proved, but the file differs from the written one. Write it again, with
            // other keys, because the chip may have made codes from the wrong file.
            self.rewrite = true;
            return Next::Again;
        };
        // For a finished chip nothing else is proved, and anyone can replay a URL that was used
        // before.
        let counts = plan.template().proves_taps();
        if is_finished && counts && proof.counter <= self.means.last_counter {
            return Next::Rejected(Reason::NotGenuine);
        }
        self.journal.bureau = None;
        for generation in &mut self.journal.generations {
            generation.slots = if generation.number == number {
                [SlotState::Confirmed; KEYS as usize]
            } else {
                [SlotState::Superseded; KEYS as usize]
            };
        }
        Next::Verified(proof)
    }
}

/// The commands that read a file of this length.
pub(super) fn commands(length: usize) -> Vec<Command> {
    let mut commands = vec![
        Command::new("Select application", &SELECT_APPLICATION, "9000"),
        Command::new("Select NDEF file", &SELECT_NDEF, "9000"),
    ];
    for at in (0..length).step_by(READ) {
        let part = u8::try_from((length - at).min(READ)).unwrap_or(0);
        // A file has 256 bytes.
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        commands.push(Command::new(
            "Read as a phone does",
            &read_binary(at, part),
            "9000",
        ));
    }
    commands
}
