//! A connection for one operation.
//!
//! Waiting for an answer always has a limit. A connection whose answer did not come, or whose
//! transaction was not ended, is closed and never used again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, ManagerConfig, Object, Pool, PoolError, QueueMode, RecyclingMethod, Runtime,
};
use futures_util::future::BoxFuture;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row};

use super::address::Address;
use super::connection::{self, ANSWER};
use crate::StorageError;

/// Connections of a node, in addition to the one on which it listens to other nodes.
pub(super) const CONNECTIONS: usize = 16;

/// Parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The pool of a node's connections. Each is opened when it is first needed.
pub(super) fn pool(address: &Address) -> Pool {
    struct Connect(Address);

    impl deadpool_postgres::Connect for Connect {
        fn connect(
            &self,
            _: &tokio_postgres::Config,
        ) -> BoxFuture<'_, Result<(tokio_postgres::Client, tokio::task::JoinHandle<()>), Error>>
        {
            Box::pin(async move {
                let (client, messages) = connection::connect(&self.0).await?;
                Ok((client, connection::drain(messages)))
            })
        }
    }

    // A lost connection is recognised as closed; a check before each use would cost a round trip.
    let manager = deadpool_postgres::Manager::from_connect(
        address.config.clone(),
        Connect(address.clone()),
        ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        },
    );
    Pool::builder(manager)
        .max_size(CONNECTIONS)
        // Few backends do most of the work: each keeps its own plans, and maps the server's memory by
        // itself.
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(ANSWER))
        .create_timeout(Some(ANSWER))
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move {
                let set_up = connection::set_up(client).await;
                set_up.map_err(|error| HookError::message(error.to_string()))
            })
        }))
        .build()
        .expect("there is a runtime for its timeouts")
}

/// A connection for one operation.
pub(super) struct Session {
    /// `None` once the connection is given up.
    client: Option<Object>,
    lost: AtomicBool,
    /// How long an answer may take.
    patience: Duration,
}

impl Session {
    /// Takes a connection from the pool, set up.
    pub(super) async fn of(pool: &Pool) -> Result<Self, StorageError> {
        let client = pool.get().await.map_err(|error| {
            StorageError::Unavailable(match error {
                PoolError::Closed => "it is closed".to_owned(),
                PoolError::Timeout(_) => "no connection in time".to_owned(),
                // The server's message may name users, so it is left out.
                PoolError::Backend(error) => match error.code() {
                    Some(code) => format!("it refuses connections ({})", code.code()),
                    None => error.to_string(),
                },
                other => other.to_string(),
            })
        })?;
        Ok(Self {
            client: Some(client),
            lost: AtomicBool::new(false),
            patience: ANSWER,
        })
    }

    /// Sets how long this session waits for an answer. The server's own limit must be set
    /// separately.
    pub(super) fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The rows of a statement, which stays prepared.
    pub(super) async fn rows(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, StorageError> {
        let client = self.client()?;
        self.answer(async {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, parameters).await
        })
        .await
    }

    /// The only row of a statement, if it has one.
    pub(super) async fn row(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, StorageError> {
        Ok(self.rows(sql, parameters).await?.into_iter().next())
    }

    /// The row of a statement that always has one.
    pub(super) async fn one(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Row, StorageError> {
        let row = self.row(sql, parameters).await?;
        row.ok_or_else(|| StorageError::Failed("a row is missing".to_owned()))
    }

    /// Runs a statement that stays prepared; returns how many rows it changed.
    pub(super) async fn run(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, StorageError> {
        let client = self.client()?;
        self.answer(async {
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, parameters).await
        })
        .await
    }

    /// The rows of a statement that is not kept, planned for these parameters.
    pub(super) async fn rows_once(
        &self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, StorageError> {
        let client = self.client()?;
        self.answer(client.query_typed(sql, parameters)).await
    }

    /// Runs statements without parameters and results.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), StorageError> {
        self.answer(self.client()?.batch_execute(sql)).await
    }

    /// Marks the connection to be closed after this operation, unless [`Self::keep`] is called.
    pub(super) fn give_up(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Keeps the connection for later operations, after [`Self::give_up`].
    pub(super) fn keep(&self) {
        self.lost.store(false, Ordering::Relaxed);
    }

    fn client(&self) -> Result<&Object, StorageError> {
        self.client
            .as_ref()
            .ok_or_else(|| StorageError::Unavailable("the connection was given up".to_owned()))
    }

    async fn answer<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StorageError> {
        match timeout(self.patience, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                if connection::is_lost(&error) {
                    self.give_up();
                }
                Err(error.into())
            }
            Err(_) => {
                self.give_up();
                Err(StorageError::Unavailable("it does not answer".to_owned()))
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if *self.lost.get_mut()
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}

#[cfg(test)]
mod tests {
    use tapdesk_tests::TestDatabase;

    use super::*;

    async fn backend(session: &Session) -> i32 {
        let row = session.one("SELECT pg_backend_pid()", &[]).await.unwrap();
        row.get(0)
    }

    #[tokio::test]
    async fn the_connection_that_was_used_last_is_used_next() {
        let database = TestDatabase::create().await;
        let address = Address::parse(&database.url(), |_| None).unwrap();
        let pool = pool(&address);
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(Session::of(&pool).await.unwrap());
        }
        let last = open.pop().unwrap();
        let expected = backend(&last).await;
        drop(open);
        drop(last);
        for _ in 0..4 {
            let session = Session::of(&pool).await.unwrap();
            assert_eq!(backend(&session).await, expected);
        }
    }
}
