//! Watches the contents of the readers, change by change.

use std::sync::Arc;
use std::time::Duration;

use tapdesk::reader::board::{Board, OnReader, PlacedInlay, Table};
use tapdesk::reader::monitor::Monitor;
use tapdesk::reader::pcsc::Pcsc;
use tapdesk_service::clock::SystemClock;
use tapdesk_tests::PATIENCE;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedReceiver;

/// A monitor, and all changes of its table in order.
pub(crate) struct Watch {
    runtime: Runtime,
    tables: UnboundedReceiver<Table>,
    monitor: Monitor,
}

impl Watch {
    /// Watches the readers of this process's PC/SC service, once they exist.
    pub(crate) fn start() -> Self {
        let clock = Arc::new(SystemClock::start());
        Self::of(Monitor::start(Pcsc, clock).unwrap())
    }

    /// Watches the board of this monitor.
    pub(crate) fn of(monitor: Monitor) -> Self {
        Self {
            runtime: Runtime::new().unwrap(),
            tables: monitor.board().watch(),
            monitor,
        }
    }

    /// The board that is watched.
    pub(crate) fn board(&self) -> Arc<Board> {
        Arc::clone(self.monitor.board())
    }

    /// Waits for a table for which `wanted` returns a value.
    ///
    /// # Panics
    /// When none comes.
    pub(crate) fn table<T>(&mut self, what: &str, mut wanted: impl FnMut(Table) -> Option<T>) -> T {
        let found = async {
            while let Some(table) = self.tables.recv().await {
                if let Some(found) = wanted(table) {
                    return Some(found);
                }
            }
            None
        };
        let found = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, found).await });
        found
            .ok()
            .flatten()
            .unwrap_or_else(|| panic!("waited in vain: {what}"))
    }

    /// Waits until a reader has such content.
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&OnReader) -> bool) -> OnReader {
        self.table(what, |table| {
            let mut places = table.readers.into_iter();
            places.find_map(|place| wanted(&place.on).then_some(place.on))
        })
    }

    /// Waits for an inlay that was read.
    pub(crate) fn until_inlay(&mut self) -> PlacedInlay {
        match self.until("an inlay", |on| matches!(on, OnReader::Inlay(_))) {
            OnReader::Inlay(laid) => *laid,
            other => panic!("{other:?}"),
        }
    }

    /// Requires that no card is inserted or removed during this number of the monitor's looks.
    ///
    /// # Panics
    /// If one is.
    pub(crate) fn stays_the_same(&mut self, looks: u32) {
        let insertions = |table: &Table| {
            let places = table.readers.iter().map(|place| match &place.on {
                OnReader::Inlay(laid) => laid.insertion,
                OnReader::Failed(failed) => failed.insertion,
                _ => 0,
            });
            places.collect::<Vec<_>>()
        };
        let before = insertions(&self.monitor.board().table());
        let looking = async {
            while let Some(table) = self.tables.recv().await {
                assert_eq!(insertions(&table), before, "{table:?}");
            }
        };
        // The monitor looks every 250 ms, and the system polls every 400 ms.
        let time = Duration::from_millis(450) * looks;
        let over = self
            .runtime
            .block_on(async { tokio::time::timeout(time, looking).await });
        assert!(over.is_err(), "the monitor ended");
    }

    /// Waits until readers exist, and all of them are empty.
    pub(crate) fn until_empty(&mut self) {
        self.table("empty readers", |table| {
            let empty = table
                .readers
                .iter()
                .all(|place| place.on == OnReader::Nothing);
            (empty && !table.readers.is_empty()).then_some(())
        });
    }
}
