//! A chip that has pages instead of files, from its first read to its lock. It has no key: what
//! is there already is left alone, and everything else is written until it is there. A message of
//! something else is not written over unless that was asked for.

use super::{Machine, Next};
use crate::encoding::pages::{DATA, NO_PASSWORD, PAGE, Pages};
use crate::encoding::plan::Proof;
use crate::encoding::progress::{PageStep, Phase};
use crate::encoding::turn::Command;
use crate::encoding::{Answers, Reason};
use crate::inlay::Technology;
use crate::inlay::ev2::{Status, answer};
use crate::inlay::technology::ntag21x::{Memory, MirrorConfig, MirrorContent};

/// Bytes of a read: four pages.
const READ: usize = 16;
/// The page of the static lock bytes, and that of the capability container.
const STATIC_LOCKS: u8 = 2;
const CONTAINER: u8 = 3;
/// What begins a capability container, and says that nobody may write.
const MAGIC: u8 = 0xE1;
const READ_ONLY: u8 = 0x0F;
/// `CFGLCK` and `PROT` in `ACCESS`: the configuration is locked; reading needs the password.
const CONFIG_LOCKED: u8 = 0x40;
const PROTECTED: u8 = 0x80;

/// What a chip has, as far as it was read.
struct Seen {
    head: [u8; READ],
    data: Vec<u8>,
    /// Dynamic lock bytes, two configuration pages, the password's place.
    tail: [u8; READ],
}

impl Seen {
    fn config(&self) -> [[u8; PAGE]; 2] {
        let pages = self.tail.as_chunks().0;
        [pages[1], pages[2]]
    }

    fn uid(&self) -> [u8; 7] {
        let mut uid = [0; 7];
        // The fourth byte checks the three before it.
        uid[..3].copy_from_slice(&self.head[..3]);
        uid[3..].copy_from_slice(&self.head[4..8]);
        uid
    }

    /// Capability container, dynamic and static lock bytes: which of them say "locked".
    fn locks(&self, memory: Memory) -> [bool; 3] {
        let dynamic = self.tail.iter().zip(memory.all_locks);
        [
            self.head[15] & READ_ONLY == READ_ONLY,
            dynamic.clone().all(|(have, all)| have & all == all),
            self.head[10..12] == [0xFF, 0xFF],
        ]
    }

    /// Whether nothing keeps the data area from being written.
    fn is_open(&self, memory: Memory) -> bool {
        let [cfg0, cfg1] = self.config();
        let mut dynamic = self.tail.iter().zip(memory.all_locks);
        self.head[10..12] == [0, 0]
            && self.head[15] & READ_ONLY == 0
            && dynamic.all(|(have, all)| have & all == 0)
            && cfg0[3] == NO_PASSWORD
            && cfg1[0] & CONFIG_LOCKED == 0
    }

    /// Whether a mirror stands over the data.
    fn is_mirrored(&self) -> bool {
        let [cfg0, cfg1] = self.config();
        MirrorConfig::from_pages(cfg0, cfg1).content != MirrorContent::Nothing
    }
}

