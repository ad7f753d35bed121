//! The write password of a chip of pages. It is derived from a root and the chip's UID, so a chip
//! never has one that is not known.
//!
//! The password and its acknowledgement are written while they protect no page, and proved by an
//! authentication after a new activation. Only then does `AUTH0` put them into force. To write a
//! chip again, its password is first taken out of force, which can be repeated in the same way. So
//! a chip that is torn away either needs no password, or needs one that opened it before.
//!
//! A chip that counts wrong passwords is asked for none: it would lock itself permanently.

use super::{Machine, Next, Seen, write};
use crate::pages::Pages;
use crate::plan::Proof;
use crate::progress::{PageStep, Phase, TriedPassword};
use crate::turn::Command;
use crate::{Answers, Reason};
use domain::id::EncodingRootId;
use inlay::Technology;
use inlay::ev2::{Status, answer};
use inlay::technology::ntag21x::{NO_PASSWORD, PROTECTED_FROM, WritePassword};
use inlay::technology::type2::{GET_VERSION, PAGE};

/// The status with which a relay answers if its reader passes no commands on.
const NOT_PASSED_ON: Status = Status(0x6A81);

/// The command that shows, before the first write, whether the reader passes commands on; `None` if
/// no password is wanted. Every NTAG 213, 215 and 216 knows it.
pub(in crate::machine) fn probe(pages: &Pages) -> Option<Command> {
    pages
        .write_password
        .then(|| Command::native("Ask the chip for its version", &[GET_VERSION]))
}

/// The commands that write a password and prove it.
pub(in crate::machine) fn password_commands(
    pages: &Pages,
    password: WritePassword,
) -> [Command; 4] {
    let [(first, value), (second, acknowledgement)] = password.pages(pages.memory);
    [
        write("Password", first, value),
        write("Acknowledgement of the password", second, acknowledgement),
        Command::reset(),
        authenticate(password),
    ]
}

/// The command that puts the password into force, with the chip's first configuration page.
pub(in crate::machine) fn protect_command(pages: &Pages, [a, b, c, _]: [u8; PAGE]) -> Command {
    let at = pages.memory.locks + 1;
    write("Password into force", at, [a, b, c, PROTECTED_FROM])
}

/// The command that opens a chip with a password, and proves that the chip has it.
pub(in crate::machine) fn authenticate(password: WritePassword) -> Command {
    Command::native("Authenticate with the password", &password.command())
}

