//! Examines a database that may not be served, without changing it: for `doctor`, and before a
//! restore or a move.

use tokio_postgres::{Client, IsolationLevel};

use super::address::Address;
use super::connection::{connect, drain, set_up};
use super::migrate::{OpenError, check, newest_known, reason, refuse_moved, refuse_unfinished};
use super::row::{column, optional_time};
use super::shared::row;
use crate::catalogue::{Backend, missing};
use crate::shared::audit;
use crate::shared::dialect::Dialect;
use crate::{Examination, StorageError};
use domain::audit::{Check, Ends, Fault};

/// Facts about the database at `address`; `None` if it is empty. It writes nothing.
pub async fn examine(address: &Address) -> Result<Option<Examination>, OpenError> {
    let (client, messages) = connect(address)
        .await
        .map_err(|error| OpenError::Unreachable(address.to_string(), reason(&error)))?;
    drain(messages);
    let unusable = |error| OpenError::Unusable(address.to_string(), error);
    set_up(&client).await.map_err(unusable)?;
    let format = check(&client, address).await?;
    let Some(format) = format else {
        return Ok(None);
    };
    refuse_unfinished(&client, address).await?;
    refuse_moved(&client, address).await?;
    let seen = client
        .query_one(
            "SELECT (SELECT key FROM master_keys UNION ALL
                     SELECT key FROM url_template_keys WHERE key IS NOT NULL UNION ALL
                     SELECT file_key FROM inlays WHERE file_key IS NOT NULL LIMIT 1),
                    (SELECT at FROM interactions WHERE NOT simulated ORDER BY id DESC LIMIT 1),
                    ARRAY (SELECT relname::TEXT FROM pg_class
                           WHERE relnamespace = current_schema()::REGNAMESPACE AND relkind IN ('r', 'p'))",
            &[],
        )
        .await
        .map_err(|error| unusable(error.into()))?;
    Ok(Some(Examination {
        format: format.unsigned_abs(),
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
    let (mut client, messages) = connect(address)
        .await
        .map_err(|error| OpenError::Unreachable(address.to_string(), reason(&error)))?;
    drain(messages);
    set_up(&client)
        .await
        .map_err(|error| OpenError::Unusable(address.to_string(), error))?;
    check_rows(&mut client)
        .await
        .map_err(|error| OpenError::Unusable(address.to_string(), error))
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
