//! Records a tap, as one command of the writer. It appends one row, the interaction with its key's
//! hash; the effects are folded into other rows later.

use rusqlite::Connection;

use crate::Event;
use crate::StorageError;
use crate::interactions::row_of;
use crate::shared::counters::{block, day, judge, show};
use crate::sqlite::fold::{Counter, Folding, Hour, Taps, Visit, Visitor};
use crate::sqlite::writer::Write;
use domain::clock::Timestamp;
use domain::id::{GroupId, InlayId, InteractionId};
use domain::interaction::{Claim, CounterRule, NewInteraction, Recorded, Returning, Verdict};
use domain::report::CountSpan;
use domain::visitor::OperatingSystem;
use inlay::Uid;
use inlay::assessment::Tamper;
use inlay::code::COUNTER_MAX;

/// Decides the tap's verdict and stores the tap.
pub(in crate::sqlite) fn tap(
    write: &mut Write<'_>,
    tap: &NewInteraction,
) -> Result<Recorded, StorageError> {
    let connection = write.connection;
    let at = write.now.plus(tap.time_offset);
    let fold = &mut write.fold;
    let id = fold.next();
    let verdict = match tap.claim {
        Claim::Decided(verdict) | Claim::Known { verdict, .. } => verdict,
        Claim::Counter {
            inlay_id,
            key_version,
            counter,
            rule: rule @ (CounterRule::Proof | CounterRule::Blocked),
        } => accept(fold, inlay_id, key_version, counter, rule)?,
        Claim::Counter {
            inlay_id,
            key_version,
            counter,
            rule: CounterRule::Mirror,
        } => shown(fold, inlay_id, key_version, counter, day(at))?,
    };
    let visit = visit(fold, tap, id, at)?;
    let hour = Hour::of(at, verdict.reason(), tap.simulated);
    let taps = fold.get(hour)?;
    fold.set(hour, Taps::and(taps));
    insert_interaction(connection, tap, id, at, verdict, visit)?;
    if let Some(tag) = tap.tag_id
        && tap.tamper.is_some_and(Tamper::is_broken)
    {
        // Only the first such tap counts.
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO opened_tags (tag_id, at, interaction_id) VALUES (?1, ?2, ?3)",
            )?
            .execute((tag.get(), at.millis(), id.get()))?;
    }
    if let Some(template) = tap.first_at_template {
        connection
            .prepare_cached(
                "UPDATE url_templates SET first_tap_at = ?2 WHERE id = ?1 AND first_tap_at IS NULL",
            )?
            .execute((template.get(), at.millis()))?;
    }
    if let Some(origin) = tap.test_origin() {
        connection
            .prepare_cached(
                "INSERT INTO test_taps (tap_id, tag_id, experience_id, hour, reason, origin)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                id.get(),
                row_of(tap.tag_id),
                tap.experience.map(|version| version.experience_id.get()),
                CountSpan::Hour.of(at),
                verdict.reason().as_str(),
                origin,
            ))?;
    }
    write.tell(Event::Interaction {
        interaction_id: id,
        tag_id: tap.tag_id,
        at,
        tag_verified: verdict.tag_verified(),
        reason: verdict.reason(),
        simulated: tap.simulated,
        origin: tap.made_by(),
    });
    Ok(Recorded {
        id,
        at,
        verdict,
        returning: visit.returning,
    })
}

/// The counter's compare-and-set. Only the writer decides, so reading before writing is no race.
fn accept(
    fold: &mut Folding<'_>,
    inlay: InlayId,
    key_version: u32,
    counter: u32,
    rule: CounterRule,
) -> Result<Verdict, StorageError> {
    let present = present(fold, inlay, key_version)?;
    let state = present.map(|present| present.state);
    let (verdict, moved) = match rule {
        CounterRule::Blocked => block(state, counter),
        _ => judge(state, counter),
    };
    if let Some(state) = moved {
        let counter = Counter::accepted(present, key_version, state);
        if [COUNTER_MAX, u32::MAX].contains(&state.last) {
            // This happens once or twice in an inlay's lifetime: SIC43 chips have 32 bits. The row
            // is written at once, because the overview counts these rows.
            fold.put(inlay, counter)?;
        } else {
            fold.set(inlay, counter);
        }
    }
    Ok(verdict)
}

/// Like [`accept`], for a code that proves nothing.
fn shown(
    fold: &mut Folding<'_>,
    inlay: InlayId,
    key_version: u32,
    counter: u32,
    day: i64,
) -> Result<Verdict, StorageError> {
    let present = present(fold, inlay, key_version)?;
    let (verdict, moved) = show(present.map(Counter::mirror), counter, day);
    if let (Some(present), Some(moved)) = (present, moved) {
        fold.set(inlay, present.shown(moved));
    }
    Ok(verdict)
}

/// The counter of the keys that made a code, if they are still the inlay's.
fn present(
    fold: &mut Folding<'_>,
    inlay: InlayId,
    key_version: u32,
) -> Result<Option<Counter>, StorageError> {
    let counter: Option<Counter> = fold.get(inlay)?;
    Ok(counter.filter(|counter| counter.key_version == key_version))
}

/// The tag's visits before this tap.
#[derive(Clone, Copy)]
struct BeforeTap {
    previous: Option<i64>,
    returning: Returning,
}

fn visit(
    fold: &mut Folding<'_>,
    tap: &NewInteraction,
    id: InteractionId,
    at: Timestamp,
) -> Result<BeforeTap, StorageError> {
    let everyone = Visitor::everyone(tap.tag_id);
    let client = Visitor::client(tap.tag_id, tap.client);
    let all: Option<Visit> = fold.get(everyone)?;
    let this_client: Option<Visit> = match all {
        Some(_) => fold.get(client)?,
        None => None,
    };
    fold.set(everyone, Visit::and(all, at, id));
    fold.set(client, Visit::and(this_client, at, id));
    Ok(BeforeTap {
        previous: all.map(|visit| visit.last_interaction.get()),
        returning: Returning::since(this_client.map(|visit| visit.last_at), at),
    })
}

fn insert_interaction(
    connection: &Connection,
    tap: &NewInteraction,
    id: InteractionId,
    at: Timestamp,
    verdict: Verdict,
    visit: BeforeTap,
) -> Result<(), StorageError> {
    let (counter, last) = verdict.counters();
    let uid = verdict.other_uid().map(Uid::bytes);
    connection
        .prepare_cached(
            "INSERT INTO interactions (id, at, tag_id, previous, inlay_id, uid, reason, counter, last_counter,
                 tech, experience_id, experience_version, client, country, returning_month, returning_day,
                 key_issued, simulated, tamper, file_data, key_hash, url_digest, system, language, visitor_group,
                 recall_group_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)",
        )?
        .execute(rusqlite::params![
            id.get(),
            at.millis(),
            row_of(tap.tag_id),
            visit.previous,
            tap.claim.inlay_id().map(InlayId::get),
            uid,
            verdict.reason().as_str(),
            counter,
            last,
            tap.tech.value(),
            tap.experience.map(|version| version.experience_id.get()),
            tap.experience.map(|version| version.version),
            tap.client.0,
            tap.country,
            visit.returning.month,
            visit.returning.day,
            tap.key.is_some(),
            tap.simulated,
            tap.tamper.map(Tamper::as_str),
            tap.file_data,
            tap.key.map(|key| key.hash.0),
            tap.key.map(|key| key.url_digest),
            tap.traits.system.map(OperatingSystem::as_str),
            tap.traits.language,
            tap.traits.group,
            tap.recalled_by.map(GroupId::get),
        ])?;
    Ok(())
}