impl Machine<'_> {
    /// Why the answer to [`probe`] does not allow a password; `None` if it does.
    pub(super) fn why_not_passed_on(&self, answers: &Answers, at: usize) -> Option<Next> {
        match answers.get(at).and_then(answer) {
            None => Some(Self::gone(answers)),
            Some((_, Status::ISO_OK)) => None,
            Some((_, NOT_PASSED_ON)) => Some(self.not_passed_on()),
            // The chip does not know a command that every chip of its kind knows.
            Some(_) => Some(self.another(Reason::NotEncodable)),
        }
    }

    fn not_passed_on(&self) -> Next {
        let reason = Reason::NotPassedOn;
        if self.wrote {
            Next::Interrupted(Some(reason))
        } else {
            Next::Rejected(reason)
        }
    }

    /// The root whose password opened the chip in this insertion.
    pub(super) fn opened_by(&self) -> Option<EncodingRootId> {
        match self.chip.password {
            Some(TriedPassword::Opened(root)) => Some(root),
            Some(TriedPassword::Foreign) | None => None,
        }
    }

    /// Whether a chip that the password of `root` opened stays as it is.
    pub(super) fn keeps_password(&self, pages: &Pages, seen: &Seen, root: EncodingRootId) -> bool {
        let [cfg0, _] = seen.config();
        let active = self.means.roots.active();
        pages.write_password
            && active.is_some_and(|active| active.id == root)
            && cfg0[3] == PROTECTED_FROM
    }

    /// Tries our passwords on a chip that needs one; `None` if that was done, or is not safe.
    pub(super) fn try_passwords(&self, pages: &Pages, seen: &Seen) -> Option<Next> {
        if self.chip.password.is_some() || seen.counts_attempts() {
            return None;
        }
        let roots = self.means.roots.0.iter().map(|root| root.id).collect();
        self.try_password(pages.technology, roots)
    }

    fn try_password(&self, chip: Technology, roots: Vec<EncodingRootId>) -> Option<Next> {
        let root = self.means.roots.get(*roots.first()?)?;
        let command = authenticate(root.write_password(self.encoding.uid));
        let step = PageStep::Opening { chip, roots };
        Some(Next::Send(Phase::Pages(step), vec![command]))
    }

    pub(super) fn password_tried(
        &mut self,
        chip: Technology,
        mut roots: Vec<EncodingRootId>,
        answers: &Answers,
    ) -> Next {
        let Some((data, status)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        let known = self.means.roots;
        let Some(root) = roots.first().and_then(|root| known.get(*root)) else {
            return Self::gone(answers);
        };
        if status == NOT_PASSED_ON {
            return self.not_passed_on();
        }
        if status == Status::ISO_OK {
            let password = root.write_password(self.encoding.uid);
            if data != password.acknowledgement {
                return Next::Rejected(Reason::NotGenuine);
            }
            self.chip.password = Some(TriedPassword::Opened(root.id));
            self.chip.had_password = true;
            return self.look_at_pages();
        }
        roots.remove(0);
        self.try_password(chip, roots).unwrap_or_else(|| {
            self.chip.password = Some(TriedPassword::Foreign);
            self.look_at_pages()
        })
    }

    /// Takes the password out of force, together with a mirror, and restores the factory values.
    /// The steps then begin again.
    pub(super) fn remove_password(
        &self,
        pages: &Pages,
        root: EncodingRootId,
        [cfg0, _]: [[u8; PAGE]; 2],
    ) -> Next {
        let Some(root) = self.means.roots.get(root) else {
            return Next::Again;
        };
        let password = root.write_password(self.encoding.uid);
        let [mirror, b, c, _] = cfg0;
        let at = pages.memory.locks + 1;
        let mut commands = vec![
            Command::reset(),
            authenticate(password),
            // First: a password that is torn while it is in force would be lost.
            write(
                "Password out of force",
                at,
                [mirror & 0x3F, b, c, NO_PASSWORD],
            ),
        ];
        // The chip refuses the rest unless the password is out of force indeed: after a new
        // activation nothing is open. Else a write that a reader only claims to have done would give
        // the chip a password in force that is not ours.
        commands.push(Command::reset());
        let factory = WritePassword::FACTORY.pages(pages.memory);
        commands.extend(factory.map(|(page, bytes)| write("Factory password", page, bytes)));
        commands.push(Command::reset());
        Next::Send(Phase::Pages(PageStep::Unmirrored), commands)
    }

    /// The writes that put the factory's password in place of ours, on a chip that is to have none and
    /// whose password is out of force. A chip that was torn away in [`Self::remove_password`] still has
    /// it, and shows it to nobody.
    pub(super) fn factory_password(&self, pages: &Pages, seen: &Seen) -> Vec<Command> {
        let [cfg0, _] = seen.config();
        let is_open = self.opened_by().is_none() && cfg0[3] > pages.memory.last_page();
        if pages.write_password || !self.chip.had_password || !is_open {
            return Vec::new();
        }
        let factory = WritePassword::FACTORY.pages(pages.memory);
        let writes = factory.map(|(page, bytes)| write("Factory password", page, bytes));
        writes.into()
    }

    /// The steps begin again after a mirror was switched off, or a password was taken out of force. If
    /// the chip accepted its password and refused the write after it, its reader activated it again in
    /// between, and will do so each time.
    pub(super) fn unmirrored(&self, answers: &Answers) -> Next {
        let status = |at| answers.get(at).and_then(answer).map(|(_, status)| status);
        // After the reset: the authentication, and the first write. A mirror is switched off by the
        // first command, and there is no third one.
        let is_open = status(1) == Some(Status::ISO_OK);
        let is_refused = status(2).is_some_and(|status| status != Status::ISO_OK);
        if is_open && is_refused && answers.fault.is_none() {
            return self.not_passed_on();
        }
        Self::gone(answers)
    }

    /// Gives a chip that shows its URL a password, unless it has it.
    pub(super) fn protect(&self, pages: &Pages, seen: &Seen, proof: Proof) -> Next {
        let Some(root) = self.means.roots.active() else {
            return Next::Rejected(Reason::NotEncodable);
        };
        if self.opened_by() == Some(root.id) && self.keeps_password(pages, seen, root.id) {
            return Next::Verified(proof);
        }
        let password = root.write_password(self.encoding.uid);
        let [cfg0, _] = seen.config();
        let chip = pages.technology;
        let step = PageStep::Password { chip, cfg0 };
        let commands = password_commands(pages, password).into();
        Next::Send(Phase::Pages(step), commands)
    }

    /// Puts a password into force that the chip proved to have.
    pub(super) fn password_written(
        &self,
        pages: &Pages,
        cfg0: [u8; PAGE],
        answers: &Answers,
    ) -> Next {
        let Some((data, status)) = answers.get(3).and_then(answer) else {
            return Self::gone(answers);
        };
        if status == NOT_PASSED_ON {
            return self.not_passed_on();
        }
        let active = self.means.roots.active();
        let password = active.map(|root| root.write_password(self.encoding.uid));
        let is_proved = password.is_some_and(|password| data == password.acknowledgement);
        if status != Status::ISO_OK || !is_proved {
            return Next::Again;
        }
        let mut commands = vec![protect_command(pages, cfg0), Command::reset()];
        commands.extend(self.reads().whole(pages));
        let chip = pages.technology;
        Next::Send(Phase::Pages(PageStep::Protected { chip }), commands)
    }

    /// Reads a chip whose password is in force as a phone does.
    pub(super) fn pages_protected(&self, pages: &Pages, answers: &Answers) -> Next {
        let Ok(seen) = self.seen(pages, answers, 2) else {
            return Self::gone(answers);
        };
        if seen.uid() != self.encoding.uid.bytes() {
            return self.another(Reason::UidMismatch);
        }
        let [cfg0, _] = seen.config();
        let plan = self.means.plan.filter(|_| cfg0[3] == PROTECTED_FROM);
        let proof = plan.and_then(|plan| plan.prove_pages(&seen.data, self.encoding.uid));
        proof.map_or(Next::Again, Next::Verified)
    }
}
