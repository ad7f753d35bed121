//! Rows into the domain's types. A value that is no such type's is a damaged
//! database, not a client's mistake.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::clock::Timestamp;
use crate::experience::Content;
use crate::id::{ExperienceId, InlayId, InteractionId, TagId};
use crate::inlay::Uid;
use crate::interaction::{Interaction, Reason, Returning, Tech, Verdict, VersionRef};
use crate::storage::StorageError;
use crate::tag::{Properties, Slug, Status, Tag, TagFields};

/// A column's value that does not read as what it should be.
pub(super) fn unreadable(what: &str) -> StorageError {
    StorageError::Failed(format!("a stored {what} is not readable"))
}

/// A `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// Columns of a tag, for a query over `tags t` left-joined to its `visits v`.
/// Reads nothing but them and [`tag`].
pub(super) const TAG_COLUMNS: &str = "t.id, t.slug, t.name, t.title, t.description, t.language_code, \
    t.status, t.experience_id, t.verifier_enabled, t.updates_require_verified, t.track_location, \
    t.has_qr_code, t.simulated, t.location, t.widget_settings, t.created_at, t.updated_at, \
    v.scans, v.last_at";

/// The row of a tag's visits that stands for all clients.
pub(super) const TAG_FROM: &str = "tags t LEFT JOIN visits v ON v.tag_id = t.id AND v.client = x''";

/// A tag from its [`TAG_COLUMNS`]; its properties and former slugs are empty.
pub(super) fn tag(row: &Row<'_>) -> Result<Tag, StorageError> {
    let slug: String = row.get(1)?;
    let location: Option<String> = row.get(13)?;
    let widgets: String = row.get(14)?;
    let scans: Option<i64> = row.get(17)?;
    let status: String = row.get(6)?;
    Ok(Tag {
        id: TagId(row.get(0)?),
        fields: TagFields {
            slug: Slug::parse(&slug).map_err(|_| unreadable("slug"))?,
            name: row.get(2)?,
            title: row.get(3)?,
            description: row.get(4)?,
            language_code: row.get(5)?,
            status: self::status(&status)?,
            experience_id: row.get::<_, Option<i64>>(7)?.map(ExperienceId),
            verifier_enabled: row.get(8)?,
            updates_require_verified: row.get(9)?,
            track_location: row.get(10)?,
            has_qr_code: row.get(11)?,
            location: location
                .map(|json| serde_json::from_str(&json).map_err(|_| unreadable("location")))
                .transpose()?,
            widget_settings: serde_json::from_str(&widgets)
                .map_err(|_| unreadable("widget setting"))?,
            attributes: Properties::default(),
            data: Properties::default(),
            variables: Properties::default(),
        },
        former_slugs: Vec::new(),
        simulated: row.get(12)?,
        scan_count: scans.unwrap_or_default().unsigned_abs(),
        last_scan_at: row.get::<_, Option<i64>>(18)?.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(row.get(15)?),
        updated_at: Timestamp::from_millis(row.get(16)?),
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
pub(super) fn reason(name: ValueRef<'_>) -> Result<Reason, StorageError> {
    let name = name.as_str().unwrap_or_default();
    Reason::from_name(name).ok_or_else(|| unreadable("reason"))
}

/// Columns of [`interaction`], of a table or alias `i`.
pub(super) const INTERACTION_COLUMNS: &str = "i.id, i.at, i.tag_id, i.inlay_id, i.uid, i.reason, \
    i.counter, i.last_counter, i.tech, i.experience_id, i.experience_version, i.country, \
    i.returning_month, i.returning_day, i.key_issued, i.simulated, i.previous";

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
        tag_id: TagId(row.get(2)?),
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
    })
}
