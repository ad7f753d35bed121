//! A chip that is taken away in the middle of a command.

use super::VirtualCard;

/// When a chip is taken away, and what of the command under way took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tear {
    /// Commands that are answered before.
    pub at: usize,
    /// Whether the next one is executed: then its answer alone is lost.
    pub executed: bool,
    /// Bytes of the next command that arrive, if it is cut off on its way. Chips write
    /// whole frames or whole pages of it, or less.
    pub partial_frame: Option<usize>,
}

impl Tear {
    /// Before the command after `at` others arrives.
    pub fn before(at: usize) -> Self {
        Self {
            at,
            executed: false,
            partial_frame: None,
        }
    }

    /// After that command was executed, before its answer arrives.
    pub fn after(at: usize) -> Self {
        Self {
            executed: true,
            ..Self::before(at)
        }
    }

    /// When so many bytes of that command have arrived.
    pub fn within(at: usize, bytes: usize) -> Self {
        Self {
            partial_frame: Some(bytes),
            ..Self::before(at)
        }
    }
}

/// A chip with its tear. Taken away, it answers nothing until it is laid down again.
pub struct TornOut<C> {
    card: C,
    tear: Tear,
    answered: usize,
    torn: bool,
}

impl<C: VirtualCard> TornOut<C> {
    /// `card`, which is torn like this.
    pub fn new(tear: Tear, card: C) -> Self {
        Self {
            card,
            tear,
            answered: 0,
            torn: false,
        }
    }

    /// `card`, which answers so many commands and no more.
    pub fn after(answered: usize, card: C) -> Self {
        Self::new(Tear::before(answered), card)
    }

    /// Whether it was torn by now.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// The chip, to be laid down again.
    pub fn into_card(self) -> C {
        self.card
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
        if self.torn {
            return None;
        }
        if self.answered < self.tear.at {
            self.answered += 1;
            return self.card.transmit(command);
        }
        self.torn = true;
        if self.tear.executed {
            // Executed; nobody hears the answer.
            let _ = self.card.transmit(command);
        } else if let Some(received) = self.tear.partial_frame {
            self.card.cut_off(command, received);
        }
        None
    }

    fn cut_off(&mut self, command: &[u8], received: usize) {
        self.card.cut_off(command, received);
    }
}
