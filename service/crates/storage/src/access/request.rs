//! A request that operates on a database. Its changes are announced to listeners once, at its end,
//! however many commits they took.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;

use crate::shared::Transaction;
use crate::shared::operation::{Changing, Erased};
use crate::{Event, Storage, StorageError};
use domain::caller::Caller;
use domain::resource_kind::ResourceKind;

/// The resources that a request has changed so far.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Touched {
    #[default]
    Nothing,
    /// Only the resource with this id.
    Only(i64),
    /// Several, or a resource without an id.
    Others,
}

/// The request of a caller. Everything that works for the caller shares it, also a body that is
/// sent later and a task beside the request.
pub(super) struct Request {
    caller: Arc<Caller>,
    /// It keeps no SQLite file open: the thread that writes to the file may be the last to drop an
    /// operation of the request, and cannot wait for its own end.
    tell: Box<dyn Fn(Event) + Send + Sync>,
    touched: Mutex<Touched>,
}

impl Request {
    pub(super) fn new(caller: &Arc<Caller>, storage: &Storage) -> Self {
        Self {
            caller: Arc::clone(caller),
            tell: storage.teller(),
            touched: Mutex::default(),
        }
    }

    pub(super) fn caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    /// Counts as a change if it is dropped before its end. A client may hang up while a commit is
    /// under way, and then nobody learns how it ended.
    pub(super) fn begin_change(&self) -> Unsettled<'_> {
        Unsettled(Some(self))
    }

    /// Remembers a committed change. `object` is the resource that the operation names itself, such
    /// as the one that it created.
    pub(super) fn has_changed(&self, object: Option<&str>) {
        let Some((kind, addressed)) = ResourceKind::of_path(&self.caller.object) else {
            return;
        };
        let named = object.and_then(ResourceKind::of_path);
        let named = named.and_then(|(named, id)| id.filter(|_| named == kind));
        let now = addressed.or(named).map_or(Touched::Others, Touched::Only);
        let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        *touched = match *touched {
            Touched::Nothing => now,
            before if before == now => before,
            _ => Touched::Others,
        };
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let touched = self.touched.get_mut();
        let id = match *touched.unwrap_or_else(PoisonError::into_inner) {
            Touched::Nothing => return,
            Touched::Only(id) => Some(id),
            Touched::Others => None,
        };
        if let Some((kind, _)) = ResourceKind::of_path(&self.caller.object) {
            (self.tell)(Event::Changed { kind, id });
        }
    }
}

/// A change of a request whose end is not known yet.
pub(super) struct Unsettled<'a>(Option<&'a Request>);

impl Unsettled<'_> {
    pub(super) fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Unsettled<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.0 {
            request.has_changed(None);
        }
    }
}

/// A writing operation of a request. The request ends no earlier than the database is done with the
/// operation, so that the event comes after the commit even if nobody waits for it any more.
pub(super) struct Held {
    operation: Box<dyn Changing>,
    _request: Arc<Request>,
}

impl Held {
    pub(super) fn by(request: &Arc<Request>, operation: Box<dyn Changing>) -> Self {
        Self {
            operation,
            _request: Arc::clone(request),
        }
    }
}

impl Changing for Held {
    fn run<'t>(
        &'t self,
        tx: &'t mut (dyn Transaction + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>> {
        self.operation.run(tx)
    }
}
