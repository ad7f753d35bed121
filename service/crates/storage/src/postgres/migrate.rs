//! Opens a database. One that is foreign, newer or older stays untouched; an empty one is
//! initialised. Several nodes may start together, so an advisory lock covers all of this. An older
//! one is upgraded only when a person asks for it: only PostgreSQL's own tools can back it up.

mod functions;
mod versions;

use tokio::task::JoinHandle;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::address::Address;
use super::connection::{connect, drain, set_up};
use super::identity::{self, Since};
use super::time::Time;
use super::transaction::{LOCKS, SCHEMA_LOCK, SERVED_LOCK};
use crate::StorageError;
use crate::catalogue::forget_progress;
use crate::shared::encodings;
use crate::transfer::mark;
use domain::clock::{Clock, Timestamp};
use domain::entropy::{self, Entropy};
pub(super) use versions::newest_known;

/// Why a database cannot be opened. The message of each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database cannot be reached.
    #[error("{0} cannot be reached: {1}.")]
    Unreachable(String, String),
    /// The database contains tables of another program.
    #[error("{0} holds tables of another program. It was left as it is; choose an empty database.")]
    Foreign(String),
    /// A newer version of this program created the database.
    #[error(
        "{address} was made by a newer Tapdesk (format {found}, this one knows {known}). \
         It was left as it is; use the newer version, or restore the pg_dump from before the upgrade."
    )]
    Newer {
        /// The address of the database.
        address: String,
        /// The database's schema version.
        found: i32,
        /// The newest schema version that this program knows.
        known: i32,
    },
    /// An older version of this program created the database, and nobody has asked to upgrade it.
    #[error(
        "{address} was made by an older Tapdesk (format {found}, this one has {known}). It was left as it is: no \
         service can back up PostgreSQL. Make a backup with pg_dump, then run tapdesk-service upgrade-database."
    )]
    Older {
        /// The address of the database.
        address: String,
        /// The database's schema version.
        found: i32,
        /// The schema version of this program.
        known: i32,
    },
    /// A move or a key rotation uses the database, or a move into it was not finished.
    #[error(
        "{0} is on the move: migrate-store or rotate-key is at work, or a move was ended before it was done. Let it \
         end, or start it again with the same options, and it goes on where it was."
    )]
    Moving(String),
    /// Nodes of a service use the database.
    #[error("{0} is in use by a service. Stop every node of it first.")]
    InUse(String),
    /// All data was moved to another database.
    #[error(
        "{address} was moved to {to} at {at}: serve that one, for each would accept a tap that the other has \
         accepted. To come back to PostgreSQL, move it into an empty database with migrate-store."
    )]
    Moved {
        /// The address of the database from which the data was moved.
        address: String,
        /// The database that now has all data.
        to: String,
        /// When the move was completed.
        at: Timestamp,
    },
    /// A migration failed; the database is as it was before.
    #[error("{0} could not be upgraded and is as it was: {1}.")]
    Migration(String, String),
    /// The database does not support an operation that Tapdesk needs, or returned an error.
    #[error("{0} cannot be used: {1}")]
    Unusable(String, StorageError),
}

/// Keeps moves away from an opened database until the watching connection holds the lock, too: a
/// move in between would leave taps behind.
pub(super) struct Opened {
    client: Client,
    messages: JoinHandle<()>,
}

impl Opened {
    /// Releases the database: the lock ends with the connection.
    pub(super) async fn end(self) {
        drop(self.client);
        let _ = self.messages.await;
    }
}

/// Initialises the database at `address` if it is empty, replaces its functions, and sets its time.
pub(super) async fn open(
    address: &Address,
    clock: &dyn Clock,
    time: Time,
    entropy: &dyn Entropy,
) -> Result<Opened, OpenError> {
    let (mut client, messages) = connected(address).await?;
    let sql = |error: tokio_postgres::Error| OpenError::Unusable(address.to_string(), error.into());
    client
        .batch_execute("SET statement_timeout = 0")
        .await
        .map_err(sql)?;
    if !may_serve(&client).await.map_err(sql)? {
        return Err(OpenError::Moving(address.to_string()));
    }
    lock(&client, address).await?;
    refuse_older(&client, address).await?;
    apply(&mut client, address).await?;
    refuse_unfinished(&client, address).await?;
    refuse_moved(&client, address).await?;
    note_restore(&mut client).await.map_err(sql)?;
    make_secrets(&client, entropy).await.map_err(sql)?;
    set_time(&client, clock, time).await.map_err(sql)?;
    warn_of_settings(&client).await.map_err(sql)?;
    // From here on, another node may open the database.
    let unlock = "SELECT pg_advisory_unlock($1, $2)";
    let unlocked = client.execute(unlock, &[&LOCKS, &SCHEMA_LOCK]).await;
    unlocked.map_err(sql)?;
    Ok(Opened { client, messages })
}

