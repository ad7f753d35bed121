//! Watches what lies on the readers, change by change.

use std::sync::Arc;
use std::time::Duration;

use tapdesk::reader::board::{Board, Laid, Lying, Table};
use tapdesk::reader::monitor::Monitor;
use tapdesk::reader::pcsc::Pcsc;
use tapdesk_service::clock::SystemClock;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedReceiver;

/// How long any change may take, where a test does not say less.
const PATIENCE: Duration = Duration::from_secs(30);

/// A monitor, and every change of its table in its order.
pub(crate) struct Watch {
    runtime: Runtime,
    tables: UnboundedReceiver<Table>,
    patience: Duration,
    monitor: Monitor,
}

impl Watch {
    /// Watches the readers of this process' PC/SC service, once they are there.
    pub(crate) fn start() -> Self {
        let clock = Arc::new(SystemClock::start());
        Self::of(Monitor::start(Pcsc, clock).unwrap())
    }

    /// Watches what this monitor sees.
    pub(crate) fn of(monitor: Monitor) -> Self {
        Self {
            runtime: Runtime::new().unwrap(),
            tables: monitor.board().watch(),
            patience: PATIENCE,
            monitor,
        }
    }

    /// What lies where.
    pub(crate) fn board(&self) -> Arc<Board> {
        Arc::clone(self.monitor.board())
    }

    /// Takes for a hang what lasts longer than this.
    pub(crate) fn at_most(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The next table that `wanted` makes something of.
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
            .block_on(async { tokio::time::timeout(self.patience, found).await });
        found
            .ok()
            .flatten()
            .unwrap_or_else(|| panic!("waited in vain: {what}"))
    }

    /// Waits until this lies on some reader.
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&Lying) -> bool) -> Lying {
        self.table(what, |table| {
            let mut places = table.readers.into_iter();
            places.find_map(|place| wanted(&place.on).then_some(place.on))
        })
    }

    /// Waits for an inlay that was read.
    pub(crate) fn until_inlay(&mut self) -> Laid {
        match self.until("an inlay", |on| matches!(on, Lying::Inlay(_))) {
            Lying::Inlay(laid) => *laid,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until there are readers and nothing lies on any.
    pub(crate) fn until_empty(&mut self) {
        self.table("empty readers", |table| {
            let empty = table.readers.iter().all(|place| place.on == Lying::Nothing);
            (empty && !table.readers.is_empty()).then_some(())
        });
    }
}
