//! A chip that has pages instead of files, from its first read to its lock. It has no key. Pages
//! that are already correct are not written; the others are written until the chip has them. A
//! message of another program is overwritten only if the caller allowed that.
//!
//! A chip is recognised by the maker's byte in its UID, by its size, and by the last page of its
//! memory. Other chips state the same size, and keep a counter or keys in the pages where this one
//! has its settings.
//!
//! A reader may answer with fewer bytes than requested (PC/SC part 3, section 3.2.2.1.8). A reader
//! that answers with one page at a time is asked page by page.

pub(super) mod password;
mod reads;
mod seen;

use super::{Machine, Next};
use crate::pages::Pages;
use crate::plan::Proof;
use crate::progress::{PageStep, Phase};
use crate::turn::Command;
use crate::{Answers, Reason};
use inlay::Technology;
use inlay::ev2::{KEYS, Status, answer};
use inlay::technology::ntag21x::{Memory, PROT};
use inlay::technology::type2::{FIRST_PAGE, NXP, PAGE, READ};
use reads::{Read, TOO_LONG, firsts};
pub(super) use reads::{Reads, read};
use seen::{READ_ONLY, Seen, uid_in};

/// The pages of the static lock bytes and of the capability container.
const STATIC_LOCKS: u8 = 2;
const CONTAINER: u8 = 3;
/// First byte of a capability container.
const MAGIC: u8 = 0xE1;

