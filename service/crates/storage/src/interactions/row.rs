//! Converts rows of the history into domain types, for both databases.

use super::tag_of;
use crate::value::{Columns, unreadable};
use crate::{CommitPosition, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::interaction::{
    Interaction, KeyedInteraction, Reason, Returning, TagName, TapOrigin, Tech, Traits, Verdict,
    VersionRef,
};
use domain::rolling_key::{Consumed, IssuedKey};
use domain::visitor::OperatingSystem;
use domain::webhook::TapHappening;
use inlay::assessment::Tamper;

/// The previous counter of an interaction `i`, plus the application's own reads in between: the
/// remaining gap is reads that never reached the service.
macro_rules! last_counter {
    () => {
        "CASE WHEN i.reason = 'verified' AND i.counter - i.last_counter > 1 THEN i.last_counter + \
         (SELECT count(*) FROM own_reads r WHERE r.inlay_id = i.inlay_id \
          AND r.counter > i.last_counter AND r.counter < i.counter) ELSE i.last_counter END"
    };
}
pub(crate) use last_counter;

/// Columns of [`interaction`], of a table or alias `i`.
pub(crate) const COLUMNS: &str = concat!(
    "i.id, i.at, i.tag_id, i.inlay_id, i.uid, i.reason, i.counter, ",
    last_counter!(),
    ", i.tech, i.experience_id, i.experience_version, i.country, \
    i.returning_month, i.returning_day, i.key_issued, i.simulated, i.previous, \
    i.tamper, i.file_data, i.system, i.language, i.visitor_group, i.recall_group_id, \
    (SELECT o.origin FROM test_taps o WHERE o.tap_id = i.id)"
);

/// The index of the column after [`COLUMNS`].
const AFTER: usize = 24;

/// Columns of [`issued_key`], of an interaction `i` and [`KEY_UPDATE`]. The key has a hash if one
/// was issued.
pub(crate) const KEY_COLUMNS: &str = "i.key_hash, i.at, u.at, u.request";
/// Joins the update that consumed the key of an interaction `i`, if there is one.
pub(crate) const KEY_UPDATE: &str = "LEFT JOIN updates u ON u.interaction_id = i.id";

/// Columns after [`KEY_COLUMNS`] in a row of [`keyed`]. Only those that payloads and updates need,
/// because each of them reads this row.
pub(crate) const KEYED_COLUMNS: &str = "i.id, i.tag_id, i.inlay_id, i.uid, i.reason, i.counter, \
    i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, i.returning_month, \
    i.returning_day, i.simulated, i.tamper, i.visitor_group, i.url_digest";

/// Columns of a row of [`happening`] after [`COLUMNS`] and the place in the order of commits, of
/// tables or aliases `i` and `t`.
pub(crate) const HAPPENING_COLUMNS: &str = "t.slug, t.name, (SELECT n.uid FROM inlays n WHERE n.id = i.inlay_id), \
     (SELECT p.tamper FROM interactions p WHERE p.id = i.previous)";

/// Reads an interaction from its [`COLUMNS`].
pub(crate) fn interaction(row: &impl Columns) -> Result<Interaction, StorageError> {
    let simulated = row.column(15)?;
    let test = row.optionally_named(23, "origin", TapOrigin::from_stored)?;
    Ok(Interaction {
        id: row.column(0)?,
        at: row.column(1)?,
        tag_id: tag_of(row.column(2)?),
        inlay_id: row.column(3)?,
        verdict: verdict(row, 4)?,
        tech: row.named(8, "technology", Tech::from_value)?,
        experience: version(row, 9)?,
        country: row.column(11)?,
        returning: Returning {
            month: row.column(12)?,
            day: row.column(13)?,
        },
        key_issued: row.column(14)?,
        simulated,
        origin: match test {
            Some(origin) => origin,
            None if simulated => TapOrigin::Simulator,
            None => TapOrigin::Visitor,
        },
        previous: row.column(16)?,
        tamper: tamper(row, 17)?,
        file_data: row.column(18)?,
        traits: Traits {
            system: row.optionally_named(19, "system", OperatingSystem::from_name)?,
            language: row.column(20)?,
            group: group(row, 21)?,
        },
        recalled_by: row.column(22)?,
    })
}

/// Reads the verdict from consecutive columns: UID, reason, and counters.
fn verdict(row: &impl Columns, from: usize) -> Result<Verdict, StorageError> {
    let verdict = Verdict::from_parts(
        reason(row, from + 1)?,
        row.column(from + 2)?,
        row.column(from + 3)?,
        row.column(from)?,
    );
    verdict.ok_or_else(|| unreadable("verdict"))
}

/// Reads the experience and version to which a tap led, from two columns.
fn version(row: &impl Columns, from: usize) -> Result<Option<VersionRef>, StorageError> {
    let id: Option<_> = row.column(from)?;
    let version = id.zip(row.column::<Option<u32>>(from + 1)?);
    Ok(version.map(|(experience_id, version)| VersionRef {
        experience_id,
        version,
    }))
}

/// Reads a key from its [`KEY_COLUMNS`].
fn issued_key(row: &impl Columns) -> Result<IssuedKey, StorageError> {
    let consumed_at: Option<Timestamp> = row.column(2)?;
    let request = row.column(3)?;
    Ok(IssuedKey {
        hash: row.column(0)?,
        issued_at: row.column(1)?,
        consumed: consumed_at.map(|at| Consumed { at, request }),
    })
}

/// The index of the column after those of [`issued_key`].
const AFTER_KEY: usize = 4;

/// Reads a key and its interaction from [`KEY_COLUMNS`] and [`KEYED_COLUMNS`], at the time `now`.
/// For simulated interactions, time is ahead by `simulated_offset`.
pub(crate) fn keyed(
    row: &impl Columns,
    now: Timestamp,
    simulated_offset: Millis,
) -> Result<(IssuedKey, KeyedInteraction), StorageError> {
    let key = issued_key(row)?;
    let simulated = row.column(AFTER_KEY + 13)?;
    let keyed = KeyedInteraction {
        id: row.column(AFTER_KEY)?,
        at: key.issued_at,
        tag_id: tag_of(row.column(AFTER_KEY + 1)?).ok_or_else(|| unreadable("tag"))?,
        inlay_id: row.column(AFTER_KEY + 2)?,
        verdict: verdict(row, AFTER_KEY + 3)?,
        tech: row.named(AFTER_KEY + 7, "technology", Tech::from_value)?,
        experience: version(row, AFTER_KEY + 8)?,
        country: row.column(AFTER_KEY + 10)?,
        returning: Returning {
            month: row.column(AFTER_KEY + 11)?,
            day: row.column(AFTER_KEY + 12)?,
        },
        simulated,
        tamper: tamper(row, AFTER_KEY + 14)?,
        group: group(row, AFTER_KEY + 15)?,
        url_digest: row.column(AFTER_KEY + 16)?,
        read_at: if simulated {
            now.plus(simulated_offset)
        } else {
            now
        },
    };
    Ok((key, keyed))
}

/// The index of the column after those of [`keyed`].
pub(crate) const AFTER_KEYED: usize = AFTER_KEY + 17;

/// Reads a tap for webhooks from [`COLUMNS`], its place in the order of commits, and
/// [`HAPPENING_COLUMNS`].
pub(crate) fn happening(row: &impl Columns) -> Result<TapHappening, StorageError> {
    let interaction = interaction(row)?;
    Ok(TapHappening {
        place: CommitPosition {
            seq: row.column(AFTER)?,
            id: interaction.id.get(),
        },
        tag: match interaction.tag_id {
            Some(tag_id) => Some(TagName {
                tag_id,
                slug: row.column(AFTER + 1)?,
                tag_name: row.column(AFTER + 2)?,
            }),
            None => None,
        },
        uid: row.column(AFTER + 3)?,
        tamper_before: tamper(row, AFTER + 4)?,
        interaction,
    })
}

/// Reads the visitor's group, a number that fits one byte.
pub(crate) fn group(row: &impl Columns, column: usize) -> Result<Option<u8>, StorageError> {
    let group: Option<u32> = row.column(column)?;
    let group = group.map(u8::try_from).transpose();
    group.map_err(|_| unreadable("group of visitors"))
}

/// Reads a verdict's reason by its name.
pub(crate) fn reason(row: &impl Columns, column: usize) -> Result<Reason, StorageError> {
    row.named(column, "reason", Reason::from_name)
}

/// Reads the state of a tamper loop by its name.
fn tamper(row: &impl Columns, column: usize) -> Result<Option<Tamper>, StorageError> {
    row.optionally_named(column, "tamper state", |name| name.parse().ok())
}
