//! The places of a run: the choice of a tag for each chip.

use serde_json::json;

use crate::shared::{Query, Transaction, tags};
use crate::value::{Row, values};
use crate::{InUse, KeptPlace, RunPlace, RunTag, StorageError};
use domain::audit::Note;
use domain::batch::BATCH_MAX;
use domain::id::{EncodingRunId, TagId};
use domain::tag::TagFields;
use encoding::run::{Run, RunNext};
use inlay::Uid;

use super::run;

const PLACES: &str = "SELECT t.position, t.tag_id FROM encoding_run_tags t WHERE t.run_id = ?1";

/// The chip is, or becomes, the inlay of the position's tag: its newest encoding is for this tag,
/// and did not end without an inlay. It is stored in the commit that reserves the position.
const TAKEN: &str = "EXISTS (SELECT 1 FROM encodings e WHERE e.uid = t.uid AND e.tag_id = t.tag_id \
        AND e.state NOT IN ('rejected', 'abandoned', 'reset') \
        AND NOT EXISTS (SELECT 1 FROM encodings n WHERE n.uid = e.uid AND n.id > e.id))";
/// The position's tag is deleted.
const DELETED: &str =
    "NOT EXISTS (SELECT 1 FROM tags g WHERE g.id = t.tag_id AND g.deleted_at IS NULL)";
/// The position's tag has an inlay, from this run or not.
const HAS_INLAY: &str =
    "EXISTS (SELECT 1 FROM inlays i WHERE i.tag_id = t.tag_id AND i.deleted_at IS NULL)";
/// The position's chip is an inlay of its tag.
const IS_INLAY: &str = "EXISTS (SELECT 1 FROM inlays i \
    WHERE i.tag_id = t.tag_id AND i.uid = t.uid AND i.deleted_at IS NULL)";

/// The place for the next chip that has no tag in the run.
enum Next {
    /// A position that exists already, with its tag.
    Free {
        position: u32,
        tag: TagId,
        skipped: bool,
    },
    /// A new position, whose tag is created for the chip.
    New { position: u32 },
}

/// Chooses the next place: a free position, then a new one, then a skipped one.
async fn next(db: &mut dyn Query, run: &Run) -> Result<Option<Next>, StorageError> {
    let free = |skipped: &str| {
        format!(
            "{PLACES} AND t.skipped_at IS {skipped} AND NOT {TAKEN} AND NOT {DELETED} AND NOT {HAS_INLAY}
             ORDER BY t.position LIMIT 1"
        )
    };
    let read = |mut row: Row, skipped| {
        Ok::<_, StorageError>(Next::Free {
            position: row.take()?,
            tag: row.take()?,
            skipped,
        })
    };
    if let Some(row) = db.row(&free("NULL"), &values![run.id]).await? {
        return read(row, false).map(Some);
    }
    let position = u32::try_from(run.tag_count).unwrap_or(u32::MAX);
    let planned = run.fields.planned.unwrap_or(BATCH_MAX);
    if run.plan.pattern.is_some() && position < planned {
        let position = position + 1;
        return Ok(Some(Next::New { position }));
    }
    let row = db.row(&free("NOT NULL"), &values![run.id]).await?;
    row.map(|row| read(row, true)).transpose()
}

pub(super) async fn next_of(
    db: &mut dyn Query,
    id: EncodingRunId,
) -> Result<Option<Option<RunNext>>, StorageError> {
    let Some(run) = run(db, id).await? else {
        return Ok(None);
    };
    if run.fields.closed {
        return Ok(Some(None));
    }
    let shown = match next(db, &run).await? {
        None => None,
        Some(Next::New { position }) => Some(RunNext {
            position,
            tag_id: None,
            slug: None,
            name: run.plan.tag_name(position).unwrap_or_default(),
            skipped: false,
        }),
        Some(Next::Free {
            position,
            tag,
            skipped,
        }) => {
            let sql = "SELECT slug, name FROM tags WHERE id = ?1";
            let mut found = db.one(sql, &values![tag]).await?;
            Some(RunNext {
                position,
                tag_id: Some(tag),
                slug: found.take()?,
                name: found.take()?,
                skipped,
            })
        }
    };
    Ok(Some(shown))
}

