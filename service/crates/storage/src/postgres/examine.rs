//! Examines a database that may not be served, without changing it: for `doctor`, and before a
//! restore or a move.

use tokio_postgres::{Client, IsolationLevel};

use super::address::Address;
use super::migrate::{OpenError, check, connected, newest_known, refuse_moved, refuse_unfinished};
use super::row::{column, optional_time};
use super::shared::{row, rows};
use crate::catalogue::{Backend, missing};
use crate::shared::administration::ANY_WRAPPED_KEY;
use crate::shared::dialect::Dialect;
use crate::shared::notifications::attention;
use crate::shared::{audit, certificates};
use crate::{CertificateState, Examination, NotificationTrouble, StorageError};
use domain::audit::{Check, Ends, Fault};
use domain::clock::Timestamp;

/// Facts about the database at `address`; `None` if it is empty. It writes nothing.
pub async fn examine(address: &Address) -> Result<Option<Examination>, OpenError> {
    let (client, _) = connected(address).await?;
    let unusable = |error| OpenError::Unusable(address.to_string(), error);
    let format = check(&client, address).await?;
    let Some(format) = format else {
        return Ok(None);
    };
    refuse_unfinished(&client, address).await?;
    refuse_moved(&client, address).await?;
    let seen = client
        .query_one(
            &format!(
                "SELECT ({ANY_WRAPPED_KEY}),
                        (SELECT at FROM interactions WHERE NOT simulated ORDER BY id DESC LIMIT 1),
                        ARRAY (SELECT relname::TEXT FROM pg_class
                               WHERE relnamespace = current_schema()::REGNAMESPACE AND relkind IN ('r', 'p'))"
            ),
            &[],
        )
        .await
        .map_err(|error| unusable(error.into()))?;
    Ok(Some(Examination {
        format: format.unsigned_abs(),
        is_older: format < newest_known(),
        wrapped_key: column(&seen, 0).map_err(unusable)?,
        newest_at: optional_time(&seen, 1).map_err(unusable)?,
        missing_tables: if format == newest_known() {
            let found: Vec<String> = column(&seen, 2).map_err(unusable)?;
            missing(Backend::Postgres, &found)
        } else {
            Vec::new()
        },
    }))
}

/// The first fault in the audit log of the database at `address`, if any. It writes nothing.
pub async fn check_audit(address: &Address) -> Result<Option<Fault>, OpenError> {
    let (mut client, _) = connected(address).await?;
    check_rows(&mut client)
        .await
        .map_err(|error| OpenError::Unusable(address.to_string(), error))
}

/// The notifications of the database at `address` that somebody has to look at. It writes nothing.
pub async fn notification_trouble(
    address: &Address,
    now: Timestamp,
) -> Result<NotificationTrouble, OpenError> {
    let (client, _) = connected(address).await?;
    let unusable = |error| OpenError::Unusable(address.to_string(), error);
    find_trouble(&client, now).await.map_err(unusable)
}

/// The states of the certificates in the database at `address`. It writes nothing.
pub async fn certificate_states(address: &Address) -> Result<Vec<CertificateState>, OpenError> {
    let (client, _) = connected(address).await?;
    let unusable = |error| OpenError::Unusable(address.to_string(), error);
    let sql = Dialect::Postgres.say(certificates::STATES);
    let found = client.query(&*sql, &[]).await;
    let found = found.map_err(|error| unusable(error.into()))?;
    let states = rows(&found).and_then(certificates::states);
    states.map_err(unusable)
}

async fn find_trouble(
    client: &Client,
    now: Timestamp,
) -> Result<NotificationTrouble, StorageError> {
    let sql = Dialect::Postgres.say(attention::NOTIFICATIONS);
    let late = attention::late_before(now).millis();
    let notifications = client.query(&*sql, &[&late]).await?;
    let sql = Dialect::Postgres.say(attention::REFUSED);
    let since = attention::refused_since(now).millis();
    let refused = client.query(&*sql, &[&since]).await?;
    attention::trouble(rows(&notifications)?, rows(&refused)?)
}

async fn check_rows(client: &mut Client) -> Result<Option<Fault>, StorageError> {
    let log = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let ends = match log.query_opt(audit::ENDS, &[]).await? {
        Some(found) => audit::read_ends(row(&found)?)?,
        None => Ends::NONE,
    };
    let rows = Dialect::Postgres.say(audit::ROWS);
    let mut check = Check::begin(ends);
    loop {
        let piece = log.query(&*rows, &[&check.checked(), &1_000_i64]).await?;
        if piece.is_empty() {
            return Ok(check.end().err());
        }
        for found in &piece {
            if let Err(fault) = check.row(&audit::read(row(found)?)?) {
                return Ok(Some(fault));
            }
        }
    }
}
