//! Authentications and their cost.

use super::{Machine, Next};
use crate::journal::{REFUSALS_AT_ONCE, REFUSALS_MAX, TORN_MAX};
use crate::progress::{Opening, Phase};
use crate::turn::Command;
use crate::{Answers, Candidate, Journal, Reason};
use domain::entropy;
use inlay::ev2::{Handshake, HandshakeError, KEY_0, Session, Status, answer, first};
use inlay::technology::Mode;

/// How many first halves a turn holds while the chip delays: each takes about 25 ms.
const HALVES: usize = 40;
/// Turns of such first halves, 10 seconds in all.
const DELAYS_MAX: u32 = 10;

impl Machine<'_> {
    /// Sends the first half for the first candidate. The chip counts it as a failure until the
    /// second half succeeds. So does the journal, before the command leaves.
    pub(super) fn open(&mut self, opening: Opening) -> Next {
        let slot = opening.slot;
        let known = opening
            .candidates
            .first()
            .is_some_and(|one| self.key(slot, *one).is_some());
        if !known || self.chip.refusals >= REFUSALS_AT_ONCE || self.journal.refusals >= REFUSALS_MAX
        {
            return Next::Rejected(unknown_key(slot));
        }
        if self.journal.torn >= TORN_MAX {
            return Next::Rejected(Reason::Delayed);
        }
        self.journal.torn += 1;
        let command = first_half(self.mode(), slot);
        Next::Send(Phase::Challenge(opening), vec![command])
    }

    /// The mode of the chip, as known so far.
    pub(super) fn mode(&self) -> Mode {
        if self.chip.lrp { Mode::Lrp } else { Mode::Aes }
    }

    pub(super) fn challenged(
        &mut self,
        opening: Opening,
        challenge: Option<&[u8]>,
        answers: &Answers,
    ) -> Next {
        // While it delays, several first halves are sent, and the last answer counts.
        let last = answers.answers.last().map(|bytes| bytes.0.as_slice());
        let challenge = if self.chip.delays > 0 {
            last
        } else {
            challenge
        };
        let Some((_, status)) = challenge.and_then(answer) else {
            return Next::Interrupted(None);
        };
        match status {
            Status::MORE => {}
            Status::DELAY => return self.wait(opening, answers),
            Status::DENIED => {
                self.journal.not_begun();
                return self.denied(opening);
            }
            _ => return Self::gone(answers),
        }
        let Opening {
            slot,
            ref candidates,
            ..
        } = opening;
        let Some(key) = candidates.first().and_then(|one| self.key(slot, *one)) else {
            return Next::Rejected(unknown_key(slot));
        };
        let a = entropy::bytes(self.means.entropy);
        match Handshake::respond(self.mode(), slot, key, challenge.unwrap_or_default(), a) {
            Ok((apdu, handshake)) => {
                let name = format!("Authenticate key {slot}, second half");
                let command = Command::new(name, &apdu, "9100");
                Next::Send(Phase::Response(opening, handshake), vec![command])
            }
            Err(_) => Self::gone(answers),
        }
    }

    /// The chip refused the first half: its key is locked for good, or it speaks LRP. Only a chip
    /// in LRP mode accepts the first half of LRP, and it fits this encoding only if its URL is to
    /// be of LRP mode.
    fn denied(&mut self, opening: Opening) -> Next {
        if self.chip.lrp {
            return Next::Rejected(Reason::Locked);
        }
        if self.wants_lrp() {
            self.chip.lrp = true;
            return self.open(opening);
        }
        let probe = first_half(Mode::Lrp, KEY_0);
        Next::Send(Phase::LrpProbe, vec![probe])
    }

    /// A chip that delays is asked again in the same activation, until the delay is over. Meanwhile
    /// the chip counts nothing (AN12196, figures 11 and 12), and neither does the journal: the chip
    /// will answer the first half that the journal already counted.
    fn wait(&mut self, opening: Opening, answers: &Answers) -> Next {
        if answers.fault.is_some() {
            // The chip may have accepted one of these first halves before the fault.
            return Next::Interrupted(Some(Reason::Delayed));
        }
        if self.chip.delays >= DELAYS_MAX {
            self.journal.not_begun();
            return Next::Interrupted(Some(Reason::Delayed));
        }
        self.chip.delays += 1;
        let mut halves = vec![first_half(self.mode(), opening.slot); HALVES];
        for half in &mut halves {
            half.expect = vec!["91AD".to_owned()];
        }
        Next::Send(Phase::Challenge(opening), halves)
    }

    pub(super) fn probed(answers: &Answers) -> Next {
        let Some((data, status)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        // A chip in LRP mode says so in the first byte of its challenge. Any other chip does not
        // know the command, so it cannot delay it either.
        let is_lrp = status == Status::MORE && data.first() == Some(&0x01);
        if is_lrp || status == Status::DELAY {
            Next::Rejected(Reason::Lrp)
        } else {
            Next::Rejected(Reason::Locked)
        }
    }

    pub(super) fn responded(
        &mut self,
        mut opening: Opening,
        handshake: Handshake,
        answers: &Answers,
    ) -> Next {
        let Some(reply) = answers.get(0) else {
            return Next::Interrupted(None);
        };
        let candidate = opening.candidates.remove(0);
        match handshake.finish(reply) {
            Ok(session) => self.opened(&opening, candidate, session),
            Err(HandshakeError::Status(Status::AUTHENTICATION)) => {
                self.journal.refuse(candidate);
                self.chip.refusals += 1;
                self.open(opening)
            }
            // The chip accepted a key without proving that it has it, so it is an imitation.
            Err(HandshakeError::NotProved) => Next::Rejected(Reason::NotGenuine),
            Err(_) => Self::gone(answers),
        }
    }

    fn opened(&mut self, opening: &Opening, candidate: Candidate, session: Session) -> Next {
        let candidate = self.journal.opened(opening.slot, candidate);
        if opening.slot != 0 {
            self.chip.proved.push((opening.slot, candidate));
            return self.prove_slots();
        }
        // A bureau's chip that opens with the factory key was never encoded, or it pretends to be
        // an encoded one.
        let is_known = self.journal.confirmed.is_some() || self.journal.bureau.is_some();
        if candidate == Candidate::Factory && is_known {
            if !self.replace {
                return Next::Rejected(Reason::NotGenuine);
            }
            self.journal.confirmed = None;
            self.journal.bureau = None;
        }
        self.chip.opened = Some(candidate);
        self.check(session, opening.read)
    }
}

