//! The interfaces under the reader's code: a card that answers commands, and the slots of the
//! readers. They are implemented by PC/SC and, in tests, by scripts.

use std::time::Duration;

use super::profile::Profile;

/// A card in a transaction: no other program can speak to it in the meantime.
pub trait Card {
    /// Sends a command, and returns the answer with its two status bytes at the end.
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault>;

    /// Activates the card again, within the transaction, and returns its answer to reset.
    fn reset(&mut self) -> Result<Vec<u8>, Fault>;

    /// Asks whether the card is still present. Windows resets a card that is held in a transaction
    /// for more than 5 seconds without a request.
    fn keep_alive(&mut self) -> Result<(), Fault>;

    /// Sends an escape command to the reader itself, and returns its answer. By default the reader
    /// has none.
    fn control(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        let _ = command;
        Err(Fault::Unsupported)
    }

    /// How its reader differs from PC/SC. By default nothing is known about the reader.
    fn profile(&self) -> &'static Profile {
        Profile::generic()
    }
}

/// The PC/SC service, which may start or stop at any time.
pub trait Stack {
    /// A connection to the service.
    type Context: Context;

    /// Connects to the service. After a failure a connection is never used again.
    fn establish(&mut self) -> Result<Self::Context, Fault>;
}

/// A connection to the PC/SC service.
pub trait Context {
    /// Every slot of every reader as it is now. The first call returns at once; later calls return
    /// after a change or after `timeout`.
    fn slots(&mut self, timeout: Duration) -> Result<Vec<Slot>, Fault>;

    /// Connects to the card of a reader, and passes it to `work` in a transaction. The card stays
    /// powered afterwards, so that it does not restart.
    fn with_card<T>(
        &mut self,
        reader: &str,
        work: impl FnOnce(&mut dyn Card) -> T,
    ) -> Result<T, Fault>;
}

/// A slot of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The name of the slot; each slot of a reader has its own.
    pub reader: String,
    /// The content of the slot.
    pub occupant: Occupant,
    /// How many insertions and removals the slot has seen. If a card is swapped between two looks,
    /// only this number shows it.
    pub events: u32,
}

/// Content of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// The slot is empty.
    Nothing,
    /// A card that answered the reset.
    Card {
        /// Its answer to reset (ATR).
        atr: Vec<u8>,
    },
    /// A card that does not answer the reset.
    Mute,
    /// The reader itself does not answer.
    Unavailable,
}

/// Why a card or a reader cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The PC/SC service is not running.
    #[error("The system's smart card service is not running.")]
    NoService,
    /// The system does not let this user use the service.
    #[error("You are not allowed to use the system's smart card service.")]
    Denied,
    /// The card was removed.
    #[error("The inlay was removed too early. Place it on the reader again, and leave it there.")]
    Removed,
    /// Another program uses the card exclusively.
    #[error("Another program has exclusive use of the reader.")]
    Sharing,
    /// The card is not the one that was read: it was swapped unnoticed.
    #[error("The inlay may have been exchanged. Remove it, then place it on the reader again.")]
    Swapped,
    /// Another program reset the card in the meantime.
    #[error("Another program interrupted the read. Place the inlay on the reader again.")]
    Reset,
    /// The card does not answer.
    #[error("The inlay does not answer. Place it flat on the middle of the reader.")]
    Mute,
    /// The reader was unplugged.
    #[error("The reader was disconnected.")]
    ReaderGone,
    /// The reader or its driver does not support this kind of card.
    #[error("The reader cannot read this kind of card.")]
    Unsupported,
    /// Any other error, in the system's words.
    #[error("The reader reports: {0}.")]
    Other(String),
}

impl Fault {
    /// Whether the connection to the service is no longer usable.
    pub fn ends_connection(&self) -> bool {
        matches!(self, Self::NoService | Self::Denied)
    }

    /// A stable name of the fault, for screens.
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