impl Machine<'_> {
    /// The commands that tell which chip of pages this is.
    pub(super) fn look_at_pages() -> Next {
        Next::Send(Phase::Pages(PageStep::Head), vec![read(0)])
    }

    pub(super) fn page_step(&self, step: PageStep, answers: &Answers) -> Next {
        match step {
            PageStep::Head => self.page_head(answers),
            PageStep::Whole(chip) => match self.pages_of(chip) {
                Some(pages) => self.pages_seen(&pages, answers),
                None => Next::Rejected(Reason::NotEncodable),
            },
            // Whatever lies there now is looked at from the beginning.
            PageStep::Unmirrored => Self::gone(answers),
            PageStep::Written {
                chip,
                compare,
                proof,
            } => match self.pages_of(chip) {
                Some(pages) => self.pages_written(&pages, compare, proof, answers),
                None => Next::Rejected(Reason::NotEncodable),
            },
            PageStep::Locked { chip, proof } => match self.pages_of(chip) {
                Some(pages) => self.pages_locked(&pages, proof, answers),
                None => Next::Rejected(Reason::NotEncodable),
            },
        }
    }

    /// What this chip is to have; `None` if it is another one than that is for.
    fn pages_of(&self, chip: Technology) -> Option<Pages> {
        let planned = match self.means.plan {
            Some(plan) => plan.pages.clone(),
            None => Pages::factory(chip),
        };
        planned.filter(|pages| pages.technology == chip)
    }

    fn page_head(&self, answers: &Answers) -> Next {
        let Some((head, status)) = answers.get(0).and_then(answer) else {
            return Self::gone(answers);
        };
        let Some(head) = head.first_chunk::<READ>() else {
            return self.another(Reason::NotEncodable);
        };
        let known = Memory::by_size(head[14]).filter(|_| head[12] == MAGIC);
        let (Status::ISO_OK, Some(chip)) = (status, known) else {
            return self.another(Reason::NotEncodable);
        };
        let Some(pages) = self.pages_of(chip) else {
            return self.another(Reason::NotEncodable);
        };
        Next::Send(Phase::Pages(PageStep::Whole(chip)), whole(&pages))
    }

    /// The reads of [`whole`], from an answer on.
    fn seen(pages: &Pages, answers: &Answers, from: usize) -> Result<Seen, Next> {
        let mut read = Vec::new();
        for index in from..from + whole(pages).len() {
            let Some((bytes, status)) = answers.get(index).and_then(answer) else {
                return Err(Self::gone(answers));
            };
            match (status, bytes.first_chunk::<READ>()) {
                (Status::ISO_OK, Some(bytes)) => read.push(*bytes),
                // It wants a password for reading.
                _ => return Err(Next::Rejected(Reason::ReadOnly)),
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
        let seen = match Self::seen(pages, answers, 0) {
            Ok(seen) => seen,
            Err(next) => return next,
        };
        if seen.uid() != self.encoding.uid.bytes() {
            return self.another(Reason::UidMismatch);
        }
        let config = seen.config();
        if pages.is_written(&seen.data, config) && pages.config(config) == config {
            return Self::prove(pages, Vec::new(), None);
        }
        if !seen.is_open(pages.memory) || config[1][0] & PROTECTED != 0 {
            return Next::Rejected(Reason::ReadOnly);
        }
        // What it has is given up if that was asked for, or if it is of this encoding or this tag.
        let may_go = self.wipes() || self.replace || self.wrote || self.means.is_inlay;
        if !may_go && !pages.is_free(&seen.data, config) {
            return Next::Rejected(Reason::AlreadyEncoded);
        }
        let at = pages.memory.locks + 1;
        if seen.is_mirrored() {
            // Only after a new activation the data show as they are written.
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
        commands.extend(whole(pages));
        let [cfg0, cfg1] = pages.config(config);
        commands.push(write("Counter", at + 1, cfg1));
        commands.push(write("Mirror", at, cfg0));
        Self::prove(pages, commands, Some(compare))
    }

    /// A new activation, and everything read again.
    fn prove(pages: &Pages, mut commands: Vec<Command>, compare: Option<usize>) -> Next {
        commands.push(Command::reset());
        let proof = commands.len();
        commands.extend(whole(pages));
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
        // One that was refused is looked at again.
        if answers.answers.len() < proof {
            return Self::gone(answers);
        }
        if let Some(compare) = compare {
            match Self::seen(pages, answers, compare) {
                Ok(seen) if seen.data.starts_with(&pages.data) => {}
                Ok(_) => return Next::Again,
                Err(_) => return Self::gone(answers),
            }
        }
        let Ok(seen) = Self::seen(pages, answers, proof) else {
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
        Self::lock(pages, &seen, proof)
    }

    /// Locks it, if that was asked for: what phones respect first, the first pages last, for they
    /// lock the capability container, too.
    fn lock(pages: &Pages, seen: &Seen, proof: Proof) -> Next {
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
        commands.extend([read(0), read(pages.memory.locks)]);
        let chip = pages.technology;
        Next::Send(Phase::Pages(PageStep::Locked { chip, proof }), commands)
    }

    fn pages_locked(&self, pages: &Pages, proof: Proof, answers: &Answers) -> Next {
        let mut last = answers.answers.iter().rev().map(|bytes| answer(&bytes.0));
        let (Some(Some((tail, Status::ISO_OK))), Some(Some((head, Status::ISO_OK)))) =
            (last.next(), last.next())
        else {
            return Self::gone(answers);
        };
        let (Some(head), Some(tail)) = (head.first_chunk(), tail.first_chunk()) else {
            return Self::gone(answers);
        };
        let seen = Seen {
            head: *head,
            data: Vec::new(),
            tail: *tail,
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

/// What locks a chip, with its capability container as it is to be.
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

/// The reads of everything that matters: the first pages, the data, the settings.
pub(super) fn whole(pages: &Pages) -> Vec<Command> {
    let data = (0..pages.data.len()).step_by(READ);
    let data = data.map(|at| read(DATA + u8::try_from(at / PAGE).unwrap_or(0)));
    let mut commands = vec![read(0)];
    commands.extend(data);
    commands.push(read(pages.memory.locks));
    commands
}

/// Reads four pages (PC/SC part 3, section 3.2.2.1.8).
pub(super) fn read(page: u8) -> Command {
    let name = format!("Read pages {page} to {}", page.saturating_add(3));
    Command::new(name, &[0xFF, 0xB0, 0x00, page, 0x10], "9000")
}

/// Writes one page (section 3.2.2.1.9).
pub(super) fn write(what: &str, page: u8, [a, b, c, d]: [u8; PAGE]) -> Command {
    let name = format!("{what}, page {page}");
    Command::new(name, &[0xFF, 0xD6, 0x00, page, 0x04, a, b, c, d], "9000")
}