/// Late answers still show whether the chip counted an authentication and whether it succeeded. A
/// refused key is not recorded as refused, because another chip may have answered.
pub(super) fn settle(phase: Phase, journal: &mut Journal, answers: &Answers) {
    let first = match phase {
        Phase::Challenge(_) => answers.answers.last().map(|bytes| bytes.0.as_slice()),
        Phase::Switch | Phase::Seal => {
            let begins = matches!(answers.get(0).and_then(answer), Some((_, Status::OK)));
            if begins {
                answers.get(1)
            } else {
                answers.get(0)
            }
        }
        Phase::Response(opening, handshake) => {
            let session = answers.get(0).map(|reply| handshake.finish(reply));
            if let (Some(Ok(_)), Some(key)) = (session, opening.candidates.first()) {
                journal.opened(opening.slot, *key);
            }
            return;
        }
        _ => return,
    };
    let status = first.and_then(answer).map(|(_, status)| status);
    let took = status.is_none_or(|status| status == Status::MORE);
    if !took && answers.fault.is_none() {
        journal.not_begun();
    }
}

pub(super) fn first_half(mode: Mode, slot: u8) -> Command {
    let name = match mode {
        Mode::Aes => format!("Authenticate key {slot}"),
        Mode::Lrp => format!("Authenticate key {slot}, LRP"),
    };
    Command::new(name, &first(mode, slot), "91AF")
}

pub(super) const fn unknown_key(slot: u8) -> Reason {
    if slot == 0 {
        Reason::ForeignKey
    } else {
        Reason::ForeignSlot
    }
}
