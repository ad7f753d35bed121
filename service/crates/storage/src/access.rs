//! Who operates on a database. Each operation belongs to an [`Access`], and only [`Storage`] gives
//! one out, for a named caller or for the service: nobody can forget to say who asks.
//!
//! A caller sees only objects within its reach, and its changes are written to the audit log in the
//! same commit. `shared::callers` does that inside of the transaction.

mod database;
mod history;
mod request;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::Event;
use crate::StorageError;
use crate::metrics::StorageMetrics;
#[cfg(feature = "postgres")]
use crate::postgres::PostgresStorage;
use crate::shared::operation::{Changing, Erased, Moment, Reading, typed, unerased};
use crate::shared::tags::KeptCounts;
use crate::shared::{Change, Read, callers};
use crate::sqlite::SqliteStorage;
use crate::value::{Row, Value};
use domain::caller::Caller;
use domain::scope::Reach;
use request::{Held, Request, Unsettled};

/// An open database. It has no operation on data; those need an [`Access`].
///
/// An operation without a caller does not compile:
///
/// ```compile_fail,E0599
/// # use tapdesk_service_storage as storage;
/// async fn tag(storage: storage::Storage, id: domain::id::TagId) {
///     storage.tag(id).await;
/// }
/// ```
///
/// Nor does a caller by default:
///
/// ```compile_fail,E0277
/// # use tapdesk_service_storage as storage;
/// fn is_default<T: Default>() {}
/// is_default::<storage::Access>();
/// ```
///
/// The same operation with a caller:
///
/// ```
/// # use std::sync::Arc;
/// # use tapdesk_service_storage as storage;
/// # use domain::caller::Caller;
/// async fn tag(storage: storage::Storage, caller: Arc<Caller>, id: domain::id::TagId) {
///     let _ = storage.on_behalf_of(&caller).tag(id).await;
/// }
/// ```
#[derive(Clone)]
pub enum Storage {
    /// One file, which only this process has open.
    Sqlite(Arc<SqliteStorage>),
    /// A database that several nodes can share.
    #[cfg(feature = "postgres")]
    Postgres(Arc<PostgresStorage>),
}

/// The database of an [`Access`], whichever it is, for one expression.
macro_rules! each {
    ($access:expr, $database:ident => $operation:expr) => {
        match &$access.storage {
            $crate::Storage::Sqlite($database) => $operation,
            #[cfg(feature = "postgres")]
            $crate::Storage::Postgres($database) => $operation,
        }
    };
}
pub(crate) use each;

/// Awaits an operation of the database, whichever it is. For operations of taps: the future of
/// PostgreSQL is boxed, because it is larger than that of SQLite, and each tap holds room for both.
macro_rules! each_awaited {
    ($access:expr, $database:ident => $operation:expr) => {
        match &$access.storage {
            $crate::Storage::Sqlite($database) => $operation.await,
            #[cfg(feature = "postgres")]
            $crate::Storage::Postgres($database) => Box::pin($operation).await,
        }
    };
}
pub(crate) use each_awaited;

impl Storage {
    /// A way to announce events later, also once the database is closed.
    fn teller(&self) -> Box<dyn Fn(Event) + Send + Sync> {
        match self {
            Self::Sqlite(database) => {
                let teller = database.teller();
                Box::new(move |event| teller.tell(event))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let database = Arc::clone(database);
                Box::new(move |event| database.tell(event))
            }
        }
    }

    /// The operations for the service's own work, taps included. It reaches everything, and the
    /// audit log does not mention it.
    pub fn as_service(&self) -> Access {
        self.by(Who::Service)
    }

    /// The operations for a request.
    pub fn on_behalf_of(&self, caller: &Arc<Caller>) -> Access {
        self.by(Who::Caller(Arc::new(Request::new(caller, self))))
    }

    fn by(&self, who: Who) -> Access {
        Access {
            storage: self.clone(),
            who,
        }
    }

    /// The database's measurements of its own work.
    pub fn metrics(&self) -> &StorageMetrics {
        match self {
            Self::Sqlite(database) => database.metrics(),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.metrics(),
        }
    }

    /// Commits the accepted writes, and closes the database. Later operations fail.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(database) => database.close().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.close().await,
        }
    }
}

impl From<SqliteStorage> for Storage {
    fn from(database: SqliteStorage) -> Self {
        Self::Sqlite(Arc::new(database))
    }
}

#[cfg(feature = "postgres")]
impl From<PostgresStorage> for Storage {
    fn from(database: PostgresStorage) -> Self {
        Self::Postgres(Arc::new(database))
    }
}

/// Who operates on a database.
#[derive(Clone)]
enum Who {
    /// The service itself, without a request.
    Service,
    /// The sender of a request.
    Caller(Arc<Request>),
}

