//! Opens and sets up every connection, and asserts its settings.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Connection, Error, NoTls};

use super::address::Address;
use crate::StorageError;

/// The oldest supported server, as a PostgreSQL version number.
const SERVER_AT_LEAST: i32 = 150_000;

/// Time limit of a statement, unless its transaction sets another one.
pub(super) const STATEMENT: Duration = Duration::from_secs(3);
/// Time limit for an answer. A reachable server ends the statement earlier.
pub(super) const ANSWER: Duration = Duration::from_secs(4);

/// A server's messages apart from answers. They must be read, or the client gets no answers.
pub(super) type Messages = Pin<Box<dyn Stream<Item = Result<AsyncMessage, Error>> + Send>>;

/// Opens a connection, without its settings.
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

/// Reads and drops a connection's messages until it ends.
pub(super) fn drain(mut messages: Messages) -> JoinHandle<()> {
    tokio::spawn(async move { while let Some(Ok(_)) = messages.next().await {} })
}

/// Applies the settings of a connection, and reads back the important ones: durability must not
/// depend on a default, and a server that accepts no writes is unusable.
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

/// Whether a connection is unusable after `error`.
pub(super) fn is_lost(error: &Error) -> bool {
    let Some(code) = error.code() else {
        return true;
    };
    let class = &code.code()[..2];
    // A standby that used to be a primary keeps its connections, but accepts no writes.
    class == "08"
        || class == "57" && *code != SqlState::QUERY_CANCELED
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

impl From<Error> for StorageError {
    /// Leaves out the server's details about values, because they may quote the values.
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
