//! Whose time decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::session::Session;
use crate::clock::Clock;
use crate::storage::StorageError;

/// Where a database takes its time from. It is one for all of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// From the machine it runs on.
    Its,
    /// From there as well, and it can be moved ahead: test mode.
    Movable,
    /// It stands still where the node's own clock stands, for tests.
    Standing,
}

/// Sees to it that the database's time stands where a clock stands.
#[derive(Default)]
pub(super) struct Following {
    clock: Option<Arc<dyn Clock>>,
    /// What the database was told last, in milliseconds; 0 for nothing.
    told: AtomicI64,
}

impl Following {
    pub(super) fn new(clock: &Arc<dyn Clock>, time: Time) -> Self {
        Self {
            clock: (time == Time::Standing).then(|| Arc::clone(clock)),
            told: AtomicI64::new(0),
        }
    }

    /// Tells the database where the clock stands, if it has moved.
    pub(super) async fn tell(&self, session: &Session) -> Result<(), StorageError> {
        let Some(clock) = &self.clock else {
            return Ok(());
        };
        let now = clock.now().millis();
        if self.told.load(Ordering::Acquire) != now {
            session
                .run("UPDATE clock SET stands_at = $1", &[&now])
                .await?;
            self.told.store(now, Ordering::Release);
        }
        Ok(())
    }
}
