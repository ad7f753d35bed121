//! Exclusive access to a database: no node uses it, and none can start meanwhile.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::address::Address;
use super::migrate::{OpenError, connected};
use super::transaction::{LOCKS, SERVED_LOCK};
use crate::StorageError;

/// Holds, exclusively, the lock that every node shares, as a move does. The lock ends with its
/// connection.
pub(super) struct Exclusive {
    _client: Client,
}

impl Exclusive {
    /// Takes the lock of the database at `address`, unless a node uses it. The server releases the
    /// lock of a killed node within the lock timeout.
    pub(super) async fn with(address: &Address) -> Result<Self, OpenError> {
        let (client, _) = connected(address).await?;
        let unusable = |error: StorageError| OpenError::Unusable(address.to_string(), error);
        let patient = "SET statement_timeout = 0; SET lock_timeout = '5s'";
        let patient = client.batch_execute(patient).await;
        patient.map_err(|error| unusable(error.into()))?;
        let lock = "SELECT pg_advisory_lock($1, $2)";
        match client.execute(lock, &[&LOCKS, &SERVED_LOCK]).await {
            Ok(_) => Ok(Self { _client: client }),
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Err(OpenError::InUse(address.to_string()))
            }
            Err(error) => Err(unusable(error.into())),
        }
    }
}
