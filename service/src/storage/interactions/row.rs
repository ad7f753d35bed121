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

/// Columns of [`issued_key`], of [`KEY_FROM`].
pub(crate) const KEY_COLUMNS: &str = "i.key_hash, i.at, u.at, u.request, i.url_digest";
/// An interaction, whose key has a hash if there is one, and the update that consumed it.
pub(crate) const KEY_FROM: &str = "interactions i LEFT JOIN updates u ON u.interaction_id = i.id";

/// What follows [`COLUMNS`] and the place in the order of commits in a row of [`happening`], of
/// tables or aliases `i` and `t`.
pub(crate) const HAPPENING_COLUMNS: &str = "t.slug, t.name, (SELECT n.uid FROM inlays n WHERE n.id = i.inlay_id), \
     (SELECT p.tamper FROM interactions p WHERE p.id = i.previous)";

/// An interaction from its [`COLUMNS`].
pub(crate) fn interaction(row: &impl Columns) -> Result<Interaction, StorageError> {
    let verdict = Verdict::from_parts(
        reason(row, 5)?,
        row.column(6)?,
        row.column(7)?,
        row.column(4)?,
    );
    let experience = row
        .column::<Option<_>>(9)?
        .zip(row.column::<Option<u32>>(10)?);
    Ok(Interaction {
        id: row.column(0)?,
        at: row.column(1)?,
        tag_id: tag_of(row.column(2)?),
        inlay_id: row.column(3)?,
        verdict: verdict.ok_or_else(|| unreadable("verdict"))?,
        tech: row.named(8, "technology", Tech::from_value)?,
        experience: experience.map(|(experience_id, version)| VersionRef {
            experience_id,
            version,
        }),
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

/// A key from its [`KEY_COLUMNS`], the first of which is `from`.
pub(crate) fn issued_key(row: &impl Columns, from: usize) -> Result<IssuedKey, StorageError> {
    let consumed_at: Option<Timestamp> = row.column(from + 2)?;
    let request = row.column(from + 3)?;
    Ok(IssuedKey {
        hash: row.column(from)?,
        issued_at: row.column(from + 1)?,
        consumed: consumed_at.map(|at| Consumed { at, request }),
    })
}

/// A key and its interaction from [`COLUMNS`] and [`KEY_COLUMNS`], read at `now`. The time of
/// what is simulated runs ahead by `simulated_offset` milliseconds.
pub(crate) fn keyed(
    row: &impl Columns,
    now: Timestamp,
    simulated_offset: i64,
) -> Result<(IssuedKey, KeyedInteraction), StorageError> {
    let interaction = interaction(row)?;
    let keyed = KeyedInteraction {
        id: interaction.id,
        at: interaction.at,
        tag_id: interaction.tag_id.ok_or_else(|| unreadable("tag"))?,
        inlay_id: interaction.inlay_id,
        verdict: interaction.verdict,
        tech: interaction.tech,
        experience: interaction.experience,
        country: interaction.country,
        group: interaction.traits.group,
        returning: interaction.returning,
        tamper: interaction.tamper,
        simulated: interaction.simulated,
        url_digest: row.column(AFTER + 4)?,
        read_at: if interaction.simulated {
            now.plus_millis(simulated_offset)
        } else {
            now
        },
    };
    Ok((issued_key(row, AFTER)?, keyed))
}

/// The column that follows those of [`keyed`].
pub(crate) const AFTER_KEYED: usize = AFTER + 5;

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
