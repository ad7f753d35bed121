//! The figures of a period.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::Connection;

use super::{is_before, newest_first, tag_name};
use crate::interactions::row::reason;
use crate::shared::groups::led_to;
use crate::shared::inlays::{EXHAUSTED, FROM};
use crate::sqlite::fold::{Folded, Hour, Taps};
use crate::{Overview, SAMPLE_MAX, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::id::TagId;
use domain::interaction::{Interaction, Reason, TagName};
use domain::report::CountSpan;
use domain::world::World;

/// Tags that the overview names.
const TOP_TAGS: usize = 10;

pub(super) fn read(
    connection: &Connection,
    folded: &Folded,
    since: Timestamp,
    until: Timestamp,
    world: World,
) -> Result<Overview, StorageError> {
    let sample = sample(connection, since, until, world)?;
    let (factory_keys, used_up) = inlays(connection, world)?;
    let opened_tags = opened_tags(connection, world)?;
    Ok(Overview {
        counts: counts(connection, folded, since, until, world)?,
        top_tags: top_tags(connection, &sample.taps)?,
        counter_gaps: sample.counter_gaps,
        unset_tags: unset_tags(connection, &sample.without_experience)?,
        complete: sample.complete,
        factory_keys,
        used_up,
        opened_tags,
    })
}

fn counts(
    connection: &Connection,
    folded: &Folded,
    since: Timestamp,
    until: Timestamp,
    world: World,
) -> Result<Vec<(Timestamp, Reason, u64)>, StorageError> {
    let hour = |at| CountSpan::Hour.of(at);
    let hours = hour(since)..=hour(until.minus(Millis::new(1)));
    // Read the memory before the rows: counts that leave it meanwhile are in the rows.
    let mut taps = folded.hours(&hours);
    let mut statement = connection.prepare_cached(
        "SELECT hour, reason, simulated, taps FROM tap_counts WHERE hour BETWEEN ?1 AND ?2",
    )?;
    let mut rows = statement.query((hours.start(), hours.end()))?;
    while let Some(row) = rows.next()? {
        let hour = Hour {
            number: row.get(0)?,
            reason: reason(row, 1)?,
            simulated: row.get(2)?,
        };
        taps.entry(hour).or_insert(Taps(row.get(3)?));
    }
    let mut counts = BTreeMap::new();
    for (hour, Taps(taps)) in taps {
        if world.has(hour.simulated) {
            let key = (hour.number, hour.reason.as_str());
            counts.entry(key).or_insert((hour.reason, 0)).1 += taps;
        }
    }
    let counts = counts.into_iter();
    let counts =
        counts.map(|((hour, _), (reason, taps))| (CountSpan::Hour.begin(hour), reason, taps));
    Ok(counts.collect())
}

/// Figures of the newest part of the history, within the period and world.
#[derive(Default)]
struct Sample {
    taps: HashMap<TagId, u64>,
    without_experience: HashSet<TagId>,
    counter_gaps: u64,
    complete: bool,
}

fn sample(
    connection: &Connection,
    since: Timestamp,
    until: Timestamp,
    world: World,
) -> Result<Sample, StorageError> {
    let mut looked_at = 0;
    let mut sample = Sample {
        complete: true,
        ..Sample::default()
    };
    newest_first(connection, None, |interaction| {
        if is_before(&interaction, since, world) {
            return false;
        }
        if looked_at == SAMPLE_MAX {
            sample.complete = false;
            return false;
        }
        looked_at += 1;
        let within = since <= interaction.at && interaction.at < until;
        let is_test = interaction.origin.stored().is_some();
        if within && !is_test && world.has(interaction.simulated) {
            sample.take(&interaction);
        }
        true
    })?;
    Ok(sample)
}

impl Sample {
    fn take(&mut self, interaction: &Interaction) {
        if let Some(tag) = interaction.tag_id {
            *self.taps.entry(tag).or_default() += 1;
            if interaction.experience.is_none() {
                self.without_experience.insert(tag);
            }
        }
        if interaction.verdict.missed_reads() > 0 {
            self.counter_gaps += 1;
        }
    }
}

fn top_tags(
    connection: &Connection,
    taps: &HashMap<TagId, u64>,
) -> Result<Vec<(TagName, u64)>, StorageError> {
    let mut taps: Vec<_> = taps.iter().map(|(tag, taps)| (*tag, *taps)).collect();
    taps.sort_unstable_by_key(|(tag, taps)| (std::cmp::Reverse(*taps), *tag));
    taps.truncate(TOP_TAGS);
    taps.into_iter()
        .map(|(tag, taps)| Ok((tag_name(connection, tag)?, taps)))
        .collect()
}

fn unset_tags(connection: &Connection, tags: &HashSet<TagId>) -> Result<u64, StorageError> {
    let led_to = led_to("t.");
    let mut unset = connection.prepare_cached(&format!(
        "SELECT 1 FROM tags t WHERE t.id = ?1 AND t.deleted_at IS NULL AND t.status = 'active'
            AND {led_to} IS NULL"
    ))?;
    let mut count = 0;
    for tag in tags {
        count += u64::from(unset.exists([tag.get()])?);
    }
    Ok(count)
}

/// How many tags had an inlay that reported an open tamper loop.
fn opened_tags(connection: &Connection, world: World) -> Result<u64, StorageError> {
    let sql = "SELECT count(*) FROM opened_tags o JOIN tags t ON t.id = o.tag_id
         WHERE t.deleted_at IS NULL AND (?1 IS NULL OR t.simulated = ?1)";
    let count: i64 = connection
        .prepare_cached(sql)?
        .query_row([world.simulated()], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// How many inlays have factory keys, and how many have no codes left.
fn inlays(connection: &Connection, world: World) -> Result<(u64, u64), StorageError> {
    let (factory_keys, used_up): (i64, i64) = connection
        .prepare_cached(&format!(
            "SELECT (SELECT count(*) FROM inlays WHERE factory_keys AND deleted_at IS NULL
                        AND (?1 IS NULL OR simulated = ?1)),
                    (SELECT count(*) FROM {FROM} WHERE {} AND i.deleted_at IS NULL
                        AND (?1 IS NULL OR i.simulated = ?1))",
            *EXHAUSTED
        ))?
        .query_row([world.simulated()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (factory_keys, used_up) = (factory_keys.unsigned_abs(), used_up.unsigned_abs());
    Ok((factory_keys, used_up))
}
