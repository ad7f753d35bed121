//! Encoding runs: their SQL, and the choice of a tag for each chip.

use serde_json::json;

use super::free_tags::free_tags;
use super::{Query, Transaction, batches, insert_rows, tags};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, InUse, Invalid, KeptPlace, RunEdit, RunPlace, RunTag, StorageError};
use domain::audit::Note;
use domain::batch::BATCH_MAX;
use domain::field_error::FieldError;
use domain::id::{EncodingRunId, TagId};
use domain::plural::counted;
use domain::tag::TagFields;
use encoding::run::{Run, RunFields, RunNext, RunPlan, RunRow};
use encoding::{EncodingOutcome, of_word};
use inlay::Uid;

/// The operations on encoding runs.
impl Access {
    /// Stores a new run for these tags, in their order. Tags that have an inlay are left out. If no
    /// number of inlays is planned, and the run does not create tags, the number of the remaining
    /// tags is planned.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`](crate::Conflict::Missing) for a tag that does not exist or is deleted, [`Conflict::OtherWorld`](crate::Conflict::OtherWorld)
    /// for a simulated tag, and [`Conflict::Invalid`](crate::Conflict::Invalid) if the planned number contradicts the number
    /// of tags.
    pub async fn insert_encoding_run(
        &self,
        fields: RunFields,
        plan: RunPlan,
        tags: Vec<TagId>,
    ) -> Result<Run, StorageError> {
        let arguments = (fields, plan, tags);
        self.change(
            "insert_encoding_run",
            arguments,
            |tx, (fields, plan, tags)| Box::pin(insert(tx, fields, plan, tags)),
        )
        .await
    }

    /// The run with this id.
    pub async fn encoding_run(&self, id: EncodingRunId) -> Result<Option<Run>, StorageError> {
        self.read("encoding_run", id, |db, id| Box::pin(run(db, *id)))
            .await
    }

