//! The trace of an interaction, for its owner.

use std::collections::{BTreeMap, BTreeSet};

use super::experiences::published;
use super::{Query, callers, inlays, staff_notes};
use crate::StorageError;
use crate::deferred::Noted;
use crate::interactions::row::{COLUMNS, interaction};
use crate::value::{Value, values};
use domain::experience::{LedBy, PublishedExperience};
use domain::id::{GroupId, InlayId, InteractionId, TagId};
use domain::interaction::{
    Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, TagName, UpdateFault,
};
use domain::trace::{CodeInlay, NamedInlay, TracedInteraction};
use inlay::Uid;

/// The trace of an interaction: its data, causes and effects. `None` if there is no such
/// interaction within reach. `noted` contains its notes that are not stored yet.
pub(crate) async fn traced(
    db: &mut dyn Query,
    id: InteractionId,
    noted: &Noted,
) -> Result<Option<TracedInteraction>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM interactions i WHERE i.id = ?1");
    let Some(found) = db.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    let interaction = interaction(&found)?;
    if !is_visible(db, &interaction).await? {
        return Ok(None);
    }
    // A tag that now leads to an experience outside the reach hides its current data: its name, and
    // the variables it had when the key was used.
    let tag = match interaction.tag_id {
        Some(tag) if is_reached(db, tag).await? => Some(tag_name(db, tag).await?),
        _ => None,
    };
    let is_outside = interaction.tag_id.is_some() && tag.is_none();
    let refused_update = match &noted.refused_update {
        _ if is_outside => None,
        Some(refused) => Some(refused.clone()),
        None => refused_update(db, id).await?,
    };
    let answered = answered(db, id).await?;
    let mut update = update(db, id).await?;
    if let Some(update) = update.as_mut().filter(|_| is_outside) {
        update.changes.clear();
    }
    let experience = match interaction.experience {
        Some(version) => published(db, version).await?,
        None => None,
    };
    Ok(Some(TracedInteraction {
        groups: group_names(db, &interaction, experience.as_ref()).await?,
        tag,
        inlay: match interaction.inlay_id {
            Some(inlay) => code_inlay(db, inlay).await?,
            None => None,
        },
        named: match interaction.verdict.other_uid() {
            Some(uid) => named(db, uid).await?,
            None => None,
        },
        experience,
        update,
        refused_update,
        payload_reads: payload_reads(db, id, noted.payload_reads).await?,
        left_out: answered.left_out,
        led_by: noted.rule.or(answered.led_by),
        staff_note: if is_outside {
            None
        } else {
            staff_notes::of(db, id).await?
        },
        interaction,
    }))
}

/// Whether an interaction is within the caller's reach: by the experience that it led to, or by the
/// group of its tag.
pub(super) async fn is_visible(
    db: &mut dyn Query,
    interaction: &Interaction,
) -> Result<bool, StorageError> {
    match (db.reach().groups(), interaction.tag_id) {
        (None, _) => Ok(interaction.is_within(db.reach())),
        (Some(_), None) => Ok(false),
        (Some(_), Some(tag)) => is_reached(db, tag).await,
    }
}

/// Whether a tag, deleted or not, is within the caller's reach.
pub(super) async fn is_reached(db: &mut dyn Query, tag: TagId) -> Result<bool, StorageError> {
    if db.reach().limit().is_none() {
        return Ok(true);
    }
    let reached = callers::tags(db.reach(), "");
    let sql = format!("SELECT 1 FROM tags WHERE id = ?1{reached}");
    db.exists(&sql, &values![tag]).await
}

