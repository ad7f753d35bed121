//! Upgrades a database to the newest schema, because a person asked for it.

use super::address::Address;
use super::migrate::{OpenError, connected, may_serve, newest_known, run};

/// The schema versions of a database, before and after its upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The version before; `None` if the database was empty.
    pub from: Option<i32>,
    /// The version now, which is that of this program.
    pub to: i32,
}

/// Upgrades the database at `address` in one transaction. Nodes of the former version may run
/// meanwhile; they cannot be started again afterwards.
///
/// # Errors
///
/// After an error the database is as it was.
pub async fn upgrade(address: &Address) -> Result<Upgraded, OpenError> {
    let (mut client, _) = connected(address).await?;
    let unusable = |error| OpenError::Unusable(address.to_string(), error);
    // A migration may take as long as it needs.
    client
        .batch_execute("SET statement_timeout = 0")
        .await
        .map_err(|error| unusable(error.into()))?;
    let free = may_serve(&client).await;
    if !free.map_err(|error| unusable(error.into()))? {
        return Err(OpenError::Moving(address.to_string()));
    }
    let from = run(&mut client, address).await?;
    Ok(Upgraded {
        from,
        to: newest_known(),
    })
}
