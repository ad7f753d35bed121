//! Rows into the domain's types. A value that is no such type's is a damaged
//! database, not a client's mistake.

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::clock::Timestamp;
use crate::experience::Content;
use crate::id::{ExperienceId, InlayId, InteractionId, MasterKeyId, TagId};
use crate::inlay::Uid;
use crate::interaction::{Interaction, Reason, Returning, Tech, Verdict, VersionRef};
use crate::keyring::WrappedKeys;
use crate::storage::{BoundInlay, StorageError};
use crate::tag::{Properties, Slug, Status, Tag, TagFields};

/// A column's value that does not read as what it should be.
pub(super) fn unreadable(what: &str) -> StorageError {
    StorageError::Failed(format!("a stored {what} is not readable"))
}

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

/// The number that `SELECT count(*)` answers.
pub(super) fn count(row: &Row) -> Result<u64, StorageError> {
    Ok(column::<i64>(row, 0)?.unsigned_abs())
}

/// `text` in the case in which texts are compared. Each character for itself:
/// how it is written does not hang on its neighbours.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The pattern of `LIKE` for texts that have the folded `text` in them.
pub(super) fn containing(text: &str) -> String {
    let folded = fold(text);
    let escaped = folded
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}

/// Columns of a tag, for a query over `tags t` left-joined to its `visits v`.
/// Reads nothing but them and [`tag`].
pub(super) const TAG_COLUMNS: &str = "t.id, t.slug, t.name, t.title, t.description, t.language_code, \
    t.status, t.experience_id, t.verifier_enabled, t.updates_require_verified, t.track_location, \
    t.has_qr_code, t.simulated, t.location, t.widget_settings, t.created_at, t.updated_at, \
    v.scans, v.last_at";

/// The row of a tag's visits that stands for all clients.
pub(super) const TAG_FROM: &str = "tags t LEFT JOIN visits v ON v.tag_id = t.id AND v.client = ''";

/// A tag from its [`TAG_COLUMNS`]; its properties and former slugs are empty.
pub(super) fn tag(row: &Row) -> Result<Tag, StorageError> {
    let location: Option<&str> = column(row, 13)?;
    let scans: Option<i64> = column(row, 17)?;
    Ok(Tag {
        id: TagId(column(row, 0)?),
        fields: TagFields {
            slug: Slug::parse(column(row, 1)?).map_err(|_| unreadable("slug"))?,
            name: column(row, 2)?,
            title: column(row, 3)?,
            description: column(row, 4)?,
            language_code: column(row, 5)?,
            status: status(column(row, 6)?)?,
            experience_id: column::<Option<i64>>(row, 7)?.map(ExperienceId),
            verifier_enabled: column(row, 8)?,
            updates_require_verified: column(row, 9)?,
            track_location: column(row, 10)?,
            has_qr_code: column(row, 11)?,
            location: location
                .map(|json| serde_json::from_str(json).map_err(|_| unreadable("location")))
                .transpose()?,
            widget_settings: serde_json::from_str(column(row, 14)?)
                .map_err(|_| unreadable("widget setting"))?,
            attributes: Properties::default(),
            data: Properties::default(),
            variables: Properties::default(),
        },
        former_slugs: Vec::new(),
        simulated: column(row, 12)?,
        scan_count: scans.unwrap_or_default().unsigned_abs(),
        last_scan_at: optional_time(row, 18)?,
        created_at: time(row, 15)?,
        updated_at: time(row, 16)?,
    })
}

/// The column that follows [`TAG_COLUMNS`].
pub(super) const AFTER_TAG: usize = 19;

/// A tag's status.
pub(super) fn status(name: &str) -> Result<Status, StorageError> {
    Status::parse(name).ok_or_else(|| unreadable("status"))
}

/// An experience's stored content.
pub(super) fn content(json: &str) -> Result<Content, StorageError> {
    Content::from_json(json).map_err(|_| unreadable("experience"))
}

/// A verdict's reason.
pub(super) fn reason(name: &str) -> Result<Reason, StorageError> {
    Reason::from_name(name).ok_or_else(|| unreadable("reason"))
}

/// Columns of [`bound_inlay`], for a query over [`BOUND_INLAY_FROM`].
pub(super) const BOUND_INLAY_COLUMNS: &str = "i.id, i.uid, i.mirror, i.mac_from, c.key_version, \
    i.meta_key, i.file_key, m.id, m.key, m.input, m.diversify_meta";

/// Inlays with their counters and master keys.
pub(super) const BOUND_INLAY_FROM: &str = "inlays i JOIN counters c ON c.inlay_id = i.id \
    LEFT JOIN master_keys m ON m.id = i.master_key_id";

/// An inlay with its keys; `None` for one that makes no codes.
pub(super) fn bound_inlay(row: &Row) -> Result<Option<BoundInlay>, StorageError> {
    let Some(mirror) = column::<Option<&str>>(row, 2)? else {
        return Ok(None);
    };
    let keys = match column::<Option<i64>>(row, 7)? {
        Some(id) => WrappedKeys::Master {
            id: MasterKeyId(id),
            key: column(row, 8)?,
            input: column::<&str>(row, 9)?
                .parse()
                .map_err(|_| unreadable("master key"))?,
            diversify_meta: column(row, 10)?,
        },
        None => WrappedKeys::Own {
            meta: column(row, 5)?,
            file: column(row, 6)?,
        },
    };
    Ok(Some(BoundInlay {
        id: InlayId(column(row, 0)?),
        uid: Uid::from_bytes(bytes(row, 1)?),
        mirror: mirror.parse().map_err(|_| unreadable("mirror"))?,
        mac_from: column::<&str>(row, 3)?
            .parse()
            .map_err(|_| unreadable("mac_from"))?,
        key_version: number(row, 4)?,
        keys,
    }))
}

/// Columns of [`interaction`], of a table or alias `i`.
pub(super) const INTERACTION_COLUMNS: &str = "i.id, i.at, i.tag_id, i.inlay_id, i.uid, i.reason, \
    i.counter, i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, \
    i.returning_month, i.returning_day, i.key_issued, i.simulated, i.previous";

/// The column that follows [`INTERACTION_COLUMNS`].
pub(super) const AFTER_INTERACTION: usize = 17;

/// An interaction from its [`INTERACTION_COLUMNS`].
pub(super) fn interaction(row: &Row) -> Result<Interaction, StorageError> {
    let verdict = Verdict::from_parts(
        reason(column(row, 5)?)?,
        optional_number(row, 6)?,
        optional_number(row, 7)?,
        optional_bytes(row, 4)?.map(Uid::from_bytes),
    )
    .ok_or_else(|| unreadable("verdict"))?;
    let experience = column::<Option<i64>>(row, 9)?.zip(optional_number(row, 10)?);
    Ok(Interaction {
        id: InteractionId(column(row, 0)?),
        at: time(row, 1)?,
        tag_id: TagId(column(row, 2)?),
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
    })
}
