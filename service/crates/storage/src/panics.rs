//! Contains panics: a panic fails only its own operation, and the rest continues.
//!
//! The message of a panic is already on stderr. It is not repeated here, where it could reach a
//! client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::FutureExt as _;

/// Pause before a task that panicked is started again, so that a task that always panics does not
/// use up a processor.
const PAUSE: Duration = Duration::from_secs(1);

/// Error of an operation that panicked.
#[derive(Debug, PartialEq, Eq)]
pub struct Panicked;

/// The result of `operation`, or [`Panicked`].
pub fn catch<T, E: From<Panicked>>(operation: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(operation)).unwrap_or_else(|_| Err(Panicked.into()))
}

/// The result of awaiting `operation`, or [`Panicked`].
pub async fn catch_async<T, E: From<Panicked>>(
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let caught = AssertUnwindSafe(operation).catch_unwind().await;
    caught.unwrap_or_else(|_| Err(Panicked.into()))
}

/// Runs a task without a caller. If it panics, `panicked` counts it, and the task is started again.
pub async fn restarted<F: Future>(panicked: impl Fn(), mut task: impl FnMut() -> F) -> F::Output {
    loop {
        if let Ok(output) = AssertUnwindSafe(task()).catch_unwind().await {
            return output;
        }
        panicked();
        tracing::error!("a background task panicked; it is started again");
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_its_operation() {
        assert_eq!(catch(|| Ok::<_, Panicked>(1)), Ok(1));
        let panicked = catch::<(), _>(|| panic!("a test's own panic"));
        assert_eq!(panicked, Err(Panicked));
    }

    #[tokio::test]
    async fn a_task_that_panics_is_started_again() {
        let mut starts = 0;
        let panics = std::cell::Cell::new(0);
        let second = restarted(
            || panics.set(panics.get() + 1),
            || {
                starts += 1;
                let number = starts;
                async move {
                    assert!(number > 1, "a test's own panic");
                    number
                }
            },
        );
        assert_eq!(second.await, 2);
        assert_eq!(panics.get(), 1);
    }
}
