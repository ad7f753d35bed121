//! Rows into the domain's types. A value that is no such type's is a damaged
//! database, not a client's mistake.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::clock::Timestamp;
use crate::experience::Content;
use crate::id::{ExperienceId, InlayId, InteractionId};
use crate::inlay::Uid;
use crate::inlay::assessment::Tamper;
use crate::interaction::{Interaction, Reason, Returning, Tech, Verdict, VersionRef};
use crate::storage::StorageError;
use crate::storage::interactions::tag_of;
pub(super) use crate::storage::value::unreadable;

/// A `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// An experience's stored content.
pub(super) fn content(json: &str) -> Result<Content, StorageError> {
    Content::from_json(json).map_err(|_| unreadable("experience"))
}

/// A verdict's reason.
pub(super) fn reason(name: ValueRef<'_>) -> Result<Reason, StorageError> {
    let name = name.as_str().unwrap_or_default();
    Reason::from_name(name).ok_or_else(|| unreadable("reason"))
}

/// The state of a tamper loop.
pub(super) fn tamper(name: Option<String>) -> Result<Option<Tamper>, StorageError> {
    let tamper = name.map(|name| name.parse());
    tamper.transpose().map_err(|_| unreadable("tamper state"))
}

/// Columns of [`interaction`], of a table or alias `i`.
pub(super) const INTERACTION_COLUMNS: &str = "i.id, i.at, i.tag_id, i.inlay_id, i.uid, i.reason, \
    i.counter, i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, \
    i.returning_month, i.returning_day, i.key_issued, i.simulated, i.previous, \
    i.tamper, i.file_data";

/// The column that follows [`INTERACTION_COLUMNS`].
pub(super) const AFTER_INTERACTION: usize = 19;

/// An interaction from its [`INTERACTION_COLUMNS`].
pub(super) fn interaction(row: &Row<'_>) -> Result<Interaction, StorageError> {
    let uid = row.get::<_, Option<[u8; 7]>>(4)?.map(Uid::from_bytes);
    let verdict = Verdict::from_parts(
        self::reason(row.get_ref(5)?)?,
        row.get(6)?,
        row.get(7)?,
        uid,
    )
    .ok_or_else(|| unreadable("verdict"))?;
    let tech = row
        .get_ref(8)?
        .as_str()
        .map_err(|_| unreadable("technology"))?;
    let experience = row
        .get::<_, Option<i64>>(9)?
        .zip(row.get::<_, Option<u32>>(10)?);
    Ok(Interaction {
        id: InteractionId(row.get(0)?),
        at: Timestamp::from_millis(row.get(1)?),
        tag_id: tag_of(row.get(2)?),
        inlay_id: row.get::<_, Option<i64>>(3)?.map(InlayId),
        verdict,
        tech: Tech::from_value(tech).ok_or_else(|| unreadable("technology"))?,
        experience: experience.map(|(id, version)| VersionRef {
            experience_id: ExperienceId(id),
            version,
        }),
        country: row.get(11)?,
        returning: Returning {
            month: row.get(12)?,
            day: row.get(13)?,
        },
        key_issued: row.get(14)?,
        simulated: row.get(15)?,
        previous: row.get::<_, Option<i64>>(16)?.map(InteractionId),
        tamper: tamper(row.get(17)?)?,
        file_data: row.get(18)?,
    })
}
