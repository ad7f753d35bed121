//! What is known of one interaction: the trace that its owner sees.

use super::experiences::published;
use super::{Query, inlays};
use crate::id::{InlayId, InteractionId, TagId};
use crate::inlay::Uid;
use crate::interaction::{
    RecordedReads, RecordedRefusal, RecordedUpdate, Refusal, TagName, UpdateFault, Verdict,
};
use crate::storage::StorageError;
use crate::storage::interactions::row::{COLUMNS, interaction};
use crate::storage::notes::Noted;
use crate::storage::value::values;
use crate::trace::{CodeInlay, NamedInlay, TracedInteraction};

/// An interaction with all that led to it and came of it; `None` if there is none within reach.
/// `noted` is what waits to be stored of it.
pub(in crate::storage) async fn traced(
    db: &mut dyn Query,
    id: InteractionId,
    noted: &Noted,
) -> Result<Option<TracedInteraction>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM interactions i WHERE i.id = ?1");
    let Some(found) = db.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    let interaction = interaction(&found)?;
    if !interaction.is_within(db.reach()) {
        return Ok(None);
    }
    let refused_update = match &noted.refused_update {
        Some(refused) => Some(refused.clone()),
        None => refused_update(db, id).await?,
    };
    Ok(Some(TracedInteraction {
        tag: match interaction.tag_id {
            Some(tag) => Some(tag_name(db, tag).await?),
            None => None,
        },
        inlay: match interaction.inlay_id {
            Some(inlay) => code_inlay(db, inlay).await?,
            None => None,
        },
        named: match interaction.verdict {
            Verdict::NotVerified(Refusal::UnknownInlay { uid: Some(uid) }) => {
                named(db, uid).await?
            }
            _ => None,
        },
        experience: match interaction.experience {
            Some(version) => published(db, version).await?,
            None => None,
        },
        update: update(db, id).await?,
        refused_update,
        payload_reads: payload_reads(db, id, noted.payload_reads).await?,
        left_out: left_out(db, id).await?,
        interaction,
    }))
}

/// How a tag is called, deleted ones included.
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

/// The inlay with `uid`, and whose it is now. One out of reach is as one that is not there.
async fn named(db: &mut dyn Query, uid: Uid) -> Result<Option<NamedInlay>, StorageError> {
    let Some(mut row) = db.row(inlays::NAMED_INLAY, &values![uid]).await? else {
        return Ok(None);
    };
    let tag: Option<TagId> = row.take()?;
    if !db.reach().has(row.take()?) {
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

async fn left_out(db: &mut dyn Query, id: InteractionId) -> Result<Vec<String>, StorageError> {
    let sql = "SELECT macros FROM left_out WHERE interaction_id = ?1";
    match db.row(sql, &values![id]).await? {
        Some(mut row) => row.json("macro"),
        None => Ok(Vec::new()),
    }
}

/// The reads that are stored, and those that wait to be.
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