    /// At most `limit` runs, the newest first, after the run `after`.
    pub async fn encoding_runs(
        &self,
        after: Option<EncodingRunId>,
        limit: usize,
    ) -> Result<Vec<Run>, StorageError> {
        self.read("encoding_runs", (after, limit), |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// How many runs there are.
    pub async fn count_encoding_runs(&self) -> Result<u64, StorageError> {
        self.read("count_encoding_runs", (), |db, ()| {
            db.count("SELECT count(*) FROM encoding_runs", &[])
        })
        .await
    }

    /// Applies `edit` to a run.
    ///
    /// # Errors
    ///
    /// The error of `edit`.
    pub async fn edit_encoding_run(
        &self,
        id: EncodingRunId,
        edit: RunEdit,
    ) -> Result<Option<Run>, StorageError> {
        self.change("edit_encoding_run", (id, edit), |tx, (id, edit)| {
            Box::pin(self::edit(tx, *id, edit))
        })
        .await
    }

    /// The run, and the tag for this chip. The order of preference is: the tag that the chip had;
    /// the first tag that has neither inlay nor chip, or whose chip was rejected, cancelled, wiped
    /// or moved to another tag; a new tag; the first tag that was skipped. The turn that begins the
    /// chip's encoding reserves the tag.
    ///
    /// # Errors
    ///
    /// [`InUse::RunClosed`](crate::InUse::RunClosed), and [`InUse::RunFull`](crate::InUse::RunFull)
    /// if no tag is left.
    pub async fn run_place(
        &self,
        id: EncodingRunId,
        uid: Uid,
    ) -> Result<Option<(Run, RunPlace)>, StorageError> {
        self.read_snapshot("run_place", (id, uid), |db, (id, uid)| {
            Box::pin(place(db, *id, *uid))
        })
        .await
    }

    /// The tag for the next chip that has no tag yet. The outer `None` means that there is no such
    /// run, the inner one that no tag is left.
    pub async fn next_run_tag(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Option<RunNext>>, StorageError> {
        self.read_snapshot("next_run_tag", id, |db, id| Box::pin(next_of(db, *id)))
            .await
    }

    /// Skips the tag that the next chip would get: it comes after all others. `make` creates the
    /// tag if it does not exist yet. Returns the tag that is next afterwards.
    ///
    /// # Errors
    ///
    /// Those of [`Self::run_place`].
    pub async fn skip_run_tag(
        &self,
        id: EncodingRunId,
        make: RunTag,
    ) -> Result<Option<Option<RunNext>>, StorageError> {
        self.change("skip_run_tag", (id, make), |tx, (id, make)| {
            Box::pin(skip(tx, *id, make))
        })
        .await
    }

    /// The chips of a run, in the order in which they were first placed on the reader.
    pub async fn encoding_run_rows(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Vec<RunRow>>, StorageError> {
        self.read_snapshot("encoding_run_rows", id, |db, id| Box::pin(rows(db, *id)))
            .await
    }
}

const SELECT: &str = "SELECT r.id, r.name, r.planned, r.created_at, r.closed_at, r.settings, r.variables_added, \
        (SELECT count(*) FROM encoding_run_tags t WHERE t.run_id = r.id), \
        (SELECT count(DISTINCT e.uid) FROM encodings e WHERE e.run_id = r.id AND e.state = 'verified' \
            AND NOT EXISTS (SELECT 1 FROM encodings n WHERE n.uid = e.uid AND n.id > e.id AND n.state = 'reset')) \
    FROM encoding_runs r";

fn read(mut row: Row) -> Result<Run, StorageError> {
    let id = row.take()?;
    let (fields, created_at, closed_at) = batches::read(&mut row)?;
    Ok(Run {
        id,
        fields,
        plan: row.json("encoding run")?,
        variables_added: row.take()?,
        tag_count: row.take()?,
        verified_count: row.take()?,
        created_at,
        closed_at,
    })
}

async fn run(db: &mut dyn Query, id: EncodingRunId) -> Result<Option<Run>, StorageError> {
    let sql = format!("{SELECT} WHERE r.id = ?1");
    db.row(&sql, &values![id]).await?.map(read).transpose()
}

async fn list(
    db: &mut dyn Query,
    after: Option<EncodingRunId>,
    limit: usize,
) -> Result<Vec<Run>, StorageError> {
    let sql = format!("{SELECT} WHERE r.id < ?1 ORDER BY r.id DESC LIMIT ?2");
    let values = values![
        after.map_or(i64::MAX, EncodingRunId::get),
        Value::limit(limit)
    ];
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(read).collect()
}

async fn insert(
    tx: &mut dyn Transaction,
    fields: &RunFields,
    plan: &RunPlan,
    tags: &[TagId],
) -> Result<Run, StorageError> {
    let settings = serde_json::to_string(plan).map_err(|_| unreadable("encoding run"))?;
    let free = free_tags(tx, tags).await?;
    let mut fields = fields.clone();
    fields.planned = planned(&fields, plan, free.len())?;
    let settings = ("settings", settings);
    let id: EncodingRunId = batches::insert(tx, "encoding_runs", &fields, settings).await?;
    let rows = free.into_iter().zip(1_u32..);
    let rows = rows.map(|(place, position)| values![id, position, tags[place]].to_vec());
    let columns = ["run_id", "position", "tag_id"];
    insert_rows(tx, "encoding_run_tags", &columns, rows.collect(), "").await?;
    tx.note(Note::created(
        format!("encoding-runs/{id}"),
        &json!({"fields": fields, "plan": plan, "tag_ids": tags}),
    ));
    run(tx, id).await?.ok_or_else(|| unreadable("encoding run"))
}

/// The number of inlays that is planned for a run with this many tags.
fn planned(fields: &RunFields, plan: &RunPlan, tags: usize) -> Result<Option<u32>, StorageError> {
    let tags = u32::try_from(tags).unwrap_or(u32::MAX);
    let refuse = |why: String| Err(Invalid::from(FieldError::of("planned", why)).into());
    let creates = plan.pattern.is_some();
    match fields.planned {
        None if creates => Ok(None),
        None if tags == 0 => {
            let why = "Each of these tags has an inlay already, so there is nothing to encode.";
            Err(Invalid::from(FieldError::of("tag_ids", why)).into())
        }
        None => Ok(Some(tags)),
        Some(planned) if planned < tags => refuse(format!(
            "The run has {} without an inlay: plan at least as many inlays, or choose fewer tags.",
            counted(u64::from(tags), "tag")
        )),
        Some(planned) if planned > tags && !creates => refuse(format!(
            "The run has {} without an inlay: plan as many inlays, or add a pattern for tags that it creates.",
            counted(u64::from(tags), "tag")
        )),
        Some(planned) => Ok(Some(planned)),
    }
}

/// Creates a tag of a run. It gets the variables that its page writes, unless the plan excludes
/// them.
async fn new_tag(
    tx: &mut dyn Transaction,
    run: &Run,
    mut fields: TagFields,
) -> Result<TagId, StorageError> {
    if run.plan.add_variables.0 {
        let added = tags::Written::default().fill(tx, &mut fields).await?.len() as u64;
        let sql = "UPDATE encoding_runs SET variables_added = variables_added + ?2 WHERE id = ?1";
        tx.execute(sql, &values![run.id, added]).await?;
    }
    tags::insert(tx, &fields, false).await
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

async fn edit(
    tx: &mut dyn Transaction,
    id: EncodingRunId,
    edit: &RunEdit,
) -> Result<Option<Run>, StorageError> {
    let Some(before) = run(tx, id).await? else {
        return Ok(None);
    };
    let fields = edit(before.fields.clone())?;
    let stored = (&before.fields, before.closed_at);
    batches::update(tx, "encoding_runs", id, stored, &fields).await?;
    run(tx, id).await
}

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

async fn next_of(
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

async fn skip(
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
async fn place(
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
pub(super) async fn keep(
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

async fn rows(db: &mut dyn Query, id: EncodingRunId) -> Result<Option<Vec<RunRow>>, StorageError> {
    if run(db, id).await?.is_none() {
        return Ok(None);
    }
    // The newest encoding of each chip in the run. A chip that was wiped since shows as reset.
    let sql = "SELECT t.position, e.tag_id, g.slug, g.name, e.id, e.uid, \
            CASE WHEN EXISTS (SELECT 1 FROM encodings n WHERE n.uid = e.uid AND n.id > e.id AND n.state = 'reset') \
                THEN 'reset' ELSE e.state END, \
            e.reason, e.generation, e.outcome, e.updated_at \
        FROM encodings e \
        LEFT JOIN encoding_run_tags t ON t.run_id = e.run_id AND t.uid = e.uid \
        LEFT JOIN tags g ON g.id = e.tag_id \
        WHERE e.run_id = ?1 \
            AND NOT EXISTS (SELECT 1 FROM encodings n WHERE n.uid = e.uid AND n.run_id = e.run_id AND n.id > e.id) \
        ORDER BY e.id";
    let found = db.query(sql, &values![id]).await?;
    let rows = found.into_iter().map(row);
    rows.collect::<Result<_, _>>().map(Some)
}

fn row(mut row: Row) -> Result<RunRow, StorageError> {
    let (position, tag_id) = (row.take()?, row.take()?);
    let (slug, name) = (row.take()?, row.take()?);
    let (encoding_id, uid) = (row.take()?, row.take()?);
    let state = row.text("state", of_word)?;
    let reason = row.optional_text("reason", of_word)?;
    let generation: Option<u32> = row.take()?;
    let outcome = row.optional_text("outcome", |json| {
        serde_json::from_str::<EncodingOutcome>(json).ok()
    })?;
    Ok(RunRow {
        position,
        tag_id,
        slug,
        name,
        encoding_id,
        uid,
        technology: outcome.as_ref().and_then(|outcome| outcome.technology),
        mode: outcome.as_ref().and_then(|outcome| outcome.mode),
        state,
        reason,
        generation: generation.and_then(|number| number.try_into().ok()),
        counter: outcome.map(|outcome| outcome.counter),
        at: row.take()?,
    })
}
