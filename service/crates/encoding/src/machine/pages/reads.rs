//! Reads of pages, four at once or page by page, as the reader answers.

use crate::Answers;
use crate::pages::Pages;
use crate::turn::Command;
use inlay::ev2::{Status, answer};
use inlay::technology::ntag21x::Memory;
use inlay::technology::type2::{FIRST_PAGE, PAGE, READ};

/// Statuses of readers that do not read four pages at once: wrong length, the length that they
/// read, and fewer bytes than that (PC/SC part 3, section 3.2.2.1.8; ISO 7816-4).
pub(super) const TOO_LONG: [Status; 3] = [Status(0x6700), Status(0x6C04), Status(0x6282)];

/// The read size of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum Reads {
    /// Four pages at once.
    Four,
    /// A page at a time.
    One,
}

/// Four pages, or why they were not read.
pub(super) enum Read {
    Bytes([u8; READ]),
    /// The page that the chip or the reader refused.
    Refused(u8),
    /// The answer did not come.
    Gone,
}

impl Reads {
    /// Reads four pages, beginning with this one (PC/SC part 3, section 3.2.2.1.8).
    pub(in crate::machine) fn four(self, page: u8) -> Vec<Command> {
        match self {
            Self::Four => vec![read(page)],
            Self::One => (page..=page.saturating_add(3)).map(read_one).collect(),
        }
    }

    /// Number of commands that read four pages.
    pub(super) const fn commands(self) -> usize {
        match self {
            Self::Four => 1,
            Self::One => 4,
        }
    }

    /// The four pages from `page` on, taken from the answers that begin with number `from`.
    pub(super) fn answered(self, answers: &Answers, from: usize, page: u8) -> Read {
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
    pub(in crate::machine) fn whole(self, pages: &Pages) -> Vec<Command> {
        firsts(pages)
            .into_iter()
            .flat_map(|page| self.four(page))
            .collect()
    }

    /// The reads that show the last page of the memory. A read of four pages that begins at the
    /// third last page returns three pages and then the first page (data sheet section 10.2). Page
    /// by page, the chip refuses the page after the last one.
    pub(in crate::machine) fn end(self, memory: Memory) -> Vec<Command> {
        let last = memory.last_page();
        match self {
            Self::Four => vec![read(last - 2)],
            Self::One => vec![read_one(last), read_one(last + 1)],
        }
    }

    /// Whether the answers to [`Self::end`] come from a chip with this first page; `None` if they
    /// are missing.
    pub(super) fn ends(self, first: &[u8], answers: &Answers, from: usize) -> Option<bool> {
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
pub(super) fn firsts(pages: &Pages) -> Vec<u8> {
    let data = (0..pages.data.len()).step_by(READ);
    let data = data.map(|at| FIRST_PAGE + u8::try_from(at / PAGE).unwrap_or(0));
    let mut firsts = vec![0];
    firsts.extend(data);
    firsts.push(pages.memory.locks);
    firsts
}

/// Reads four pages, beginning with `page`.
pub(in crate::machine) fn read(page: u8) -> Command {
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
