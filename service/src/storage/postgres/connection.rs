//! How every connection is made and set up, and what is asserted of it.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Connection, Error, NoTls};

use super::address::Address;
use crate::storage::StorageError;

/// The oldest server that is known to do, as PostgreSQL counts its versions.
const SERVER_AT_LEAST: i32 = 150_000;

/// Longest statement, unless its transaction asks for more.
pub(super) const STATEMENT: Duration = Duration::from_secs(3);
/// Longest wait for an answer. The server gives up before, if it is reached.
pub(super) const ANSWER: Duration = Duration::from_secs(4);

/// What a server sends beside answers. It must be read for the client to get any answer.
pub(super) type Messages = Pin<Box<dyn Stream<Item = Result<AsyncMessage, Error>> + Send>>;

/// A connection that is not set up yet.
pub(super) async fn connect(address: &Address) -> Result<(Client, Messages), Error> {
    if let Some(tls) = &address.tls {
        let (client, connection) = address.config.connect(tls.clone()).await?;
        Ok((client, messages(connection)))
    } else {
        let (client, connection) = address.config.connect(NoTls).await?;
        Ok((client, messages(connection)))
    }
}

fn messages<S, T>(mut connection: Connection<S, T>) -> Messages
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    Box::pin(stream::poll_fn(move |cx| connection.poll_message(cx)))
}

/// Reads a connection's messages until it ends. Nobody listens there.
pub(super) fn drain(mut messages: Messages) -> JoinHandle<()> {
    tokio::spawn(async move { while let Some(Ok(_)) = messages.next().await {} })
}

/// Sets a connection up and reads back what matters: durability is not left to
/// a default, and a server that takes no writes is none to work with.
pub(super) async fn set_up(client: &Client) -> Result<(), StorageError> {
    let statement = STATEMENT.as_millis();
    client
        .batch_execute(&format!(
            "SET statement_timeout = {statement};
             SET idle_in_transaction_session_timeout = '10s';
             SET client_connection_check_interval = '2s';
             SET tcp_user_timeout = '5s';
             SET default_transaction_isolation = 'read committed';
             SET synchronous_commit = 'on';
             SET TIME ZONE 'UTC';
             SET jit = off"
        ))
        .await?;
    let row = client
        .query_one(
            "SELECT current_setting('synchronous_commit'), current_setting('server_encoding'),
                    current_setting('server_version_num')::INTEGER, current_setting('server_version'),
                    pg_is_in_recovery()",
            &[],
        )
        .await?;
    let (durability, encoding): (String, String) = (row.get(0), row.get(1));
    let (number, version): (i32, String) = (row.get(2), row.get(3));
    if durability != "on" {
        return Err(StorageError::Failed(format!(
            "not durable: synchronous_commit={durability}"
        )));
    }
    if number < SERVER_AT_LEAST {
        return Err(StorageError::Failed(format!(
            "PostgreSQL {version} is too old; 15 or newer is needed"
        )));
    }
    if encoding != "UTF8" {
        return Err(StorageError::Failed(format!(
            "its encoding is {encoding}; UTF8 is needed"
        )));
    }
    if row.get(4) {
        return Err(StorageError::Unavailable("it is a standby".to_owned()));
    }
    Ok(())
}

/// Whether nothing more can be asked of a connection on which `error` came.
pub(super) fn is_lost(error: &Error) -> bool {
    let Some(code) = error.code() else {
        return true;
    };
    let class = &code.code()[..2];
    // A standby that was a primary stays connected, and is of no use.
    class == "08"
        || class == "57" && *code != SqlState::QUERY_CANCELED
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

impl From<Error> for StorageError {
    /// What a server says of values is left out: it may quote them.
    fn from(error: Error) -> Self {
        let Some(said) = error.as_db_error() else {
            return if error.is_closed() || is_io(&error) {
                Self::Unavailable("the connection was lost".to_owned())
            } else {
                Self::Failed(error.to_string())
            };
        };
        let code = said.code();
        let waits = [
            SqlState::QUERY_CANCELED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::TOO_MANY_CONNECTIONS,
        ];
        if *code == SqlState::DISK_FULL {
            Self::Full
        } else if is_lost(&error) || waits.contains(code) {
            Self::Unavailable(said.message().to_owned())
        } else {
            Self::Failed(format!("{} ({})", said.message(), code.code()))
        }
    }
}

fn is_io(error: &Error) -> bool {
    use std::error::Error as _;
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}
