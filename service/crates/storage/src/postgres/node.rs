//! A node's side of its database: connections, and only such state as no other node would miss.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::sleep;

use super::address::Address;
use super::epoch::KnownEpoch;
use super::events::Events;
use super::ids::Ids;
use super::keys;
use super::row::{column, millis};
use super::session::{Session, pool};
use super::sweep::Position;
use super::time::{Following, Time};
use super::watch::SIMULATED_TIME;
use crate::deferred::Deferred;
use crate::expected_taps::ExpectedTaps;
use crate::panics;
use crate::shared::tags::KeptCounts;
use crate::{SIMULATED_AHEAD, StorageError, StorageMetrics};
use domain::clock::{Clock, Millis, SystemClock, Timestamp};

/// How long an attempt is repeated if its answer was lost.
const PERSISTENCE: Millis = Millis::seconds(5);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// A node of the service, with its connections to the database.
pub struct Node {
    pub(super) pool: Pool,
    following: Following,
    /// The node's own clock, which decides nothing.
    pub(super) clock: Arc<dyn Clock>,
    time: Time,
    pub(super) epoch: KnownEpoch,
    pub(super) events: Events,
    /// A number that no other node has, or ever had.
    pub(super) number: i64,
    pub(super) ids: Ids,
    pub(crate) deferred: Deferred,
    pub(crate) expected_taps: ExpectedTaps,
    pub(crate) kept_counts: KeptCounts,
    pub(super) sweep_position: Position,
    pub(super) metrics: StorageMetrics,
}

impl Node {
    /// A node on the database at `address`, which must be open already.
    pub(super) async fn new(
        address: &Address,
        clock: Arc<dyn Clock>,
        time: Time,
    ) -> Result<Self, StorageError> {
        let pool = pool(address);
        let epoch = KnownEpoch::new();
        let as_of = epoch.now();
        let session = Session::of(&pool).await?;
        keys::at_start(&session).await?;
        let row = session
            .one(
                "SELECT nextval('nodes'), epoch, simulated_ahead() FROM configuration",
                &[],
            )
            .await?;
        epoch.learn_simulated_offset(millis(&row, 2)?);
        let newest = column::<i64>(&row, 1)?.unsigned_abs();
        epoch.learn(newest, None);
        epoch.confirm(newest, as_of);
        let number = column(&row, 0)?;
        let metrics = StorageMetrics::default();
        Ok(Self {
            pool,
            following: Following::new(&clock, time),
            clock,
            time,
            epoch,
            events: Events::new(number, metrics.clone()),
            number,
            ids: Ids::default(),
            deferred: Deferred::default(),
            expected_taps: ExpectedTaps::default(),
            kept_counts: KeptCounts::default(),
            sweep_position: Position::default(),
            metrics,
        })
    }

    /// The result of `operation`. A panic becomes an error of this operation only.
    pub(super) async fn contained<T>(
        &self,
        operation: impl Future<Output = Result<T, StorageError>>,
    ) -> Result<T, StorageError> {
        panics::catch_async(operation).await.inspect_err(|error| {
            if matches!(error, StorageError::Panicked) {
                self.metrics.panicked();
            }
        })
    }

    /// Takes a connection for one operation.
    pub(super) async fn session(&self) -> Result<Session, StorageError> {
        let session = Session::of(&self.pool).await?;
        self.following.tell(&session).await?;
        Ok(session)
    }

    /// Moves the database's time ahead, for all nodes, and returns the new time; `None` outside
    /// test mode.
    pub(super) async fn advance(&self, span: Millis) -> Result<Option<Timestamp>, StorageError> {
        match self.time {
            Time::Its => Ok(None),
            Time::Movable => {
                let session = self.session().await?;
                session
                    .run("UPDATE clock SET ahead = ahead + $1", &[&span.get()])
                    .await?;
                self.present().await.map(Some)
            }
            Time::Standing => Ok(self.clock.try_advance(span)),
        }
    }

    /// Moves simulated time ahead, for all nodes, and returns the new offset.
    pub(super) async fn advance_simulated(&self, span: Millis) -> Result<Millis, StorageError> {
        let row = self
            .session()
            .await?
            .one(
                "WITH moved AS (
                     INSERT INTO settings AS s (name, value) VALUES ($3, $1::BIGINT::TEXT)
                     ON CONFLICT (name) DO UPDATE SET value = (s.value::BIGINT + excluded.value::BIGINT)::TEXT
                     RETURNING value
                 ) SELECT value::BIGINT FROM moved, pg_notify($2, value)",
                &[&span.get(), &SIMULATED_TIME, &SIMULATED_AHEAD],
            )
            .await?;
        let offset = millis(&row, 0)?;
        self.epoch.learn_simulated_offset(offset);
        Ok(offset)
    }

    /// The database's current time.
    pub(super) async fn present(&self) -> Result<Timestamp, StorageError> {
        let row = self.session().await?.one("SELECT present()", &[]).await?;
        column(&row, 0).map(Timestamp::from_millis)
    }
}

/// Attempts at one operation, which itself recognises an attempt that succeeded before.
pub(super) struct Attempts {
    clock: SystemClock,
    until: Timestamp,
    made: u32,
}

impl Attempts {
    /// Starts without an attempt.
    pub(super) fn new() -> Self {
        let clock = SystemClock::start();
        Self {
            until: clock.now().plus(PERSISTENCE),
            clock,
            made: 0,
        }
    }

    /// Takes a connection for the next attempt. The first attempt fails if there is none; later
    /// ones wait until the database is back.
    pub(super) async fn session(&mut self, node: &Node) -> Result<Session, StorageError> {
        loop {
            match node.session().await {
                Ok(session) => {
                    self.made += 1;
                    return Ok(session);
                }
                Err(error) if self.made == 0 => return Err(error),
                Err(error) => self.pause(error).await?,
            }
        }
    }

    /// Whether this is not the first attempt.
    pub(super) fn again(&self) -> bool {
        self.made > 1
    }

    /// Waits before the next attempt, if `error` leaves the result of the last one open; otherwise
    /// returns the error.
    pub(super) async fn pause(&self, error: StorageError) -> Result<(), StorageError> {
        if !matches!(error, StorageError::Unavailable(_)) || self.clock.now() > self.until {
            return Err(error);
        }
        sleep(PAUSE).await;
        Ok(())
    }
}
