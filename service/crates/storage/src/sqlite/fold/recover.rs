//! Rebuilds the state at a start, from the interactions after the mark.

use std::path::Path;
use std::thread;

use rusqlite::Connection;

use super::changes::Folding;
use super::kinds::{Counter, Entry, Hour, Taps, Visit, Visitor};
use super::layer::Layer;
use super::pass::Slice;
use super::state::{Folded, State};
use crate::StorageError;
use crate::interactions::row::reason;
use crate::interactions::tag_of;
use crate::shared::counters::day;
use crate::sqlite::row;
use crate::sqlite::{connection, last_interaction};
use domain::clock::Timestamp;
use domain::id::{InlayId, InteractionId, TagId};
use domain::interaction::{ClientId, Reason};
use inlay::counter::Acceptance;

/// The members of an interaction after the mark that have effects on the state.
struct Appended {
    id: InteractionId,
    at: Timestamp,
    tag: Option<TagId>,
    /// The inlay and the counter of a code that was accepted, that is used up because its inlay is
    /// blocked, or that proves nothing.
    code: Option<(InlayId, u32)>,
    reason: Reason,
    /// `None` if it was erased.
    client: Option<ClientId>,
    simulated: bool,
}

/// Rebuilds the state that the previous process left, however it ended.
pub(in crate::sqlite) fn recover(connection: &Connection) -> Result<Folded, StorageError> {
    let path = connection.path().unwrap_or_default();
    // One transaction for all lookups: otherwise each of a million would lock and unlock the file.
    let connection = &connection.unchecked_transaction()?;
    let mark: i64 = connection.query_row("SELECT up_to FROM folded", [], |row| row.get(0))?;
    let highest = last_interaction(connection)?;
    if highest <= mark {
        let nothing = Default::default();
        return Ok(Folded::new(State::recovered(nothing, highest, mark)));
    }
    // After a crash, it may read a million taps, and find a million rows of each kind. No
    // connection writes meanwhile, so separate threads see the same data.
    let middle = mark.midpoint(highest);
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| appended(&beside(path)?, middle, i64::MAX));
        (appended(connection, mark, middle), joined(second))
    });
    let mut appended = first?;
    appended.extend(second?);
    let visited = |before, tap: &Appended| Some(Visit::and(before, tap.at, tap.id));
    let (counters, everyone, clients) = thread::scope(|scope| {
        let everyone = scope.spawn(|| {
            let key = |tap: &Appended| Some(Visitor::everyone(tap.tag));
            replay(&beside(path)?, &appended, key, visited)
        });
        let clients = scope.spawn(|| {
            let key = |tap: &Appended| Some(Visitor::client(tap.tag, tap.client?));
            replay(&beside(path)?, &appended, key, visited)
        });
        let key = |tap: &Appended| tap.code.map(|(inlay, _)| inlay);
        let counters = replay(connection, &appended, key, counted);
        (counters, joined(everyone), joined(clients))
    });
    let hours = replay::<Taps>(
        connection,
        &appended,
        |tap| Some(Hour::of(tap.at, tap.reason, tap.simulated)),
        |before, _| Some(Taps::and(before)),
    )?;
    let layers = (
        Layer::dirty(counters?),
        Layer::dirty(everyone?.into_iter().chain(clients?)),
        Layer::dirty(hours),
    );
    Ok(Folded::new(State::recovered(layers, highest, mark)))
}

/// Another connection to the database at `path`, in its own transaction.
fn beside(path: &str) -> Result<Connection, StorageError> {
    let connection = connection::reader(Path::new(path))?;
    connection.execute_batch("BEGIN")?;
    Ok(connection)
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// An inlay's counter after a tap.
fn counted(before: Option<Counter>, tap: &Appended) -> Option<Counter> {
    let (counter, (_, shown)) = before.zip(tap.code)?;
    if tap.reason == Reason::NoMac {
        let moved = counter.mirror().show(shown, day(tap.at));
        return Some(moved.map_or(counter, |moved| counter.shown(moved)));
    }
    match counter.state.accept(shown) {
        Acceptance::Accepted { state, .. } => {
            Some(Counter::accepted(Some(counter), counter.key_version, state))
        }
        Acceptance::Replayed { .. } | Acceptance::OutOfOrder { .. } => Some(counter),
    }
}

/// The interactions after an id, up to and including another one.
fn appended(
    connection: &Connection,
    after: i64,
    up_to: i64,
) -> Result<Vec<Appended>, StorageError> {
    let mut select = connection.prepare(
        "SELECT id, at, tag_id, inlay_id, counter, reason, client, simulated
         FROM interactions WHERE id > ?1 AND id <= ?2",
    )?;
    let mut rows = select.query([after, up_to])?;
    let mut appended = Vec::new();
    while let Some(found) = rows.next()? {
        let reason = reason(found, 5)?;
        let inlay: Option<InlayId> = row::optional_id(found, 3)?;
        let code = inlay.zip(found.get::<_, Option<u32>>(4)?);
        appended.push(Appended {
            id: row::id(found, 0)?,
            at: Timestamp::from_millis(found.get(1)?),
            tag: tag_of(found.get(2)?),
            code: code
                .filter(|_| matches!(reason, Reason::Verified | Reason::Blocked | Reason::NoMac)),
            reason,
            client: found.get::<_, Option<_>>(6)?.map(ClientId),
            simulated: found.get(7)?,
        });
    }
    Ok(appended)
}

/// The entries after taps that are not in their rows yet, applied in the order of commits. Rows are
/// read in the order of keys.
fn replay<E: Entry>(
    connection: &Connection,
    appended: &[Appended],
    key: impl Fn(&Appended) -> Option<E::Key>,
    and: impl Fn(Option<E>, &Appended) -> Option<E>,
) -> Result<Vec<(E::Key, E)>, StorageError> {
    let mut taps: Vec<_> = appended
        .iter()
        .filter_map(|tap| Some((key(tap)?, tap)))
        .collect();
    taps.sort_unstable_by_key(|(key, tap)| (*key, tap.id));
    let mut find = connection.prepare(E::FIND)?;
    let mut entries = Vec::new();
    for taps in taps.chunk_by(|(one, _), (other, _)| one == other) {
        let key = taps[0].0;
        let (mut entry, folded_to) = match E::find(&mut find, key)? {
            Some((entry, folded_to)) => (Some(entry), folded_to),
            None => (None, 0),
        };
        let new = taps.iter().filter(|(_, tap)| tap.id.get() > folded_to);
        let mut dirty = false;
        for (_, tap) in new {
            entry = and(entry, tap);
            dirty = true;
        }
        if let Some(entry) = entry.filter(|_| dirty) {
            entries.push((key, entry));
        }
    }
    Ok(entries)
}

/// Folds the state that the last owner of the database at `path` left unfolded, as after a crash.
/// No other process may use the database.
pub(in crate::sqlite) fn settle_file(path: &Path) -> Result<(), StorageError> {
    let folded = recover(&connection::reader(path)?)?;
    if folded.dirty() == 0 {
        return Ok(());
    }
    let connection = connection::writer(path)?;
    let mut begun = false;
    while !begun || folded.folds() {
        let transaction = connection.unchecked_transaction()?;
        let mut folding = Folding::new(&transaction, &folded);
        if !begun {
            folding.begin_pass();
            begun = true;
        }
        folding.fold(Slice::LONG)?;
        let changes = folding.into_changes();
        transaction.commit()?;
        folded.publish(changes);
    }
    Ok(())
}
