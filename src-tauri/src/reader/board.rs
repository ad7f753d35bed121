//! Contents of the readers, for screens; `ui/src/lib/shell/types.ts` is generated from these types.
//! Each change is reported as a complete table, in order, and none is left out.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tapdesk_service::clock::Timestamp;
use tokio::sync::mpsc;

use super::apdu::Exchange;
use super::card::Fault;
use super::inlay::Reading;

/// The contents of the readers, and the receivers of changes.
#[derive(Default)]
pub struct Board(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    table: Table,
    /// Whether no screen judges the inlays on the readers; see [`Board::judge`].
    unjudged: bool,
    /// Whether readers neither beep nor show lights; see [`Board::be_quiet`].
    quiet: bool,
    /// Names of the readers whose card is being encoded.
    held: HashSet<String>,
    /// Names of the readers whose card was encoded since the monitor last looked.
    done: HashSet<String>,
    listeners: Vec<mpsc::UnboundedSender<Table>>,
}

/// The contents of all readers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReaderTable"))]
pub struct Table {
    /// A problem that makes all readers unusable.
    pub fault: Option<Trouble>,
    /// The slots, in the order in which they were connected.
    pub readers: Vec<ReaderSlot>,
}

/// A problem with a reader or a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReaderTrouble"))]
pub struct Trouble {
    /// A stable name of the problem, for programs.
    pub kind: &'static str,
    /// The problem and its remedy, in one or two sentences.
    pub text: String,
}

/// A slot of a reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReaderPlace"))]
pub struct ReaderSlot {
    /// The name of the slot, as the system lists it.
    pub name: String,
    /// The content of the slot.
    pub on: OnReader,
}

/// Content of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "OnReader"))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum OnReader {
    /// The slot is empty.
    Nothing,
    /// An inlay that was read.
    Inlay(Box<PlacedInlay>),
    /// A card that could not be read.
    Failed(Box<Failed>),
    /// The reader is connected, but does not answer.
    Unavailable,
    /// The slot takes a security module or a card with contacts, and so no inlay.
    Module,
}

/// An inlay that was placed and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Reading"))]
pub struct PlacedInlay {
    /// The number of this insertion. It rises with each insertion, on any reader.
    pub insertion: u64,
    /// When it was read.
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// Everything that was read from the chip.
    #[serde(flatten)]
    pub reading: Reading,
    /// All commands and answers of the read.
    pub log: Vec<Exchange>,
}

/// Exclusive use of a reader while its card is being encoded. Dropping it lets the monitor look at
/// the reader again.
pub struct Held {
    board: Arc<Board>,
    reader: String,
    insertion: u64,
}

impl Held {
    /// Ends the encoding of a card that is still on the reader. The monitor does not read it again:
    /// a read would raise its counter, and the next tap would show a gap. `changed` says that its
    /// message has been replaced.
    pub fn done(self, changed: bool) {
        self.board.lock().done.insert(self.reader.clone());
        if changed {
            self.board.change(|table| {
                let place = table.readers.iter_mut().find(|one| one.name == self.reader);
                if let Some(OnReader::Inlay(placed)) = place.map(|place| &mut place.on)
                    && placed.insertion == self.insertion
                {
                    placed.reading.was_encoded();
                }
            });
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.board.lock().held.remove(&self.reader);
    }
}

/// A card that was placed and could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failed {
    /// The number of this insertion.
    pub insertion: u64,
    /// When the read failed.
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// The reason why it could not be read.
    #[serde(flatten)]
    pub trouble: Trouble,
    /// The card's UID in hexadecimal; `None` if the read failed before it was known.
    pub uid: Option<String>,
    /// Whether the read got so far that the counter may have risen.
    pub may_have_counted: bool,
    /// All commands and answers of the read.
    pub log: Vec<Exchange>,
}

impl From<&Fault> for Trouble {
    fn from(fault: &Fault) -> Self {
        Self {
            kind: fault.name(),
            text: fault.to_string(),
        }
    }
}

impl Board {
    /// Receives the present table at once, and a new table after every change.
    pub fn watch(&self) -> mpsc::UnboundedReceiver<Table> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut inner = self.lock();
        // The receiver still exists, so this cannot fail.
        let _ = sender.send(inner.table.clone());
        inner.listeners.push(sender);
        receiver
    }

    /// Says whether a screen judges the inlay on a reader. If so, the monitor looks at the inlay
    /// repeatedly, so that a verdict never stands over another inlay. A kiosk shows no verdicts and
    /// opens each inlay that it reads; there these looks would only hide from the system that one
    /// inlay was swapped for another.
    pub fn judge(&self, judged: bool) {
        self.lock().unjudged = !judged;
    }

    /// Says whether readers are quiet: no beep, also none of their own, and no light of ours. It
    /// takes effect when the next inlay is placed on a reader.
    pub fn be_quiet(&self, quiet: bool) {
        self.lock().quiet = quiet;
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.lock().quiet
    }

    pub(super) fn is_judged(&self) -> bool {
        !self.lock().unjudged
    }

    /// Takes a reader's card from the monitor while it is encoded. `None` if the card is already
    /// taken, or if another insertion has replaced it.
    pub fn hold(self: &Arc<Self>, reader: &str, insertion: u64) -> Option<Held> {
        let mut inner = self.lock();
        let place = inner
            .table
            .readers
            .iter()
            .find(|place| place.name == reader);
        let lies = match &place?.on {
            OnReader::Inlay(placed) => placed.insertion,
            OnReader::Failed(failed) => failed.insertion,
            OnReader::Nothing | OnReader::Unavailable | OnReader::Module => return None,
        };
        (lies == insertion && inner.held.insert(reader.to_owned())).then(|| Held {
            board: Arc::clone(self),
            reader: reader.to_owned(),
            insertion,
        })
    }

    pub(super) fn is_held(&self, reader: &str) -> bool {
        self.lock().held.contains(reader)
    }

    /// Whether the reader's card was encoded since the last call.
    pub(super) fn take_done(&self, reader: &str) -> bool {
        self.lock().done.remove(reader)
    }

    pub(super) fn any_held(&self) -> bool {
        !self.lock().held.is_empty()
    }

    /// A copy of the present table.
    pub fn table(&self) -> Table {
        self.lock().table.clone()
    }

    /// Changes the table, and reports it if it differs from before.
    pub(super) fn change(&self, change: impl FnOnce(&mut Table)) {
        let mut inner = self.lock();
        let before = inner.table.clone();
        change(&mut inner.table);
        if inner.table != before {
            let table = inner.table.clone();
            inner
                .listeners
                .retain(|listener| listener.send(table.clone()).is_ok());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
