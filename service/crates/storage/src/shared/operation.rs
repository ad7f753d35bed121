//! Operations without their types. Each has arguments and a result of its own. Code that is generic
//! over them is compiled once for each, and again in each crate that calls it: with it, half of the
//! build of the HTTP crate was code of the databases.

use std::any::Any;

use futures_util::future::BoxFuture;

use super::{Change, Query, Read, Transaction};
use crate::StorageError;

/// A result whose type only the caller of the operation knows.
pub(crate) type Erased = Box<dyn Any + Send>;

/// The moment that the statements of a reading operation see.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// Each statement sees its own.
    Each,
    /// All statements see the same.
    Same,
}

/// A reading operation with its arguments.
pub(crate) trait Reading: Send + Sync {
    fn run<'t>(
        &'t self,
        db: &'t mut (dyn Query + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>>;
}

/// A writing operation with its arguments.
pub(crate) trait Changing: Send + Sync {
    fn run<'t>(
        &'t self,
        tx: &'t mut (dyn Transaction + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>>;
}

impl<A: Send + Sync, T: Send + 'static> Reading for (A, Read<A, T>) {
    fn run<'t>(
        &'t self,
        db: &'t mut (dyn Query + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>> {
        let (arguments, operation) = self;
        erased(operation(db, arguments))
    }
}

impl<A: Send + Sync, T: Send + 'static> Changing for (A, Change<A, T>) {
    fn run<'t>(
        &'t self,
        tx: &'t mut (dyn Transaction + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>> {
        let (arguments, operation) = self;
        erased(operation(tx, arguments))
    }
}

fn erased<T: Send + 'static>(
    result: BoxFuture<'_, Result<T, StorageError>>,
) -> BoxFuture<'_, Result<Erased, StorageError>> {
    Box::pin(async move { Ok(Box::new(result.await?) as Erased) })
}

/// The result of an operation, by the type that the operation gave it.
pub(crate) fn typed<T: Send + 'static>(
    result: BoxFuture<'_, Result<Erased, StorageError>>,
) -> BoxFuture<'_, Result<T, StorageError>> {
    Box::pin(async move { result.await.map(unerased) })
}

pub(crate) fn unerased<T: 'static>(result: Erased) -> T {
    *result
        .downcast()
        .expect("a result has the type of its operation")
}
