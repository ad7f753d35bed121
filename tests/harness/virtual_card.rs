//! Chips in software, answering as chips do: APDU by APDU.
//!
//! | Module | Subject |
//! |---|---|
//! | [`ntag424`] | NTAG 424 DNA: files, mirrored codes, secure messaging |
//! | [`type2`] | NTAG 213, 215, 216 and Ultralight: pages |
//! | [`hostile`] | whatever a stranger may lay down |
//! | [`tear`] | a chip that is taken away in the middle of a command |
//!
//! A chip is laid on a reader of [`Pcscd`](crate::Pcscd), or asked in process:
//! [`VirtualNtag424::apdu`](ntag424::VirtualNtag424::apdu) and
//! [`VirtualType2::apdu`](type2::VirtualType2::apdu) answer one command each.

pub mod hostile;
pub mod ndef;
pub mod ntag424;
pub mod tear;
pub mod type2;

pub use tear::{Tear, TornOut};

/// The reader's own command for a card's UID (PC/SC part 3, section 3.2.2.1.3).
pub const GET_UID: [u8; 5] = [0xFF, 0xCA, 0x00, 0x00, 0x00];

/// A chip on a reader.
pub trait VirtualCard: Send {
    /// What it answers to a reset.
    fn atr(&self) -> Vec<u8>;

    /// It comes into the field, or is reset: whatever it does not keep is gone.
    fn power_on(&mut self);

    /// Its answer to a command; `None` if it is taken away instead.
    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>>;

    /// It is taken away when so many bytes of the command have arrived. By default
    /// nothing happened.
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

/// A status word alone.
fn status(word: u16) -> Vec<u8> {
    word.to_be_bytes().to_vec()
}

/// Data and a status word.
fn answer(data: &[u8], word: u16) -> Vec<u8> {
    [data, &word.to_be_bytes()].concat()
}
