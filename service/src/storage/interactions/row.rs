//! Rows of the history into the domain's types, for both databases.

use super::tag_of;
use crate::clock::Timestamp;
use crate::inlay::assessment::Tamper;
use crate::interaction::{
    Interaction, KeyedInteraction, Reason, Returning, TagName, Tech, Traits, Verdict, VersionRef,
};
use crate::rolling_key::{Consumed, IssuedKey};
use crate::storage::value::{Columns, unreadable};
use crate::storage::{Place, StorageError};
use crate::visitor::OperatingSystem;
use crate::webhook::TapHappening;

/// Columns of [`interaction`], of a table or alias `i`.
pub(crate) const COLUMNS: &str = "i.id, i.at, i.tag_id, i.inlay_id, i.uid, i.reason, \
    i.counter, i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, \
    i.returning_month, i.returning_day, i.key_issued, i.simulated, i.previous, \
    i.tamper, i.file_data, i.system, i.language, i.visitor_group";

/// The column that follows [`COLUMNS`].
const AFTER: usize = 22;

/// Columns of [`issued_key`], of an interaction `i`, whose key has a hash if there is one, and
/// [`KEY_UPDATE`].
pub(crate) const KEY_COLUMNS: &str = "i.key_hash, i.at, u.at, u.request";
/// The update that consumed the key of an interaction `i`, if there is one.
pub(crate) const KEY_UPDATE: &str = "LEFT JOIN updates u ON u.interaction_id = i.id";

/// What follows [`KEY_COLUMNS`] in a row of [`keyed`]: what payloads and updates need of a tap, and
/// no more, because each of them reads it.
pub(crate) const KEYED_COLUMNS: &str = "i.id, i.tag_id, i.inlay_id, i.uid, i.reason, i.counter, \
    i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, i.returning_month, \
    i.returning_day, i.simulated, i.tamper, i.visitor_group, i.url_digest";

/// What follows [`COLUMNS`] and the place in the order of commits in a row of [`happening`], of
/// tables or aliases `i` and `t`.
pub(crate) const HAPPENING_COLUMNS: &str = "t.slug, t.name, (SELECT n.uid FROM inlays n WHERE n.id = i.inlay_id), \
     (SELECT p.tamper FROM interactions p WHERE p.id = i.previous)";

/// An interaction from its [`COLUMNS`].
pub(crate) fn interaction(row: &impl Columns) -> Result<Interaction, StorageError> {
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
        simulated: row.column(15)?,
        previous: row.column(16)?,
        tamper: tamper(row, 17)?,
        file_data: row.column(18)?,
        traits: Traits {
            system: row.optionally_named(19, "system", OperatingSystem::from_name)?,
            language: row.column(20)?,
            group: group(row, 21)?,
        },
    })
}

/// The verdict from its UID, which is the first column, its reason, and its counters.
fn verdict(row: &impl Columns, from: usize) -> Result<Verdict, StorageError> {
    let verdict = Verdict::from_parts(
        reason(row, from + 1)?,
        row.column(from + 2)?,
        row.column(from + 3)?,
        row.column(from)?,
    );
    verdict.ok_or_else(|| unreadable("verdict"))
}

/// Where a tap led, from two columns.
fn version(row: &impl Columns, from: usize) -> Result<Option<VersionRef>, StorageError> {
    let id: Option<_> = row.column(from)?;
    let version = id.zip(row.column::<Option<u32>>(from + 1)?);
    Ok(version.map(|(experience_id, version)| VersionRef {
        experience_id,
        version,
    }))
}

/// A key from its [`KEY_COLUMNS`].
fn issued_key(row: &impl Columns) -> Result<IssuedKey, StorageError> {
    let consumed_at: Option<Timestamp> = row.column(2)?;
    let request = row.column(3)?;
    Ok(IssuedKey {
        hash: row.column(0)?,
        issued_at: row.column(1)?,
        consumed: consumed_at.map(|at| Consumed { at, request }),
    })
}

/// The column that follows those of [`issued_key`].
const AFTER_KEY: usize = 4;

/// A key and its interaction from [`KEY_COLUMNS`] and [`KEYED_COLUMNS`], read at `now`. The time of
/// what is simulated runs ahead by `simulated_offset` milliseconds.
pub(crate) fn keyed(
    row: &impl Columns,
    now: Timestamp,
    simulated_offset: i64,
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
            now.plus_millis(simulated_offset)
        } else {
            now
        },
    };
    Ok((key, keyed))
}

/// The column that follows those of [`keyed`].
pub(crate) const AFTER_KEYED: usize = AFTER_KEY + 17;

/// A tap for webhooks, from [`COLUMNS`], its place in the order of commits, and
/// [`HAPPENING_COLUMNS`].
pub(crate) fn happening(row: &impl Columns) -> Result<TapHappening, StorageError> {
    let interaction = interaction(row)?;
    Ok(TapHappening {
        place: Place {
            seq: row.column(AFTER)?,
            id: interaction.id.0,
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

/// A group of visitors.
pub(in crate::storage) fn group(
    row: &impl Columns,
    column: usize,
) -> Result<Option<u8>, StorageError> {
    let group: Option<u32> = row.column(column)?;
    let group = group.map(u8::try_from).transpose();
    group.map_err(|_| unreadable("group of visitors"))
}

/// A verdict's reason.
pub(crate) fn reason(row: &impl Columns, column: usize) -> Result<Reason, StorageError> {
    row.named(column, "reason", Reason::from_name)
}

/// The state of a tamper loop.
fn tamper(row: &impl Columns, column: usize) -> Result<Option<Tamper>, StorageError> {
    row.optionally_named(column, "tamper state", |name| name.parse().ok())
}
