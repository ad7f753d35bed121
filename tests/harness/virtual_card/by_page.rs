//! A reader that returns one page of four bytes for any request, which is allowed (PC/SC part 3,
//! section 3.2.2.1.8), and which real readers do.

use super::VirtualCard;

/// Bytes of a page, and of a status word.
const PAGE: usize = 4;
const STATUS: usize = 2;

/// A chip on such a reader.
pub struct ByPage<C> {
    /// The chip on the reader.
    pub card: C,
    /// The status for a read of more than a page; `None` if the reader returns the first page.
    pub refusal: Option<[u8; 2]>,
}

impl<C> ByPage<C> {
    /// A chip on a reader that returns the first one of the requested pages.
    pub fn new(card: C) -> Self {
        Self {
            card,
            refusal: None,
        }
    }
}

impl<C: VirtualCard> VirtualCard for ByPage<C> {
    fn atr(&self) -> Vec<u8> {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        let &[0xFF, 0xB0, high, page, length] = command else {
            return self.card.transmit(command);
        };
        if let Some(refusal) = self.refusal.filter(|_| usize::from(length) != PAGE) {
            return Some(refusal.to_vec());
        }
        let length = length.min(4);
        let mut answer = self.card.transmit(&[0xFF, 0xB0, high, page, length])?;
        if answer.len() > PAGE + STATUS {
            answer.drain(PAGE..answer.len() - STATUS);
        }
        Some(answer)
    }

    fn cut_off(&mut self, command: &[u8], received: usize) {
        self.card.cut_off(command, received);
    }
}
