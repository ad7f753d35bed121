//! The source of the time that decides about keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::session::Session;
use crate::StorageError;
use domain::clock::Clock;

/// The source of a database's time, which all its nodes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The clock of the database's machine.
    Its,
    /// The clock of the database's machine, which can be moved ahead: test mode.
    Movable,
    /// A time that stands still at the time of the node's own clock, for tests.
    Standing,
}

/// Sets the database's time to that of a clock.
#[derive(Default)]
pub(super) struct Following {
    clock: Option<Arc<dyn Clock>>,
    /// The latest time that the database was set to, in milliseconds; 0 before the first.
    set_to: AtomicI64,
}

impl Following {
    pub(super) fn new(clock: &Arc<dyn Clock>, time: Time) -> Self {
        Self {
            clock: (time == Time::Standing).then(|| Arc::clone(clock)),
            set_to: AtomicI64::new(0),
        }
    }

    /// Sets the database's time to the clock's, if the clock has moved.
    pub(super) async fn tell(&self, session: &Session) -> Result<(), StorageError> {
        let Some(clock) = &self.clock else {
            return Ok(());
        };
        let now = clock.now().millis();
        if self.set_to.load(Ordering::Acquire) < now {
            // Other connections do the same at the same time. This statement may run after one with
            // a later time, and must not set the time back.
            session
                .run(
                    "UPDATE clock SET stands_at = $1 WHERE coalesce(stands_at, 0) < $1",
                    &[&now],
                )
                .await?;
            self.set_to.fetch_max(now, Ordering::AcqRel);
        }
        Ok(())
    }
}