impl Machine<'_> {
    fn reads(&self) -> Reads {
        if self.chip.by_page {
            Reads::One
        } else {
            Reads::Four
        }
    }

    /// The commands that identify a chip of pages.
    pub(super) fn look_at_pages(&self) -> Next {
        Next::Send(Phase::Pages(PageStep::Head), self.reads().four(0))
    }

    pub(super) fn page_step(&mut self, step: PageStep, answers: &Answers) -> Next {
        let chip = match step {
            PageStep::Head => return self.page_head(answers),
            // Another chip may be on the reader now, so the steps begin again.
            PageStep::Unmirrored => return self.unmirrored(answers),
            PageStep::Opening { chip, roots } => return self.password_tried(chip, roots, answers),
            PageStep::Whole(chip)
            | PageStep::Written { chip, .. }
            | PageStep::Password { chip, .. }
            | PageStep::Protected { chip }
            | PageStep::Locked { chip, .. } => chip,
        };
        let Some(pages) = self.pages_of(chip) else {
            return Next::Rejected(Reason::NotEncodable);
        };
        match step {
            PageStep::Written { compare, proof, .. } => {
                self.pages_written(&pages, compare, proof, answers)
            }
            PageStep::Password { cfg0, .. } => self.password_written(&pages, cfg0, answers),
            PageStep::Protected { .. } => self.pages_protected(&pages, answers),
            PageStep::Locked { proof, .. } => self.pages_locked(&pages, proof, answers),
            _ => self.pages_seen(&pages, answers),
        }
    }

    /// The pages to write to this chip; `None` if the plan is for another kind of chip.
    fn pages_of(&self, chip: Technology) -> Option<Pages> {
        let planned = match self.means.plan {
            Some(plan) => plan.pages.clone(),
            None => Pages::factory(chip),
        };
        let mut pages = planned.filter(|pages| pages.technology == chip)?;
        if pages.keeps_password {
            pages.write_password = self.chip.had_password;
        }
        Some(pages)
    }

    fn page_head(&mut self, answers: &Answers) -> Next {
        let Some((data, status)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        let is_part = status == Status::ISO_OK && (PAGE..READ).contains(&data.len());
        if !self.chip.by_page && (is_part || TOO_LONG.contains(&status)) {
            self.chip.by_page = true;
            return self.look_at_pages();
        }
        let head = match self.reads().answered(answers, 0, 0) {
            Read::Bytes(head) => head,
            Read::Refused(_) => return self.another(Reason::NotEncodable),
            Read::Gone => return Self::gone(answers),
        };
        let known = Memory::by_size(head[14]).filter(|_| head[12] == MAGIC && head[0] == NXP);
        let Some(pages) = known.and_then(|chip| self.pages_of(chip)) else {
            return self.another(Reason::NotEncodable);
        };
        if uid_in(&head) == self.encoding.uid.bytes() && self.imitates() {
            if !self.replace {
                return self.another(Reason::NotGenuine);
            }
            // A person knows that this chip has none of them.
            self.journal.confirmed = None;
            self.journal.bureau = None;
        }
        let mut commands = self.reads().whole(&pages);
        commands.extend(password::probe(&pages));
        // The last command may be refused, which ends the turn.
        commands.extend(self.reads().end(pages.memory));
        Next::Send(Phase::Pages(PageStep::Whole(pages.technology)), commands)
    }

    /// Whether a chip without keys that shows this UID imitates a chip with keys, whose inlay would lose
    /// its keys by it, or would be forgotten. A person who knows that can continue with it, as with a
    /// chip that has its factory key again.
    fn imitates(&self) -> bool {
        // Only a person replaces imported keys, so only the wipe has to be asked about here.
        let is_imported =
            self.wipes() && (0..KEYS).any(|slot| self.journal.imported(slot).is_some());
        let has_keys = self.journal.confirmed.is_some() || self.journal.bureau.is_some();
        has_keys || is_imported
    }

    /// The reads of [`Reads::whole`], from an answer on.
    fn seen(&self, pages: &Pages, answers: &Answers, from: usize) -> Result<Seen, Next> {
        let reads = self.reads();
        let mut read = Vec::new();
        for page in firsts(pages) {
            let at = from + read.len() * reads.commands();
            match reads.answered(answers, at, page) {
                Read::Bytes(bytes) => read.push(bytes),
                Read::Gone => return Err(Self::gone(answers)),
                // Every chip has these pages, so this one needs a password to read them.
                Read::Refused(page) if page <= FIRST_PAGE => {
                    return Err(Next::Rejected(Reason::ReadOnly));
                }
                // A chip with fewer pages gives the same answer as one with a password.
                Read::Refused(_) => return Err(self.another(Reason::NotEncodable)),
            }
        }
        match &read[..] {
            [head, data @ .., tail] => Ok(Seen {
                head: *head,
                data: data.concat(),
                tail: *tail,
            }),
            _ => Err(Self::gone(answers)),
        }
    }

    fn pages_seen(&self, pages: &Pages, answers: &Answers) -> Next {
        let seen = match self.seen(pages, answers, 0) {
            Ok(seen) => seen,
            Err(next) => return next,
        };
        if seen.uid() != self.encoding.uid.bytes() {
            return self.another(Reason::UidMismatch);
        }
        let reads = self.reads();
        let mut end = firsts(pages).len() * reads.commands();
        if pages.write_password {
            if let Some(next) = self.why_not_passed_on(answers, end) {
                return next;
            }
            end += 1;
        }
        match reads.ends(&seen.head[..PAGE], answers, end) {
            Some(true) => {}
            Some(false) => return self.another(Reason::NotEncodable),
            None => return Self::gone(answers),
        }
        let is_closed = seen.is_closed(pages);
        if is_closed && let Some(next) = self.try_passwords(pages, &seen) {
            return next;
        }
        let opened_by = self.opened_by().filter(|_| is_closed);
        if is_closed && opened_by.is_none() && pages.write_password {
            return Next::Rejected(Reason::ReadOnly);
        }
        let is_kept = opened_by.is_none_or(|root| self.keeps_password(pages, &seen, root));
        let seen = if opened_by.is_some() {
            seen.opened()
        } else {
            seen
        };
        let config = seen.config();
        let wanted = pages.config(config);
        let has_open_config = seen.has_open_config(pages.memory);
        // A password on a chip that is locked for good would protect nothing, and would stay for ever.
        let is_locked = seen.locks(pages.memory) == [true; 3];
        let can_protect =
            !pages.write_password || (has_open_config && (opened_by.is_some() || !is_locked));
        if is_kept && pages.is_written(&seen.data, config) && wanted == config {
            return if seen.can_be_locked(pages) && can_protect {
                self.prove(pages, self.factory_password(pages, &seen), None)
            } else {
                Next::Rejected(Reason::ReadOnly)
            };
        }
        if !seen.is_open(pages)
            || !can_protect
            || (!has_open_config && (wanted != config || seen.is_mirrored() || opened_by.is_some()))
            || config[1][0] & PROT != 0
        {
            return Next::Rejected(Reason::ReadOnly);
        }
        // The old message may be overwritten if the caller allowed it, or if it belongs to this
        // encoding or this tag.
        let may_go = self.wipes() || self.replace || self.wrote || self.means.is_inlay;
        if !may_go && !pages.is_free(&seen.data, config) {
            return Next::Rejected(Reason::AlreadyEncoded);
        }
        if let Some(root) = opened_by {
            return self.remove_password(pages, root, config);
        }
        let at = pages.memory.locks + 1;
        if seen.is_mirrored() {
            // The data show as written only after a new activation.
            let [mut cfg0, _] = config;
            cfg0[0] &= 0x3F;
            let commands = vec![write("Mirror off", at, cfg0), Command::reset()];
            return Next::Send(Phase::Pages(PageStep::Unmirrored), commands);
        }
        let writes = pages.writes(Some(&seen.data));
        let mut commands: Vec<_> = writes
            .into_iter()
            .map(|(page, bytes)| write("Write", page, bytes))
            .collect();
        let compare = commands.len();
        commands.extend(reads.whole(pages));
        if has_open_config {
            let [cfg0, cfg1] = wanted;
            commands.push(write("Counter", at + 1, cfg1));
            commands.push(write("Mirror", at, cfg0));
        }
        commands.extend(self.factory_password(pages, &seen));
        self.prove(pages, commands, Some(compare))
    }

    /// Activates the chip again and reads everything again.
    fn prove(&self, pages: &Pages, mut commands: Vec<Command>, compare: Option<usize>) -> Next {
        commands.push(Command::reset());
        let proof = commands.len();
        commands.extend(self.reads().whole(pages));
        let step = PageStep::Written {
            chip: pages.technology,
            compare,
            proof,
        };
        Next::Send(Phase::Pages(step), commands)
    }

    fn pages_written(
        &self,
        pages: &Pages,
        compare: Option<usize>,
        proof: usize,
        answers: &Answers,
    ) -> Next {
        // The reader refused a command, so the chip is checked from the beginning.
        if answers.answers.len() < proof {
            return Self::gone(answers);
        }
        if let Some(compare) = compare {
            match self.seen(pages, answers, compare) {
                Ok(seen) if seen.data.starts_with(&pages.data) => {}
                Ok(_) => return Next::Again,
                Err(_) => return Self::gone(answers),
            }
        }
        let Ok(seen) = self.seen(pages, answers, proof) else {
            return Self::gone(answers);
        };
        if seen.uid() != self.encoding.uid.bytes() {
            return self.another(Reason::UidMismatch);
        }
        let config = seen.config();
        if pages.config(config) != config || !pages.is_written(&seen.data, config) {
            return Next::Again;
        }
        let Some(plan) = self.means.plan else {
            return Next::Reset;
        };
        let Some(proof) = plan.prove_pages(&seen.data, self.encoding.uid) else {
            return Next::Again;
        };
        if pages.write_password {
            self.protect(pages, &seen, proof)
        } else {
            self.lock(pages, &seen, proof)
        }
    }

    /// Locks the chip if that was requested: first the container, which phones respect, and the
    /// first pages last, because their lock covers the capability container, too.
    fn lock(&self, pages: &Pages, seen: &Seen, proof: Proof) -> Next {
        let locked = seen.locks(pages.memory);
        if !pages.lock || locked == [true; 3] {
            return Next::Verified(proof);
        }
        let [.., magic, version, size, access] = seen.head;
        let locks = lock_commands(pages, [magic, version, size, access | READ_ONLY]);
        let open = locks
            .into_iter()
            .zip(locked)
            .filter(|(_, locked)| !locked)
            .map(|(command, _)| command);
        let mut commands: Vec<_> = open.collect();
        commands.extend(self.reads().four(0));
        commands.extend(self.reads().four(pages.memory.locks));
        let chip = pages.technology;
        Next::Send(Phase::Pages(PageStep::Locked { chip, proof }), commands)
    }

    fn pages_locked(&self, pages: &Pages, proof: Proof, answers: &Answers) -> Next {
        let reads = self.reads();
        let Some(from) = answers.answers.len().checked_sub(2 * reads.commands()) else {
            return Self::gone(answers);
        };
        let head = reads.answered(answers, from, 0);
        let tail = reads.answered(answers, from + reads.commands(), pages.memory.locks);
        let (Read::Bytes(head), Read::Bytes(tail)) = (head, tail) else {
            return Self::gone(answers);
        };
        let seen = Seen {
            head,
            data: Vec::new(),
            tail,
        };
        if seen.uid() != self.encoding.uid.bytes() {
            return self.another(Reason::UidMismatch);
        }
        if seen.locks(pages.memory) == [true; 3] {
            Next::Verified(proof)
        } else {
            Next::Again
        }
    }
}

/// The commands that lock a chip; `container` is its capability container after the lock.
pub(super) fn lock_commands(pages: &Pages, container: [u8; PAGE]) -> [Command; 3] {
    let [first, second, third] = pages.memory.all_locks;
    [
        write("Lock, capability container", CONTAINER, container),
        write(
            "Lock, dynamic lock bytes",
            pages.memory.locks,
            [first, second, third, 0],
        ),
        write("Lock, static lock bytes", STATIC_LOCKS, [0, 0, 0xFF, 0xFF]),
    ]
}

/// Writes one page (section 3.2.2.1.9).
pub(super) fn write(what: &str, page: u8, [a, b, c, d]: [u8; PAGE]) -> Command {
    let name = format!("{what}, page {page}");
    Command::new(name, &[0xFF, 0xD6, 0x00, page, 0x04, a, b, c, d], "9000")
}