/// The operations on a database, for whom [`Storage`] gave them out. A clone is for the same one.
///
/// Each operation is atomic: races are decided inside of it. One that writes returns after its
/// commit is on disk.
#[derive(Clone)]
pub struct Access {
    pub(crate) storage: Storage,
    who: Who,
}

impl Access {
    /// The sender of the request; `None` for the service itself.
    pub(crate) fn caller(&self) -> Option<&Arc<Caller>> {
        self.request().map(|request| request.caller())
    }

    fn request(&self) -> Option<&Arc<Request>> {
        match &self.who {
            Who::Service => None,
            Who::Caller(request) => Some(request),
        }
    }

    /// The experiences to which the operations are limited.
    pub fn reach(&self) -> &Reach {
        self.caller()
            .map_or(&Reach::EVERYTHING, |caller| &caller.reach)
    }

    /// The counts of all tags that this process keeps.
    pub(crate) fn counted(&self) -> &KeptCounts {
        each!(self, db => &db.kept_counts)
    }

    /// Counts as a change of the request once it is dropped: for operations that a database
    /// implements by itself. `None` for the service.
    fn begin_change(&self) -> Option<Unsettled<'_>> {
        self.request().map(|request| request.begin_change())
    }

    /// Whether the operations are limited to some experiences.
    pub fn is_limited(&self) -> bool {
        self.reach().limit().is_some()
    }

    /// Gives the audit log a short form of the request, without secrets. Needed for a request with
    /// many changes, none of which shows the whole.
    pub fn asks(&self, what: serde_json::Value) {
        if let Some(caller) = self.caller() {
            caller.set_asked(what);
        }
    }

    /// Runs a reading operation, of one statement or of several that need not be consistent, within
    /// reach. The future is boxed, so that those of requests stay small.
    pub(crate) fn read<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> BoxFuture<'_, Result<T, StorageError>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        typed(self.read_within(name, Moment::Each, Box::new((arguments, operation))))
    }

    /// Runs a reading operation whose statements all see the same moment, within reach.
    pub(crate) fn read_snapshot<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> BoxFuture<'_, Result<T, StorageError>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        typed(self.read_within(name, Moment::Same, Box::new((arguments, operation))))
    }

    fn read_within(
        &self,
        name: &'static str,
        moment: Moment,
        mut operation: Box<dyn Reading>,
    ) -> BoxFuture<'_, Result<Erased, StorageError>> {
        if self.is_limited() {
            let reach = self.reach().clone();
            operation = Box::new(callers::Limited { operation, reach });
        }
        Box::pin(async move { each!(self, db => db.run_read(name, moment, operation).await) })
    }

    /// Runs a writing operation in a transaction, within reach, and returns after its commit is on
    /// disk. The commit of a caller's change contains its row in the audit log.
    pub(crate) fn change<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Change<A, T>,
    ) -> BoxFuture<'_, Result<T, StorageError>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        typed(self.change_within(name, Box::new((arguments, operation))))
    }

    fn change_within(
        &self,
        name: &'static str,
        operation: Box<dyn Changing>,
    ) -> BoxFuture<'_, Result<Erased, StorageError>> {
        Box::pin(async move {
            let Some(request) = self.request() else {
                return each!(self, db => db.run_change(name, operation).await);
            };
            let on_behalf = Box::new(callers::OnBehalf {
                operation,
                caller: Arc::clone(request.caller()),
            });
            let held = Box::new(Held::by(request, on_behalf));
            let unsettled = request.begin_change();
            let changed = each!(self, db => db.run_change(name, held).await);
            unsettled.end();
            let changed: callers::Changed = unerased(changed?);
            if changed.recorded {
                request.caller().set_recorded();
            }
            if changed.wrote_rows {
                request.has_changed(changed.object.as_deref());
            }
            Ok(changed.result)
        })
    }

    /// Like [`Self::read`], for data that every caller may see.
    pub(crate) fn run_read<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> BoxFuture<'_, Result<T, StorageError>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let operation: Box<dyn Reading> = Box::new((arguments, operation));
        typed(Box::pin(async move {
            each!(self, db => db.run_read(name, Moment::Each, operation).await)
        }))
    }

    /// Like [`Self::change`], for work of the service that a request only causes: the audit log
    /// does not mention it.
    pub(crate) fn run_change<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Change<A, T>,
    ) -> BoxFuture<'_, Result<T, StorageError>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let operation: Box<dyn Changing> = Box::new((arguments, operation));
        typed(Box::pin(async move {
            each!(self, db => db.run_change(name, operation).await)
        }))
    }

    /// Runs a single statement as a transaction of its own, which waits for no other transaction.
    /// The audit log does not mention it: it notes facts, and changes no configuration.
    pub(crate) async fn change_at_once(
        &self,
        name: &'static str,
        sql: &'static str,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Row>, StorageError> {
        each!(self, db => db.change_at_once(name, sql, values).await)
    }
}

#[cfg(test)]
mod tests;