/// Initialises or upgrades a database to the newest schema. No other process can do so until the
/// connection ends. Returns the version that the database had; `None` if it was empty.
pub(super) async fn run(client: &mut Client, address: &Address) -> Result<Option<i32>, OpenError> {
    lock(client, address).await?;
    let found = check(client, address).await?;
    apply(client, address).await?;
    Ok(found)
}

/// Keeps other processes from changing the schema.
async fn lock(client: &Client, address: &Address) -> Result<(), OpenError> {
    client
        .execute("SELECT pg_advisory_lock($1, $2)", &[&LOCKS, &SCHEMA_LOCK])
        .await
        .map(drop)
        .map_err(|error| OpenError::Unusable(address.to_string(), error.into()))
}

async fn apply(client: &mut Client, address: &Address) -> Result<(), OpenError> {
    versions::apply(client)
        .await
        .map_err(|error| OpenError::Migration(address.to_string(), reason(&error)))
}

/// Refuses a database of an older version.
async fn refuse_older(client: &Client, address: &Address) -> Result<(), OpenError> {
    let known = newest_known();
    match check(client, address).await? {
        Some(found) if found < known => Err(OpenError::Older {
            address: address.to_string(),
            found,
            known,
        }),
        _ => Ok(()),
    }
}

/// Takes the shared lock of nodes, so that no move can begin until the connection ends; `false` if
/// a move holds it. The server releases the lock of a move that was ended or killed within the lock
/// timeout.
pub(super) async fn may_serve(client: &Client) -> Result<bool, tokio_postgres::Error> {
    client.batch_execute("SET lock_timeout = '5s'").await?;
    let lock = "SELECT pg_advisory_lock_shared($1, $2)";
    let served = match client.execute(lock, &[&LOCKS, &SERVED_LOCK]).await {
        Ok(_) => true,
        Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => false,
        Err(error) => return Err(error),
    };
    // Waiting for another node's upgrade has no limit.
    client.batch_execute("RESET lock_timeout").await?;
    Ok(served)
}

/// The text of the mark, if the database is the destination or the source of a move.
pub(super) async fn mark_of(client: &Client) -> Result<Option<String>, tokio_postgres::Error> {
    let sql = "SELECT value FROM settings WHERE name = $1";
    let row = client.query_opt(sql, &[&mark::NAME]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Refuses an incompletely moved database, which can be neither served nor moved.
pub(super) async fn refuse_unfinished(client: &Client, address: &Address) -> Result<(), OpenError> {
    let json = mark_of(client)
        .await
        .map_err(|error| OpenError::Unusable(address.to_string(), error.into()))?;
    if json.is_some_and(|json| mark::is_unfinished(&json)) {
        return Err(OpenError::Moving(address.to_string()));
    }
    Ok(())
}

/// Refuses to serve a database that was moved to another one.
pub(super) async fn refuse_moved(client: &Client, address: &Address) -> Result<(), OpenError> {
    let json = mark_of(client)
        .await
        .map_err(|error| OpenError::Unusable(address.to_string(), error.into()))?;
    match json.and_then(|json| mark::left_for(&json)) {
        None => Ok(()),
        Some((to, at)) => Err(OpenError::Moved {
            address: address.to_string(),
            to,
            at,
        }),
    }
}

/// A connection of its own to the database at `address`, which is set up, and the task that reads its
/// messages.
pub(super) async fn connected(address: &Address) -> Result<(Client, JoinHandle<()>), OpenError> {
    let (client, messages) = connect(address)
        .await
        .map_err(|error| OpenError::Unreachable(address.to_string(), reason(&error)))?;
    let messages = drain(messages);
    let ready = set_up(&client).await;
    ready.map_err(|error| OpenError::Unusable(address.to_string(), error))?;
    Ok((client, messages))
}

/// Why a connection failed, in the words of the server or the system.
pub(super) fn reason(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(cause)) => cause.to_string(),
        (None, None) => error.to_string(),
    }
}

/// The schema version of the database, after checking that it is Tapdesk's and not newer than this
/// program; `None` if it is empty.
pub(super) async fn check(client: &Client, address: &Address) -> Result<Option<i32>, OpenError> {
    let sql = |error: tokio_postgres::Error| OpenError::Unusable(address.to_string(), error.into());
    let row = client
        .query_one(
            "SELECT to_regclass('schema_versions') IS NOT NULL AND to_regclass('interaction_ids') IS NOT NULL,
                    EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::REGNAMESPACE
                            AND relkind IN ('r', 'p'))",
            &[],
        )
        .await
        .map_err(sql)?;
    let (ours, populated): (bool, bool) = (row.get(0), row.get(1));
    if populated && !ours {
        return Err(OpenError::Foreign(address.to_string()));
    }
    if !ours {
        return Ok(None);
    }
    let found = versions::found(client).await.map_err(sql)?;
    let known = newest_known();
    if found > known {
        return Err(OpenError::Newer {
            address: address.to_string(),
            found,
            known,
        });
    }
    Ok(Some(found))
}

