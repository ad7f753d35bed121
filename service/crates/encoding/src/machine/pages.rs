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

use super::{Machine, Next};
use crate::pages::Pages;
use crate::plan::Proof;
use crate::progress::{PageStep, Phase};
use crate::turn::Command;
use crate::{Answers, Reason};
use inlay::Technology;
use inlay::ev2::{Status, answer};
use inlay::technology::ntag21x::{Memory, MirrorConfig, MirrorContent};
use inlay::technology::type2::{FIRST_PAGE, NXP, PAGE, READ};

/// The pages of the static lock bytes and of the capability container.
const STATIC_LOCKS: u8 = 2;
const CONTAINER: u8 = 3;
/// First byte of a capability container, and the access bits that make it read-only.
const MAGIC: u8 = 0xE1;
const READ_ONLY: u8 = 0x0F;
/// `CFGLCK` and `PROT` in `ACCESS`: the configuration is locked; reading needs the password.
const CONFIG_LOCKED: u8 = 0x40;
const PROTECTED: u8 = 0x80;
/// Statuses of readers that do not read four pages at once: wrong length, the length that they
/// read, and fewer bytes than that (PC/SC part 3, section 3.2.2.1.8; ISO 7816-4).
const TOO_LONG: [Status; 3] = [Status(0x6700), Status(0x6C04), Status(0x6282)];

/// The read size of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// Four pages at once.
    Four,
    /// A page at a time.
    One,
}

/// Four pages, or why they were not read.
enum Read {
    Bytes([u8; READ]),
    /// The page that the chip or the reader refused.
    Refused(u8),
    /// The answer did not come.
    Gone,
}

impl Reads {
    /// Reads four pages, beginning with this one (PC/SC part 3, section 3.2.2.1.8).
    pub(super) fn four(self, page: u8) -> Vec<Command> {
        match self {
            Self::Four => vec![read(page)],
            Self::One => (page..=page.saturating_add(3)).map(read_one).collect(),
        }
    }

    /// Number of commands that read four pages.
    const fn commands(self) -> usize {
        match self {
            Self::Four => 1,
            Self::One => 4,
        }
    }

    /// The four pages from `page` on, taken from the answers that begin with number `from`.
    fn answered(self, answers: &Answers, from: usize, page: u8) -> Read {
        let mut bytes = Vec::with_capacity(READ);
        let pages = READ / PAGE / self.commands();
        for (index, page) in (0..self.commands()).zip((page..).step_by(pages)) {
            let Some((data, status)) = answers.get(from + index).and_then(answer) else {
                return Read::Gone;
            };
            if status != Status::ISO_OK || data.len() != pages * PAGE {
                return Read::Refused(page);
            }
            bytes.extend(data);
        }
        bytes
            .first_chunk()
            .map_or(Read::Gone, |bytes| Read::Bytes(*bytes))
    }

    /// The reads of every page that is checked: the first pages, the data, the settings.
    pub(super) fn whole(self, pages: &Pages) -> Vec<Command> {
        firsts(pages)
            .into_iter()
            .flat_map(|page| self.four(page))
            .collect()
    }

    /// The reads that show the last page of the memory. A read of four pages that begins at the
    /// third last page returns three pages and then the first page (data sheet section 10.2). Page
    /// by page, the chip refuses the page after the last one.
    pub(super) fn end(self, memory: Memory) -> Vec<Command> {
        let last = memory.last_page();
        match self {
            Self::Four => vec![read(last - 2)],
            Self::One => vec![read_one(last), read_one(last + 1)],
        }
    }

    /// Whether the answers to [`Self::end`] come from a chip with this first page; `None` if they
    /// are missing.
    fn ends(self, first: &[u8], answers: &Answers, from: usize) -> Option<bool> {
        let (data, status) = answers.get(from).and_then(answer)?;
        if status != Status::ISO_OK {
            return Some(false);
        }
        match self {
            Self::Four => Some(data.len() == READ && data.ends_with(first)),
            Self::One => {
                let (_, behind) = answers.get(from + 1).and_then(answer)?;
                Some(data.len() == PAGE && behind != Status::ISO_OK)
            }
        }
    }
}

/// The first pages of the reads of [`Reads::whole`].
fn firsts(pages: &Pages) -> Vec<u8> {
    let data = (0..pages.data.len()).step_by(READ);
    let data = data.map(|at| FIRST_PAGE + u8::try_from(at / PAGE).unwrap_or(0));
    let mut firsts = vec![0];
    firsts.extend(data);
    firsts.push(pages.memory.locks);
    firsts
}

