//! Moves a whole database from SQLite to PostgreSQL, or back.
//!
//! Rows are copied table by table in the order of their keys, in batches. Each batch is one
//! transaction that also stores the progress, so that a move that stopped at any point resumes
//! there. When all rows are copied they are read again on both sides, counted and compared by a
//! checksum. Until then no service starts on the destination. Afterwards none starts on the source,
//! which is marked as moved and otherwise only read. The audit log of the destination records the
//! move.
//!
//! Ids stay, because keys contain the id of their interaction. So issued keys stay valid after the
//! move, and accepted codes stay used.

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::catalogue::{Table, moved, secrets};
use crate::postgres::PostgresEnd;
use crate::sqlite::SqliteEnd;
use crate::transfer::mark::{Mark, Progress};
use crate::transfer::value::{Key, last_key, lines};
use crate::transfer::{End, EndError};
use crate::{Database, StorageError};
use domain::audit::Note;
use domain::caller::{Actor, Caller};
use domain::clock::{Clock, Timestamp};
use domain::entropy::{self, Entropy};
use domain::scope::Reach;

/// Why a move stopped. Each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// Both databases are of the same kind.
    #[error(
        "A move is from SQLite to PostgreSQL, or back. To copy a SQLite database, use backup and restore; \
         for PostgreSQL, pg_dump and pg_restore."
    )]
    SameKind,
    /// One of the databases cannot be used.
    #[error(transparent)]
    End(#[from] EndError),
    /// Another source was moved there, completely or partly.
    #[error("{0} belongs to the move of another database. Choose an empty one.")]
    OtherMove(String),
    /// The source was already moved to another database.
    #[error(
        "{from} was moved to {to} at {at}. Move that database, which has the newer data, \
         or continue that move with the same --to."
    )]
    MovedBefore {
        /// Name of the source.
        from: String,
        /// The database that now has its rows.
        to: String,
        /// Time of that move.
        at: Timestamp,
    },
    /// The source changed after the move began.
    #[error(
        "{from} was used after the move began, so {to} is incomplete. \
         Empty the destination, then move again."
    )]
    SourceChanged {
        /// The source of the rows.
        from: String,
        /// Destination of the rows.
        to: String,
    },
    /// The two sides do not have the same rows.
    #[error(
        "The table {table} is not the same on both sides ({there} rows, {here} moved). \
         Empty {destination}, then move again while nobody uses the source."
    )]
    Differs {
        /// Table whose rows differ.
        table: &'static str,
        /// Rows of the source.
        there: u64,
        /// Rows of the destination.
        here: u64,
        /// Name of the destination.
        destination: String,
    },
    /// A database error during the move.
    #[error(
        "The move stopped at the table {table} of {name}: {}. Start the same move again to continue.",
        error.to_string().trim_end_matches('.')
    )]
    Failed {
        /// Name of the database.
        name: String,
        /// Table that was read or written.
        table: &'static str,
        /// The error that stopped the move.
        error: StorageError,
    },
}

/// The present work of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Rows are being copied.
    Copying,
    /// Rows of both sides are being compared.
    Comparing,
}

