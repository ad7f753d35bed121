//! A chip that is removed in the middle of a command.

use super::VirtualCard;

/// The moment at which a chip is removed, and the executed part of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tear {
    /// The number of commands that are answered before.
    pub at: usize,
    /// Whether the next command is executed, so that only its answer is lost.
    pub executed: bool,
    /// The number of bytes of the next command that arrive, if it is cut off. The chip writes the
    /// complete frames or pages in them.
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

    /// After this command was executed, before its answer arrives.
    pub fn after(at: usize) -> Self {
        Self {
            executed: true,
            ..Self::before(at)
        }
    }

    /// When this number of the command's bytes has arrived.
    pub fn within(at: usize, bytes: usize) -> Self {
        Self {
            partial_frame: Some(bytes),
            ..Self::before(at)
        }
    }
}

/// A chip with a tear. After its removal it answers nothing until it is placed again.
pub struct TornOut<C> {
    card: C,
    tear: Tear,
    answered: usize,
    torn: bool,
}

impl<C: VirtualCard> TornOut<C> {
    /// `card` with this tear.
    pub fn new(tear: Tear, card: C) -> Self {
        Self {
            card,
            tear,
            answered: 0,
            torn: false,
        }
    }

    /// `card`, which answers this number of commands and no more.
    pub fn after(answered: usize, card: C) -> Self {
        Self::new(Tear::before(answered), card)
    }

    /// Whether it has been removed.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// The chip, so that it can be placed again.
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
            // It is executed, but its answer is lost.
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