pub(super) async fn skip(
    tx: &mut dyn Transaction,
    id: EncodingRunId,
    make: &RunTag,
) -> Result<Option<Option<RunNext>>, StorageError> {
    let Some(run) = run(tx, id).await? else {
        return Ok(None);
    };
    if run.fields.closed {
        return Err(InUse::RunClosed.into());
    }
    let position = match next(tx, &run).await? {
        None => return Err(InUse::RunFull.into()),
        Some(Next::Free { position, .. }) => position,
        Some(Next::New { position }) => {
            let fields = make(&run.plan, position)?;
            let tag = new_tag(tx, &run, fields).await?;
            add_tag(tx, id, position, tag, None).await?;
            position
        }
    };
    let sql = "UPDATE encoding_run_tags SET skipped_at = ?3, uid = NULL WHERE run_id = ?1 AND position = ?2";
    tx.execute(sql, &values![id, position, tx.now()]).await?;
    tx.note(Note::done(&json!({ "position": position })));
    next_of(tx, id).await
}

/// The place of a chip: its own, unless its encoding failed and the tag now belongs to another
/// chip; otherwise the next place.
pub(super) async fn place(
    db: &mut dyn Query,
    id: EncodingRunId,
    uid: Uid,
) -> Result<Option<(Run, RunPlace)>, StorageError> {
    let Some(run) = run(db, id).await? else {
        return Ok(None);
    };
    if run.fields.closed {
        return Err(InUse::RunClosed.into());
    }
    let own = format!(
        "{PLACES} AND t.uid = ?2 AND NOT {DELETED} AND ({TAKEN} OR NOT {HAS_INLAY} OR {IS_INLAY})"
    );
    let (position, tag_id) = match db.row(&own, &values![id, uid]).await? {
        Some(mut own) => (own.take()?, Some(own.take()?)),
        None => match next(db, &run).await? {
            None => return Err(InUse::RunFull.into()),
            Some(Next::Free { position, tag, .. }) => (position, Some(tag)),
            Some(Next::New { position }) => (position, None),
        },
    };
    let place = RunPlace {
        run_id: id,
        position,
        tag_id,
    };
    Ok(Some((run, place)))
}

/// Reserves a place for a chip, and returns its tag. `None` if the place now belongs to another
/// chip.
pub(in crate::shared) async fn keep(
    tx: &mut dyn Transaction,
    kept: &KeptPlace,
    uid: Uid,
) -> Result<Option<TagId>, StorageError> {
    let RunPlace {
        run_id, position, ..
    } = kept.place;
    let Some((run, present)) = place(tx, run_id, uid).await? else {
        return Ok(None);
    };
    if present != kept.place {
        return Ok(None);
    }
    // A chip has only one place: release its earlier one.
    let sql =
        "UPDATE encoding_run_tags SET uid = NULL WHERE run_id = ?1 AND uid = ?2 AND position <> ?3";
    tx.execute(sql, &values![run_id, uid, position]).await?;
    match (kept.place.tag_id, &kept.new) {
        (Some(tag), _) => {
            let sql = "UPDATE encoding_run_tags SET uid = ?3 WHERE run_id = ?1 AND position = ?2";
            tx.execute(sql, &values![run_id, position, uid]).await?;
            Ok(Some(tag))
        }
        (None, Some(new)) => {
            let tag = new_tag(tx, &run, new.clone()).await?;
            add_tag(tx, run_id, position, tag, Some(uid)).await?;
            Ok(Some(tag))
        }
        (None, None) => Ok(None),
    }
}

/// Creates a tag of a run. It gets the variables that its page writes, unless the plan excludes
/// them.
async fn new_tag(
    tx: &mut dyn Transaction,
    run: &Run,
    mut fields: TagFields,
) -> Result<TagId, StorageError> {
    let mut written = tags::Written::default();
    if run.plan.add_variables.0 {
        let added = written.fill(tx, &mut fields).await?.len() as u64;
        let sql = "UPDATE encoding_runs SET variables_added = variables_added + ?2 WHERE id = ?1";
        tx.execute(sql, &values![run.id, added]).await?;
    }
    tags::insert(tx, &mut written, &fields, false).await
}

async fn add_tag(
    tx: &mut dyn Transaction,
    run: EncodingRunId,
    position: u32,
    tag: TagId,
    uid: Option<Uid>,
) -> Result<(), StorageError> {
    tx.execute(
        "INSERT INTO encoding_run_tags (run_id, position, tag_id, uid) VALUES (?1, ?2, ?3, ?4)",
        &values![run, position, tag, uid],
    )
    .await?;
    Ok(())
}