/// Handles a restored database. Encoding roots only open chips from now on, so that no generation
/// of keys is used twice. Webhooks are switched off, because the original may still send.
async fn note_restore(client: &mut Client) -> Result<(), tokio_postgres::Error> {
    note_order(client).await?;
    let transaction = client.transaction().await?;
    let since = identity::note(&transaction).await?;
    if since != Since::Same {
        tracing::warn!(
            "the database was restored, or a standby took over: the first chip makes a new encoding root, \
             and chips that are half encoded must be placed on the reader again"
        );
        transaction.batch_execute(&encodings::retire_all()).await?;
    }
    if since == Since::Restored {
        tracing::warn!(
            "the database is a copy: webhooks and notifications are off until they are switched on again"
        );
        transaction
            .batch_execute(&forget_progress().collect::<String>())
            .await?;
    }
    transaction.commit().await
}

/// Handles a dump that was restored into a server whose transactions have lower numbers than the
/// rows. The order of commits then starts from its beginning, webhooks and notifications are switched
/// off, and reports are counted again.
async fn note_order(client: &mut Client) -> Result<(), tokio_postgres::Error> {
    let behind =
        "SELECT greatest((SELECT max(seq) FROM interactions), (SELECT max(seq) FROM outbox),
            (SELECT max(tap_seq) FROM webhook_states), (SELECT max(outbox_seq) FROM notification_states),
            (SELECT max(seq) FROM report_mark), 0) > pg_current_xact_id()::TEXT::BIGINT";
    if !client.query_one(behind, &[]).await?.get::<_, bool>(0) {
        return Ok(());
    }
    tracing::warn!(
        "the database was restored: webhooks and notifications are off until they are switched on again"
    );
    let transaction = client.transaction().await?;
    transaction
        .batch_execute(&forget_progress().collect::<String>())
        .await?;
    transaction
        .batch_execute(
            "UPDATE interactions SET seq = 0 WHERE seq > pg_current_xact_id()::TEXT::BIGINT;
             UPDATE outbox SET seq = 0 WHERE seq > pg_current_xact_id()::TEXT::BIGINT;
             DELETE FROM report_counts; DELETE FROM report_group_counts; DELETE FROM report_updates;
             UPDATE report_mark SET seq = -1, tap_id = 0, folds = folds + 1;
             INSERT INTO report_updates (interaction_id, submission) SELECT interaction_id, FALSE FROM updates;
             INSERT INTO report_updates (interaction_id, submission) SELECT interaction_id, TRUE FROM submissions
                 WHERE refused IS NULL",
        )
        .await?;
    transaction.commit().await
}

async fn make_secrets(client: &Client, entropy: &dyn Entropy) -> Result<(), tokio_postgres::Error> {
    for name in ["key_mask", "client"] {
        let secret = entropy::bytes::<32>(entropy);
        client
            .execute(
                "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                &[&name, &secret.as_slice()],
            )
            .await?;
    }
    Ok(())
}

/// Sets the database's time. Outside test mode, it is the machine's time, even if it was another
/// before.
async fn set_time(
    client: &Client,
    clock: &dyn Clock,
    time: Time,
) -> Result<(), tokio_postgres::Error> {
    match time {
        Time::Its => {
            let moved = client
                .execute(
                    "UPDATE clock SET ahead = 0, stands_at = NULL WHERE ahead <> 0 OR stands_at IS NOT NULL",
                    &[],
                )
                .await?;
            if moved > 0 {
                tracing::warn!(
                    "the database's time was moved in test mode; it is the present again"
                );
            }
        }
        Time::Movable => {}
        Time::Standing => {
            let now = clock.now().millis();
            client
                .execute("UPDATE clock SET stands_at = $1", &[&now])
                .await?;
        }
    }
    Ok(())
}

/// Warns of a server that does not wait for its disk, because it loses acknowledged commits.
async fn warn_of_settings(client: &Client) -> Result<(), tokio_postgres::Error> {
    let row = client
        .query_one(
            "SELECT current_setting('fsync'), current_setting('full_page_writes')",
            &[],
        )
        .await?;
    let (fsync, pages): (String, String) = (row.get(0), row.get(1));
    if fsync != "on" || pages != "on" {
        tracing::warn!(
            "the database server may lose what it acknowledged: fsync={fsync}, full_page_writes={pages}"
        );
    }
    Ok(())
}