/// The pages that were read from a chip.
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
        // The fourth byte is the check byte of the three before it.
        uid[..3].copy_from_slice(&self.head[..3]);
        uid[3..].copy_from_slice(&self.head[4..8]);
        uid
    }

    /// Whether the capability container, the dynamic and the static lock bytes each say "locked".
    fn locks(&self, memory: Memory) -> [bool; 3] {
        let dynamic = self.tail.iter().zip(memory.all_locks);
        [
            self.head[15] & READ_ONLY == READ_ONLY,
            dynamic.clone().all(|(have, all)| have & all == all),
            self.head[10..12] == [0xFF, 0xFF],
        ]
    }

    /// Whether the chip can be locked: no password prevents it, or no lock is needed.
    fn can_be_locked(&self, pages: &Pages) -> bool {
        let [cfg0, _] = self.config();
        let is_locked = self.locks(pages.memory) == [true; 3];
        !pages.lock || is_locked || cfg0[3] > pages.memory.locks
    }

    /// Whether the data area can be written, and locked if it is to be locked.
    fn is_open(&self, pages: &Pages) -> bool {
        let memory = pages.memory;
        let last = memory.last_data_page();
        let [cfg0, _] = self.config();
        let mut dynamic = self.tail.iter().zip(memory.all_locks);
        self.head[10..12] == [0, 0]
            && self.head[15] & READ_ONLY == 0
            && dynamic.all(|(have, all)| have & all == 0)
            && cfg0[3] > last
            && self.can_be_locked(pages)
    }

    /// Whether the two configuration pages can be written. A password may protect them and no other
    /// page.
    fn has_open_config(&self, memory: Memory) -> bool {
        let [cfg0, cfg1] = self.config();
        cfg0[3] > memory.locks + 2 && cfg1[0] & CONFIG_LOCKED == 0
    }

    /// Whether a mirror covers a part of the data.
    fn is_mirrored(&self) -> bool {
        let [cfg0, cfg1] = self.config();
        MirrorConfig::from_pages(cfg0, cfg1).content != MirrorContent::Nothing
    }
}

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
        match step {
            PageStep::Head => self.page_head(answers),
            PageStep::Whole(chip) => match self.pages_of(chip) {
                Some(pages) => self.pages_seen(&pages, answers),
                None => Next::Rejected(Reason::NotEncodable),
            },
            // Another chip may be on the reader now, so the steps begin again.
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

    /// The pages to write to this chip; `None` if the plan is for another kind of chip.
    fn pages_of(&self, chip: Technology) -> Option<Pages> {
        let planned = match self.means.plan {
            Some(plan) => plan.pages.clone(),
            None => Pages::factory(chip),
        };
        planned.filter(|pages| pages.technology == chip)
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
        let mut commands = self.reads().whole(&pages);
        commands.extend(self.reads().end(pages.memory));
        Next::Send(Phase::Pages(PageStep::Whole(pages.technology)), commands)
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
        let end = firsts(pages).len() * reads.commands();
        match reads.ends(&seen.head[..PAGE], answers, end) {
            Some(true) => {}
            Some(false) => return self.another(Reason::NotEncodable),
            None => return Self::gone(answers),
        }
        let config = seen.config();
        let wanted = pages.config(config);
        if pages.is_written(&seen.data, config) && wanted == config {
            return if seen.can_be_locked(pages) {
                self.prove(pages, Vec::new(), None)
            } else {
                Next::Rejected(Reason::ReadOnly)
            };
        }
        let has_open_config = seen.has_open_config(pages.memory);
        if !seen.is_open(pages)
            || (!has_open_config && (wanted != config || seen.is_mirrored()))
            || config[1][0] & PROTECTED != 0
        {
            return Next::Rejected(Reason::ReadOnly);
        }
        // The old message may be overwritten if the caller allowed it, or if it belongs to this
        // encoding or this tag.
        let may_go = self.wipes() || self.replace || self.wrote || self.means.is_inlay;
        if !may_go && !pages.is_free(&seen.data, config) {
            return Next::Rejected(Reason::AlreadyEncoded);
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
        self.lock(pages, &seen, proof)
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

/// Reads four pages, beginning with `page`.
pub(super) fn read(page: u8) -> Command {
    let name = format!("Read pages {page} to {}", page.saturating_add(3));
    Command::new(name, &[0xFF, 0xB0, 0x00, page, 0x10], "9000")
}

fn read_one(page: u8) -> Command {
    Command::new(
        format!("Read page {page}"),
        &[0xFF, 0xB0, 0x00, page, 0x04],
        "9000",
    )
}

/// Writes one page (section 3.2.2.1.9).
pub(super) fn write(what: &str, page: u8, [a, b, c, d]: [u8; PAGE]) -> Command {
    let name = format!("{what}, page {page}");
    Command::new(name, &[0xFF, 0xD6, 0x00, page, 0x04, a, b, c, d], "9000")
}