/// Receives the progress of a move.
pub trait Observer: Send {
    /// A phase begins; `done` of its `total` rows were done before.
    fn begin(&mut self, phase: Phase, total: u64, done: u64);
    /// So many more rows of `table` are done.
    fn advance(&mut self, table: &'static str, rows: u64);
    /// The phase is over.
    fn end(&mut self);
}

/// The result of a move.
#[derive(Debug)]
pub enum Moved {
    /// All rows were moved by this call.
    Now {
        /// Number of moved rows.
        rows: u64,
        /// Whether they include keys of inlays, which need the key that wraps them.
        wrapped_keys: bool,
    },
    /// All rows were already moved, at this time.
    Before(Timestamp),
}

/// Moves everything in `from` to `to`, or resumes it.
pub async fn migrate_store(
    from: &Database,
    to: &Database,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
    observer: &mut dyn Observer,
) -> Result<Moved, MoveError> {
    let (mut source, mut destination): (Box<dyn End>, Box<dyn End>) = match (from, to) {
        (Database::Sqlite(from), Database::Postgres(to)) => (
            Box::new(SqliteEnd::source(from)?),
            Box::new(PostgresEnd::destination(to).await?),
        ),
        (Database::Postgres(from), Database::Sqlite(to)) => (
            Box::new(PostgresEnd::source(from).await?),
            Box::new(SqliteEnd::destination(to)?),
        ),
        _ => return Err(MoveError::SameKind),
    };
    let (source, destination) = (&mut *source, &mut *destination);
    let mut mark = begun(source, destination).await?;
    if let Progress::Complete(since) = mark.progress {
        // The earlier move may have stopped before the source was marked.
        leave(source, destination, mark, since).await?;
        return Ok(Moved::Before(since));
    }
    copy(source, destination, &mut mark, observer).await?;
    let rows = compare(source, destination, observer).await?;
    let now = clock.now();
    mark.progress = Progress::Complete(now);
    let note = Note::done(&json!({"from": source.name(), "to": destination.name(), "rows": rows}));
    let caller = caller(entropy);
    at(destination, "audit", |end| {
        end.complete(&mark, now, &caller, note)
    })
    .await?;
    leave(source, destination, mark, now).await?;
    let wrapped_keys = at(destination, "inlays", |end| end.has_wrapped_key()).await?;
    Ok(Moved::Now { rows, wrapped_keys })
}

/// Marks the source as moved: no service starts on it from now on.
async fn leave(
    source: &mut dyn End,
    destination: &dyn End,
    mut mark: Mark,
    since: Timestamp,
) -> Result<(), MoveError> {
    mark.progress = Progress::Left {
        to: destination.name(),
        at: since,
    };
    at(source, "settings", |end| end.leave(&mark)).await
}

/// The actor of the move in the destination's audit log.
fn caller(entropy: &dyn Entropy) -> Caller {
    Caller::new(
        Actor::CommandLine,
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        ("database.move".into(), "database".to_owned()),
        Reach::EVERYTHING,
        entropy::bytes(entropy),
    )
}

/// Queries `end` about the table `table`.
async fn at<'a, T>(
    end: &'a mut dyn End,
    table: &'static str,
    ask: impl FnOnce(&'a mut dyn End) -> futures_util::future::BoxFuture<'a, Result<T, StorageError>>,
) -> Result<T, MoveError> {
    let name = end.name();
    ask(end)
        .await
        .map_err(|error| MoveError::Failed { name, table, error })
}

/// The mark of the move. Begins the move if there is none.
async fn begun(source: &mut dyn End, destination: &mut dyn End) -> Result<Mark, MoveError> {
    let secrets = secrets();
    let identity = at(source, secrets.name, |end| end.lines(secrets, None)).await?;
    let identity = base16ct::lower::encode_string(&Sha256::digest(identity));
    let last_interaction = at(source, "interactions", |end| end.last_interaction()).await?;
    let left = at(source, "settings", |end| end.mark()).await?;
    let Some(mark) = at(destination, "settings", |end| end.mark()).await? else {
        if let Some(Progress::Left { to, at }) = left.map(|mark| mark.progress) {
            let from = source.name();
            return Err(MoveError::MovedBefore { from, to, at });
        }
        let mark = Mark {
            source: identity,
            last_interaction,
            progress: Progress::Copying {
                table: secrets.name.to_owned(),
                after: None,
            },
        };
        destination.begin(&mark).await?;
        return Ok(mark);
    };
    let name = destination.name();
    if mark.source != identity {
        return Err(MoveError::OtherMove(name));
    }
    let is_complete = matches!(mark.progress, Progress::Complete(_));
    if !is_complete && mark.last_interaction != last_interaction {
        return Err(MoveError::SourceChanged {
            from: source.name(),
            to: name,
        });
    }
    Ok(mark)
}

/// Copies the rows that are not copied yet.
async fn copy(
    source: &mut dyn End,
    destination: &mut dyn End,
    mark: &mut Mark,
    observer: &mut dyn Observer,
) -> Result<(), MoveError> {
    let Progress::Copying { table, mut after } = mark.progress.clone() else {
        return Ok(());
    };
    let first = moved().position(|known| known.name == table);
    let Some(first) = first else {
        return Err(MoveError::OtherMove(destination.name()));
    };
    let (mut total, mut done) = (0, 0);
    for (place, table) in moved().enumerate() {
        let rows = at(source, table.name, |end| end.count(table)).await?;
        total += rows;
        done += match place.cmp(&first) {
            Ordering::Less => rows,
            Ordering::Equal => at(destination, table.name, |end| end.count(table)).await?,
            Ordering::Greater => 0,
        };
    }
    observer.begin(Phase::Copying, total, done);
    for table in moved().skip(first) {
        loop {
            let rows = at(source, table.name, |end| end.lines(table, after.as_ref())).await?;
            let Some(key) = last_key(&rows, table.key) else {
                break;
            };
            let count = count(&rows);
            mark.progress = Progress::Copying {
                table: table.name.to_owned(),
                after: Some(key.clone()),
            };
            at(destination, table.name, |end| end.write(table, rows, mark)).await?;
            observer.advance(table.name, count);
            after = Some(key);
        }
        after = None;
    }
    let mut numbered = Vec::new();
    for table in moved().filter(|table| table.numbered) {
        let number = at(source, table.name, |end| end.numbered_to(table)).await?;
        numbered.extend(number.map(|number| (table, number)));
    }
    mark.progress = Progress::Comparing;
    at(destination, "settings", |end| end.conclude(&numbered, mark)).await?;
    observer.end();
    Ok(())
}

/// Reads everything on both sides, and returns the number of rows.
async fn compare(
    source: &mut dyn End,
    destination: &mut dyn End,
    observer: &mut dyn Observer,
) -> Result<u64, MoveError> {
    let mut total = 0;
    for table in moved() {
        total += at(source, table.name, |end| end.count(table)).await?;
    }
    observer.begin(Phase::Comparing, total, 0);
    for table in moved() {
        let there = content(source, table, |_| {}).await?;
        let here = content(destination, table, |rows| {
            observer.advance(table.name, rows);
        })
        .await?;
        if there != here {
            return Err(MoveError::Differs {
                table: table.name,
                there: there.rows,
                here: here.rows,
                destination: destination.name(),
            });
        }
    }
    observer.end();
    Ok(total)
}

/// The content of a table, for the comparison.
#[derive(PartialEq, Eq)]
struct Content {
    rows: u64,
    /// The checksum of all rows in order.
    checksum: [u8; 32],
    numbered_to: Option<i64>,
}

async fn content(
    end: &mut dyn End,
    table: &'static Table,
    mut read: impl FnMut(u64),
) -> Result<Content, MoveError> {
    let mut checksum = Sha256::new();
    let mut rows = 0;
    let mut after: Option<Key> = None;
    loop {
        let lot = at(end, table.name, |end| end.lines(table, after.as_ref())).await?;
        let Some(key) = last_key(&lot, table.key) else {
            break;
        };
        checksum.update(&lot);
        rows += count(&lot);
        read(count(&lot));
        after = Some(key);
    }
    let numbered_to = if table.numbered {
        at(end, table.name, |end| end.numbered_to(table)).await?
    } else {
        None
    };
    Ok(Content {
        rows,
        checksum: checksum.finalize().into(),
        numbered_to,
    })
}

fn count(rows: &[u8]) -> u64 {
    u64::try_from(lines(rows).count()).unwrap_or(u64::MAX)
}
