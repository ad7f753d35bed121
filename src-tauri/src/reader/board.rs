//! What lies where, for screens: `ui/src/lib/shell/types.ts` is made from it.
//! Each change is reported whole and in order, and none is left out.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tapdesk_service::clock::Timestamp;
use tokio::sync::mpsc;

use super::apdu::Exchange;
use super::card::Fault;
use super::inlay::Reading;

/// The readers, and who listens.
#[derive(Default)]
pub struct Board(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    table: Table,
    /// Whether nobody judges what lies there.
    unjudged: bool,
    /// The readers whose card is being encoded.
    held: HashSet<String>,
    listeners: Vec<mpsc::UnboundedSender<Table>>,
}

/// What lies where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReaderTable"))]
pub struct Table {
    /// What keeps every reader from being used.
    pub fault: Option<Trouble>,
    /// The readers, in the order in which they came.
    pub readers: Vec<Place>,
}

/// Something that does not work, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReaderTrouble"))]
pub struct Trouble {
    /// Its name.
    pub kind: &'static str,
    /// What it is, and what to do, as one sentence or two.
    pub text: String,
}

/// A slot of a reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReaderPlace"))]
pub struct Place {
    /// The reader's name.
    pub name: String,
    /// What lies on it.
    pub on: Lying,
}

/// What lies on a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "OnReader"))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Lying {
    /// Nothing.
    Nothing,
    /// An inlay, which was read.
    Inlay(Box<Laid>),
    /// Something that could not be read.
    Failed(Box<Failed>),
    /// The reader is plugged in, and does not answer.
    Unavailable,
    /// The slot of a security module, on which nothing can be laid.
    Module,
}

/// An inlay that was laid down and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Reading"))]
pub struct Laid {
    /// The number of this insertion: rises with each, on whichever reader.
    pub insertion: u64,
    /// When it was read.
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// What was read.
    #[serde(flatten)]
    pub reading: Reading,
    /// Every command and its answer.
    pub log: Vec<Exchange>,
}

/// A reader whose card is being encoded. Dropped, the monitor looks at it again.
pub struct Held {
    board: Arc<Board>,
    reader: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.board.lock().held.remove(&self.reader);
    }
}

/// A card that was laid down and could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failed {
    /// The number of this insertion.
    pub insertion: u64,
    /// When it was tried.
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// Why.
    #[serde(flatten)]
    pub trouble: Trouble,
    /// The card's UID in hexadecimal, if it was read that far.
    pub uid: Option<String>,
    /// Whether it was read so far that its counter may have risen.
    pub may_have_counted: bool,
    /// Every command and its answer.
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
    /// The table as it is now, and as it is after every change.
    pub fn watch(&self) -> mpsc::UnboundedReceiver<Table> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut inner = self.lock();
        // The receiver is still here.
        let _ = sender.send(inner.table.clone());
        inner.listeners.push(sender);
        receiver
    }

    /// Whether somebody judges the inlay that lies there. Then it is looked at again
    /// and again, so that no verdict stands over another inlay. A kiosk shows no
    /// verdict, and opens what it reads; there the looks would only hide from the
    /// system that one inlay went and another came.
    pub fn judge(&self, judged: bool) {
        self.lock().unjudged = !judged;
    }

    pub(super) fn is_judged(&self) -> bool {
        !self.lock().unjudged
    }

    /// Takes the card of a reader out of the monitor's hands while it is encoded; `None` if it
    /// is already, or if another one lies there by now.
    pub fn hold(self: &Arc<Self>, reader: &str, insertion: u64) -> Option<Held> {
        let mut inner = self.lock();
        let place = inner
            .table
            .readers
            .iter()
            .find(|place| place.name == reader);
        let lies = match &place?.on {
            Lying::Inlay(laid) => laid.insertion,
            Lying::Failed(failed) => failed.insertion,
            Lying::Nothing | Lying::Unavailable | Lying::Module => return None,
        };
        (lies == insertion && inner.held.insert(reader.to_owned())).then(|| Held {
            board: Arc::clone(self),
            reader: reader.to_owned(),
        })
    }

    pub(super) fn is_held(&self, reader: &str) -> bool {
        self.lock().held.contains(reader)
    }

    pub(super) fn any_held(&self) -> bool {
        !self.lock().held.is_empty()
    }

    /// The table as it is now.
    pub fn table(&self) -> Table {
        self.lock().table.clone()
    }

    /// Changes the table, and reports it if it differs.
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
