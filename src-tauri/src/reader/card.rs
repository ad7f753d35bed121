//! What the reader's code stands on: a card that answers commands, and the slots
//! of the readers. Behind these traits are PC/SC and, in tests, scripts.

use std::time::Duration;

/// A card in a transaction: nobody else speaks to it meanwhile.
pub trait Card {
    /// The answer to a command, its two status bytes last.
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault>;

    /// Activates it again, within the transaction; its answer to reset.
    fn reset(&mut self) -> Result<Vec<u8>, Fault>;

    /// Asks whether it is still there. Windows resets a card that is held in a transaction
    /// for more than 5 seconds without anything being asked.
    fn keep_alive(&mut self) -> Result<(), Fault>;
}

/// The PC/SC service: it can be reached, or not yet, or not any more.
pub trait Stack {
    /// A connection to it.
    type Context: Context;

    /// Connects. A connection that failed is never used again.
    fn establish(&mut self) -> Result<Self::Context, Fault>;
}

/// A connection to the PC/SC service.
pub trait Context {
    /// Every slot of every reader as it is now; the first time at once, later
    /// when something changed or `timeout` is over.
    fn slots(&mut self, timeout: Duration) -> Result<Vec<Slot>, Fault>;

    /// Connects to the card of a reader, and hands it to `work` in a transaction.
    /// The card stays powered, so that it does not restart.
    fn with_card<T>(
        &mut self,
        reader: &str,
        work: impl FnOnce(&mut dyn Card) -> T,
    ) -> Result<T, Fault>;
}

/// A slot of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The reader's name, different for each slot.
    pub reader: String,
    /// What lies on it.
    pub occupant: Occupant,
    /// How many insertions and removals it saw. A card that was swapped
    /// between two looks shows in this number alone.
    pub events: u32,
}

/// What lies on a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Nothing.
    Nothing,
    /// A card, by its answer to reset.
    Card {
        /// ATR.
        atr: Vec<u8>,
    },
    /// A card that does not answer.
    Mute,
    /// The reader itself does not answer.
    Unavailable,
}

/// Why a card or a reader cannot be spoken to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The PC/SC service does not run.
    #[error("The system's smart card service is not running.")]
    NoService,
    /// The system does not let this user speak to it.
    #[error("You are not allowed to use the system's smart card service.")]
    Denied,
    /// The card was taken away.
    #[error("The inlay was removed too early. Place it on the reader again, and leave it there.")]
    Removed,
    /// Another program uses the card and lets nobody else.
    #[error("Another program has exclusive use of the reader.")]
    Sharing,
    /// Another card lies there than the one that was read, and nobody saw it come.
    #[error("The inlay may have been exchanged. Remove it, then place it on the reader again.")]
    Swapped,
    /// Another program reset the card in between.
    #[error("Another program interrupted the read. Place the inlay on the reader again.")]
    Reset,
    /// The card does not answer.
    #[error("The inlay does not answer. Place it flat on the middle of the reader.")]
    Mute,
    /// The reader was unplugged.
    #[error("The reader was disconnected.")]
    ReaderGone,
    /// The reader, or its driver, cannot speak to such a card.
    #[error("The reader cannot read this kind of card.")]
    Unsupported,
    /// Anything else, in the words of the system.
    #[error("The reader reports: {0}.")]
    Other(String),
}

impl Fault {
    /// Whether the connection to the service is of no more use.
    pub fn ends_connection(&self) -> bool {
        matches!(self, Self::NoService | Self::Denied)
    }

    /// Its name for screens.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoService => "no_service",
            Self::Denied => "denied",
            Self::Removed => "removed",
            Self::Sharing => "sharing",
            Self::Swapped => "swapped",
            Self::Reset => "reset",
            Self::Mute => "mute",
            Self::ReaderGone => "reader_gone",
            Self::Unsupported => "unsupported",
            Self::Other(_) => "other",
        }
    }
}