/// The names of the groups within reach that an interaction's recall and experience name.
async fn group_names(
    db: &mut dyn Query,
    interaction: &Interaction,
    experience: Option<&PublishedExperience>,
) -> Result<BTreeMap<GroupId, String>, StorageError> {
    let mut ids = match experience {
        Some(experience) => experience.content.tag_groups(),
        None => BTreeSet::new(),
    };
    ids.extend(interaction.recalled_by);
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let reached = callers::groups(db.reach(), "g.id");
    let sql = format!("SELECT g.id, g.name FROM tag_groups g WHERE g.id IN ids(?1){reached}");
    let found = db.query(&sql, &values![Value::list(ids)]).await?;
    let names = found.into_iter();
    names
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

/// A tag's slug and name; the tag may be deleted.
async fn tag_name(db: &mut dyn Query, tag: TagId) -> Result<TagName, StorageError> {
    let sql = "SELECT slug, name FROM tags WHERE id = ?1";
    let mut row = db.one(sql, &values![tag]).await?;
    Ok(TagName {
        tag_id: tag,
        slug: row.take()?,
        tag_name: row.take()?,
    })
}

async fn code_inlay(db: &mut dyn Query, id: InlayId) -> Result<Option<CodeInlay>, StorageError> {
    let Some(mut row) = db.row(inlays::CODE_INLAY, &values![id]).await? else {
        return Ok(None);
    };
    Ok(Some(CodeInlay {
        uid: row.take()?,
        mac_from: row.optional_text("mac_from", |text| text.parse().ok())?,
    }))
}

/// The inlay with `uid`, and its current tag. An inlay out of reach counts as missing.
async fn named(db: &mut dyn Query, uid: Uid) -> Result<Option<NamedInlay>, StorageError> {
    let Some(mut row) = db.row(inlays::NAMED_INLAY, &values![uid]).await? else {
        return Ok(None);
    };
    let tag: Option<TagId> = row.take()?;
    let is_visible = match tag {
        Some(tag) => is_reached(db, tag).await?,
        None => db.reach().has(None),
    };
    if !is_visible {
        return Ok(None);
    }
    Ok(Some(match tag {
        Some(tag) => NamedInlay::OfTag(tag_name(db, tag).await?),
        None => NamedInlay::Unbound,
    }))
}

async fn update(
    db: &mut dyn Query,
    id: InteractionId,
) -> Result<Option<RecordedUpdate>, StorageError> {
    let sql = "SELECT at, changes FROM updates WHERE interaction_id = ?1";
    let Some(mut row) = db.row(sql, &values![id]).await? else {
        return Ok(None);
    };
    Ok(Some(RecordedUpdate {
        at: row.take()?,
        changes: row.json("change")?,
    }))
}

async fn refused_update(
    db: &mut dyn Query,
    id: InteractionId,
) -> Result<Option<RecordedRefusal>, StorageError> {
    let sql = "SELECT at, fault, variable FROM refused_updates WHERE interaction_id = ?1";
    let Some(mut row) = db.row(sql, &values![id]).await? else {
        return Ok(None);
    };
    Ok(Some(RecordedRefusal {
        at: row.take()?,
        fault: row.text("fault", UpdateFault::parse)?,
        variable: row.take()?,
    }))
}

/// Notes on the answer to a tap.
#[derive(Default)]
struct Answered {
    left_out: Vec<String>,
    led_by: Option<LedBy>,
}

async fn answered(db: &mut dyn Query, id: InteractionId) -> Result<Answered, StorageError> {
    let sql = "SELECT macros, rule FROM left_out WHERE interaction_id = ?1";
    let Some(mut row) = db.row(sql, &values![id]).await? else {
        return Ok(Answered::default());
    };
    let left_out = row.json("macro")?;
    let rule: Option<u32> = row.take()?;
    Ok(Answered {
        left_out,
        led_by: rule.map(LedBy::from_number),
    })
}

/// Combines the stored payload reads with those not stored yet.
async fn payload_reads(
    db: &mut dyn Query,
    id: InteractionId,
    noted: Option<RecordedReads>,
) -> Result<Option<RecordedReads>, StorageError> {
    let sql = "SELECT first_at, reads FROM payload_reads WHERE interaction_id = ?1";
    let Some(mut row) = db.row(sql, &values![id]).await? else {
        return Ok(noted);
    };
    let first_at = row.take()?;
    let stored: u32 = row.take()?;
    let more = noted.map_or(0, |noted| noted.reads);
    Ok(Some(RecordedReads {
        first_at,
        reads: stored.saturating_add(more),
    }))
}
