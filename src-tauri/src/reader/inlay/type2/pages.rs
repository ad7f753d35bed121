//! Reads the pages of a chip through its reader (`FF B0`; PC/SC part 3, section 3.2.2.1.8). If a
//! reader returns fewer bytes than requested, the rest is read page by page.

use tapdesk_service::inlay::technology::type2::{PAGE, READ};

use super::super::super::apdu::Recorder;
use super::super::super::card::Fault;

/// Status words of readers that cannot read four pages at once: wrong length, the right length, and
/// fewer bytes than requested.
const TOO_LONG: [u16; 3] = [0x6700, 0x6C04, 0x6282];

/// A card that is read by pages.
pub(super) struct Pages<'a, 'c> {
    pub(super) card: &'a mut Recorder<'c>,
    by_page: bool,
}

/// Why pages could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A password is missing, or the page does not exist: readers return the same status for both.
    Locked,
    /// Another status, or a malformed answer.
    Unreadable,
}

impl<'a, 'c> Pages<'a, 'c> {
    pub(super) fn new(card: &'a mut Recorder<'c>) -> Self {
        Self {
            card,
            by_page: false,
        }
    }

    /// Reads four pages from `first` on. `what` describes them in the log, if they are not only
    /// data.
    pub(super) fn four(
        &mut self,
        first: u8,
        what: &str,
    ) -> Result<Result<[u8; READ], Refused>, Fault> {
        if !self.by_page {
            let asked = format!("Read pages {first} to {}{what}", first.saturating_add(3));
            let answer = self.card.send(&asked, &[0xFF, 0xB0, 0x00, first, 0x10])?;
            let is_part = answer.status == 0x9000 && (PAGE..READ).contains(&answer.data.len());
            if !is_part && !TOO_LONG.contains(&answer.status) {
                let is_locked = answer.is_locked();
                let data = answer.ok().and_then(|data| data.try_into().ok());
                return Ok(data.ok_or(Refused::of(is_locked)));
            }
            self.by_page = true;
        }
        let mut bytes = [0; READ];
        for (page, place) in (0..).zip(bytes.as_chunks_mut::<PAGE>().0) {
            // No reader can address more than 256 pages.
            let Some(page) = first.checked_add(page) else {
                return Ok(Err(Refused::Unreadable));
            };
            match self.one(page, what)? {
                Ok(page) => *place = page,
                Err(refused) => return Ok(Err(refused)),
            }
        }
        Ok(Ok(bytes))
    }

    fn one(&mut self, page: u8, what: &str) -> Result<Result<[u8; PAGE], Refused>, Fault> {
        let asked = format!("Read page {page}{what}");
        let answer = self.card.send(&asked, &[0xFF, 0xB0, 0x00, page, 0x04])?;
        let is_locked = answer.is_locked();
        let data = answer.ok().and_then(|data| data.try_into().ok());
        Ok(data.ok_or(Refused::of(is_locked)))
    }

    /// Whether `last` is the last page of the chip's memory. A read of four pages that begins two
    /// pages before it returns three pages and then the first page (data sheet NTAG213/215/216 rev
    /// 3.2, section 10.2). Page by page, the page after the last is refused.
    pub(super) fn end_with(&mut self, last: u8, first_page: [u8; PAGE]) -> Result<bool, Fault> {
        let what = ": where its memory ends";
        if !self.by_page {
            let tail = self.four(last.saturating_sub(2), what)?;
            return Ok(tail.is_ok_and(|tail| tail.ends_with(&first_page)));
        }
        Ok(self.one(last, what)?.is_ok() && self.one(last.saturating_add(1), what)?.is_err())
    }
}

impl Refused {
    fn of(is_locked: bool) -> Self {
        if is_locked {
            Self::Locked
        } else {
            Self::Unreadable
        }
    }
}
