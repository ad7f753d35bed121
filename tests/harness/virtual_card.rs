//! Chips in software, answering as chips do: APDU by APDU.
//!
//! | Module | Subject |
//! |---|---|
//! | [`ntag424`] | NTAG 424 DNA: files, mirrored codes, secure messaging |
//! | [`type2`] | NTAG 213, 215, 216 and Ultralight: pages |
//! | [`hostile`] | whatever a stranger may lay down |
//!
//! A chip is laid on a reader of [`Pcscd`](crate::Pcscd).

pub mod hostile;
pub mod ndef;
pub mod ntag424;
pub mod type2;

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
}

/// A status word alone.
fn status(word: u16) -> Vec<u8> {
    word.to_be_bytes().to_vec()
}

/// Data and a status word.
fn answer(data: &[u8], word: u16) -> Vec<u8> {
    [data, &word.to_be_bytes()].concat()
}

/// A chip that is taken away in the middle of a command.
pub struct TornOut<C> {
    card: C,
    /// Commands that are answered before.
    answered: usize,
}

impl<C: VirtualCard> TornOut<C> {
    /// `card`, which answers so many commands and no more.
    pub fn after(answered: usize, card: C) -> Self {
        Self { card, answered }
    }
}

impl<C: VirtualCard> VirtualCard for TornOut<C> {
    fn atr(&self) -> Vec<u8> {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        self.answered = self.answered.checked_sub(1)?;
        self.card.transmit(command)
    }
}
