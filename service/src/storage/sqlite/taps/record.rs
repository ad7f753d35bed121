//! Recording a tap: one command of the writer.

use rusqlite::{Connection, OptionalExtension as _};

use crate::clock::Timestamp;
use crate::inlay::Uid;
use crate::inlay::assessment::Tamper;
use crate::inlay::counter::{CounterState, MirrorState};
use crate::interaction::{
    Claim, ClientId, CounterRule, NewInteraction, Recorded, Refusal, Returning, Verdict,
};
use crate::storage::Event;
use crate::storage::StorageError;
use crate::storage::plane::counters::{day, judge, show};
use crate::storage::sqlite::writer::Write;

/// Decides the tap's verdict and writes everything about it.
pub(super) fn tap(write: &mut Write<'_>, tap: &NewInteraction) -> Result<Recorded, StorageError> {
    let connection = write.connection;
    let at = write.now.plus_millis(tap.time_offset);
    let inlay_id = tap.claim.inlay_id();
    let verdict = match tap.claim {
        Claim::Decided(verdict) | Claim::Known { verdict, .. } => verdict,
        Claim::Counter {
            inlay_id,
            key_version,
            counter,
            rule: CounterRule::Proof,
        } => accept(connection, inlay_id.0, key_version, counter)?,
        Claim::Counter {
            inlay_id,
            key_version,
            counter,
            rule: CounterRule::Mirror,
        } => shown(connection, inlay_id.0, key_version, counter, day(write.now))?,
    };
    let visit = visit(connection, tap, at)?;
    insert_interaction(connection, tap, at, verdict, inlay_id.map(|id| id.0), visit)?;
    if let Some(key) = &tap.key {
        connection
            .prepare_cached(
                "INSERT INTO rolling_keys (interaction_id, hash, url_digest, issued_at) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((tap.id.0, key.hash.0, key.url_digest, at.millis()))?;
    }
    write.count_tap(at, verdict.reason(), tap.simulated);
    write.tell(Event::Interaction {
        interaction_id: tap.id,
        tag_id: tap.tag_id,
        at,
        tag_verified: verdict.tag_verified(),
        reason: verdict.reason(),
        simulated: tap.simulated,
    });
    Ok(Recorded {
        at,
        verdict,
        returning: visit.returning,
    })
}

/// The counter's compare-and-set. The writer is alone in the database, so
/// reading before writing is no race.
fn accept(
    connection: &Connection,
    inlay: i64,
    key_version: u32,
    counter: u32,
) -> Result<Verdict, StorageError> {
    let (verdict, moved) = judge(state(connection, inlay, key_version)?, counter);
    if let Some(state) = moved {
        connection
            .prepare_cached("UPDATE counters SET last = ?2, seen = ?3 WHERE inlay_id = ?1")?
            .execute((inlay, state.last, state.seen.cast_signed()))?;
    }
    Ok(verdict)
}

/// The same of a code that proves nothing.
fn shown(
    connection: &Connection,
    inlay: i64,
    key_version: u32,
    counter: u32,
    day: i64,
) -> Result<Verdict, StorageError> {
    let state = connection
        .prepare_cached(
            "SELECT last, risen_on, risen FROM counters WHERE inlay_id = ?1 AND key_version = ?2",
        )?
        .query_row((inlay, key_version), |row| {
            Ok(MirrorState {
                last: row.get(0)?,
                day: row.get(1)?,
                risen: row.get(2)?,
            })
        })
        .optional()?;
    let (verdict, moved) = show(state, counter, day);
    if let Some(state) = moved {
        connection
            .prepare_cached(
                "UPDATE counters SET last = ?2, risen_on = ?3, risen = ?4 WHERE inlay_id = ?1",
            )?
            .execute((inlay, state.last, state.day, state.risen))?;
    }
    Ok(verdict)
}

/// The counter of the keys that a code was made with, if they are the inlay's still.
fn state(
    connection: &Connection,
    inlay: i64,
    key_version: u32,
) -> Result<Option<CounterState>, StorageError> {
    let state = connection
        .prepare_cached("SELECT last, seen FROM counters WHERE inlay_id = ?1 AND key_version = ?2")?
        .query_row((inlay, key_version), |row| {
            Ok(CounterState {
                last: row.get(0)?,
                seen: row.get::<_, i64>(1)?.cast_unsigned(),
            })
        })
        .optional()?;
    Ok(state)
}

/// What the tag's visits said before this one.
#[derive(Clone, Copy)]
struct Visit {
    previous: Option<i64>,
    returning: Returning,
}

/// The row that stands for all clients of a tag.
const EVERYONE: &[u8] = &[];

fn visit(
    connection: &Connection,
    tap: &NewInteraction,
    at: Timestamp,
) -> Result<Visit, StorageError> {
    let ClientId(client) = tap.client;
    let mut last = connection.prepare_cached(
        "SELECT last_at, last_interaction FROM visits WHERE tag_id = ?1 AND client = ?2",
    )?;
    let mut last = |client: &[u8]| {
        last.query_row((tap.tag_id.0, client), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()
    };
    let everyone = last(EVERYONE)?;
    let this_client = if everyone.is_some() {
        last(&client)?
    } else {
        None
    };
    let mut upsert = connection.prepare_cached(
        "INSERT INTO visits (tag_id, client, scans, last_at, last_interaction) VALUES (?1, ?2, 1, ?3, ?4)
         ON CONFLICT DO UPDATE SET scans = scans + 1, last_at = max(last_at, excluded.last_at),
                                   last_interaction = excluded.last_interaction",
    )?;
    for client in [EVERYONE, &client] {
        upsert.execute((tap.tag_id.0, client, at.millis(), tap.id.0))?;
    }
    Ok(Visit {
        previous: everyone.map(|(_, id)| id),
        returning: Returning::since(this_client.map(|(at, _)| Timestamp::from_millis(at)), at),
    })
}

fn insert_interaction(
    connection: &Connection,
    tap: &NewInteraction,
    at: Timestamp,
    verdict: Verdict,
    inlay_id: Option<i64>,
    visit: Visit,
) -> Result<(), StorageError> {
    let (counter, last) = verdict.counters();
    let uid = match verdict {
        Verdict::NotVerified(Refusal::UnknownInlay { uid }) => uid.map(Uid::bytes),
        _ => None,
    };
    connection
        .prepare_cached(
            "INSERT INTO interactions (id, at, tag_id, previous, inlay_id, uid, reason, counter, last_counter,
                 tech, experience_id, experience_version, client, country, returning_month, returning_day,
                 key_issued, simulated, tamper, file_data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
        )?
        .execute(rusqlite::params![
            tap.id.0,
            at.millis(),
            tap.tag_id.0,
            visit.previous,
            inlay_id,
            uid,
            verdict.reason().as_str(),
            counter,
            last,
            tap.tech.value(),
            tap.experience.map(|version| version.experience_id.0),
            tap.experience.map(|version| version.version),
            tap.client.0,
            tap.country,
            visit.returning.month,
            visit.returning.day,
            tap.key.is_some(),
            tap.simulated,
            tap.tamper.map(Tamper::as_str),
            tap.file_data,
        ])?;
    Ok(())
}
