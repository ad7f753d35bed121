//! What a node of the service is, as far as its database goes: connections, and
//! nothing that another node would miss.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::sleep;

use super::address::Address;
use super::configuration::Configuration;
use super::events::Events;
use super::ids::Ids;
use super::row::column;
use super::session::{Session, pool};
use super::time::{Following, Time};
use crate::clock::{Clock, SystemClock, Timestamp};
use crate::storage::StorageError;
use crate::storage::payload_reads::PayloadReads;

/// How long an attempt whose answer was lost is made again.
const PERSISTENCE: i64 = 5_000;
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// A node.
pub struct Node {
    pub(super) pool: Pool,
    following: Following,
    /// Time as far as nothing is decided by it.
    pub(super) clock: Arc<dyn Clock>,
    pub(super) configuration: Configuration,
    pub(super) events: Events,
    /// No other node has it, and none had.
    pub(super) number: i64,
    pub(super) ids: Ids,
    pub(super) payload_reads: PayloadReads,
}

impl Node {
    /// A node on the database at `address`, which is open.
    pub(super) async fn new(address: &Address, time: &Time) -> Result<Self, StorageError> {
        let pool = pool(address);
        let configuration = Configuration::new();
        let as_of = configuration.now();
        let row = Session::of(&pool)
            .await?
            .one("SELECT nextval('nodes'), epoch FROM configuration", &[])
            .await?;
        configuration.confirm(column::<i64>(&row, 1)?.unsigned_abs(), as_of);
        let number = column(&row, 0)?;
        Ok(Self {
            pool,
            following: Following::new(time),
            clock: match time {
                Time::Its | Time::Movable => Arc::new(SystemClock::start()),
                Time::Standing(clock) => Arc::clone(clock),
            },
            configuration,
            events: Events::new(number),
            number,
            ids: Ids::default(),
            payload_reads: PayloadReads::default(),
        })
    }

    /// A connection for one operation.
    pub(super) async fn session(&self) -> Result<Session, StorageError> {
        let session = Session::of(&self.pool).await?;
        self.following.tell(&session).await?;
        Ok(session)
    }

    /// The database's time.
    pub(super) async fn present(&self) -> Result<Timestamp, StorageError> {
        let row = self.session().await?.one("SELECT present()", &[]).await?;
        column(&row, 0).map(Timestamp::from_millis)
    }
}

/// Attempts at one operation, which knows by itself whether it was done before.
pub(super) struct Attempts {
    clock: SystemClock,
    until: Timestamp,
    made: u32,
}

impl Attempts {
    /// None was made yet.
    pub(super) fn new() -> Self {
        let clock = SystemClock::start();
        Self {
            until: clock.now().plus_millis(PERSISTENCE),
            clock,
            made: 0,
        }
    }

    /// A connection for the next attempt. Where there is none for the first one, nothing was
    /// attempted; later ones may have to wait until the database is back.
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

    /// Whether an attempt was made before the present one.
    pub(super) fn again(&self) -> bool {
        self.made > 1
    }

    /// Waits before the next attempt, where `error` leaves it open what became
    /// of the last one; else the error stays.
    pub(super) async fn pause(&self, error: StorageError) -> Result<(), StorageError> {
        if !matches!(error, StorageError::Unavailable(_)) || self.clock.now() > self.until {
            return Err(error);
        }
        sleep(PAUSE).await;
        Ok(())
    }
}
