//! Rows into the domain's types. A value that is no such type's is a damaged
//! database, not a client's mistake.

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

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

/// A column that the statement has.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, StorageError> {
    row.try_get(index).map_err(StorageError::from)
}

/// A number that is never negative, from an `INTEGER`.
pub(super) fn number(row: &Row, index: usize) -> Result<u32, StorageError> {
    Ok(column::<i32>(row, index)?.unsigned_abs())
}

/// The same, which may be absent.
pub(super) fn optional_number(row: &Row, index: usize) -> Result<Option<u32>, StorageError> {
    Ok(column::<Option<i32>>(row, index)?.map(i32::unsigned_abs))
}

/// Bytes of a known number.
pub(super) fn bytes<const N: usize>(row: &Row, index: usize) -> Result<[u8; N], StorageError> {
    column::<&[u8]>(row, index)?
        .try_into()
        .map_err(|_| unreadable("byte string"))
}

/// The same, which may be absent.
pub(super) fn optional_bytes<const N: usize>(
    row: &Row,
    index: usize,
) -> Result<Option<[u8; N]>, StorageError> {
    column::<Option<&[u8]>>(row, index)?
        .map(|bytes| bytes.try_into().map_err(|_| unreadable("byte string")))
        .transpose()
}

/// A moment.
pub(super) fn time(row: &Row, index: usize) -> Result<Timestamp, StorageError> {
    column(row, index).map(Timestamp::from_millis)
}

/// The same, which may be absent.
pub(super) fn optional_time(row: &Row, index: usize) -> Result<Option<Timestamp>, StorageError> {
    Ok(column::<Option<i64>>(row, index)?.map(Timestamp::from_millis))
}

/// An experience's stored content.
pub(super) fn content(json: &str) -> Result<Content, StorageError> {
    Content::from_json(json).map_err(|_| unreadable("experience"))
}

/// A verdict's reason.
pub(super) fn reason(name: &str) -> Result<Reason, StorageError> {
    Reason::from_name(name).ok_or_else(|| unreadable("reason"))
}

/// The state of a tamper loop.
pub(super) fn tamper(name: Option<&str>) -> Result<Option<Tamper>, StorageError> {
    let tamper = name.map(str::parse);
    tamper.transpose().map_err(|_| unreadable("tamper state"))
}

/// An inlay's counter, up to 32 bits.
pub(super) fn counter(row: &Row, index: usize) -> Result<Option<u32>, StorageError> {
    let counter = column::<Option<i64>>(row, index)?.map(u32::try_from);
    counter.transpose().map_err(|_| unreadable("counter"))
}

/// Columns of [`interaction`], of a table or alias `i`.
pub(super) const INTERACTION_COLUMNS: &str = "i.id, i.at, i.tag_id, i.inlay_id, i.uid, i.reason, \
    i.counter, i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, \
    i.returning_month, i.returning_day, i.key_issued, i.simulated, i.previous, \
    i.tamper, i.file_data";

/// The column that follows [`INTERACTION_COLUMNS`].
pub(super) const AFTER_INTERACTION: usize = 19;

/// An interaction from its [`INTERACTION_COLUMNS`].
pub(super) fn interaction(row: &Row) -> Result<Interaction, StorageError> {
    let verdict = Verdict::from_parts(
        reason(column(row, 5)?)?,
        counter(row, 6)?,
        counter(row, 7)?,
        optional_bytes(row, 4)?.map(Uid::from_bytes),
    )
    .ok_or_else(|| unreadable("verdict"))?;
    let experience = column::<Option<i64>>(row, 9)?.zip(optional_number(row, 10)?);
    Ok(Interaction {
        id: InteractionId(column(row, 0)?),
        at: time(row, 1)?,
        tag_id: tag_of(column(row, 2)?),
        inlay_id: column::<Option<i64>>(row, 3)?.map(InlayId),
        verdict,
        tech: Tech::from_value(column(row, 8)?).ok_or_else(|| unreadable("technology"))?,
        experience: experience.map(|(id, version)| VersionRef {
            experience_id: ExperienceId(id),
            version,
        }),
        country: column(row, 11)?,
        returning: Returning {
            month: column(row, 12)?,
            day: column(row, 13)?,
        },
        key_issued: column(row, 14)?,
        simulated: column(row, 15)?,
        previous: column::<Option<i64>>(row, 16)?.map(InteractionId),
        tamper: tamper(column(row, 17)?)?,
        file_data: column(row, 18)?,
    })
}
