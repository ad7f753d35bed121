//! Encoding runs. `places` chooses the tag of each chip, and `rows` lists the chips.

mod places;
mod rows;

pub(super) use places::keep;

use serde_json::json;

use super::free_tags::free_tags;
use super::{Query, Transaction, batches, insert_rows};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, Invalid, RunEdit, RunPlace, RunTag, StorageError};
use domain::audit::Note;
use domain::field_error::FieldError;
use domain::id::{EncodingRunId, TagId};
use domain::plural::counted;
use encoding::run::{Run, RunFields, RunNext, RunPlan, RunRow};
use inlay::Uid;

/// The operations on encoding runs.
impl Access {
    /// Stores a new run for these tags, in their order. Tags that have an inlay are left out. If no
    /// number of inlays is planned, and the run does not create tags, the number of the remaining
    /// tags is planned.
    ///
    /// # Errors
    ///
    /// [`Conflict::MissingInList`](crate::Conflict::MissingInList) for a tag that does not exist or is
    /// deleted, [`Conflict::OtherWorld`](crate::Conflict::OtherWorld) for a simulated tag, and [`Conflict::Invalid`](crate::Conflict::Invalid) if the planned number contradicts the number
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
            Box::pin(places::place(db, *id, *uid))
        })
        .await
    }

    /// The tag for the next chip that has no tag yet. The outer `None` means that there is no such
    /// run, the inner one that no tag is left.
    pub async fn next_run_tag(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Option<RunNext>>, StorageError> {
        self.read_snapshot("next_run_tag", id, |db, id| {
            Box::pin(places::next_of(db, *id))
        })
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
            Box::pin(places::skip(tx, *id, make))
        })
        .await
    }

    /// The chips of a run, in the order in which they were first placed on the reader.
    pub async fn encoding_run_rows(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Vec<RunRow>>, StorageError> {
        self.read_snapshot("encoding_run_rows", id, |db, id| {
            Box::pin(rows::rows(db, *id))
        })
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
