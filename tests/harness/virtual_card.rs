//! Chips in software that answer like real chips: APDU by APDU.
//!
//! | Module | Subject |
//! |---|---|
//! | [`ntag424`] | NTAG 424 DNA: files, mirrored codes, secure messaging |
//! | [`type2`] | NTAG 213, 215, 216, Ultralight, and chips like them: pages |
//! | [`by_page`] | a reader that returns one page at a time |
//! | [`hostile`] | any malicious chip |
//! | [`tear`] | a chip that is removed in the middle of a command |
//!
//! A chip is placed on a reader of [`Pcscd`](crate::Pcscd), or called in process:
//! [`VirtualNtag424::apdu`](ntag424::VirtualNtag424::apdu) and
//! [`VirtualType2::apdu`](type2::VirtualType2::apdu) answer one command each.

pub mod by_page;
pub mod hostile;
pub mod ndef;
pub mod ntag424;
pub mod tear;
pub mod type2;

pub use by_page::ByPage;
pub use tear::{Tear, TornOut};

/// The reader's own command for a card's UID (PC/SC part 3, section 3.2.2.1.3).
pub const GET_UID: [u8; 5] = [0xFF, 0xCA, 0x00, 0x00, 0x00];

/// A chip that can be placed on a reader.
pub trait VirtualCard: Send {
    /// Its answer to reset (ATR).
    fn atr(&self) -> Vec<u8>;

    /// It enters the field, or is reset: volatile state is lost.
    fn power_on(&mut self);

    /// Its answer to a command; `None` if it is removed instead.
    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>>;

    /// It is removed when this number of the command's bytes has arrived. By default nothing
    /// happens.
    fn cut_off(&mut self, command: &[u8], received: usize) {
        let _ = (command, received);
    }
}

impl VirtualCard for Box<dyn VirtualCard> {
    fn atr(&self) -> Vec<u8> {
        (**self).atr()
    }

    fn power_on(&mut self) {
        (**self).power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        (**self).transmit(command)
    }

    fn cut_off(&mut self, command: &[u8], received: usize) {
        (**self).cut_off(command, received);
    }
}

/// An answer with only a status word.
fn status(word: u16) -> Vec<u8> {
    word.to_be_bytes().to_vec()
}

/// An answer with data and a status word.
fn answer(data: &[u8], word: u16) -> Vec<u8> {
    [data, &word.to_be_bytes()].concat()
}
